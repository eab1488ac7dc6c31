"""A recorded endpoint becomes a script that gives the same answers; keys are passed on and never written."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import openai
import pytest

from mock_llm import MockLLM
from mock_llm.authoring import Recorder
from mock_llm.serve import serve
from tests.mock_llm.test_wire import SCENES, completion, response

pytestmark = pytest.mark.slow

LOOPBACK = True
ASKED: list[tuple[str, dict[str, Any]]] = [
    *(("chat", completion(word)) for word in ("talk", "refuse", "total", "call", "silently")),
    ("chat", completion("talk", n=2)),
    ("responses", response("call")),
]


def words(client: openai.OpenAI, how: str, body: dict[str, Any]) -> Any:
    if how == "responses":
        response = client.responses.create(**body)
        calls = [(item.name, json.loads(item.arguments)) for item in response.output if item.type == "function_call"]
        return response.output_text, calls
    choices = client.chat.completions.create(**body).choices
    return [
        (
            choice.message.content,
            choice.message.refusal,
            choice.finish_reason,
            [call.function.arguments for call in choice.message.tool_calls or [] if call.type == "function"],
        )
        for choice in choices
    ]


def test_a_recorded_script_answers_as_the_endpoint_did(tmp_path: Path) -> None:
    out = tmp_path / "lesson.yaml"
    real = MockLLM(SCENES)
    with real.serve() as endpoint, serve(Recorder(endpoint, out).respond) as here:
        through = openai.OpenAI(api_key="sk-secret", base_url=here)
        heard = [words(through, how, body) for how, body in ASKED]
        chunks = list(through.chat.completions.create(**completion("filter"), stream=True))
        through.close()
    assert heard == [words(real.client(), how, body) for how, body in ASKED]
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == "Once upon"
    again = MockLLM.load(out)
    assert [words(again.client(), how, body) for how, body in ASKED if body.get("n") is None] == [
        answer for answer, (_, body) in zip(heard, ASKED, strict=True) if body.get("n") is None
    ]
    assert "sk-secret" not in out.read_text(encoding="utf-8")


def test_the_command_records_until_it_is_interrupted(tmp_path: Path) -> None:
    out = tmp_path / "lesson.yaml"
    with MockLLM(SCENES).serve() as endpoint:
        command = [sys.executable, "-m", "mock_llm", "record", "--to", endpoint, "--out", str(out)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as recording:
            assert recording.stdout is not None
            here = recording.stdout.readline().split(" at ")[1].split()[0]
            with openai.OpenAI(api_key="x", base_url=here) as through:
                through.chat.completions.create(**completion("talk"))
            recording.send_signal(signal.SIGTERM)
        assert recording.returncode == 0
    assert [scene.name for scene in MockLLM.load(out).scenes] == ["1: talk"]


def test_an_endpoint_that_is_not_there_is_said_plainly(tmp_path: Path) -> None:
    recorder = Recorder("http://127.0.0.1:9/v1", tmp_path / "lesson.yaml")
    with serve(recorder.respond) as here, openai.OpenAI(api_key="x", base_url=here, max_retries=0) as through:
        with pytest.raises(openai.InternalServerError, match="did not answer"):
            through.chat.completions.create(**completion("talk"))
        with pytest.raises(openai.BadRequestError, match="Expected a value <= 2"):
            through.chat.completions.create(**completion("talk", temperature=3))
    assert not (tmp_path / "lesson.yaml").exists()


def test_a_recording_is_continued_and_an_error_is_passed_on(tmp_path: Path) -> None:
    out = tmp_path / "lesson.yaml"
    with MockLLM(SCENES).serve() as endpoint:
        for word in ("talk", "total"):
            with serve(Recorder(endpoint, out).respond) as here, openai.OpenAI(api_key="x", base_url=here) as through:
                through.chat.completions.create(**completion(word))
                with pytest.raises(openai.UnprocessableEntityError, match="no scene for this request"):
                    through.chat.completions.create(**completion("unscripted"))
    assert [scene.name for scene in MockLLM.load(out).scenes] == ["1: talk", "2: total"]
