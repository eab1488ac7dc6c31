"""Build the site: lessons that run in a browser tab, the same lessons as pages, and a reference of the names.

usage: python .ci/site/build.py [FOLDER] [--repo OWNER/NAME]      (build/site by default)

JupyterLite runs the lessons with Pyodide, a Python for browsers; nothing runs on a server. Sphinx writes the pages from the
stored outputs; nothing is executed. What npm and pip fetch is kept in build/site-work, so a second build needs no network.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import nbformat
import stage
import wheels

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
WORK = ROOT / "build" / "site-work"
TOOLS = WORK / "tools"
EXTENSION = TOOLS / "share/jupyter/labextensions/@jupyterlite/pyodide-kernel-extension"
FILES = ["notebooks/*.ipynb", "notebooks/appendix/*.ipynb"]
FILES += ["exercises/*.ipynb", "exercises/*.md", "GLOSSARY.md"]
LEFT_OUT = {"solutions", "mine", "__pycache__", "progress.json"}
APPS = ("lab", "notebooks", "tree", "edit")
TAB = '<script src="../../_static/store.js"></script><script src="../tab.js"></script>'
COUNT = """
const loaded = new BroadcastChannel("loaded"), get = self.fetch;
self.fetch = (what, ...how) => (loaded.postMessage(String(what.url ?? what)), get(what, ...how));
"""  # tab.js counts the files that Pyodide loads
FFLATE = "0.8.3"  # reads and writes zips in the browser


def install_tools() -> None:
    """Install the pins of the site's own lock beside the environment of the lessons, which has the rest."""
    lock = HERE / "requirements.lock"
    stamp = TOOLS / ".installed"
    wanted = lock.read_text(encoding="utf-8")
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted:
        return
    shutil.rmtree(TOOLS, ignore_errors=True)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    wheels.run([*pip, f"--target={TOOLS}", f"--requirement={lock}"])
    stamp.write_text(wanted, encoding="utf-8")


def get_package(name: str, version: str) -> Path:
    """Get a package of npm into a folder of its own; return the folder."""
    place = WORK / f"{name}-{version}"
    if not (folder := place / "node_modules" / name).is_dir():
        install = [
            "npm",
            "install",
            "--silent",
            "--no-audit",
            "--ignore-scripts",
            f"--prefix={place}",
            f"{name}@{version}",
        ]
        wheels.run(install)
    return folder


def get_pyodide() -> tuple[Path, str]:
    """Get the core of the Pyodide that the kernel is made for; its folder, and the server of its other packages."""
    constants: dict[str, Any] = {}
    exec((TOOLS / "jupyterlite_pyodide_kernel/constants.py").read_text(encoding="utf-8"), constants)
    return get_package("pyodide", constants["PYODIDE_VERSION"]), constants["PYODIDE_CDN_URL"]


def lay_out_pyodide(core: Path, server: str, into: Path) -> None:
    """Lay Pyodide's core and all wheels into one folder, with the lock that names them."""
    names = ["pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip"]
    into.mkdir(parents=True)
    for name in names:
        shutil.copy(core / name, into)
    with (into / "pyodide.mjs").open("a", encoding="utf-8") as module:
        module.write(COUNT)
    lock = wheels.Lock(core, server, ROOT / "requirements.lock")
    for name in ("ipykernel", "piplite", "pyodide_kernel"):
        (wheel,) = (EXTENSION / "static" / "pypi").glob(f"{name}-*.whl")
        shutil.copy(wheel, into)
    wheels.build([ROOT, *sorted((ROOT / "distributions").iterdir())], into)
    wheels.pack("exercises", "0.1.0", exercises(), into)
    wheels.pack("pyyaml", lock.pins["pyyaml"], wheels.pure("pyyaml", "yaml"), into)
    for name in wheels.EMPTY:
        wheels.pack(name, lock.pins[name], {}, into)
    there = [wheels.parse_wheel_filename(wheel.name)[0] for wheel in into.glob("*.whl")]
    wheels.download(lock.missing(there), lock, into)
    for wheel in into.glob("*.whl"):
        lock.add(wheel)
    lock.write(into / "pyodide-lock.json")


def exercises() -> dict[str, bytes]:
    """Return the files of the package `exercises`, with the cells of the source notebooks, which contain the answers."""
    files = [path for path in sorted((ROOT / "exercises").rglob("*")) if path.is_file()]
    kept = {path: path.relative_to(ROOT) for path in files if LEFT_OUT.isdisjoint(path.relative_to(ROOT).parts)}
    return {
        name.as_posix(): without_outputs(path) if path.suffix == ".ipynb" else path.read_bytes()
        for path, name in kept.items()
        if path.suffix != ".ipynb" or path.parent.name == "source"
    }


def without_outputs(path: Path) -> bytes:
    """A notebook whose outputs, three quarters of its size, stay behind."""
    book = nbformat.read(path, as_version=4)
    for cell in book.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    return nbformat.writes(book).encode()


def contents() -> list[Path]:
    """The files that JupyterLite shows."""
    return [path for pattern in FILES for path in sorted(ROOT.glob(pattern))]


def whole(path: Path) -> str:
    """The text of a file; in a notebook, each list of lines in one piece, because JupyterLite shows a list with commas."""
    text = path.read_text(encoding="utf-8")
    return json.dumps(nbformat.reads(text, as_version=4)) if path.suffix == ".ipynb" else text


def build_lite(into: Path) -> None:
    """Build JupyterLite with the lessons in it."""
    lite = WORK / "lite"
    shutil.rmtree(lite, ignore_errors=True)
    core, server = get_pyodide()
    lay_out_pyodide(core, server, lite / "static" / "pyodide")
    for path in contents():
        target = lite / "files" / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(whole(path), encoding="utf-8")
    for name in ("jupyter-lite.json", "overrides.json"):
        shutil.copy(HERE / name, lite)
    installed = Path(sys.prefix) / "share/jupyter/labextensions"
    folders = [EXTENSION, installed / "@jupyter-widgets/jupyterlab-manager", installed / "planexec-lab-looks"]
    options = {
        "LiteBuildConfig": {
            "apps": list(APPS),
            "contents": ["files"],
            "federated_extensions": [str(folder) for folder in folders],
            "ignore_sys_prefix": ["federated_extensions"],
            "no_sourcemaps": True,
            "no_unused_shared_packages": True,
            "output_dir": str(into),
        }
    }
    (lite / "jupyter_lite_config.json").write_text(json.dumps(options), encoding="utf-8")
    env = os.environ | {"PYTHONPATH": str(TOOLS)}
    wheels.run([sys.executable, "-m", "jupyterlite_core", "build"], cwd=lite, env=env)


def prepare_tab(jupyter: Path) -> None:
    """Let each page of JupyterLite load tab.js, which shows how far it has loaded, and store.js, which keeps the work."""
    for app in APPS:
        page = jupyter / app / "index.html"
        html = page.read_text(encoding="utf-8")
        if "</head>" not in html:
            raise SystemExit(f"{page} has no head that could load tab.js.")
        page.write_text(html.replace("</head>", f"{TAB}</head>"), encoding="utf-8")
    shutil.copy(HERE / "tab.js", jupyter)


def build_pages(site: Path, repo: str) -> None:
    """Let Sphinx write the pages; a warning, such as a link that leads nowhere, ends the build."""
    files = [path.relative_to(ROOT).as_posix() for path in contents()]
    stage.Stage(WORK / "pages", files).write()
    env = os.environ | {"PYTHONPATH": str(TOOLS), "SITE_REPO": repo, "SITE_FILES": "\n".join(files)}
    sphinx = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-E", "-c", HERE, "-d", WORK / "doctrees"]
    wheels.run([*sphinx, WORK / "pages", site], cwd=ROOT, env=env)
    shutil.copy(get_package("fflate", FFLATE) / "esm" / "browser.js", site / "_static" / "fflate.js")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "build" / "site")
    parser.add_argument(
        "--repo", default=os.environ.get("GITHUB_REPOSITORY", ""), help="where the site is published from"
    )
    arguments = parser.parse_args()
    site = arguments.folder.resolve()
    if site.exists() and not (site / "jupyter").is_dir() and any(site.iterdir()):
        raise SystemExit(f"{site} is not empty and holds no site; name another folder.")
    shutil.rmtree(site, ignore_errors=True)
    WORK.mkdir(parents=True, exist_ok=True)
    install_tools()
    build_lite(site / "jupyter")
    prepare_tab(site / "jupyter")
    build_pages(site, arguments.repo)
    print(f"The site is in {site.relative_to(ROOT) if site.is_relative_to(ROOT) else site}.")


if __name__ == "__main__":
    main()
