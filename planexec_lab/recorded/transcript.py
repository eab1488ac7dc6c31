"""Many answers of a real model to the planner's prompt, for offline replay.

A file of JSON lines, gzipped if its name says so: first the `Head` (model, versions, date, settings), then each `Variant`
(goal, tools and prompt), then one `Sample` on each line: the planner's answers in a run, with its repairs.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mock_llm import MockLLM


@dataclass(frozen=True, slots=True)
class Head:
    """The origin of the answers.

    Args:
        model: its name, size and quantization.
        sha256: of the model's file.
        packages: name -> version of the packages that contain and serve the model.
        date: of the first answer, as "2026-11-24".
        temperature: of all answers; at 0 there would be one answer, and no distribution.
        max_tokens: the most tokens of an answer.
        context: context window in tokens, including the answer.
        slots: number of answers written at once.
    """

    model: str
    sha256: str
    packages: dict[str, str]
    date: str
    temperature: float
    max_tokens: int
    context: int
    slots: int


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to ask.

    Args:
        name: such as "whole", or "without ids".
        world: whose tools the planner was shown.
        goal: what was asked for.
        left_out: the rule of the planner's instructions that was left out; None: none.
        schema: whether the answer was held to the schema of plans while it was written.
        repairs: how often an invalid plan went back.
        prompt: the system prompt, word for word.
    """

    name: str
    world: str
    goal: str
    left_out: str | None
    schema: bool
    repairs: int
    prompt: str


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """One answer.

    Args:
        text: its words.
        finish_reason: why it stopped: "stop" or "length".
        input_tokens: that were read.
        output_tokens: that were written.
        seed: with which it was sampled.
        asked: a digest of the conversation, so that a question that is not the recorded one is noticed.
        role: who asked.
        calls: the tools that the answer calls: name and arguments, as they were written.
    """

    text: str
    finish_reason: str
    input_tokens: int
    output_tokens: int
    seed: int
    asked: str
    role: str = "planner"
    calls: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Sample:
    """One run of the planner: the first answer, and one more for each repair that was needed."""

    variant: str
    number: int
    answers: tuple[RecordedAnswer, ...]


@dataclass(frozen=True, slots=True)
class Transcript:
    """A recording, read from a file by `load`."""

    head: Head
    variants: dict[str, Variant]
    samples: tuple[Sample, ...] = field(repr=False)

    def of(self, variant: str) -> tuple[Sample, ...]:
        """Return the samples of a variant, by number. Raises `KeyError`, which names the variants, for an unknown one."""
        if variant not in self.variants:
            raise KeyError(f"there is no variant {variant!r}; there are: {', '.join(self.variants)}")
        return tuple(sample for sample in self.samples if sample.variant == variant)


def replay(answers: Sequence[RecordedAnswer]) -> MockLLM:
    """Return a scripted model that says what the real one said, answer by answer; its `client` is the genuine one."""
    from mock_llm import MockLLM

    return MockLLM([_scene(number, one) for number, one in enumerate(answers, 1)])


def _scene(number: int, answer: RecordedAnswer) -> Any:
    from mock_llm import Reply, ToolUse, Usage

    reply = Reply(
        text=answer.text,
        calls=[ToolUse(name, arguments) for name, arguments in answer.calls],
        usage=Usage(answer.input_tokens, answer.output_tokens),
        finish_reason=answer.finish_reason,  # type: ignore[arg-type]
        broken=True,
    )
    # A function, because a model may write {{…}}, which a scripted text would take for a placeholder.
    return {
        "name": f"answer {number}",
        "when": {"counter": "answers", "turn": number},
        "reply": {"python": lambda _: reply, "broken": True},
    }


def load(path: Path | str) -> Transcript:
    """Read a transcript. Raises `ValueError` with the number of a line that is neither head, variant nor sample."""
    head, variants, samples = None, dict[str, Variant](), list[Sample]()
    for kind, value in read_lines(path, {"head": Head, "variant": Variant, "sample": _sample}):
        if kind == "head":
            head = value
        elif kind == "variant":
            variants[value.name] = value
        else:
            samples.append(value)
    if head is None:
        raise ValueError(f"{path} has no head: it is no transcript")
    return Transcript(head, variants, tuple(samples))


def _sample(variant: str, number: int, answers: list[Any]) -> Sample:
    return Sample(variant, number, tuple(RecordedAnswer(**answer) for answer in answers))


def read_lines(path: Path | str, kinds: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield each line of a recording as its kind and what `kinds` makes of it. Raises `ValueError`, with the line."""
    path = Path(path)
    content = path.read_bytes()
    for number, line in enumerate((gzip.decompress(content) if path.suffix == ".gz" else content).splitlines(), 1):
        try:
            ((kind, value),) = json.loads(line).items()
            made = kinds[kind](**value)
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            raise ValueError(
                f"{path.name}, line {number} can't be read ({type(error).__name__}: {error}); a line is one of: {', '.join(kinds)}"
            ) from None
        yield kind, made
