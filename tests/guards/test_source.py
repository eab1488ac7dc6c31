"""The source keeps its shape, `import planexec_lite` stays light, and the public names are there."""

import importlib
import inspect
from pathlib import Path

import pytest

from tests.guards import books
from tests.guards.books import ROOT
from tests.guards.source_rules import PACKAGES, circle, import_faults, imports, modules

HEAVY = ["openai", "httpx", "httpx2", "matplotlib", "numpy", "ipywidgets", "IPython", "ipykernel", "jupyter_client",
         "jupyter_core", "jupyterlab", "nbformat", "traitlets"]  # fmt: skip
PUBLIC = {  # the names that lessons and readers rely on
    "planexec_lite": """Step Plan PlanError tool Tool Toolbox Board Run PlannerExecutor execute Inline Pool Simulated
        Policy Backoff Breaker Budget Grant Journal JournalError Decision Verdict RulePlanner NextStepPlanner LLMPlanner
        ToolExecutor ReActExecutor HybridExecutor Team RuleEvaluator LLMEvaluator ApproveAll AskPerson
        ScriptedReviewer""".split(),
    "planexec_lab": ["connect"],
    "mock_llm": ["MockLLM"],
}
SIGNATURES = {  # name -> the parameters that the design shows, in this order at the front unless keyword-only
    "planexec_lite.execute": ["plan", "executor", "workers", "policy", "journal"],
    "planexec_lite.PlannerExecutor": ["planner", "executor", "reviewer", "evaluator", "workers", "policy", "journal"],
    "planexec_lite.PlannerExecutor.run": ["goal"],
    "planexec_lite.Plan.problems": ["toolbox", "done", "max_steps"],
    "planexec_lite.Plan.critical_path": ["durations"],
    "planexec_lite.Plan.waves": [],
    "planexec_lite.Simulated": ["slots"],
    "planexec_lite.Pool": ["executor", "slots"],
    "mock_llm.MockLLM.load": [],
    "mock_llm.MockLLM.client": [],
    "mock_llm.MockLLM.async_client": [],
    "mock_llm.MockLLM.explain": [],
    "mock_llm.MockLLM.assert_all_used": [],
}


@pytest.mark.slow
def test_imports_go_down_the_floors_and_not_in_a_circle() -> None:
    assert import_faults(ROOT) == []
    assert circle(ROOT, late="planexec_lab.views.") == []


def test_no_imports_go_in_a_circle() -> None:
    assert circle(ROOT) == []


def loaded_with(module: str) -> set[str]:
    """The modules of planexec_lite that loading `module` loads, apart from the `__init__` of each folder."""
    files = modules(ROOT, "planexec_lite")
    loaded, waiting = set[str](), {module}
    while waiting:
        name = waiting.pop()
        loaded.add(name)
        targets = {one.target for one in imports(name, files[name], set(files)) if one.at_load}
        waiting |= (targets & files.keys()) - loaded
    return loaded


@pytest.mark.parametrize("module", ["agent", "roles.executors", "roles.team", "roles.reviewers"])
def test_what_needs_no_model_loads_no_model_layer_and_no_role_that_asks_one(module: str) -> None:
    others = {"model.asking", "model.answer", "model.schemas", "roles.planners", "roles.react", "roles.evaluators"}
    assert not loaded_with(f"planexec_lite.{module}") & {f"planexec_lite.{other}" for other in others}


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
    "mock_llm never imports planexec_lite": {"mock_llm__engine__selection": "def f():\n    import planexec_lite.plan"},
    "planexec_lite never imports planexec_lab": {"planexec_lite__plan": "def f():\n    from planexec_lab import views"},
    "planexec_lite never imports mock_llm": {"planexec_lite__model": "def f():\n    import mock_llm"},
    "planexec_lab never imports exercises": {"planexec_lab__grade": "from exercises import check"},
    "mock_llm.types.errors:2 imports mock_llm.api: types is on floor 1, api on floor 4: import only from floors below": {
        "mock_llm__types__errors": "import json\nfrom mock_llm.api import respond"
    },
    "serve is on floor 5, authoring on floor 5": {"mock_llm__serve__server": "from mock_llm.authoring import check"},
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


def test_import_is_light(tmp_path: Path) -> None:
    own = "[name for name in sys.modules if name.split('.')[0] == 'planexec_lite']"
    source = f"import sys, planexec_lite; print(len({own}), sorted(set({HEAVY}) & set(sys.modules)))"
    count, heavy = books.run("-c", source, scratch=tmp_path).stdout.split(maxsplit=1)
    assert int(count) <= 60
    assert heavy == "[]\n"


def test_a_name_that_is_loaded_on_first_use_is_listed_before(tmp_path: Path) -> None:
    source = """if True:
        import sys, planexec_lite
        assert set(planexec_lite.__all__) <= set(dir(planexec_lite))
        assert "planexec_lite.journal" not in sys.modules
        assert planexec_lite.Journal is planexec_lite.Journal
        print("planexec_lite.journal" in sys.modules, hasattr(planexec_lite, "journal"), hasattr(planexec_lite, "jornal"))
        """
    assert books.run("-c", source, scratch=tmp_path).stdout == "True True False\n"


@pytest.mark.parametrize("package", PUBLIC)
def test_public_names_are_importable(package: str) -> None:
    module = importlib.import_module(package)
    assert set(PUBLIC[package]) <= set(module.__all__)
    for name in module.__all__:
        assert hasattr(module, name), f"{package}.{name}"


@pytest.mark.parametrize("name", SIGNATURES)
def test_public_signature(name: str) -> None:
    package, *path = name.split(".")
    thing = importlib.import_module(package)
    for part in path:
        thing = getattr(thing, part)
    assert callable(thing)
    parameters = list(inspect.signature(thing).parameters)
    assert [wanted for wanted in SIGNATURES[name] if wanted not in parameters] == []
