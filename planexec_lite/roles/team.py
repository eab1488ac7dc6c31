"""Executors that give each step to another executor: by a rule (`HybridExecutor`), or by its role (`Team`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from planexec_lite.capabilities.budget import model_calls_of
from planexec_lite.plan import Step
from planexec_lite.roles.executors import Executor, agent_inside, asks_models, chooses_calls, effects_of
from planexec_lite.tools import Effects, Toolbox, ToolError, suggest, worst
from planexec_lite.tools.limits import Limit


def names_its_tool(step: Step) -> bool:
    """Whether the step says itself which tool to call."""
    return step.tool is not None


class _PassesOn:
    """What executors have in common that give each step to another executor."""

    def _chosen(self, step: Step) -> Executor | None:
        raise NotImplementedError

    def chooses_calls(self, step: Step) -> bool:
        """Whether a model chooses the calls of `step`, where the chosen executor lets it."""
        chosen = self._chosen(step)
        return chosen is not None and chooses_calls(chosen, step)

    def most_model_calls(self, step: Step) -> int | None:
        """The most model calls of `step`, as far as the chosen executor says; None: unknown."""
        return model_calls_of(self._chosen(step), step)

    def agent_inside(self, step: Step) -> Any:
        """The agent that carries out `step` as a run of its own, where the chosen executor does so."""
        chosen = self._chosen(step)
        return None if chosen is None else agent_inside(chosen, step)

    def execute(self, step: Step, inputs: Mapping[str, Any]) -> Any:
        """Return what the chosen executor returns."""
        chosen = self._chosen(step)
        if chosen is None:
            raise ToolError(f"no executor has the tool {step.tool!r}")
        return chosen.execute(step, inputs)


class HybridExecutor(_PassesOn):
    """Chooses between two executors for each step.

    Args:
        rule: carries out the steps that a rule is enough for, such as a `ToolExecutor`.
        otherwise: carries out the others, such as a `ReActExecutor`.
        applies: says whether the rule is enough; by default it is where the step names its tool.
    """

    def __init__(self, rule: Executor, otherwise: Executor, applies: Callable[[Step], bool] = names_its_tool) -> None:
        self.rule, self.otherwise, self.applies = rule, otherwise, applies
        self.asks_models = asks_models(rule) or asks_models(otherwise)
        tools = {tool.name: tool for executor in (otherwise, rule) for tool in executor.tools}
        self.tools = Toolbox(tools.values())

    @property
    def effects(self) -> dict[str, Effects]:
        """What steps may do, by their tool, whichever executor is chosen."""
        rule, otherwise = effects_of(self.rule), effects_of(self.otherwise)
        if self.applies is names_its_tool:  # the tools that only the other one has count for steps that name none
            return {name: one for name, one in otherwise.items() if name not in self.rule.tools} | rule
        return {name: worst((rule.get(name, "none"), otherwise.get(name, "none"))) for name in {**rule, **otherwise}}

    def _chosen(self, step: Step) -> Executor:
        return self.rule if self.applies(step) else self.otherwise


class Team(_PassesOn):
    """Gives each step to the executor whose role it is.

    Args:
        roles: executors by the name of their role. A step belongs to the first that has its tool; a step without a tool
            belongs to the first of all.
        slots: for a role, how many of its steps are carried out at once at most; a role that is not named has no limit.

    Raises `ValueError` for a team without roles, for slots of an unknown role, and for fewer than one slot.
    """

    def __init__(self, roles: Mapping[str, Executor], slots: Mapping[str, int] | None = None) -> None:
        if not roles:
            raise ValueError("a team needs at least one role")
        self.roles = dict(roles)
        self.slots = dict(slots or {})
        for role, count in self.slots.items():
            if role not in self.roles:
                raise ValueError(
                    f"slots: there is no role {role!r}{suggest(role, self.roles)}; roles: {', '.join(roles)}"
                )
            if count < 1:
                raise ValueError(f"slots: {role}={count}: a role needs at least one")
        self._role: dict[str, str] = {}
        tools = [
            tool for role, executor in self.roles.items() for tool in executor.tools if self._takes(role, tool.name)
        ]
        self.tools = Toolbox(tools)

    @property
    def limits(self) -> tuple[Limit, ...]:
        """What `slots` says, as limits on the tools of each role."""
        tools: dict[str, list[str]] = {role: [] for role in self.roles}
        tools[next(iter(self.roles))].append("")
        for name, role in self._role.items():
            tools[role].append(name)
        own = [Limit(role, tuple(tools[role]), count) for role, count in self.slots.items()]
        inner = [limit for executor in self.roles.values() for limit in getattr(executor, "limits", ())]
        return (*own, *inner)

    @property
    def effects(self) -> dict[str, Effects]:
        """What steps may do, by their tool: what the executor of the role may do with it."""
        by_role = {role: effects_of(executor) for role, executor in self.roles.items()}
        return {name: by_role[role][name] for name, role in self._role.items() if name in by_role[role]}

    @property
    def asks_models(self) -> bool:
        """Whether a step may call a model."""
        return any(map(asks_models, self.roles.values()))

    def _takes(self, role: str, tool: str) -> bool:
        return self._role.setdefault(tool, role) == role

    def role_of(self, step: Step) -> str:
        """The role that carries out `step`."""
        return self._role[step.tool] if step.tool is not None else next(iter(self.roles))

    def _chosen(self, step: Step) -> Executor | None:
        known = step.tool is None or step.tool in self._role
        return self.roles[self.role_of(step)] if known else None
