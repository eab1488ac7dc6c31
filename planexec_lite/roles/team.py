"""Executors that give each step to another executor: `HybridExecutor` by whether the step names its tool, `Team` by role."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from planexec_lite.capabilities.stepping import (
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
    """Gives each step to the first of `executors` that has its tool; any other step goes to `default`."""

    def __init__(self, executors: Sequence[Executor], default: Executor) -> None:
        self._executors = executors
        self._by_tool = {"": default}
        for executor in executors:
            for tool in executor.tools:
                self._by_tool.setdefault(tool.name, executor)
        names = [tool.name for executor in (default, *executors) for tool in executor.tools]
        self.tools = Toolbox(self._by_tool[name].tools[name] for name in dict.fromkeys(names))
        self.asks_models = any(map(asks_models, executors))

    @property
    def effects(self) -> dict[str, Effects]:
        """The effects of steps, by their tool."""
        effects: dict[str, Effects] = {}
        for executor in self._executors:
            for tool, effect in effects_of(executor).items():
                if self._by_tool.get(tool, executor) is executor:
                    effects[tool] = effect
        return effects

    def executor_of(self, step: Step) -> Executor:
        """The executor that carries out `step`."""
        return self._by_tool.get(step.tool or "", self._by_tool[""])

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
        super().__init__((rule, otherwise), default=otherwise)


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
        executors = tuple(roles.values())
        super().__init__(executors, default=executors[0])

    @property
    def limits(self) -> tuple[Limit, ...]:
        """The limits that `slots` sets on the tools of each role, and the limits of the executors."""
        limits: list[Limit] = []
        for role, count in self.slots.items():
            executor = self.roles[role]
            tools = tuple(name for name, owner in self._by_tool.items() if owner is executor)
            limits.append(Limit(role, tools, count))
        for executor in self.roles.values():
            limits += getattr(executor, "limits", ())
        return tuple(limits)

    def role_of(self, step: Step) -> str:
        """The role that carries out `step`."""
        chosen = self.executor_of(step)
        return next(role for role, executor in self.roles.items() if executor is chosen)
