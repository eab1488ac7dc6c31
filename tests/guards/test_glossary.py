"""The glossary names what is there, in one order, and the code no longer says what it replaced."""

import ast
import importlib
import re
from dataclasses import fields, is_dataclass
from typing import Any

import pytest

from tests.guards.books import ROOT
from tests.guards.source_rules import all_modules

ROWS = re.findall(r"^\| ([^|]+) \| ([^|]+) \| `([\w.]+)` \|$", (ROOT / "GLOSSARY.md").read_text(encoding="utf-8"), re.M)
REPLACED = {
    "doomed": "unreachable",
    "Standing": "StepTable",
    "Frontier": "ReadyQueue",
    "Crew": "WorkerSession",
    "Said": "WorkerMessage",
    "Heard": "Progress",
    "GivenUp": "TimedOut",
    "hand_back": "requeue",
    "taken_back": "cancelled",
    "unheard": "unread_news",
    "MayStart": "StepReady",
    "Written": "StreamBuffer",
    "police": "validation",
    "plainest": "minimal",
    "granted": "granted_by (a reviewer) or grant_scope (what the reviewer allowed)",
    "Proposal": "CheckedPlan",
    "Why": "PlanReason",
    "unfit": "invalid",
    "fit_with_tools": "valid_with_tools",
    "wanting": "rejects (of a verdict) or rejected (of a board)",
}
REPLACED_BELOW_VIEWS = {  # what a text or a value is, and not that somebody said or found it
    "said": "answer, message, decision, verdict, review",
    "found": "problems, names, references, figures",
    "refused": "rejected or unsupported; a model refuses",
    "circle": "cycle",
    "fit": "valid",
}


def there(path: str) -> Any:
    """What a dotted path names; a field without a default counts."""
    parts = path.split(".")
    for n in range(len(parts), 0, -1):
        try:
            held: Any = importlib.import_module(".".join(parts[:n]))
        except ModuleNotFoundError:
            continue
        for name in parts[n:]:
            known = {one.name for one in fields(held)} if is_dataclass(held) else set()
            known |= getattr(held, "model_fields", {}).keys()
            held = getattr(held, name, name if name in known else None)
        return held
    return None


def test_the_glossary_is_in_order_and_says_each_term_once() -> None:
    terms = [term for term, _, _ in ROWS]
    assert len(terms) >= 50
    assert terms == sorted(terms)
    assert len(set(terms)) == len(terms)


@pytest.mark.parametrize(("term", "meaning", "path"), ROWS, ids=[term for term, _, _ in ROWS])
def test_what_a_term_names_is_there(term: str, meaning: str, path: str) -> None:
    assert there(path) is not None, f"{term}: there is no {path}"
    assert len(meaning) > 20


def test_the_code_uses_the_words_of_the_glossary() -> None:
    faults = []
    for module, path in all_modules(ROOT).items():
        below_views = module.startswith("planexec_l") and not module.startswith("planexec_lab.views")
        replaced = REPLACED | REPLACED_BELOW_VIEWS if below_views else REPLACED
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = {getattr(node, part, None) for node in ast.walk(tree) for part in ("id", "attr", "name", "arg")}
        names |= {path.stem}
        faults += [f"{path.name}: {name}, for {replaced[name]}" for name in names & replaced.keys() if name]
    assert faults == []
