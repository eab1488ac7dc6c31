"""Evaluators judge whether a result meets its success criterion: accept, retry, modify the task, or replan, with a reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from planexec_lite.assembly import Board
from planexec_lite.capabilities.judging import Verdict
from planexec_lite.model.answer import Message
from planexec_lite.model.asking import Bounds, ask, model_for
from planexec_lite.model.prompt_text import (
    DATA_RULE,
    SHORT,
    conversation,
    data_line,
    one_line,
    shortened,
)
from planexec_lite.model.schemas import closed
from planexec_lite.plan import Step
from planexec_lite.plan.data import read_json
from planexec_lite.plan.reading import unfenced


class Evaluator(Protocol):
    """Judges the results of steps that have a success criterion."""

    def evaluate(self, step: Step, result: Any, board: Board) -> Verdict:
        """Return the verdict about `result`. If it raises an error, the step counts as done and unverified."""


class RuleEvaluator:
    """Judges by a rule.

    Args:
        rule: a function of the step and its result. It returns True or None to accept; False or a reason to replan; or a `Verdict`.
    """

    def __init__(self, rule: Callable[[Step, Any], Verdict | bool | str | None]) -> None:
        self.rule = rule

    def evaluate(self, step: Step, result: Any, board: Board) -> Verdict:
        """Return the rule's verdict."""
        del board  # a rule judges the result alone
        answer = self.rule(step, result)
        if isinstance(answer, Verdict):
            return answer
        if answer is None or answer is True:
            return Verdict("accept")
        reason = str(answer) if answer else f"not met: {step.success_criteria}"
        return Verdict("replan", reason)


class LLMEvaluator:
    """Judges by asking a model. The model reads the criterion, the result and the steps before, and has no tools.

    Args:
        client: an `openai.OpenAI` client; `connect` returns one.
        model: the model's name; by default ``PLANEXEC_EVALUATOR_MODEL`` in the environment, or a strong model.
        max_tokens: the most tokens of an answer; by default ``PLANEXEC_EVALUATOR_MAX_TOKENS`` in the environment, or 512.
        max_prompt: the most characters of the question; by default ``PLANEXEC_EVALUATOR_MAX_PROMPT``, or 60,000. A
            longer result is shortened, with a note.
    """

    def __init__(
        self,
        client: Any,
        model: str | None = None,
        *,
        max_tokens: int | None = None,
        max_prompt: int | None = None,
    ) -> None:
        self.client = client
        self.model = model or model_for("evaluator")
        self.bounds = Bounds.of("evaluator", max_tokens, max_prompt)

    def evaluate(self, step: Step, result: Any, board: Board) -> Verdict:
        """Ask the model. Raises `ValueError` if the answer is cut off or not a verdict, and the client's errors."""
        answer = ask(
            self.client,
            self.model,
            self.messages(step, result, board),
            VERDICT_SCHEMA,
            self.bounds,
        )
        if problem := answer.problem:
            raise ValueError(f"the evaluator: {problem.message}: {shortened(answer.text, 200)}")
        try:
            data = read_json(unfenced(answer.text))
            task, rejects = data["task"], data["rejects"]
            # a task that is no text is dropped; the verdict counts without it
            changed = task if task and isinstance(task, str) else None
            if rejects not in board.results:  # a model can name an unknown step
                rejects = None
            return Verdict(data["verdict"], data["reason"], changed, rejects)
        except (KeyError, TypeError, ValueError) as error:
            words = shortened(answer.text, SHORT)
            raise ValueError(
                f"the evaluator's answer is not a verdict ({error}): {words}"
            ) from None

    def messages(self, step: Step, result: Any, board: Board) -> list[Message]:
        """The conversation for the model. Long results and long lists of steps are shortened; the criterion stays whole."""
        most = self.bounds.max_prompt // 3
        done = [f"- step {other}, {_described(board.steps[other])}" for other in board.done]
        before = "\n".join(done)
        question = [
            f"Done before:\n{shortened(before, most) or '- nothing'}\n",
            f"Task {step.id}: {_described(step)}",
            f"Success criterion: {one_line(step.success_criteria or '')}",
            DATA_RULE,
            f"Result: {data_line(result, most)}",
        ]
        return conversation(_INSTRUCTIONS, "\n".join(question))


def _described(step: Step) -> str:
    return one_line(step.description or str(step))


VERDICT_SCHEMA = closed(
    verdict={"type": "string", "enum": ["accept", "retry", "modify", "replan"]},
    reason={"type": "string"},
    task={"type": ["string", "null"], "description": "with modify: the task, better put"},
    rejects={"type": ["string", "null"], "description": "the id of a done step that is at fault"},
)

_INSTRUCTIONS = """\
Role: evaluator

You judge whether a task was completed. You see its success criterion and its result; you do not do any work.

- accept: the result meets the criterion.
- retry: the same task may well succeed at a second try.
- modify: the task was put badly; write it better.
- replan: something else has to be done first. If an earlier step is at fault, name it in rejects.

Give the reason in one sentence. Answer with JSON alone."""
