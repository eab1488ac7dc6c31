"""The table of evidence: every row is the verdict that is given here, and a script can do without those nobody has seen."""

from __future__ import annotations

import json
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import openai
import pytest

from mock_llm import MockLLM, ScriptError
from mock_llm.api import chat, responses
from mock_llm.api.evidence import Verdict, is_seen, verdicts
from mock_llm.api.model_profiles import AS_OF, PROFILES, profile_of

VALIDATE = {"chat": chat.validate, "responses": responses.validate}
UNSEEN: Any = {"model": "m", "messages": [{"role": "user", "content": "hi", "contents": "x"}], "top_p": 1.5}
SEEN: Any = {"model": "m", "messages": [{"role": "user", "content": None}]}


@pytest.mark.parametrize("row", verdicts(), ids=lambda row: None)
def test_each_row_is_the_verdict_that_is_given(row: Verdict) -> None:
    error = VALIDATE[row.api](row.request)
    if row.verdict == "accepted":
        assert error is None
        return
    assert error is not None
    assert (error.status, error.type) == (400, "invalid_request_error")
    assert error.message.split("\n[mock_llm] ")[0] == row.error["says"]
    assert (error.param, error.code) == (row.error["param"], row.error["code"])


@pytest.mark.parametrize("row", [row for row in verdicts() if row.seen], ids=lambda row: None)
def test_each_source_has_a_kind_a_place_and_a_date(row: Verdict) -> None:
    assert set(row.seen) == {"in", "where", "on"}
    assert row.seen["in"] in ("issue", "schema")
    assert row.seen["where"].startswith("https://" if row.seen["in"] == "issue" else "openai ")
    assert date.fromisoformat(row.seen["on"]) <= date.fromisoformat(AS_OF)


def test_no_request_stands_in_the_table_twice() -> None:
    counts = Counter((row.api, json.dumps(row.request, sort_keys=True)) for row in verdicts())
    assert max(counts.values()) == 1
    assert len(counts) >= 250


@pytest.mark.parametrize(
    "row", [row for row in verdicts() if row.verdict == "refused" and row.seen], ids=lambda row: None
)
def test_what_a_row_has_seen_counts_as_seen(row: Verdict) -> None:
    error = VALIDATE[row.api](row.request)
    assert error is not None
    assert is_seen(row.api, error)


def test_what_was_seen_is_seen_under_other_names_too() -> None:
    function = {"name": "other", "parameters": {"type": "object", "properties": {"list": {"type": "array"}}}}
    error = chat.validate({**UNSEEN, "top_p": 1, "tools": [{"type": "function", "function": function}]})
    assert error is not None
    assert not is_seen("chat", error)  # an unknown field of a message comes first
    messages = [{"role": "user", "content": "hi"}]
    error = chat.validate({"model": "m", "messages": messages, "tools": [{"type": "function", "function": function}]})
    assert error is not None
    assert is_seen("chat", error)


def script(tmp_path: Path, head: str) -> MockLLM:
    path = tmp_path / "hello.yaml"
    path.write_text(f"{head}scenes:\n- name: greet\n  reply: {{text: hello}}\n")
    return MockLLM.load(path)


def test_a_script_can_do_without_verdicts_that_nobody_has_seen(tmp_path: Path) -> None:
    lenient = script(tmp_path, "unseen: accept\n").client()
    assert lenient.chat.completions.create(**UNSEEN).choices[0].message.content == "hello"
    with pytest.raises(openai.BadRequestError, match="expected a string, got null"):
        lenient.chat.completions.create(**SEEN)
    with pytest.raises(openai.BadRequestError, match="not supported by mock_llm"):
        lenient.chat.completions.create(**{**UNSEEN, "logprobs": True})
    for head in ("", "unseen: refuse\n"):
        with pytest.raises(openai.BadRequestError, match=r"Expected a value <= 1"):
            script(tmp_path, head).client().chat.completions.create(**UNSEEN)


def test_a_script_that_says_otherwise_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ScriptError, match=r"hello\.yaml:1: unseen is 'refuse' or 'accept', not 'maybe'"):
        script(tmp_path, "unseen: maybe\n")


def test_a_model_of_the_scripts_own_has_no_profile() -> None:
    assert profile_of("any-name") is None
    assert profile_of("gpt-5-mini-2025-08-07") is profile_of("gpt-5")
    assert len({profile.names for profile in PROFILES}) == len(PROFILES)
