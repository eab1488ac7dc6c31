"""`try-model` against a scripted endpoint, with the faults that real endpoints have."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mock_llm import Fault, MockLLM, Reply
from planexec_lab import your_model
from planexec_lab.__main__ import main
from planexec_lab.worlds.deploy.planner import PLANNER

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    def run(llm: MockLLM | None, *more: str, goals: tuple[str, ...] = ("deploy",)) -> int:
        arguments = ["try-model", "--file", str(tmp_path / "trials.jsonl"), *more, "--goals", *goals]
        if llm is None:
            monkeypatch.setenv("PLANEXEC_LLM", "http://127.0.0.1:9/v1")
            return main(arguments)
        with llm.serve() as url:
            monkeypatch.setenv("PLANEXEC_LLM", url)
            return main(arguments)

    return run


def scripted(**reply: Any) -> MockLLM:
    return MockLLM([{"name": "plan", "when": {"system": ["Role: planner"]}, "reply": reply}])


GOOD = {"python": PLANNER.reply}
CUT_OFF = {"text": '{"goal": "x", "steps": [', "finish_reason": "length", "broken": True}


def test_without_an_endpoint_it_says_what_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.delenv("PLANEXEC_LLM", raising=False)
    monkeypatch.chdir(tmp_path)
    assert main(["try-model"]) == 2
    assert "needs PLANEXEC_LLM: openai, or a URL" in capsys.readouterr().err


def test_without_a_key_it_names_the_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setenv("PLANEXEC_LLM", "openai")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.chdir(tmp_path)
    assert main(["try-model"]) == 2
    assert capsys.readouterr().err == "PLANEXEC_LLM=openai needs your key in OPENAI_API_KEY\n"


def test_a_dead_endpoint_ends_with_1_and_keeps_no_trial(command: Any, capsys: Capture, tmp_path: Path) -> None:
    assert command(None, "--n", "3") == 1
    assert "no answer" in capsys.readouterr().err
    assert (tmp_path / "trials.jsonl").read_text() == ""


def test_it_goes_on_after_the_trials_in_the_file(command: Any, capsys: Capture, tmp_path: Path) -> None:
    first = scripted(**GOOD)
    assert command(first, "--n", "2") == 0
    assert len(first.calls) == 2
    second = scripted(**GOOD)
    assert command(second, "--n", "3") == 0
    assert len(second.calls) == 1
    out = capsys.readouterr()
    assert "gpt-4o: 3 of 3 plans were valid at once" in out.out
    assert "3 of 3: deploy, valid at once" in out.err
    assert (tmp_path / "trials.svg").read_text().startswith("<svg")
    (tmp_path / "trials.jsonl").write_text("{}\n")
    assert command(second) == 2
    assert "line 1: this is no trial" in capsys.readouterr().err


@pytest.mark.parametrize("limit", [("--tokens", "1"), ("--dollars", "0.000001")])
def test_a_limit_stops_before_the_next_plan(command: Any, capsys: Capture, limit: tuple[str, str]) -> None:
    llm = scripted(**GOOD)
    assert command(llm, "--n", "5", *limit) == 0
    assert len(llm.calls) == 1
    assert "The limit is reached" in capsys.readouterr().err


def test_a_limit_in_dollars_needs_a_price(command: Any, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANEXEC_PLANNER_MODEL", "llama-9")
    assert command(scripted(**GOOD), "--dollars", "1") == 2
    assert "no price is known for 'llama-9'" in capsys.readouterr().err


def test_a_report_fits_into_a_terminal_and_says_that_a_price_is_unknown(
    command: Any, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLANEXEC_PLANNER_MODEL", "llama-9")
    assert command(scripted(**GOOD), "--n", "1") == 0
    out = capsys.readouterr().out
    assert "deploy: 1 valid at once\n" in out
    assert "no price is known for this model" in out
    assert max(map(len, out.splitlines())) <= 80


def test_an_answer_that_never_came_is_no_repair(command: Any, capsys: Capture) -> None:
    asked: list[Any] = []

    def reply(request: Any) -> Reply:
        asked.append(request)
        return PLANNER.reply(asked[0]) if asked[1:] else Reply(fault=Fault(kind="html"))

    assert command(scripted(python=reply), "--n", "1") == 0
    assert "deploy, valid at once" in capsys.readouterr().err


def test_a_missing_folder_is_made(command: Any, tmp_path: Path) -> None:
    file = tmp_path / "no" / "t.jsonl"
    assert command(scripted(**GOOD), "--n", "1", "--file", str(file)) == 0
    assert file.with_suffix(".svg").exists()


def test_a_cut_off_answer_is_a_fault_of_the_plan(command: Any, capsys: Capture) -> None:
    assert command(scripted(**CUT_OFF), "--n", "1") == 0
    out = capsys.readouterr().out
    assert "0 of 1 plans were valid at once" in out
    assert "faults: 3 cut_off" in out


@pytest.mark.parametrize("fault", ["rate_limit", "timeout", "dropped", "html"])
def test_an_endpoint_that_only_fails_ends_with_1(command: Any, capsys: Capture, fault: str) -> None:
    assert command(scripted(fault=fault), "--n", "2", "--timeout", "0.2") == 1
    assert "no answer" in capsys.readouterr().err


def test_a_single_429_is_retried_by_the_client(command: Any, capsys: Capture) -> None:
    llm = scripted(**GOOD, faults=["rate_limit"])
    assert command(llm, "--n", "1") == 0
    assert "1 of 1 plans were valid at once" in capsys.readouterr().out


def test_after_an_end_midway_the_rest_is_asked_later(
    command: Any, capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask, asked = your_model.try_goal, list[int]()

    def failing(planner: Any, goal: str, number: int) -> your_model.Trial:
        asked.append(number)
        if number == 9:
            raise KeyboardInterrupt
        trial = ask(planner, goal, number)
        return trial if number == 0 else replace(trial, outcome="no answer", error="429")

    monkeypatch.setattr(your_model, "try_goal", failing)
    assert command(scripted(**GOOD), "--n", "9") == 1
    assert asked == [0, 1, 2, 3]
    monkeypatch.setattr(your_model, "try_goal", ask)
    assert command(scripted(**GOOD), "--n", "9") == 0
    assert "gpt-4o: 9 of 9 plans" in capsys.readouterr().out
    monkeypatch.setattr(your_model, "try_goal", failing)
    assert command(scripted(**GOOD), "--n", "10") == 130
    assert "The same command goes on" in capsys.readouterr().err


def test_published_rows_are_drawn_beside_the_trials() -> None:
    trial = your_model.Trial("m", "deploy", 1, "valid at once", [], 10, 0.0, 1.0)
    shown = your_model.figure([trial]).text
    assert "gpt-4o, blocks" in shown
