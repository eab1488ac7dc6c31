"""All three distributions: wheels and archives are built, installed into an empty environment, and a lesson runs there.

The lessons come from the archive of the source, as a learner would have them who never cloned the project.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.distributions import built, empty_environment, needed, stdout_of, unpack
from tests.guards.books import ROOT
from tests.guards.readme_rules import snippets

LOOPBACK = True  # a kernel listens there
OURS = {"planexec-lite", "planexec-lab", "mock-llm"}
KERNEL = {"argv": ["python", "-m", "ipykernel_launcher", "-f", "{connection_file}"], "language": "python"}
pytestmark = pytest.mark.wide


@pytest.fixture(scope="module")
def kit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of planexec-lite; its archive lies beside it."""
    return built(ROOT, tmp_path_factory.mktemp("kit"))


@pytest.fixture(scope="module")
def source(kit: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unpacked archive of the source."""
    (archive,) = kit.parent.glob("*.tar.gz")
    unpack(archive, folder := tmp_path_factory.mktemp("source"))
    (unpacked,) = folder.iterdir()
    return unpacked


@pytest.fixture(scope="module")
def empty(kit: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment that has all three wheels and what the lessons need, and nothing else."""
    folder = tmp_path_factory.mktemp("empty") / "env"
    model = built(ROOT / "distributions" / "mock-llm", tmp_path_factory.mktemp("model"))
    lab = built(ROOT / "distributions" / "planexec-lab", tmp_path_factory.mktemp("lab"))
    return empty_environment(
        folder, needed("planexec-lab", {"notebooks"}) - OURS, [f"{lab}[notebooks]", str(model), str(kit)]
    )


@pytest.fixture(scope="module")
def pattern(kit: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment that has planexec-lite, pydantic and nothing else."""
    folder = tmp_path_factory.mktemp("pattern") / "env"
    return empty_environment(folder, needed("planexec-lite", set()), [str(kit)])


@pytest.mark.xdist_group("distribution")
class TestDistribution:
    @pytest.mark.parametrize("package", ["planexec_lite", "planexec_lab"])
    def test_the_wheel_holds_the_package_and_its_types(self, package: str, empty: Path) -> None:
        (installed,) = empty.parent.rglob(f"site-packages/{package}")
        files = [path for path in (ROOT / package).rglob("*") if path.suffix in {".py", ".yaml", ".gz", ".typed"}]
        assert [path for path in files if not (installed / path.relative_to(ROOT / package)).is_file()] == []

    def test_the_archive_holds_what_a_learner_opens(self, source: Path) -> None:
        for folder in ("notebooks", "exercises", "planexec_lite", "planexec_lab", "mock_llm", "tests", "distributions"):
            assert (source / folder).is_dir()
        assert {path.name for path in (ROOT / "notebooks").glob("*.ipynb")} == {
            path.name for path in (source / "notebooks").glob("*.ipynb")
        }
        assert not {".venv", "build", ".git"} & {path.name for path in source.iterdir()}

    def test_the_archive_makes_the_same_wheel(self, kit: Path, source: Path, tmp_path: Path) -> None:
        assert built(source, tmp_path, "-t", "wheel").read_bytes() == kit.read_bytes()

    def test_nothing_of_this_tree_is_in_the_empty_environment(self, empty: Path, tmp_path: Path) -> None:
        asks = "import planexec_lite as a, mock_llm as b, importlib.util as u; print(a.__file__, b.__file__, u.find_spec('tests'))"
        kit, model, tests = stdout_of(empty / "python", "-c", asks, cwd=tmp_path, scratch=tmp_path).split()
        assert Path(kit).is_relative_to(empty.parent)
        assert Path(model).is_relative_to(empty.parent)
        assert tests == "None"

    def test_the_readme_s_first_run_needs_the_pattern_alone(self, pattern: Path, tmp_path: Path) -> None:
        first = snippets((ROOT / "README.md").read_text(encoding="utf-8"))[0]
        (tmp_path / "first.py").write_text(first.source, encoding="utf-8")
        assert stdout_of(pattern / "python", "first.py", cwd=tmp_path, scratch=tmp_path) == first.promised

    def test_a_lesson_runs_there_cell_by_cell(self, empty: Path, source: Path, tmp_path: Path) -> None:
        for folder in ("notebooks", "exercises"):
            shutil.copytree(source / folder, tmp_path / folder)
        kernel = tmp_path / "share" / "kernels" / "python3" / "kernel.json"
        kernel.parent.mkdir(parents=True)
        argv = [str(empty / "python"), *KERNEL["argv"][1:]]
        kernel.write_text(json.dumps({**KERNEL, "argv": argv, "display_name": "Python 3"}), encoding="utf-8")
        lesson = "notebooks/01_toy_planner.ipynb"
        more = {"PYTHONPATH": str(tmp_path), "JUPYTER_PATH": str(tmp_path / "share")}
        command = [empty / "python", "-m", "pytest", "-q", "--nbval", lesson]
        said = stdout_of(*command, cwd=tmp_path, scratch=tmp_path, **more)
        assert " passed" in said
        assert "failed" not in said
