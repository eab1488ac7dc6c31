"""The pattern stays small: tokens of code, without comments and docstrings."""

import ast
import importlib
import io
import re
import tokenize
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.guards.books import ROOT
from tests.guards.source_rules import all_modules

LITE = ROOT / "planexec_lite"
NO_CODE = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)


@cache
def code_of(path: Path) -> tuple[int, int]:
    """The tokens of code in a module, and the lines that have some."""
    text = path.read_text(encoding="utf-8")
    docstrings = {
        (node.lineno, node.col_offset)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    }
    tokens = [
        token
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type not in NO_CODE and token.start not in docstrings
    ]
    lines = {line for token in tokens for line in range(token.start[0], token.end[0] + 1)}
    return len(tokens), len(lines)


def tokens_of_code(path: Path) -> int:
    return code_of(path)[0]


def lines_of_code(path: Path) -> int:
    return code_of(path)[1]


def total(*folders: str, package: Path = LITE) -> int:
    return sum(tokens_of_code(path) for folder in folders for path in sorted(package.glob(folder)))


SLACK = 1.03  # a capability more does not fail a test


def test_the_core_and_its_capabilities_stay_small() -> None:
    assert total("core/*.py", "assembly.py") <= 9_200 * SLACK
    house = total("core/*.py", "assembly.py", "capabilities/*.py")
    assert house <= 32_400 * SLACK
    said = re.search(
        r"These three have ([\d,]+) tokens of code", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    )
    assert said is not None
    assert abs(int(said[1].replace(",", "")) - house) <= 1000


@pytest.mark.parametrize("path", sorted(LITE.glob("capabilities/*.py")), ids=lambda path: path.stem)
def test_a_capability_is_one_short_file(path: Path) -> None:
    assert tokens_of_code(path) <= 2_650


def test_the_packages_stay_small() -> None:
    assert total("**/*.py") <= 71_000 * SLACK
    assert total("**/*.py", package=ROOT / "planexec_lab") <= 170_000 * SLACK
    assert total("**/*.py", package=ROOT / "mock_llm") <= 64_300 * SLACK
    assert total("**/*.py", package=ROOT / "exercises") <= 122_000


def test_a_line_of_the_pattern_carries_one_thought() -> None:
    lines = sum(lines_of_code(path) for path in LITE.rglob("*.py"))
    assert total("**/*.py") / lines <= 8.8


ROWS = re.findall(r"^\| ([^|]+) \| ([^|]+) \| `([\w.]+)` \|$", (ROOT / "GLOSSARY.md").read_text(encoding="utf-8"), re.M)
REPLACED = {  # what a text or a value is, and not that somebody said or found it
    "said": "answer, message, decision, verdict, review",
    "found": "problems, names, references, figures",
    "refused": "rejected or unsupported; a model refuses",
    "circle": "cycle",
    "fit": "valid",
}


def there(path: str) -> Any:
    """The object of a dotted path; a field without a default counts."""
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
        if not module.startswith("planexec_l") or module.startswith("planexec_lab.views"):
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = {getattr(node, part, None) for node in ast.walk(tree) for part in ("id", "attr", "name", "arg")}
        names |= {path.stem}
        faults += [f"{path.name}: {name}, for {REPLACED[name]}" for name in names & REPLACED.keys() if name]
    assert faults == []
