"""The wheels that a tab loads, and the lock by which Pyodide loads them when they are imported.

The site contains the packages of the kit and the kernel, in the versions of requirements.lock, or of Pyodide's lock if they are
not pinned there; PyYAML without its compiled part. Only matplotlib and the compiled packages that it needs, which no registry
has for Pyodide, keep their entry in Pyodide's lock: a browser loads them from Pyodide's server for the first timeline.
"""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name, parse_wheel_filename

# packages that a kernel installs itself if they are missing
KERNEL = ["ipykernel", "comm", "pyodide-kernel", "jedi", "ipython"]
EMPTY = ["jedi"]  # 5 MB and 2,300 files, by which names are completed; without it they are completed by what they hold
KIT = ["planexec-lab", "exercises"]
ON_IMPORT = ["anthropic"]  # loaded only on the page that imports it
FROM_PYODIDE = {"contourpy", "kiwisolver", "matplotlib", "numpy", "pillow"}
LEFT_OUT = {"jupyterlab-widgets", "widgetsnbextension"}  # for a Jupyter that has a server
NEEDS = {  # in place of what their own files say
    "planexec-lite": ["pydantic"],
    "planexec-lab": ["ipywidgets", "matplotlib", "mock-llm", "openai", "planexec-lite"],
    "mock-llm": ["httpx2", "openai", "pyyaml"],
    "exercises": ["fsrs", "planexec-lab", "pyyaml", "snowballstemmer"],
    "pyodide-kernel": ["comm", "ipython"],
    "ipykernel": [],
    "jedi": [],
    "micropip": ["packaging"],
}


class Lock:
    """Pyodide's own lock, to which the wheels of the site are added.

    Args:
        pyodide: the folder of Pyodide's core.
        server: where the files that its lock names are.
        pins: requirements.lock.
    """

    def __init__(self, pyodide: Path, server: str, pins: Path) -> None:
        self.content: dict[str, Any] = json.loads((pyodide / "pyodide-lock.json").read_text(encoding="utf-8"))
        self.packages: dict[str, Any] = self.content["packages"]
        for entry in self.packages.values():
            entry["file_name"] = f"{server}/{entry['file_name']}"
        version = self.content["info"]["python"]
        self.python = version.rpartition(".")[0]
        self.platform = f"pyemscripten_{self.content['info']['abi_version']}_wasm32"
        self.place: dict[str, str] = {**default_environment(), "sys_platform": "emscripten", "os_name": "posix"}
        self.place |= {"platform_system": "Emscripten", "platform_machine": "wasm32", "extra": ""}
        self.place |= {"python_version": self.python, "python_full_version": version}
        self.pins = self._pins(pins.read_text(encoding="utf-8"))

    def missing(self, there: Iterable[str]) -> list[str]:
        """Return the packages to download for the kernel and the kit, as NAME==VERSION, without those that are already `there`."""
        waiting, found = [*KERNEL, *KIT, *ON_IMPORT, "micropip"], set(LEFT_OUT)
        while waiting:
            if (name := canonicalize_name(waiting.pop())) not in found:
                found.add(name)
                waiting += self.needs(name)
        wanted = found - LEFT_OUT - FROM_PYODIDE - set(there)
        return [f"{name}=={self.pins.get(name) or self.packages[name]['version']}" for name in sorted(wanted)]

    def needs(self, name: str) -> list[str]:
        """The packages that a package needs in a tab."""
        if name in NEEDS:
            return NEEDS[name]
        if name in FROM_PYODIDE:
            return [canonicalize_name(each) for each in self.packages[name]["depends"]]
        try:
            wanted = [Requirement(line) for line in metadata.requires(name) or []]
        except metadata.PackageNotFoundError:
            return []
        return sorted({canonicalize_name(one.name) for one in wanted if self._holds(one)} - LEFT_OUT)

    def add(self, wheel: Path) -> None:
        """Add an entry for a wheel in the lock's folder."""
        name, version, _, _ = parse_wheel_filename(wheel.name)
        self.packages[name] = {
            "name": name,
            "version": str(version),
            "file_name": wheel.name,
            "install_dir": "site",
            "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(),
            "package_type": "package",
            "imports": modules(wheel),
            "depends": self.needs(name),
            "unvendored_tests": False,
        }

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(self.content) + "\n", encoding="utf-8")

    def _pins(self, text: str) -> dict[str, str]:
        pins = [Requirement(line) for line in text.splitlines() if line and not line.startswith("#")]
        return {canonicalize_name(p.name): str(p.specifier).removeprefix("==") for p in pins if self._holds(p)}

    def _holds(self, wanted: Requirement) -> bool:
        return wanted.marker is None or wanted.marker.evaluate(self.place)


def build(sources: Sequence[Path], into: Path) -> None:
    """Make the wheels of these sources with what is installed here."""
    _pip("wheel", "--no-deps", "--no-build-isolation", f"--wheel-dir={into}", *map(str, sources))


def download(names: Sequence[str], lock: Lock, into: Path) -> None:
    """Get wheels that run on any platform, or on the lock's."""
    abi = f"cp{lock.python.replace('.', '')}"
    target = [f"--python-version={lock.python}", "--implementation=cp", f"--abi={abi}", f"--platform={lock.platform}"]
    _pip("download", "--no-deps", "--only-binary=:all:", *target, f"--dest={into}", *names)


def pack(name: str, version: str, files: Mapping[str, bytes], into: Path) -> Path:
    """Write a wheel of these files, by their paths in it."""
    path = into / f"{name}-{version}-py3-none-any.whl"
    about = f"{name}-{version}.dist-info"
    whole = {**files, f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode()}
    whole[f"{about}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: site\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    rows = [f"{file},sha256={_digest(content)},{len(content)}" for file, content in whole.items()]
    whole[f"{about}/RECORD"] = "\n".join([*rows, f"{about}/RECORD,,", ""]).encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file, content in whole.items():
            archive.writestr(zipfile.ZipInfo(file, (2020, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
    return path


def pure(name: str, folder: str) -> dict[str, bytes]:
    """The Python files of an installed package, without its compiled part."""
    source = Path(str(metadata.distribution(name).locate_file(folder)))
    return {f"{folder}/{path.name}": path.read_bytes() for path in source.glob("*.py")}


def modules(wheel: Path) -> list[str]:
    """The names that can be imported from a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        files = [Path(name).parts for name in archive.namelist() if name.endswith((".py", ".so"))]
    tops = {parts[0].partition(".")[0] for parts in files if not parts[0].endswith((".data", ".dist-info"))}
    return sorted(top for top in tops if top.isidentifier())


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def _pip(*arguments: str) -> None:
    run([sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", *arguments])


def run(command: Sequence[Any], **how: Any) -> None:
    """Run a command in silence; if it fails, say what it printed and end."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **how)
    if done.returncode:
        raise SystemExit(f"{done.stdout}\n{' '.join(map(str, command))} failed.")
