"""The ReAct executor: a model thinks, calls a tool, reads the result, and repeats this until the step is done.

The loop is from Yao et al., "ReAct: Synergizing Reasoning and Acting in Language Models" (2022). Here it carries out one
*step*: the model reads the task and the results that the step depends on, but not the planner's prompt, the goal or the
rest of the plan.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from sys import maxsize
from typing import Any

from planexec_lite.capabilities.stepping import effects_of_any
from planexec_lite.core.events import Action, Observation, Thought
from planexec_lite.meter import emit
from planexec_lite.model.answer import Answer, Message, ToolCall
from planexec_lite.model.asking import Bounds, ask, model_for
from planexec_lite.model.prompt_text import (
    DATA_RULE,
    SHORT,
    conversation,
    data_line,
    json_line,
    one_line,
    shortened,
)
from planexec_lite.model.schemas import function_schema
from planexec_lite.model.text_calls import has_call
from planexec_lite.plan import Step
from planexec_lite.plan.data import read_json
from planexec_lite.tools import CallWaits, Effects, Toolbox
from planexec_lite.tools.references import as_text, find, resolve


class ReActExecutor:
    """Lets a model carry out a step with tools.

    Args:
        client: an `openai.OpenAI` client; `connect` returns one.
        tools: the tools that it can offer.
        model: the model's name; by default ``PLANEXEC_EXECUTOR_MODEL`` in the environment, or a cheap model.
        max_iterations: the most questions to the model in one step.
        allow: a function that returns the names of the tools for a step; by default the step's own tool, or all if it names none.
        max_tokens: the most tokens of an answer; by default ``PLANEXEC_EXECUTOR_MAX_TOKENS`` in the environment, or
            1,024. An answer that is cut off does not count, and the model is asked for a shorter one.
        max_prompt: the most characters of the conversation; by default ``PLANEXEC_EXECUTOR_MAX_PROMPT``, or 60,000. Long
            results and observations are shortened, with a note.
    """

    def __init__(
        self,
        client: Any,
        tools: Toolbox,
        model: str | None = None,
        *,
        max_iterations: int = 5,
        allow: Callable[[Step], Iterable[str]] | None = None,
        max_tokens: int | None = None,
        max_prompt: int | None = None,
    ) -> None:
        self.client = client
        self.tools = tools
        self.model = model or model_for("executor")
        self.max_iterations = max_iterations
        self.allow = allow
        self.bounds = Bounds.of("executor", max_tokens, max_prompt)

    def execute(self, step: Step, inputs: Mapping[str, Any]) -> Any:
        """Return the model's final text about the step. Thoughts, calls and observations are events inside the step.

        If the step names a call, that call runs with the plan's arguments and not the model's, and the step is not
        done before it has run. The model reads a tool's error as an observation. Raises `RuntimeError` if the step is not done
        after `max_iterations`, or the model refuses; `CallWaits` if a call needs approval.
        """
        tools, why = self.tools_for(step), ""
        planned = _planned_call(step, inputs, tools)
        pending = set(planned)  # the tool of the plan's call, until it has run
        offered = [function_schema(tool) for tool in tools]
        messages = self.messages(step, inputs)
        for _ in range(self.max_iterations):
            answer = ask(self.client, self.model, messages, bounds=self.bounds, tools=offered)
            if answer.refusal:
                raise RuntimeError(f"the model refused: {answer.refusal}")
            if answer.text:
                emit(Thought(answer.text))
            why = _why_unusable(answer, tools)
            if answer.tool_calls and not why:
                messages.append(answer.message)
                for call in answer.tool_calls:
                    messages.append(_carry_out(call, tools, planned, pending))
                continue
            if why:
                emit(Observation(why, error=True))
                words = f"This is not finished: {why}. Nothing was done. {_ADVICE}"
            elif pending:
                params = json.dumps(planned[step.tool])  # it escapes all line ends
                words = f"The call of the plan has not run: {step.tool}({params}). Call it now."
            else:
                return answer.text
            text = shortened(answer.text, SHORT) or "(a call of a tool)"
            messages += [
                {"role": "assistant", "content": text},
                {"role": "user", "content": words},
            ]
        why = f"; {why}" if why else ""
        raise RuntimeError(
            f"the step was not done after {self.max_iterations} iterations (max_iterations){why}"
        )

    @property
    def effects(self) -> dict[str, Effects]:
        """The effects of steps, by their tool; with `allow`, each step can have the effects of any tool."""
        return self.tools.effects if self.allow is None else effects_of_any(self.tools)

    def most_model_calls(self, step: Step) -> int:
        """The most calls of the model in `step`."""
        del step  # the bound is the same for each
        return self.max_iterations

    def chooses_calls(self, step: Step) -> bool:
        """Whether the model chooses the calls; if the step names its tool, the plan has chosen."""
        return step.tool is None or self.allow is not None

    def tools_for(self, step: Step) -> Toolbox:
        """The tools that the model is offered for `step`."""
        if self.allow is not None:
            return self.tools.only(*self.allow(step))
        return self.tools.only(step.tool) if step.tool is not None else self.tools

    def messages(self, step: Step, inputs: Mapping[str, Any]) -> list[Message]:
        """The first messages of the conversation: the role, the task, and the results that the step depends on.

        Long parameters and results are shortened; the task and its criterion stay whole.
        """
        most = self.bounds.max_prompt // (2 * len(inputs) + 2)
        return conversation(_INSTRUCTIONS, f"Task: {task_text(step, inputs, most)}")


def task_text(
    step: Step,
    inputs: Mapping[str, Any],
    most: int = maxsize,
) -> str:
    """Return the task, its parameters, its criterion and the results that the step depends on, one per line.

    `most` bounds the characters of the parameters and of each result. A line before the results marks them as data.
    """
    lines = [one_line(step.description or str(step))]
    if step.params:
        # a reference inserts the result of a tool
        write = data_line if find(step.params) else json_line
        lines.append(f"Use: {write(resolve(step.params, inputs), most)}")
    if step.success_criteria:
        lines.append(f"Done when: {one_line(step.success_criteria)}")
    if inputs:
        lines.append(DATA_RULE)
    for before, value in inputs.items():
        lines.append(f"Result of step {before}: {data_line(value, most)}")
    return "\n".join(lines)


def _why_unusable(answer: Answer, tools: Toolbox) -> str:
    """Return why nothing of an answer counts, or "" if it counts."""
    problem = answer.problem
    if problem and problem.code != "tool_call":  # after a cut, arguments can be incomplete
        return problem.message
    if not problem and has_call(answer.text, tools.names):
        return "a tool call written as text calls nothing; make it as a tool call of the API"
    return ""


def _planned_call(
    step: Step,
    inputs: Mapping[str, Any],
    tools: Toolbox,
) -> dict[str | None, Any]:
    """Return the arguments that the plan gives, by the step's tool; {} if the step does not name a valid call."""
    if step.tool is None or step.tool not in tools:
        return {}
    params = resolve(step.params, inputs)
    return {} if tools[step.tool].faults(params) else {step.tool: params}


def _carry_out(
    call: ToolCall, tools: Toolbox, planned: Mapping[str | None, Any], pending: set[str | None]
) -> Message:
    """Make a call, with the plan's arguments if it is the plan's call, and return its observation."""
    try:
        params = planned.get(call.name, _arguments(call.arguments))
        emit(Action(call.name, params))
        seen = Observation(as_text(tools[call.name].call(params)))
        pending.discard(call.name)
    except CallWaits:
        raise
    except Exception as problem:
        seen = Observation(f"{type(problem).__name__}: {problem}", error=True)
    emit(seen)
    return {"role": "tool", "tool_call_id": call.id, "content": seen.text}


def _arguments(text: str) -> Any:
    """Return the arguments of a call; {} for none. Raises `ValueError` unless they are one JSON object with each name once."""
    params = read_json(text.strip() or "null")
    if not isinstance(params, dict | None):
        raise ValueError(
            f'the arguments are a JSON {type(params).__name__}, not an object; write {{"name": value}}'
        )
    return params or {}


_ADVICE = "Be brief: one sentence, or one call."
_INSTRUCTIONS = """\
Role: executor

You carry out one task with the tools that you are given. Say in one sentence what you are about to do, and call a tool.
When a tool reports an error, read it and try another way. When the task is done, answer with its result and call none."""
