"""Records a real model's plans: ``python -m tests.recorded.recording FILE.jsonl``, and writes them to FILE.jsonl.gz at the end.

The model is served on loopback and asked by the kit's own planner in the kit's own loop, once for each variant and number; with
``--runs`` it has every role in whole runs. An interrupted recording continues when it is started again.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import date
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from planexec_lab.recorded import roles
from planexec_lab.recorded.rules import RULES, without
from planexec_lab.recorded.transcript import Head, RecordedAnswer, Sample, Variant
from planexec_lab.recorded.whole_runs import RecordedRun, Setting, digest
from planexec_lab.scoreboard import tasks
from planexec_lab.worlds import arithmetic
from planexec_lite.agent import PlannerExecutor
from planexec_lite.assembly import Policy
from planexec_lite.capabilities.stepping import ToolExecutor
from planexec_lite.model.answer import Reading, objects
from planexec_lite.roles.planners import LLMPlanner
from planexec_lite.tools import Toolbox
from tests.recorded.small_model import TOOLS_TEMPLATE, fingerprint, model_file, served, versions

MODEL = "SmolLM2-135M-Instruct, quantized to 4 bits (Q4_1)"
TEMPERATURE, MAX_TOKENS, CONTEXT, SLOTS = 0.7, 160, 2048, 1
EACH, REPAIRED = 30, 10  # samples of each variant, and how many of the first ones may be repaired
SEEDS_APART = 100  # the answers of one sample have seeds that follow each other
RUNS_CONTEXT, RUNS_SEEDS_APART = 4096, 1000  # the same of whole runs


class HeardResponse:
    """A response that was read already, as the kit's model layer reads one from an openai client."""

    def __init__(self, body: bytes, headers: Any = ()) -> None:
        self.body, self.headers = body, dict(headers)

    def __enter__(self) -> HeardResponse:
        return self

    def __exit__(self, *exc: object) -> None:
        pass

    def iter_bytes(self) -> Iterator[bytes]:
        yield self.body


class Listening:
    """An openai client that passes questions on at a temperature and with a seed, and keeps what was said."""

    def __init__(self, client: Any, temperature: float, seed: int, schema: bool = True) -> None:
        self._client, self._temperature, self._seed, self._schema = client, temperature, seed, schema
        self.answers: list[RecordedAnswer] = []
        create = SimpleNamespace(create=self._create)
        self.chat = SimpleNamespace(completions=SimpleNamespace(with_streaming_response=create))

    def _create(self, **options: Any) -> HeardResponse:
        seed, messages = self._seed + len(self.answers), options["messages"]
        options |= {"temperature": self._temperature, "seed": seed}
        if not self._schema:
            options.pop("response_format", None)
        with self._client.chat.completions.with_streaming_response.create(**options) as response:
            heard = HeardResponse(b"".join(response.iter_bytes()), response.headers)
        reading = Reading()
        for sent in objects([heard.body]):
            reading.add(sent)
        answer, tokens = reading.answer(), [count or 0 for count in reading.tokens]
        reason = "stop" if answer.finish_reason == "tool_calls" else answer.finish_reason
        role, calls = (
            messages[0]["content"].split()[1],
            tuple((call.name, call.arguments) for call in answer.tool_calls),
        )
        self.answers.append(RecordedAnswer(answer.text, reason, *tokens, seed, digest(messages), role, calls))
        return heard


class PlannerWithout(LLMPlanner):
    """The kit's planner without a rule of its instructions, or with all rules (None)."""

    def __init__(self, client: Any, left_out: str | None, **options: Any) -> None:
        super().__init__(client, **options)
        self.left_out = left_out

    def instructions(self, tools: Toolbox) -> str:
        whole = super().instructions(tools)
        return whole if self.left_out is None else without(whole, self.left_out)


def variants(goal: str = "What is 12 + 5?", repairs: int = 2) -> list[Variant]:
    """The requests, the most important first: whole, without the schema, and without each rule."""
    whole = LLMPlanner(None).instructions(arithmetic.TOOLS)
    return [
        Variant("whole", "arithmetic", goal, None, True, repairs, whole),
        Variant("without the schema", "arithmetic", goal, None, False, 0, whole),
        *(Variant(f"without {rule}", "arithmetic", goal, rule, True, 0, without(whole, rule)) for rule in RULES),
    ]


def sample(client: Any, variant: Variant, number: int, head: Head) -> Sample:
    """Let the kit's planner ask for one plan in the kit's loop, which sends an invalid one back."""
    asked = Listening(client, head.temperature, SEEDS_APART * number, variant.schema)
    planner = PlannerWithout(asked, variant.left_out, max_tokens=head.max_tokens)
    policy = Policy(max_repairs=variant.repairs if number <= REPAIRED else 0)
    PlannerExecutor(planner, ToolExecutor(arithmetic.TOOLS), policy=policy).run(variant.goal)
    return Sample(variant.name, number, tuple(asked.answers))


@contextmanager
def continued(path: Path, first: Iterable[Any]) -> Iterator[tuple[list[Any], Any]]:
    """Yield what a recording holds so far, and a function that writes one more value; in the end the file is packed."""
    text = path.read_text("utf-8") if path.exists() else "".join(map(line_of, first))
    text = text[: text.rfind("\n") + 1]  # a line that was cut off is recorded again
    path.write_text(text, "utf-8")
    with path.open("a", encoding="utf-8") as file:

        def write(value: Any) -> None:
            file.write(line_of(value))
            file.flush()

        yield [json.loads(line) for line in text.splitlines()], write
    Path(f"{path}.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))  # the same answers give the same bytes


def line_of(value: Any) -> str:
    kind = {"RecordedRun": "run"}.get(type(value).__name__, type(value).__name__.lower())
    return json.dumps({kind: asdict(value)}) + "\n"  # ASCII, so that a line ends nowhere else


def record(client: Any, path: Path, head: Head, asked: list[Variant], each: int = EACH) -> None:
    """Write `each` samples of every variant to `path`; what is there already is kept."""
    with continued(path, [head, *asked]) as (there, write):
        known = {(one["sample"]["variant"], one["sample"]["number"]) for one in there if "sample" in one}
        for variant in asked:
            for number in range(1, each + 1):
                if (variant.name, number) not in known:
                    write(sample(client, variant, number, head))
            print(f"{variant.name}: {each} samples", flush=True)


def record_run(client: Any, name: str, given: bool, number: int) -> RecordedRun:
    task, asked = tasks()[name], Listening(client, TEMPERATURE, RUNS_SEEDS_APART * number)
    roles.agent(asked, task, task.world().tools, given=given).run(task.goal)
    return RecordedRun(name, given, number, tuple(asked.answers))


def record_runs(client: Any, path: Path, setting: Setting, worlds: Iterable[str] = roles.WORLDS, each: int = 6) -> None:
    """Write `each` runs of every task to `path`, with a plan given and with none; what is there already is kept."""
    with continued(path, [setting]) as (there, write):
        known = {(one["run"]["task"], one["run"]["given"], one["run"]["number"]) for one in there if "run" in one}
        wanted = [(name, given, number) for name in worlds for given in (False, True) for number in range(1, each + 1)]
        for one in wanted:
            if one not in known:
                write(record_run(client, *one))


def main() -> None:
    from openai import OpenAI

    parser = argparse.ArgumentParser(prog="python -m tests.recorded.recording", description=__doc__)
    parser.add_argument("file", type=Path, help="JSON lines; the recording is continued where it ends")
    parser.add_argument("--runs", action="store_true", help="whole runs, in which the model has every role")
    options, file = parser.parse_args(), model_file()
    about = (MODEL, fingerprint(file), versions(), date.today().isoformat(), TEMPERATURE)
    context, template = (RUNS_CONTEXT, TOOLS_TEMPLATE) if options.runs else (CONTEXT, "")
    with served(file, context=context, template=template) as url:
        client = OpenAI(base_url=url, api_key="none", max_retries=0, timeout=3600)
        if options.runs:
            template_hash = sha256(TOOLS_TEMPLATE.encode()).hexdigest()
            record_runs(client, options.file, Setting(*about, dict(roles.MAX_TOKENS), context, template_hash))
        else:
            record(client, options.file, Head(*about, MAX_TOKENS, context, SLOTS), variants())


if __name__ == "__main__":
    main()
