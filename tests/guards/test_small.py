"""The pattern stays small: lines of code, without blank lines, comments and docstrings."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LITE = ROOT / "planexec_lite"
NO_CODE = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)


def lines_of_code(path: Path) -> int:
    text = path.read_text(encoding="utf-8")
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in NO_CODE:
            lines |= {*range(token.start[0], token.end[0] + 1)}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            lines -= {*range(node.lineno, (node.end_lineno or node.lineno) + 1)}
    return len(lines)


def total(*folders: str, package: Path = LITE) -> int:
    return sum(lines_of_code(path) for folder in folders for path in sorted(package.glob(folder)))


def test_lines_are_counted_without_comments_and_docstrings(tmp_path: Path) -> None:
    file = tmp_path / "one.py"
    file.write_text(
        '"""A module."""\n\n# a comment\ndef f() -> str:\n    """It says."""\n    return """a\nb"""  # two\n'
    )
    assert lines_of_code(file) == 3


def test_the_core_and_its_capabilities_stay_small() -> None:
    assert total("core/*.py", "assembly.py") <= 1000
    house = total("core/*.py", "assembly.py", "capabilities/*.py")
    assert house <= 2910
    said = re.search(r"These three have ([\d,]+) lines of code", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert said is not None
    assert abs(int(said[1].replace(",", "")) - house) <= 60


@pytest.mark.parametrize("path", sorted(LITE.glob("capabilities/*.py")), ids=lambda path: path.stem)
def test_a_capability_is_one_short_file(path: Path) -> None:
    assert lines_of_code(path) <= 180


def test_both_packages_stay_small() -> None:
    assert total("**/*.py") <= 7575
    assert total("**/*.py", package=ROOT / "planexec_lab") <= 17_283
