"""The source of a backtest's answers: a recording of a model, or a client."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from planexec_lab.prompts.datasets import Row
from planexec_lab.recorded import RecordedAnswer, Transcript, Variant
from planexec_lab.worlds import arithmetic
from planexec_lite.meter import Meter
from planexec_lite.model.asking import ask
from planexec_lite.model.schemas import plan_schema
from planexec_lite.roles.planners import LLMPlanner


@dataclass(frozen=True, slots=True)
class Answers:
    """A source of answers.

    Args:
        source: a description of the source.
        written: whether the answers are scripted; scripted answers show a method and nothing about a model.
        answer: returns the answer to the text of a prompt for a row. Raises `LookupError` if no answer is stored, `ValueError`
            for an unusable prompt.
    """

    source: str
    written: bool
    answer: Callable[[str, Row], RecordedAnswer]


def recorded_answers(transcript: Transcript) -> Answers:
    """Return the answers of a recorded model; a prompt is known by its text, whole or with the planner's fields.

    Asked with another text, or for a row of another source, it raises `LookupError`: what a model would have said is not known.
    """
    source = transcript.head.model
    samples = {(sample.variant, str(sample.number)): sample for sample in transcript.samples}
    variants = [one for one in transcript.variants.values() if one.schema and transcript.of(one.name)]

    @cache
    def variant_of(text: str) -> Variant:
        texts = text, _filled(text)
        for variant in variants:
            if variant.prompt in texts:
                return variant
        names = ", ".join(variant.name for variant in variants)
        raise LookupError(f"{source} was never asked with this text; it was asked with: {names}")

    def answer(text: str, row: Row) -> RecordedAnswer:
        variant = variant_of(text)
        sample = samples.get((variant.name, row.id))
        if sample is None or variant.goal != row.goal:
            raise LookupError(
                f"row {row.id!r} was never put to {source}; make the rows with rows_from_transcript of this recording"
            )
        return sample.answers[0]

    written = not transcript.head.packages  # no model was served
    return Answers(source, written, answer)


def _filled(text: str) -> str:
    try:
        return LLMPlanner(None, "none", instructions=text).instructions(arithmetic.TOOLS)
    except ValueError:  # no template of the planner's: it can only be the whole prompt
        return text


def asked(client: Any, model: str | None = None, **options: Any) -> Answers:
    """Return the answers of a model that the kit's planner asks now, with the same board as in the run.

    Args:
        client: an `openai.OpenAI` client.
        model: its name; by default the planner's.
        options: the options of `LLMPlanner` in the runs, such as `max_steps` and `tasks`.

    Errors of the client are raised: a failing endpoint shows nothing about a prompt.
    """

    def answer(text: str, row: Row) -> RecordedAnswer:
        planner, tools = LLMPlanner(client, model, instructions=text, **options), row.toolbox
        messages = planner.messages(row.goal, row.board, tools)
        with Meter() as meter:
            answer = ask(client, planner.model, messages, plan_schema(tools, tasks=planner.tasks), planner.bounds)
        tokens = (sum(call.input_tokens for call in meter.calls), sum(call.output_tokens for call in meter.calls))
        return RecordedAnswer(answer.text, answer.finish_reason, *tokens, 0, "")

    written = "mock-llm.invalid" in str(getattr(client, "base_url", ""))
    source = "a scripted model: its answers were written" if written else LLMPlanner(client, model).model
    return Answers(source, written, answer)
