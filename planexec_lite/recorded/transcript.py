"""A transcript: what a real model said to the planner's prompt, many times over, so that it can be heard again offline.

A file of JSON lines, gzipped where its name ends so: first the `Head` (model, versions, date, settings), then each
`Variant` (goal, tools and prompt), then a `Sample` a line: the answers of one run of the planner, its repairs included.
A sample is written when it is whole, so a recording that was cut off goes on where it ended.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mock_llm import MockLLM


@dataclass(frozen=True, slots=True)
class Head:
    """Where the answers come from.

    Args:
        model: its name, size and quantization.
        sha256: of the model's file.
        packages: name -> version of what brought the model and served it.
        date: of the first answer, as "2026-11-24".
        temperature: at which every answer was sampled; at 0 there would be one answer, and no distribution.
        max_tokens: the most tokens of an answer.
        context: tokens that the model could see, the answer among them.
        slots: how many answers were written at once.
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
    """One answer: its text, why it stopped ("stop" or "length"), tokens read and written, and what it answers.

    `asked` is a digest of the conversation, so that a repair that asked otherwise is noticed.
    """

    text: str
    finish_reason: str
    input_tokens: int
    output_tokens: int
    seed: int
    asked: str


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
    # A function, because a model may write {{…}}, which a scripted text would take for a placeholder.
    usage = {"input": answer.input_tokens, "output": answer.output_tokens}
    reply = {"python": lambda _: answer.text, "broken": True, "usage": usage, "finish_reason": answer.finish_reason}
    return {"name": f"answer {number}", "when": {"counter": "answers", "turn": number}, "reply": reply}


def digest(messages: Any) -> str:
    """Return a short digest of a conversation."""
    return sha256(json.dumps(messages, sort_keys=True, ensure_ascii=False).encode()).hexdigest()[:12]


def load(path: Path | str) -> Transcript:
    """Read a transcript.

    Raises `ValueError`, with the line, for a line that is none of a head, a variant and a sample; a last line that was
    cut off while it was written is left out.
    """
    path = Path(path)
    head, variants = None, {}
    samples: dict[tuple[str, int], Sample] = {}
    for number, line in enumerate(_lines(path), 1):
        try:
            kind, value = _read(line)
        except (ValueError, TypeError, KeyError) as error:
            if not line.endswith("\n"):
                break
            raise ValueError(f"{path.name}, line {number} can't be read: {error}") from None
        if kind == "head":
            head = value
        elif kind == "variant":
            variants[value.name] = value
        else:
            samples[value.variant, value.number] = value  # the later one has more repairs
    if head is None:
        raise ValueError(f"{path.name} has no head: it is no transcript")
    order = list(variants)
    placed = sorted(samples.values(), key=lambda sample: (order.index(sample.variant), sample.number))
    return Transcript(head, variants, tuple(placed))


def _lines(path: Path) -> Iterator[str]:
    read = path.read_bytes()
    yield from (gzip.decompress(read) if path.suffix == ".gz" else read).decode().splitlines(keepends=True)


def _read(line: str) -> tuple[str, Any]:
    ((kind, value),) = json.loads(line).items()
    if kind == "head":
        return kind, Head(**value)
    if kind == "variant":
        return kind, Variant(**value)
    if kind == "sample":
        answers = tuple(RecordedAnswer(**answer) for answer in value.pop("answers"))
        return kind, Sample(**value, answers=answers)
    raise ValueError(f"it is a {kind!r}, and a line is a head, a variant or a sample")


def line_of(value: Head | Variant | Sample) -> str:
    """Return a value as its line of a transcript."""
    return json.dumps({type(value).__name__.lower(): asdict(value)}) + "\n"  # ASCII, so that a line ends nowhere else


def pack(source: Path, target: Path) -> None:
    """Write a finished recording, sorted and gzipped; the same answers give the same bytes."""
    write(load(source), target)


def write(transcript: Transcript, target: Path) -> None:
    """Write a transcript, gzipped; the same answers give the same bytes."""
    values: list[Head | Variant | Sample] = [transcript.head, *transcript.variants.values(), *transcript.samples]
    text = "".join(map(line_of, values))
    target.write_bytes(gzip.compress(text.encode(), mtime=0))
