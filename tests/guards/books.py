"""Finding, making and running notebooks for the guards."""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[2]
NETWORK_CUT = ROOT / "tests" / "network_cut"
TEXT_ONLY = os.environ.get("PLANEXEC_COMPARE") == "text"
PLACES = [  # two machines that differ in all that must not matter
    {"PYTHONHASHSEED": "1", "TZ": "Pacific/Kiritimati"},
    {"PYTHONHASHSEED": "4242", "TZ": "America/St_Johns"},
]


def notebooks_below(*folders: str) -> list[Path]:
    paths = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.ipynb"))]
    return [path for path in paths if ".ipynb_checkpoints" not in path.parts]


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


LESSONS = [path for path in notebooks_below("notebooks") if path.parent.name == "notebooks"]
APPENDIX = notebooks_below("notebooks/appendix")
NOTEBOOKS = notebooks_below("notebooks", "exercises")
each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=name_of)


def notebook_tool() -> ModuleType:
    return ci_program("notebooks")


def ci_program(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"{name}_tool", ROOT / ".ci" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where a dataclass looks for its module
    spec.loader.exec_module(module)
    return module


def code(source: str, *outputs: dict[str, Any], count: int | None = None, tags: Sequence[str] = ()) -> Any:
    cell = nbformat.v4.new_code_cell(source, outputs=list(outputs), execution_count=count)
    if tags:
        cell.metadata["tags"] = list(tags)
    return cell


def text(source: str) -> Any:
    return nbformat.v4.new_markdown_cell(source)


def raised(name: str, message: str) -> Any:
    return nbformat.v4.new_output("error", ename=name, evalue=message, traceback=[])


def printed(line: str, name: str = "stdout") -> Any:
    return nbformat.v4.new_output("stream", name=name, text=line)


def displayed(**data: str) -> Any:
    """A displayed value; the keys are MIME types with __ for the slash and _plus_ for the plus."""
    kinds = {key.replace("__", "/").replace("_plus_", "+"): value for key, value in data.items()}
    return nbformat.v4.new_output("display_data", data=kinds)


def write(path: Path, *cells: Any) -> Path:
    """A notebook file in normal form with these cells."""
    book = nbformat.v4.new_notebook(cells=list(cells))
    path.write_text(notebook_tool().normal_form(nbformat.writes(book), path.stem), encoding="utf-8")
    return path


def quiet_kernels(folder: Path) -> Path:
    """Make a folder for IPYTHONDIR whose kernels do not warn that they speak over plain TCP."""
    settings = folder / "profile_default" / "ipython_kernel_config.py"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text("c.IPKernelApp.log_level = 'ERROR'\n", encoding="utf-8")
    return folder


def environment(scratch: Path, **changes: str) -> dict[str, str]:
    """A process environment with the network cut and every attempt logged, nothing of this user's, no real endpoint."""
    quiet_kernels(scratch / "ipython")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PLANEXEC_", "OPENAI_", "PYTEST_"))}
    own = {
        "PYTHONPATH": str(NETWORK_CUT),
        "NETWORK_CUT_LOG": str(scratch / "network.log"),
        "IPYTHONDIR": str(scratch / "ipython"),
        "JUPYTER_CONFIG_DIR": str(scratch / "jupyter"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PLANEXEC_PROGRESS": "",
    }
    return kept | own | changes


def attempts(scratch: Path) -> str:
    """The attempts to reach the network in that environment, one line each."""
    log = scratch / "network.log"
    return log.read_text(encoding="utf-8") if log.exists() else ""


def run(
    *arguments: str | Path, scratch: Path, cwd: Path = ROOT, timeout: float = 800, **changes: str
) -> subprocess.CompletedProcess[str]:
    """This Python with these arguments, network cut; output captured, stderr joined to stdout.

    It has less time than the test that waits for it.
    """
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=cwd,
        env=environment(scratch, **changes),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=timeout,
        check=False,
    )


def nbval(*paths: Path, scratch: Path, text_only: bool = TEXT_ONLY, **changes: str) -> subprocess.CompletedProcess[str]:
    """Strict nbval over notebooks, in a separate process; the report for machines goes to scratch/nbval.xml."""
    options = ["-p", "tests.guards.compare_text"] if text_only else []
    options += ["-p", "ipc_kernels", "-p", "no:cacheprovider", "-p", "no:xdist"]
    options += ["--color=no", f"--junitxml={scratch / 'nbval.xml'}"]
    return run("-m", "pytest", "--nbval", *options, *paths, scratch=scratch, **changes)
