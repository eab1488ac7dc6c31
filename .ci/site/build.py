"""Build the site: lessons that run in a browser tab, the same lessons as pages, and a reference of the names.

usage: python .ci/site/build.py [FOLDER] [--serve]      (build/site by default)

JupyterLite runs the lessons with Pyodide, a Python for browsers; nothing runs on a server. Needs npm and a network.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import webbrowser
from contextlib import suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pages
import wheels

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
WORK = ROOT / "build" / "site-work"
TOOLS = WORK / "tools"
EXTENSION = TOOLS / "share/jupyter/labextensions/@jupyterlite/pyodide-kernel-extension"
FILES = ["notebooks/*.ipynb", "notebooks/appendix/*.ipynb"]
FILES += ["exercises/*.ipynb", "exercises/*.md", "GLOSSARY.md"]
LEFT_OUT = {"solutions", "mine", "__pycache__", "progress.json"}
PLACES = {"lab": "top: 3px", "notebooks": "bottom: 8px", "tree": "bottom: 8px"}  # where an app leaves room at the right
HOME = """<a id="home" href="../../index.html" style="position: fixed; {place}; right: 14px; z-index: 20; padding: 2px 8px;
 font: 13px system-ui, sans-serif; color: var(--jp-content-link-color, #1976d2);
 background: var(--jp-layout-color1, white)">All lessons</a>"""
PORT = 8765  # a browser keeps its work for an address, and the port is part of it


def install_tools() -> None:
    """Install what pyproject.toml's extra `site` names, apart from the environment of the lessons."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted: list[str] = project["optional-dependencies"]["site"]
    stamp = TOOLS / ".installed"
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == "\n".join(wanted):
        return
    shutil.rmtree(TOOLS, ignore_errors=True)
    constraint = f"--constraint={ROOT / 'requirements.lock'}"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, f"--target={TOOLS}", constraint, *wanted], check=True)
    stamp.write_text("\n".join(wanted), encoding="utf-8")


def get_pyodide() -> tuple[Path, str]:
    """Get the core of the Pyodide that the kernel is made for; its folder, and the server of its other packages."""
    constants: dict[str, Any] = {}
    exec((TOOLS / "jupyterlite_pyodide_kernel/constants.py").read_text(encoding="utf-8"), constants)
    folder = WORK / f"pyodide-{constants['PYODIDE_VERSION']}"
    if not folder.is_dir():
        packed = ["npm", "pack", "--silent", f"pyodide@{constants['PYODIDE_VERSION']}", f"--pack-destination={WORK}"]
        name = subprocess.run(packed, cwd=WORK, check=True, capture_output=True, text=True).stdout.split()[-1]
        with tarfile.open(WORK / name) as archive:
            archive.extractall(WORK / "unpacked", **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
        (WORK / "unpacked" / "package").rename(folder)
    return folder, constants["PYODIDE_CDN_URL"]


def lay_out_pyodide(core: Path, server: str, into: Path) -> None:
    """Lay Pyodide's core and all wheels into one folder, with the lock that names them."""
    names = ["pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip"]
    into.mkdir(parents=True)
    for name in names:
        shutil.copy(core / name, into)
    lock = wheels.Lock(core, server, ROOT / "requirements.lock")
    for name in ("ipykernel", "piplite", "pyodide_kernel"):
        (wheel,) = (EXTENSION / "static" / "pypi").glob(f"{name}-*.whl")
        shutil.copy(wheel, into)
    wheels.build([ROOT, *sorted((ROOT / "distributions").iterdir())], into)
    wheels.pack("exercises", "0.1.0", exercises(), into)
    for name in wheels.EMPTY:
        wheels.pack(name, lock.pins[name], {}, into)
    there = [wheels.parse_wheel_filename(wheel.name)[0] for wheel in into.glob("*.whl")]
    wheels.download(lock.missing(there), lock, into)
    for wheel in into.glob("*.whl"):
        lock.add(wheel)
    lock.write(into / "pyodide-lock.json")


def exercises() -> dict[str, bytes]:
    """Return the files of the package `exercises`, with the source notebooks, which contain the answers."""
    files = [path for path in sorted((ROOT / "exercises").rglob("*")) if path.is_file()]
    kept = {path: path.relative_to(ROOT) for path in files if LEFT_OUT.isdisjoint(path.relative_to(ROOT).parts)}
    return {
        name.as_posix(): path.read_bytes()
        for path, name in kept.items()
        if path.suffix != ".ipynb" or path.parent.name == "source"
    }


def contents() -> list[Path]:
    """The files that JupyterLite shows."""
    return [path for pattern in FILES for path in sorted(ROOT.glob(pattern))]


def build_lite(into: Path) -> None:
    """Build JupyterLite with the lessons in it."""
    lite = WORK / "lite"
    shutil.rmtree(lite, ignore_errors=True)
    core, server = get_pyodide()
    lay_out_pyodide(core, server, lite / "static" / "pyodide")
    for path in contents():
        target = lite / "files" / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    for name in ("jupyter-lite.json", "overrides.json"):
        shutil.copy(HERE / name, lite)
    folders = [EXTENSION, Path(sys.prefix) / "share/jupyter/labextensions/@jupyter-widgets/jupyterlab-manager"]
    options = {
        "LiteBuildConfig": {
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
    subprocess.run([sys.executable, "-m", "jupyterlite_core", "build"], cwd=lite, env=env, check=True)


def link_home(jupyter: Path) -> None:
    """Let each page of JupyterLite lead back to the front page."""
    for app, place in PLACES.items():
        page = jupyter / app / "index.html"
        html = page.read_text(encoding="utf-8")
        if "</body>" not in html:
            raise SystemExit(f"{page} has no body that could hold the way back to the front page.")
        page.write_text(html.replace("</body>", f"{HOME.format(place=place)}</body>"), encoding="utf-8")


def serve(site: Path) -> None:
    """Serve the site on this machine alone, and open it in a browser, until an interrupt."""
    handler = partial(SimpleHTTPRequestHandler, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", PORT), handler) as server, suppress(KeyboardInterrupt):
        address = f"http://127.0.0.1:{PORT}"
        print(f"{address} (Ctrl-C ends it)", flush=True)
        webbrowser.open(address)
        server.serve_forever()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "build" / "site")
    parser.add_argument("--serve", action="store_true", help="serve the site on this machine and open it")
    arguments = parser.parse_args()
    site = arguments.folder.resolve()
    if site.exists() and not (site / pages.RUNS).is_dir() and any(site.iterdir()):
        raise SystemExit(f"{site} is not empty and holds no site; name another folder.")
    shutil.rmtree(site, ignore_errors=True)
    WORK.mkdir(parents=True, exist_ok=True)
    install_tools()
    build_lite(site / pages.RUNS)
    link_home(site / pages.RUNS)
    pages.Pages(ROOT, site, pages.RUNS, [path.relative_to(ROOT).as_posix() for path in contents()]).write()
    print(f"The site is in {site.relative_to(ROOT) if site.is_relative_to(ROOT) else site}.")
    if arguments.serve:
        serve(site)


if __name__ == "__main__":
    main()
