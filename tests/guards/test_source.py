"""The source keeps its shape, `import planexec_lite` stays light, and the public names are there."""

import importlib
import inspect
from pathlib import Path

import pytest

from tests.guards import books
from tests.guards.books import ROOT
from tests.guards.source_rules import MOST_LINES, circle, code_lines, import_faults, long_modules

HEAVY = ["openai", "httpx", "httpx2", "matplotlib", "numpy", "ipywidgets", "IPython", "ipykernel", "jupyter_client",
         "jupyter_core", "jupyterlab", "nbformat", "traitlets"]  # fmt: skip
PUBLIC = {  # the public names of the design; a name that is not built yet is not in __all__
    "planexec_lite": """Step Plan PlanError tool Tool Toolbox Board Run PlannerExecutor execute Inline Pool Simulated
        Policy Budget Journal RulePlanner NextStepPlanner LLMPlanner ToolExecutor ReActExecutor RuleEvaluator
        LLMEvaluator ApproveAll ScriptedReviewer connect""".split(),
    "mock_llm": ["MockLLM"],
}
FIRST = {  # what must be there from the first release on
    "planexec_lite": """Step Plan PlanError tool Tool Toolbox Board Run PlannerExecutor execute Inline Pool Simulated
        Policy RulePlanner NextStepPlanner LLMPlanner ToolExecutor ApproveAll ScriptedReviewer connect""".split(),
    "mock_llm": ["MockLLM"],
}
COMES_WITH = {"journal": "Journal", "evaluator": "RuleEvaluator"}  # parameter -> the name with which it comes
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


def test_imports_go_down_the_floors() -> None:
    assert import_faults(ROOT) == []


def test_no_imports_go_in_a_circle() -> None:
    assert circle(ROOT) == []


def test_modules_are_short() -> None:
    assert long_modules(ROOT) == []


def tree(root: Path, **files: str) -> Path:
    """A source tree; __ in a name stands for a folder."""
    for package in ("planexec_lite", "mock_llm"):
        (root / package).mkdir()
        (root / package / "__init__.py").touch()
    for name, source in files.items():
        path = root / (name.replace("__", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
    return root


BAD_IMPORTS = {
    "import only from floors below": {"planexec_lite__board": "from planexec_lite.loop import run"},
    "planners on floor 5": {"planexec_lite__decide": "from .planners import RulePlanner"},
    "mock_llm knows nothing": {"mock_llm__engine": "def f():\n    import planexec_lite.plan"},
    "only planexec_lite.views imports matplotlib": {"planexec_lite__connect": "import matplotlib.pyplot"},
    "only planexec_lite.views imports ipywidgets": {"mock_llm__server": "from ipywidgets import HTML"},
    "not yaml": {"planexec_lite__plan__parse": "import yaml"},
    "when it is used": {"planexec_lite__model": "import openai"},
    "stands on no floor": {"planexec_lite__helpers": ""},
    "not from the package": {"planexec_lite__views__graph": "from planexec_lite import Plan"},
    "loop on floor 6": {"planexec_lite__board": "from . import loop", "planexec_lite__loop": ""},
    "openai": {"planexec_lite__planners": "def f():\n    import openai"},
}


@pytest.mark.parametrize(("wanted", "files"), BAD_IMPORTS.items(), ids=list(BAD_IMPORTS))
def test_bad_import_is_named(wanted: str, files: dict[str, str], tmp_path: Path) -> None:
    said = import_faults(tree(tmp_path, **files))
    assert any(wanted in line for line in said), said


def test_good_imports_have_no_fault(tmp_path: Path) -> None:
    files = {
        "planexec_lite__model": "import json\nimport pydantic\ndef client():\n    import openai",
        "planexec_lite__plan__parse": "from ..tools import Tool\nfrom .steps import Step",
        "planexec_lite__plan__steps": "from collections.abc import Mapping",
        "planexec_lite__views__graph": "import matplotlib\nfrom planexec_lite.board import Board",
        "mock_llm__wire": "import yaml\nfrom mock_llm.engine import answer",
        "mock_llm__engine": "",
        "planexec_lite__connect": "def f():\n    import mock_llm",
    }
    assert import_faults(tree(tmp_path, **files)) == []
    assert circle(tmp_path) == []


def test_import_circle_is_named(tmp_path: Path) -> None:
    files = {"mock_llm__a": "from . import b", "mock_llm__b": "import mock_llm.c", "mock_llm__c": "from .a import x"}
    assert set(circle(tree(tmp_path, **files))) == {"mock_llm.a", "mock_llm.b", "mock_llm.c"}


def test_import_in_a_function_is_no_circle(tmp_path: Path) -> None:
    files = {"mock_llm__a": "from . import b", "mock_llm__b": "def f():\n    from . import a"}
    assert circle(tree(tmp_path, **files)) == []


def test_long_module_is_named(tmp_path: Path) -> None:
    root = tree(tmp_path, mock_llm__long="x = 1\n" * (MOST_LINES + 1), mock_llm__fine="x = 1\n# why\n\n" * MOST_LINES)
    assert [line.split()[0] for line in long_modules(root)] == ["mock_llm.long"]


def test_code_lines_leave_out_docstrings_comments_and_blank_lines() -> None:
    assert code_lines('"""One.\n\nTwo."""\n\n# why\nx = """a\nb"""\ndef f():\n    "Say."\n    return 1\n') == 4


def test_import_is_light(tmp_path: Path) -> None:
    source = f"import sys, planexec_lite; print(sorted(set({HEAVY}) & set(sys.modules)))"
    assert books.run("-c", source, scratch=tmp_path).stdout == "[]\n"


@pytest.mark.parametrize("package", PUBLIC)
def test_public_names_are_importable(package: str) -> None:
    module = importlib.import_module(package)
    assert set(FIRST[package]) <= set(module.__all__)
    for name in module.__all__:
        assert hasattr(module, name), f"{package}.{name}"
    built = [name for name in PUBLIC[package] if hasattr(module, name)]
    assert set(built) <= set(module.__all__), "a public name is in __all__"


@pytest.mark.parametrize("name", SIGNATURES)
def test_public_signature(name: str) -> None:
    package, *path = name.split(".")
    module = thing = importlib.import_module(package)
    for part in path:
        thing = getattr(thing, part)
    assert callable(thing)
    parameters = list(inspect.signature(thing).parameters)
    due = [wanted for wanted in SIGNATURES[name] if wanted not in COMES_WITH or hasattr(module, COMES_WITH[wanted])]
    assert [wanted for wanted in due if wanted not in parameters] == []
