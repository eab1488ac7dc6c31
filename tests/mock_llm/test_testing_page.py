"""mock_llm/TESTING.md: its project runs under pytest as it stands there, and what it prints is so."""

from __future__ import annotations

import contextlib
import io
import os
import re
from pathlib import Path
from typing import Any, get_args

import pytest

import mock_llm
from mock_llm import MockLLM
from mock_llm.pytest_plugin import Transport, Unused
from mock_llm.script import Dialogue
from tests.guards import books
from tests.guards.books import ROOT
from tests.guards.readme_rules import BLOCK, links, snippets

pytestmark = pytest.mark.slow  # each test starts pytest in a process of its own

LOOPBACK = True
PAGE = (Path(mock_llm.__file__).parent / "TESTING.md").read_text(encoding="utf-8")
NAMED = re.compile(r"# ([a-z_]+\.(?:py|yaml))\n")
FILES = {name[1]: text for _, text in BLOCK.findall(PAGE) if (name := NAMED.match(text))}


def test_the_project_of_the_page_passes_and_fails_as_it_says(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    paths = os.pathsep.join([str(books.NETWORK_CUT), str(folder)])
    options = ["-p", "no:cacheprovider", "-p", "no:xdist", "-rA", "--color=no"]
    done = books.run("-m", "pytest", *options, scratch=tmp_path, cwd=folder, PYTHONPATH=paths)
    (promised,) = [text for kind, text in BLOCK.findall(PAGE) if kind == "text" and text.startswith("FAILED ")]
    missing = [line for line in promised.splitlines() if line not in done.stdout]
    assert missing == [], done.stdout
    assert "4 passed" in done.stdout
    assert "1 failed" in done.stdout
    assert books.attempts(tmp_path) == ""


def test_the_other_snippets_print_what_the_page_says() -> None:
    names: dict[str, Any] = {}
    ran = [snippet for snippet in snippets(PAGE) if not NAMED.match(snippet.source)]
    for snippet in ran:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(snippet.source, "TESTING.md", "exec"), names)
        assert printed.getvalue() == snippet.promised
    assert len(ran) == 2


def test_every_word_and_every_switch_is_on_the_page() -> None:
    words = [name for name, value in vars(Dialogue).items() if callable(value) and not name.startswith("_")]
    assert [word for word in [*words, "when"] if f"`.{word}(" not in PAGE] == []
    for name, kinds in {"unused": Unused, "transport": Transport}.items():
        assert any(f'{name}="{kind}"' in PAGE for kind in get_args(kinds))
        assert f"mock_llm_{name}" in PAGE
    assert callable(MockLLM.to_yaml)


def test_the_commands_are_those_of_the_distribution(capsys: pytest.CaptureFixture[str]) -> None:
    from mock_llm.__main__ import main

    with pytest.raises(SystemExit):
        main(["--help"])
    known = capsys.readouterr().out
    named = re.findall(r"mock-llm (serve|check|record|\w+) ", PAGE)
    assert set(named) == {"serve", "check", "record"}
    assert [name for name in named if name not in known] == []
    assert (ROOT / "distributions" / "mock-llm").is_dir()
    assert "./distributions/mock-llm[" in PAGE


def test_links_of_the_page_lead_somewhere() -> None:
    assert [link for link in links(PAGE) if not (ROOT / "mock_llm" / link).exists()] == []
