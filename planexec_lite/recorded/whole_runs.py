"""Whole runs of the kit on a real model: everything that it said, in the order in which it was asked, heard again offline.

A file of JSON lines, gzipped where its name ends so: first the `Setting`, then a `RecordedRun` a line, written when it is
whole. A run is heard again by carrying it out anew: real tools in a new world, and the model's words from the recording.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

from planexec_lite.loop import Run
from planexec_lite.model import read_answer
from planexec_lite.recorded.asking import HeardResponse, hear
from planexec_lite.recorded.kit import agent
from planexec_lite.scoreboard import Task, tasks


@dataclass(frozen=True, slots=True)
class Setting:
    """Where the runs come from: model, SHA-256 of its file, packages with versions, date of the first run, temperature,
    most tokens of an answer by role, the tokens that the model could see, and SHA-256 of the chat template.
    """

    model: str
    sha256: str
    packages: dict[str, str]
    date: str
    temperature: float
    max_tokens: dict[str, int]
    context: int
    template: str


@dataclass(frozen=True, slots=True)
class Turn:
    """One answer: whose, its words, the tools it calls (name, arguments), why it stopped, tokens, seed, what it answers.

    `asked` is a digest of the conversation, so that a run that asks otherwise is noticed.
    """

    role: str
    text: str
    calls: tuple[tuple[str, str], ...]
    finish_reason: str
    input_tokens: int
    output_tokens: int
    seed: int
    asked: str


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """One run: its task, whether its first plan was given, its number, and what the model said."""

    task: str
    given: bool
    number: int
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class WholeRuns:
    """A recording of runs, read from a file by `load_runs`."""

    setting: Setting
    runs: tuple[RecordedRun, ...]

    def of(self, *, given: bool, task: str | None = None) -> tuple[RecordedRun, ...]:
        """Return the runs that began with a given plan, or with none; of one task, or of all."""
        return tuple(run for run in self.runs if run.given == given and task in (None, run.task))


class ReplayedRun(NamedTuple):
    """A run that was carried out: its task, and whether the goal is reached, looked up in its world."""

    task: Task
    run: Run
    reached: bool


def replayed(recorded: RecordedRun) -> ReplayedRun:
    """Carry out a recorded run again, with real tools and the model's recorded words.

    Raises `ValueError` where the kit asks otherwise than it did then: the runs must be recorded again.
    """
    task, client = tasks()[recorded.task], Recalled(recorded.turns)
    world = task.world()
    run = agent(client, task, world.tools, given=recorded.given).run(task.goal)
    if client.differs or client.asked < len(recorded.turns):
        raise ValueError(
            f"{recorded.task}, run {recorded.number}: question {client.asked} is not the one that was recorded, "
            "or the last; record again, as planexec_lite/recorded/README.md says"
        )
    return ReplayedRun(task, run, run.status == "finished" and task.reached(world, run))


class Recalled:
    """An openai client, as far as the kit's model layer reads one, that answers with recorded turns."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self._turns = turns
        self.asked = 0
        self.differs = False
        create = SimpleNamespace(create=self._create)
        self.chat = SimpleNamespace(completions=SimpleNamespace(with_streaming_response=create))

    def _create(self, **options: Any) -> Any:
        self.asked += 1
        if self.asked > len(self._turns) or self._turns[self.asked - 1].asked != asked(options["messages"]):
            self.differs = True
            raise ValueError("this was not asked when the run was recorded")
        turn = self._turns[self.asked - 1]
        calls = [
            {"id": f"call {self.asked}.{n}", "function": {"name": name, "arguments": arguments}}
            for n, (name, arguments) in enumerate(turn.calls)
        ]
        message = {"content": turn.text, "tool_calls": calls}
        usage = {"prompt_tokens": turn.input_tokens, "completion_tokens": turn.output_tokens}
        choice = {"message": message, "finish_reason": turn.finish_reason}
        return HeardResponse(json.dumps({"choices": [choice], "usage": usage}).encode())


class Listening:
    """An openai client that passes questions on and keeps what was said.

    Args:
        client: an `openai.OpenAI` client.
        temperature: None leaves the kit's, which is 0.
        seed: of the first answer; each further one has the next.
    """

    def __init__(self, client: Any, temperature: float | None = None, seed: int = 0) -> None:
        self._client = client
        self._temperature = temperature
        self._seed = seed
        self.turns: list[Turn] = []
        create = SimpleNamespace(create=self._create)
        self.chat = SimpleNamespace(completions=SimpleNamespace(with_streaming_response=create))

    def _create(self, **options: Any) -> Any:
        seed = self._seed + len(self.turns)
        if self._temperature is not None:
            options |= {"temperature": self._temperature, "seed": seed}
        heard = hear(self._client, options)
        answer, tokens = read_answer(heard.body)
        calls = tuple((call.name, call.arguments) for call in answer.tool_calls)
        reason = "stop" if answer.finish_reason == "tool_calls" else answer.finish_reason
        role = options["messages"][0]["content"].split()[1]
        self.turns.append(Turn(role, answer.text, calls, reason, *tokens, seed, asked(options["messages"])))
        return heard


def asked(messages: Any) -> str:
    """Return a short digest of a conversation, whatever ids the server gave to calls."""
    names = {
        call["id"]: f"call {place}"
        for place, call in enumerate(call for message in messages for call in message.get("tool_calls") or ())
    }
    text = json.dumps(messages, sort_keys=True, ensure_ascii=False)
    for id, name in names.items():
        text = text.replace(json.dumps(id), json.dumps(name))
    return sha256(text.encode()).hexdigest()[:12]


def load_runs(path: Path | str) -> WholeRuns:
    """Read a recording of runs; a last line that was cut off while it was written is left out.

    Raises `ValueError`, with the line, for a line that can't be read, and for a file without a setting.
    """
    path, setting = Path(path), None
    runs: dict[tuple[str, bool, int], RecordedRun] = {}
    read = path.read_bytes()
    text = (gzip.decompress(read) if path.suffix == ".gz" else read).decode()
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        try:
            value = _read(line)
        except (ValueError, TypeError, KeyError) as error:
            if not line.endswith("\n"):
                break
            raise ValueError(f"{path.name}, line {number} can't be read: {error}") from None
        if isinstance(value, Setting):
            setting = value
        else:
            runs[value.task, value.given, value.number] = value
    if setting is None:
        raise ValueError(f"{path.name} has no setting: it is no recording of runs")
    return WholeRuns(setting, tuple(runs[key] for key in sorted(runs)))


def _read(line: str) -> Setting | RecordedRun:
    ((kind, value),) = json.loads(line).items()
    if kind == "setting":
        return Setting(**value)
    if kind == "run":
        turns = tuple(
            Turn(**{**turn, "calls": tuple((name, arguments) for name, arguments in turn["calls"])})
            for turn in value.pop("turns")
        )
        return RecordedRun(**value, turns=turns)
    raise ValueError(f"it is a {kind!r}, and a line is a setting or a run")


def run_line(value: Setting | RecordedRun) -> str:
    """Return a value as its line of a recording."""
    kind = "setting" if isinstance(value, Setting) else "run"
    return json.dumps({kind: asdict(value)}) + "\n"  # ASCII, so that a line ends nowhere else


def pack_runs(source: Path, target: Path) -> None:
    """Write a finished recording, sorted and gzipped; the same runs give the same bytes."""
    read = load_runs(source)
    text = run_line(read.setting) + "".join(map(run_line, read.runs))
    target.write_bytes(gzip.compress(text.encode(), mtime=0))
