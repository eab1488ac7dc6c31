"""Planners: who decides. They differ in one thing only, how far ahead they look.

All follow one protocol, ``plan(goal, board, tools) -> Plan``. A plan with ``complete=False`` asks to be continued: the
planner is called again when its steps are done, with the board that shows their results. A planner never calls a tool.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Protocol

from planexec_lite.assembly import Board
from planexec_lite.model import SHORT, Answer, Bounds, Message, ask, ask_streaming, listed, model_for, shortened
from planexec_lite.model.marking import one_line
from planexec_lite.model.schemas import plan_schema
from planexec_lite.plan import Plan, PlanError, Problem, Step, StepReader
from planexec_lite.roles.telling import AS_DATA, Telling, record
from planexec_lite.template import check, fill
from planexec_lite.tools import Toolbox

__all__ = ["INSTRUCTIONS", "LLMPlanner", "NextStepPlanner", "Planner", "RulePlanner"]

INSTRUCTIONS = """\
Role: planner

You plan; somebody else carries the plan out. Never work out a result yourself.

Tools:
{tools}

Rules:
- {step}
- Give every step an id of its own: "1", "2", "3".
- depends_on lists the steps that must be done first. Steps that do not depend on each other may run at the same time.
- success_criteria says how to tell from a step's result that it did what it should; null if any result will do.
- Verify: where a result may be wrong without an error, add a step that checks it before others build on it.
- Say what may fail: put what can't be undone behind what tests it. rollback lists the calls that make things good again;
  leave it empty if there is nothing to undo.
- {span}
- Answer with JSON alone."""
"""What the planner is told: its tools, its rules, how far it is to plan. A text with three fields (`template`)."""

FIELDS = ("tools", "step", "span")  # of the instructions: the tools; what a step is; how far ahead


class Planner(Protocol):
    """Writes plans."""

    def plan(self, goal: str, board: Board, tools: Toolbox) -> Plan:
        """Return the steps towards `goal` that are still to be done.

        `board` shows what is done, with results, and what was wrong with the last answer (`problems`). Raises
        `PlanError` when the answer is no plan.
        """


class RulePlanner:
    """A planner made of rules: a function from the goal to a plan, in any shape that `Plan.parse` reads."""

    def __init__(self, rule: Callable[[str], Any]) -> None:
        self.rule = rule

    def plan(self, goal: str, board: Board, tools: Toolbox) -> Plan:
        """Return what the rule says about `goal`. Raises `PlanError` when that is no plan."""
        return _with_goal(Plan.parse(self.rule(goal)), goal)


class NextStepPlanner:
    """A planner that looks one step ahead: it is asked again after every step. ReAct is this planner in the same loop.

    Args:
        asked: a function ``(goal, board) -> step`` that returns the next step (a `Step` or a dict), or None when the
            goal is reached, or a whole `Plan`; or an openai client, for a model that is asked for one step at a time.
        model: the model's name, where a client is given; by default the planner's.
    """

    def __init__(self, asked: Any, model: str | None = None) -> None:
        self._asked = asked if callable(asked) else LLMPlanner(asked, model, horizon=1)

    def plan(self, goal: str, board: Board, tools: Toolbox) -> Plan:
        """Return a plan of one step, to be continued; or a complete plan without steps."""
        if isinstance(self._asked, LLMPlanner):
            return self._asked.plan(goal, board, tools)
        step = self._asked(goal, board)
        if isinstance(step, Plan):
            return _with_goal(step, goal)
        steps = [step.model_dump(exclude_defaults=True) if isinstance(step, Step) else step] if step is not None else []
        return Plan.parse({"goal": goal, "steps": steps, "complete": step is None})


class LLMPlanner:
    """A planner that asks a model, through the genuine openai client, for a plan in a schema built from the tools.

    Args:
        client: an `openai.OpenAI` client; `connect` gives one.
        model: the model's name; by default ``PLANEXEC_PLANNER_MODEL`` in the environment, or a strong model.
        max_steps: the most steps that the model is told to write.
        horizon: None for a whole plan; a number for so many steps at a time.
        tasks: steps are tasks in words, for an executor that chooses its tools, and not calls.
        stream: the answer is read while the model writes it, so that steps may start before the plan is finished.
        max_tokens: the most tokens of an answer; by default ``PLANEXEC_PLANNER_MAX_TOKENS`` in the environment, or
            2,048. An answer that is cut off there is no plan, and goes back shortened.
        max_prompt: the most characters of the conversation; by default ``PLANEXEC_PLANNER_MAX_PROMPT``, or 60,000. Long
            results are shortened before it gets longer.
        telling: how results are told to the model; by default as data, in full.
        instructions: the system prompt, with the fields of `INSTRUCTIONS`: ``{tools}`` for the list of tools, ``{step}`` for
            what a step is, ``{span}`` for how far ahead to plan.

    Raises `ValueError` for instructions that lack a field or have another one, with its name.
    """

    def __init__(
        self,
        client: Any,
        model: str | None = None,
        *,
        max_steps: int = 20,
        horizon: int | None = None,
        tasks: bool = False,
        stream: bool = False,
        max_tokens: int | None = None,
        max_prompt: int | None = None,
        telling: Telling = AS_DATA,
        instructions: str = INSTRUCTIONS,
    ) -> None:
        self.client = client
        self.model = model or model_for("planner")
        self.max_steps = max_steps
        self.horizon = horizon
        self.tasks = tasks
        self.stream = stream
        self.bounds = Bounds.of("planner", max_tokens, max_prompt)
        self.telling = telling
        self.template = check(instructions, FIELDS, "instructions")

    def plan(self, goal: str, board: Board, tools: Toolbox) -> Plan:
        """Ask the model. Raises `PlanError` with the model's words when they are no plan."""
        messages, schema = self.messages(goal, board, tools), self._schema(board, tools)
        answer = ask(self.client, self.model, messages, schema, self.bounds)
        return self._read(answer, goal)

    def parts(self, goal: str, board: Board, tools: Toolbox) -> Iterator[Step | Plan]:
        """Ask the model and yield each step as soon as its last brace has come; last of all the plan, as `plan` does."""
        messages, schema = self.messages(goal, board, tools), self._schema(board, tools)
        reader, left = StepReader(), self.horizon or self.max_steps
        answer = Answer("", None, "length")
        for part in ask_streaming(self.client, self.model, messages, schema, self.bounds):
            if isinstance(part, Answer):
                answer = part
                continue
            for step in reader.feed(part)[:left]:
                left -= 1
                with suppress(PlanError):  # a step that can't be read is reported with the whole plan
                    yield from Plan.parse([step]).steps if "id" in step else ()
        yield self._read(answer, goal)

    def _schema(self, board: Board, tools: Toolbox) -> dict[str, Any]:
        failed = [one.step for one in board.problems if one.code == "unanswered_failure" and one.step]
        return plan_schema(tools, tasks=self.tasks, failed=failed)

    def _read(self, answer: Answer, goal: str) -> Plan:
        if answer.refusal:
            raise PlanError([Problem("refused", None, f"the model refused: {answer.refusal}")], answer.refusal)
        if answer.finish_reason == "length":
            message = f"the answer was cut off; it may have {self.bounds.max_tokens:,} tokens (max_tokens)"
            raise PlanError([Problem("cut_off", None, message, "write fewer or shorter steps")], answer.text)
        plan = _with_goal(Plan.parse(answer.text), goal)
        limit = self.horizon or self.max_steps
        if len(plan.steps) > limit:
            message = f"the plan has {len(plan.steps)} steps; at most {limit} were asked for"
            raise PlanError(
                [Problem("too_many_steps", None, message, "join steps, or leave some for later")], answer.text
            )
        return plan

    def messages(self, goal: str, board: Board, tools: Toolbox) -> list[Message]:
        """The conversation that is sent: rules and tools, goal and record so far, and a repair if one is due."""
        rest = _REST if board.steps and self.horizon is None else ""
        messages = [
            {"role": "system", "content": self.instructions(tools)},
            {"role": "user", "content": f"Goal: {goal}{record(board, self.bounds.max_prompt, self.telling)}{rest}"},
        ]
        if board.problems:
            if board.invalid_text:
                messages.append({"role": "assistant", "content": shortened(board.invalid_text, SHORT)})
            listing = listed(f"- {one_line(str(problem))}" for problem in board.problems)
            messages.append({"role": "user", "content": f"This plan can't be carried out:\n{listing}\nWrite it again."})
        return messages

    def instructions(self, tools: Toolbox) -> str:
        """The system prompt: role, tools, rules."""
        if self.horizon is None:
            span = f"Write the whole plan, at most {self.max_steps} steps, and set complete to true."
        else:
            ahead = "step" if self.horizon == 1 else f"{self.horizon} steps"
            span = f"Write the next {ahead} only, and set complete to false. "
            span += "When the goal is reached, write no step and set complete to true."
        step = _TASK if self.tasks else _CALL
        return fill(self.template, {"tools": tools.describe(), "step": step, "span": span})


_CALL = """A step is one call of one of these tools.
- To use the result of step 1, write {step_1_result} and list "1" in depends_on."""

_TASK = """A step is one task for an executor that has these tools. Say what is to be found or done, not how.
- The executor of a step sees the results of the steps in depends_on, and nothing else."""

_REST = """

Plan the rest again. Done steps are kept; leave them out and refer to their results. Write every step that is still to
be done; new work gets a new id, such as "5b". A step that waits may be kept, changed or dropped."""


def _with_goal(plan: Plan, goal: str) -> Plan:
    return plan if plan.goal else plan.changed(goal=goal)
