"""A bank whose payments are at-most-once calls, with the plans and agents of the tests that try to pay twice."""

from typing import Any

from planexec_lite import Decision, Grant, Plan, PlannerExecutor, Tool, Toolbox, ToolExecutor
from planexec_lite.meter import charge
from tests.core.agents import agent_for

ACME = ("ACME", 10)


class Bank:
    """A bank that remembers every payment; `who` fails for what is `missing`, and `pay` is slow for `slow`."""

    def __init__(self, *missing: str, slow: tuple[str, ...] = ()) -> None:
        self.paid: list[tuple[str, float]] = []
        self.missing, self.slow = set(missing), slow

    def who(self, name: str) -> str:
        if name in self.missing:
            raise LookupError(name)
        return name

    def pay(self, to: str, amount: float = 10) -> str:
        charge(seconds=9 if to in self.slow else 1)
        self.paid.append((to, amount))
        return f"{to} has {amount:g}"

    @property
    def tools(self) -> Toolbox:
        return Toolbox([Tool(self.who, effects="none"), Tool(self.pay, effects="once")])

    @property
    def executor(self) -> ToolExecutor:
        return ToolExecutor(self.tools)


def plan(*steps: dict[str, Any], **more: Any) -> Plan:
    return Plan.parse({"goal": "pay", "steps": [*steps], **more})


def who(id: str, name: str, *after: str, **more: Any) -> dict[str, Any]:
    return {"id": id, "tool": "who", "params": {"name": name}, "depends_on": [*after], **more}


def pay(id: str, to: str, *after: str, amount: Any = None, **more: Any) -> dict[str, Any]:
    params = {"to": to} if amount is None else {"amount": amount, "to": to}
    return {"id": id, "tool": "pay", "params": params, "depends_on": [*after], **more}


def mail(id: str, to: str, *after: str, **more: Any) -> dict[str, Any]:
    return {"id": id, "tool": "mail", "params": {"to": to}, "depends_on": [*after], **more}


def agent(bank: Bank, plans: Any, reviewer: Any = None, **more: Any) -> PlannerExecutor:
    return agent_for(bank.tools, *plans, reviewer=reviewer, **{"replan": "failure", "max_replans": 6, **more})


def granting(*more: Any, bound: int = 9) -> list[Any]:
    return [Decision("approve", by="Ada", grant=Grant(bound)), *more]


DONE = plan(who("0", "ACME"), pay("1", "ACME", "0"), who("2", "boom", "1"))
