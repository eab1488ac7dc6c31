"""The source of a backtest's answers: a recording of a model, or a client."""

from __future__ import annotations

from typing import Any, Protocol

from planexec_lab.prompts.datasets import Row
from planexec_lab.recorded import RecordedAnswer, Transcript, Variant
from planexec_lab.worlds import arithmetic
from planexec_lite.meter import Meter
from planexec_lite.model.asking import ask
from planexec_lite.model.schemas import plan_schema
from planexec_lite.roles.planners import LLMPlanner


class Answers(Protocol):
    """Gives the answer to a prompt for a row."""

    source: str
    """A description of the source."""
    written: bool
    """Whether the answers are scripted; scripted answers show a method and nothing about a model."""

    def __call__(self, text: str, row: Row) -> RecordedAnswer:
        """Return the answer. Raises `LookupError` if no answer is stored, `ValueError` for an unusable prompt."""


class _Recorded:
    def __init__(self, transcript: Transcript) -> None:
        self.transcript = transcript
        self.source = transcript.head.model
        self.written = not transcript.head.packages  # no model was served
        self._samples = {(one.variant, str(one.number)): one for one in transcript.samples}
        self._known: dict[str, Variant] = {}

    def __call__(self, text: str, row: Row) -> RecordedAnswer:
        variant = self._known.get(text) or self._known.setdefault(text, self._variant(text))
        sample = self._samples.get((variant.name, row.id))
        if sample is None or variant.goal != row.goal:
            raise LookupError(
                f"row {row.id!r} was never put to {self.source}; make the rows with rows_from_transcript of this recording"
            )
        return sample.answers[0]

    def _variant(self, text: str) -> Variant:
        asked = [one for one in self.transcript.variants.values() if one.schema and self.transcript.of(one.name)]
        for one in asked:
            if one.prompt in (text, _filled(text, one)):
                return one
        names = ", ".join(one.name for one in asked)
        raise LookupError(f"{self.source} was never asked with this text; it was asked with: {names}")


def _filled(text: str, variant: Variant) -> str:
    try:
        return LLMPlanner(None, "none", instructions=text).instructions(arithmetic.TOOLS)
    except ValueError:  # no template of the planner's: it can only be the whole prompt
        return text


def recorded_answers(transcript: Transcript) -> Answers:
    """Return the answers of a recorded model; a prompt is known by its text, whole or with the planner's fields.

    Asked with another text, or for a row of another source, it raises `LookupError`: what a model would have said is not known.
    """
    return _Recorded(transcript)


class _Asked:
    def __init__(self, client: Any, model: str | None, options: dict[str, Any]) -> None:
        self.client, self.model, self.options = client, model, options
        self.written = "mock-llm.invalid" in str(getattr(client, "base_url", ""))
        name = LLMPlanner(client, model).model
        self.source = "a scripted model: its answers were written" if self.written else name

    def __call__(self, text: str, row: Row) -> RecordedAnswer:
        planner, tools = LLMPlanner(self.client, self.model, instructions=text, **self.options), row.toolbox
        messages = planner.messages(row.goal, row.board, tools)
        with Meter() as meter:
            answer = ask(self.client, planner.model, messages, plan_schema(tools, tasks=planner.tasks), planner.bounds)
        tokens = (sum(call.input_tokens for call in meter.calls), sum(call.output_tokens for call in meter.calls))
        return RecordedAnswer(answer.text, answer.finish_reason, *tokens, 0, "")


def asked(client: Any, model: str | None = None, **options: Any) -> Answers:
    """Return the answers of a model that the kit's planner asks now, with the same board as in the run.

    Args:
        client: an `openai.OpenAI` client.
        model: its name; by default the planner's.
        options: the options of `LLMPlanner` in the runs, such as `max_steps` and `tasks`.

    Errors of the client are raised: a failing endpoint shows nothing about a prompt.
    """
    return _Asked(client, model, options)
