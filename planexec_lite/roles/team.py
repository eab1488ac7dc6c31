"""Executors that give each step to another executor: `HybridExecutor` by whether the step names its tool, `Team` by role."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planexec_lite.core.executors import (
    Executor,
    agent_inside,
    asks_models,
    chooses_calls,
    effects_of,
    most_model_calls,
)
from planexec_lite.plan import Step
from planexec_lite.tools import Effects, Limit, Toolbox, suggest


class _Delegating:
    """The common part of executors that give each step to another executor."""

    def executor_of(self, step: Step) -> Executor:
        """The executor that carries out `step`."""
        raise NotImplementedError

    def chooses_calls(self, step: Step) -> bool:
        """Whether a model chooses the calls of `step`."""
        return chooses_calls(self.executor_of(step), step)

    def most_model_calls(self, step: Step) -> int | None:
        """The most model calls of `step`; None if its executor does not say."""
        return most_model_calls(self.executor_of(step), step)

    def agent_inside(self, step: Step) -> Any:
        """The agent that carries out `step` as a nested run, or None."""
        return agent_inside(self.executor_of(step), step)

    def execute(self, step: Step, inputs: Mapping[str, Any]) -> Any:
        """Return the result of the step's executor."""
        return self.executor_of(step).execute(step, inputs)


class HybridExecutor(_Delegating):
    """Chooses between two executors for each step.

    Args:
        rule: carries out the steps that name one of its tools, such as a `ToolExecutor`.
        otherwise: carries out the others, such as a `ReActExecutor`.
    """

    def __init__(self, rule: Executor, otherwise: Executor) -> None:
        self.rule, self.otherwise = rule, otherwise
        self.asks_models = asks_models(rule) or asks_models(otherwise)
        by_name = {tool.name: tool for tool in (*otherwise.tools, *rule.tools)}
        self.tools = Toolbox(by_name.values())

    @property
    def effects(self) -> dict[str, Effects]:
        """The effects of steps, by their tool."""
        effects = {**effects_of(self.otherwise)}
        for name in self.rule.tools.names:
            effects.pop(name, None)
        return effects | effects_of(self.rule)

    def executor_of(self, step: Step) -> Executor:
        """The first executor if the step names one of its tools, else the second."""
        if step.tool is not None and step.tool in self.rule.tools:
            return self.rule
        return self.otherwise


class Team(_Delegating):
    """Gives each step to the executor of its role.

    Args:
        roles: executors by the name of their role. A step belongs to the first role that has its tool; a step without a tool
            belongs to the first role.
        slots: by role, the most steps that run at once; a role without slots has no limit.

    Raises `ValueError` for a team without roles, for slots of an unknown role, and for fewer than one slot.
    """

    def __init__(
        self,
        roles: Mapping[str, Executor],
        slots: Mapping[str, int] | None = None,
    ) -> None:
        if not roles:
            raise ValueError("a team needs at least one role")
        self.roles, self.slots = dict(roles), dict(slots or {})
        for role, count in self.slots.items():
            if role not in roles:
                known = f"{suggest(role, roles)}; roles: {', '.join(roles)}"
                raise ValueError(f"slots: there is no role {role!r}{known}")
            if count < 1:
                raise ValueError(f"slots: {role}={count}: a role needs at least one")
        self.asks_models = any(map(asks_models, self.roles.values()))
        self._role: dict[str, str] = {}  # by tool: the first role that has it
        tools = []
        for role, executor in self.roles.items():
            for tool in executor.tools:
                if tool.name not in self._role:
                    self._role[tool.name] = role
                    tools.append(tool)
        self.tools = Toolbox(tools)

    @property
    def limits(self) -> tuple[Limit, ...]:
        """The limits that `slots` sets on the tools of each role, and the limits of the executors."""
        limits: list[Limit] = []
        by_tool = {"": next(iter(self.roles)), **self._role}
        for role, count in self.slots.items():
            tools = tuple(name for name, owner in by_tool.items() if owner == role)
            limits.append(Limit(role, tools, count))
        for executor in self.roles.values():
            limits += getattr(executor, "limits", ())
        return tuple(limits)

    @property
    def effects(self) -> dict[str, Effects]:
        """The effects of steps, by their tool."""
        effects: dict[str, Effects] = {}
        for role, executor in self.roles.items():
            for tool, effect in effects_of(executor).items():
                if self._role.get(tool) == role:
                    effects[tool] = effect
        return effects

    def role_of(self, step: Step) -> str:
        """The role that carries out `step`."""
        first = next(iter(self.roles))
        return first if step.tool is None else self._role.get(step.tool, first)

    def executor_of(self, step: Step) -> Executor:
        """The executor of the step's role."""
        return self.roles[self.role_of(step)]
