"""The source keeps its shape, `import planexec_lite` stays light, and the public names are there."""

import importlib
from pathlib import Path

import pytest

from tests.guards import books
from tests.guards.books import ROOT
from tests.guards.source_rules import PACKAGES, circle, import_faults

HEAVY = ["openai", "httpx", "httpx2", "matplotlib", "numpy", "ipywidgets", "IPython", "ipykernel", "jupyter_client",
         "jupyter_core", "jupyterlab", "nbformat", "traitlets"]  # fmt: skip
# Where an import inside a function, or for type checking alone, makes a cycle too: everywhere but in core and capabilities.
LATE = (
    "planexec_lab.",
    "mock_llm.",
    *(f"planexec_lite.{part}." for part in ("plan", "model", "roles", "tools", "workers")),
)
MODEL = ["model.asking", "model.answer", "model.schemas", "roles.planners", "roles.react", "roles.evaluators"]


@pytest.mark.slow
def test_imports_go_down_the_floors_and_not_in_a_circle() -> None:
    assert import_faults(ROOT) == []
    assert circle(ROOT, late=LATE) == []


def tree(root: Path, **files: str) -> Path:
    """A source tree; __ in a name stands for a folder."""
    for package in PACKAGES:
        (root / package).mkdir()
        (root / package / "__init__.py").touch()
    for name, source in files.items():
        path = root / (name.replace("__", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
    return root


BAD_IMPORTS = {
    "import only from floors below": {"planexec_lite__core": "from planexec_lite.capabilities import news"},
    "planexec_lite never imports planexec_lab": {"planexec_lite__plan": "def f():\n    from planexec_lab import views"},
    "mock_llm.types.errors:2 imports mock_llm.api: types is on floor 1, api on floor 4: import only from floors below": {
        "mock_llm__types__errors": "import json\nfrom mock_llm.api import respond"
    },
    "import from mock_llm.engine, the face": {
        "mock_llm__api__routes": "from mock_llm.engine.matching import match",
        "mock_llm__engine__matching": "",
    },
    "import from the folder or module that has the name": {"mock_llm__api__routes": "from mock_llm import Answer"},
    "only planexec_lab.views imports matplotlib": {"planexec_lite__run": "import matplotlib.pyplot"},
    "not yaml": {"planexec_lite__plan__parse": "import yaml"},
    "when it is used": {"planexec_lite__model": "import openai"},
    "stands on no floor": {"planexec_lite__helpers": ""},
    "drawing is on floor 1, widgets on floor 6": {
        "planexec_lab__views__drawing__table": "def f():\n    from planexec_lab.views.widgets import live"
    },
}


@pytest.mark.parametrize(("wanted", "files"), BAD_IMPORTS.items(), ids=list(BAD_IMPORTS))
def test_bad_import_is_named(wanted: str, files: dict[str, str], tmp_path: Path) -> None:
    report = import_faults(tree(tmp_path, **files))
    assert any(wanted in line for line in report), report


def test_import_circle_is_named(tmp_path: Path) -> None:
    files = {"mock_llm__a": "from . import b", "mock_llm__b": "import mock_llm.c", "mock_llm__c": "from .a import x"}
    assert set(circle(tree(tmp_path, **files))) == {"mock_llm.a", "mock_llm.b", "mock_llm.c"}


def test_import_is_light_and_roles_that_ask_no_model_load_none(tmp_path: Path) -> None:
    own = "[name for name in sys.modules if name.split('.')[0] == 'planexec_lite']"
    source = f"import sys, planexec_lite; print(len({own}), sorted(set({HEAVY}) & set(sys.modules)))\n"
    source += "from planexec_lite import PlannerExecutor, ScriptedReviewer, Team, ToolExecutor\n"
    source += f"print([name for name in {MODEL} if 'planexec_lite.' + name in sys.modules])"
    light, without_model = books.run("-c", source, scratch=tmp_path).stdout.splitlines()
    assert int(light.split()[0]) <= 64
    assert (light.split()[1:], without_model) == (["[]"], "[]")


def test_a_name_that_is_loaded_on_first_use_is_listed_before(tmp_path: Path) -> None:
    source = """if True:
        import sys, planexec_lite
        assert set(planexec_lite.__all__) <= set(dir(planexec_lite))
        assert "planexec_lite.storage.journal" not in sys.modules
        assert planexec_lite.Journal is planexec_lite.Journal
        print("planexec_lite.storage.journal" in sys.modules, hasattr(planexec_lite, "Journal"), hasattr(planexec_lite, "Jornal"))
        """
    assert books.run("-c", source, scratch=tmp_path).stdout == "True True False\n"


@pytest.mark.parametrize("package", PACKAGES)
def test_public_names_are_importable(package: str) -> None:
    module = importlib.import_module(package)
    assert [name for name in module.__all__ if not hasattr(module, name)] == []
