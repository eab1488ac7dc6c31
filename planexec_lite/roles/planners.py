"""Planners write plans. They differ in one thing only: how many steps they plan at a time.

All follow one protocol, ``plan(goal, board, tools) -> Plan``. After the steps of a plan with ``complete=False``, the planner is
asked again, with the board that shows their results. A planner never calls a tool.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Protocol

from planexec_lite.assembly import Board
from planexec_lite.model.answer import Answer, Message
from planexec_lite.model.asking import Bounds, ask, ask_streaming, model_for
from planexec_lite.model.prompt_text import SHORT, conversation, one_line, shortened
from planexec_lite.model.schemas import plan_schema
from planexec_lite.plan import Plan, PlanError, Problem, Step, StepReader
from planexec_lite.roles.telling import record
from planexec_lite.tools import Toolbox
from planexec_lite.tools.signature import Data

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
"""The planner's system prompt: its tools, its rules, and the number of steps to plan. It has three fields."""

# of the instructions: the tools; what a step is; how many steps to plan
FIELDS = ("tools", "step", "span")


class Planner(Protocol):
    """Writes plans."""

    def plan(self, goal: str, board: Board, tools: Toolbox) -> Plan:
        """Return the remaining steps towards `goal`.

        `board` shows the finished steps with their results, and the `problems` of the planner's previous plan. Raises
        `PlanError` if the answer is not a plan. A planner with ``stream = True`` has a method ``parts`` too, which yields each
        step when it is complete, and the plan at the end.
        """


class RulePlanner:
    """A planner that calls a function: from the goal to a plan, in any shape that `Plan.parse` reads."""

    def __init__(self, rule: Callable[[str], Any]) -> None:
        self.rule = rule

    def plan(self, goal: str, board: Board, tools: Toolbox) -> Plan:
        """Return the rule's plan for `goal`. Raises `PlanError` if the rule returns something else."""
        del board, tools  # a rule knows the goal alone
        return _with_goal(Plan.parse(self.rule(goal)), goal)


class NextStepPlanner:
    """A planner that plans one step and is asked again after it. ReAct is this planner in the same loop.

    Args:
        asked: a function ``(goal, board) -> step`` that returns the next step (a `Step` or a dict), or None when the
            goal is reached, or a whole `Plan`; or an openai client, for a model that is asked for one step at a time.
        model: the model's name, if `asked` is a client; by default the planner's.
    """

    def __init__(self, asked: Any, model: str | None = None) -> None:
        self._asked = asked if callable(asked) else LLMPlanner(asked, model, horizon=1)

    def plan(self, goal: str, board: Board, tools: Toolbox) -> Plan:
        """Return a plan of one step with ``complete=False``; or a complete plan without steps."""
        if isinstance(self._asked, LLMPlanner):
            return self._asked.plan(goal, board, tools)
        step = self._asked(goal, board)
        if isinstance(step, Plan):
            return _with_goal(step, goal)
        steps = [] if step is None else [step]
        return Plan.parse({"goal": goal, "steps": steps, "complete": not steps})


class LLMPlanner:
    """A planner that asks a model for a plan that fits a schema, which is built from the tools.

    Args:
        client: an `openai.OpenAI` client; `connect` returns one.
        model: the model's name; by default ``PLANEXEC_PLANNER_MODEL`` in the environment, or a strong model.
        max_steps: the most steps that the model may write.
        horizon: the number of steps that are planned at a time; None: the whole plan.
        tasks: steps are descriptions of tasks, for an executor that chooses its tools, and not calls.
        stream: the answer is read while the model writes it, so that steps can start before the plan is finished.
        max_tokens: the most tokens of an answer; by default ``PLANEXEC_PLANNER_MAX_TOKENS`` in the environment, or
            2,048. An answer that is cut off is not a plan, and the model is asked again.
        max_prompt: the most characters of the conversation; by default ``PLANEXEC_PLANNER_MAX_PROMPT``, or 60,000. Long
            results are shortened.
        max_results: the most characters of all results together in a prompt, the latest steps first; None: no bound.
        instructions: the system prompt, with the fields of `INSTRUCTIONS`: ``{tools}`` for the list of tools, ``{step}`` for
            the description of a step, ``{span}`` for the number of steps to plan.

    Raises `ValueError` for instructions with a missing field, and for a bound below one.
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
        max_results: int | None = None,
        instructions: str = INSTRUCTIONS,
    ) -> None:
        self.client = client
        self.model = model or model_for("planner")
        self.max_steps = max_steps
        self.horizon = horizon
        self.tasks = tasks
        self.stream = stream
        self.bounds = Bounds.of("planner", max_tokens, max_prompt)
        self.max_results = max_results
        for name in FIELDS:
            if f"{{{name}}}" not in instructions:
                words = f"instructions: the field {{{name}}} is missing"
                raise ValueError(
                    f"{words}; write each of {{tools}}, {{step}}, {{span}} at least once"
                )
        self.template = instructions

    def plan(self, goal: str, board: Board, tools: Toolbox) -> Plan:
        """Ask the model. Raises `PlanError`, with the model's text, if the answer is not a plan."""
        return self._read(ask(*self._question(goal, board, tools)), goal)

    def parts(
        self,
        goal: str,
        board: Board,
        tools: Toolbox,
    ) -> Iterator[Step | Plan]:
        """Ask the model, and yield each step as soon as its closing brace arrives, and the plan at the end."""
        reader, left = StepReader(), self.horizon or self.max_steps
        for part in ask_streaming(*self._question(goal, board, tools)):
            if isinstance(part, Answer):
                yield self._read(part, goal)
                continue
            for step in reader.feed(part)[:left]:
                left -= 1
                if "id" in step:
                    with suppress(PlanError):  # an unreadable step is reported with the whole plan
                        yield from Plan.parse([step]).steps

    def _question(
        self, goal: str, board: Board, tools: Toolbox
    ) -> tuple[Any, str, list[Message], Data, Bounds]:
        failed = [
            problem.step
            for problem in board.problems
            if problem.code == "unanswered_failure" and problem.step
        ]
        schema = plan_schema(tools, tasks=self.tasks, failed=failed)
        messages = self.messages(goal, board, tools)
        return self.client, self.model, messages, schema, self.bounds

    def _read(self, answer: Answer, goal: str) -> Plan:
        if problem := answer.problem:
            raise PlanError([problem], answer.refusal or answer.text)
        plan = _with_goal(Plan.parse(answer.text), goal)
        limit = self.horizon or self.max_steps
        if len(plan.steps) > limit:
            message = f"the plan has {len(plan.steps)} steps; at most {limit} were asked for"
            problem = Problem(
                "too_many_steps", None, message, "join steps, or leave some for later"
            )
            raise PlanError([problem], answer.text)
        return plan

    def messages(self, goal: str, board: Board, tools: Toolbox) -> list[Message]:
        """The conversation for the model: rules and tools, the goal and the run so far, and the problems of the previous plan."""
        rest = _REST if board.steps and self.horizon is None else ""
        so_far = record(board, self.bounds.max_prompt, self.max_results)
        messages = conversation(self.instructions(tools), f"Goal: {goal}{so_far}{rest}")
        if board.problems:
            if board.invalid_text:
                messages.append(
                    {"role": "assistant", "content": shortened(board.invalid_text, SHORT)}
                )
            listing = "\n".join(f"- {one_line(str(problem))}" for problem in board.problems)
            messages.append(
                {
                    "role": "user",
                    "content": f"This plan can't be carried out:\n{shortened(listing, SHORT)}\nWrite it again.",
                }
            )
        return messages

    def instructions(self, tools: Toolbox) -> str:
        """The system prompt: role, tools, rules."""
        if self.horizon is None:
            span = (
                f"Write the whole plan, at most {self.max_steps} steps, and set complete to true."
            )
        else:
            ahead = "step" if self.horizon == 1 else f"{self.horizon} steps"
            span = f"Write the next {ahead} only, and set complete to false. "
            span += "When the goal is reached, write no step and set complete to true."
        step = _TASK if self.tasks else _CALL
        rules = self.template.replace("{span}", span).replace("{step}", step)
        return rules.replace("{tools}", tools.describe())  # last: it can contain the other fields


_CALL = """A step is one call of one of these tools.
- To use the result of step 1, write {step_1_result} and list "1" in depends_on."""

_TASK = """A step is one task for an executor that has these tools. Say what is to be found or done, not how.
- The executor of a step sees the results of the steps in depends_on, and nothing else."""

_REST = """

Plan the rest again. Done steps are kept; leave them out and refer to their results. Write every step that is still to
be done; new work gets a new id, such as "5b". A step that waits may be kept, changed or dropped."""


def _with_goal(plan: Plan, goal: str) -> Plan:
    return plan if plan.goal else plan.changed(goal=goal)
