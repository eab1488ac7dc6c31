"""An environment with Colab's versions, in which the lessons and the widgets are tried."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

from tests.environments import make_environment

PYTHON = "3.13"
VERSIONS = {
    "ipykernel": "6.17.1",
    "ipython": "7.34.0",
    "ipywidgets": "7.7.1",
    "openai": "2.54.0",
    "matplotlib": "3.10.0",
}
UNPINNED = [
    "pydantic>=2",
    "pyyaml",
    "psutil",
    "snowballstemmer",
    "notebook<7",
]  # what Colab has too, in versions that matter less
FITS = f"import ensurepip, sys, venv; sys.exit(sys.version_info[:2] != {tuple(map(int, PYTHON.split('.')))})"
ASKS = (
    "import json, sys\nfrom importlib.metadata import version\nprint(json.dumps({n: version(n) for n in sys.argv[1:]}))"
)


def python() -> str:
    """Colab's Python if this machine has one, on the PATH, from pyenv or from uv; else the one that runs this."""
    found = [shutil.which(f"python{PYTHON}"), *map(str, Path.home().glob(f".pyenv/versions/{PYTHON}.*/bin/python"))]
    if uv := shutil.which("uv"):
        asked = [uv, "python", "find", "--no-project", PYTHON]
        found += subprocess.run(asked, capture_output=True, text=True, check=False).stdout.splitlines()
    for one in filter(None, found):
        if subprocess.run([one, "-c", FITS], capture_output=True, check=False).returncode == 0:
            return one
    return sys.executable


def environment(folder: Path) -> Path:
    """Make an environment that has Colab's versions, and not the kit; return its Python. The test is skipped if it can't."""
    packages = [*(f"{name}=={version}" for name, version in VERSIONS.items()), *UNPINNED]
    made = make_environment(folder, *packages, of=python())
    subprocess.run([made, "-c", "import matplotlib.font_manager"], capture_output=True, check=True)  # lists the fonts
    return made


def versions(made: Path) -> dict[str, str]:
    """What is installed of Colab's versions."""
    told = subprocess.run([made, "-c", ASKS, *VERSIONS], capture_output=True, text=True, check=True).stdout
    found: dict[str, str] = json.loads(told)
    return found
