"""The team: several executors on one board, each with a role and, where it is wanted, with so many pairs of hands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planexec_lite.executors.direct import Executor, agent_inside, asks_models, chooses_calls, effects_of
from planexec_lite.plan import Step
from planexec_lite.tools import Effects, Toolbox, suggest
from planexec_lite.tools.limits import Limit


class Team:
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

    def chooses_calls(self, step: Step) -> bool:
        """Whether a model chooses the calls of `step`, where the executor of its role lets it."""
        known = step.tool is None or step.tool in self._role
        return known and chooses_calls(self.roles[self.role_of(step)], step)

    def agent_inside(self, step: Step) -> Any:
        """The agent that carries out `step` as a run of its own, where the executor of its role does so."""
        known = step.tool is None or step.tool in self._role
        return agent_inside(self.roles[self.role_of(step)], step) if known else None

    def execute(self, step: Step, inputs: Mapping[str, Any]) -> Any:
        """Return what the executor of the step's role returns."""
        return self.roles[self.role_of(step)].execute(step, inputs)
