"""mock_llm/README.md: every snippet runs and prints what it promises, and the table of faults is what clients show."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any, get_args

import openai
import pytest

import mock_llm
from mock_llm import MockLLM, Reply, When
from mock_llm.script.corruption import CORRUPTIONS
from mock_llm.script.replies import KINDS
from mock_llm.types.faults import Kind

LOOPBACK = True
PAGE = (Path(mock_llm.__file__).parent / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)


def test_every_snippet_runs_and_prints_what_it_promises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    printed = io.StringIO()
    ran = 0
    for kind, text in BLOCK.findall(PAGE):
        if kind == "yaml":
            Path("sums.yaml").write_text(text, encoding="utf-8")
            assert MockLLM.load("sums.yaml").scenes
        elif kind == "python":
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(text, "README.md", "exec"), names)
            ran += 1
        elif kind == "text":
            assert printed.getvalue() == text
        else:
            assert kind == "sh"
            assert all(line.startswith("python -m mock_llm ") for line in text.splitlines())
    assert ran >= 7


def cells(row: str) -> list[str]:
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", row)[1:-1]]


def table(heading: str) -> list[list[str]]:
    rows = PAGE[PAGE.index(f"\n| {heading} |") :].lstrip("\n").split("\n\n")[0].splitlines()
    return [cells(row) for row in rows[2:]]


def shown(kind: str, stream: bool) -> str:
    """What the client shows for a fault, in the words of the table."""
    llm = MockLLM([{"name": "one", "reply": {"text": "one two three four", "fault": kind}}])
    client = llm.client(max_retries=0, timeout=5)
    try:
        response = client.chat.completions.create(model="m", messages=[{"role": "user", "content": "x"}], stream=stream)
        if isinstance(response, str):
            return "a web page as `str`"
        chunks = list(response)
        if not chunks:
            return "an empty stream"
        assert isinstance(chunks[-1], openai.types.chat.ChatCompletionChunk)
        return "a stream without `finish_reason`" if chunks[-1].choices[0].finish_reason is None else "a whole stream"
    except openai.UnprocessableEntityError:
        return "refused"
    except (openai.APIError, ValueError) as error:
        return type(error).__name__


def test_the_table_of_faults_is_what_the_client_shows() -> None:
    rows = table("fault")
    assert [row[0].strip("`") for row in rows] == list(get_args(Kind))
    for kind, plain, stream, _ in rows:
        assert (shown(kind.strip("`"), False), shown(kind.strip("`"), True)) == (plain, stream), kind


def test_every_condition_reply_and_spoil_is_on_the_page() -> None:
    conditions = " ".join(row[0] for row in table("condition"))
    assert [name for name in When.__dataclass_fields__ if f"{name}:" not in conditions] == []
    replies = " ".join(row[0] for row in table("reply"))
    assert [name for name in (*Reply.__dataclass_fields__, *KINDS) if f"`{name}" not in replies] == []
    assert [name for name in CORRUPTIONS if f"`{name}`" not in PAGE] == []
