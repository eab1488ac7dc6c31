"""What a run has used, and what it was granted beyond its budget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from planexec_lite.board.part import Part
from planexec_lite.budget import Budget
from planexec_lite.events import BudgetDenied
from planexec_lite.meter import ModelCall
from planexec_lite.model.prices import cost


@dataclass(slots=True)
class Spending(Part):
    """The calls of models, and what was granted. Steps, replans and seconds are counted elsewhere on the board."""

    calls: list[ModelCall] = field(default_factory=list)
    repairs: int = 0
    extra: Counter[str] = field(default_factory=Counter)
    denied: BudgetDenied | None = None
    by_model: dict[str, ModelCall] = field(default_factory=dict)  # the sum of its calls

    def charge(self, calls: Iterable[ModelCall]) -> None:
        """Models were called."""
        for call in calls:
            self.calls.append(call)
            name, so_far = call.model, self.by_model.get(call.model, ModelCall(call.model, 0, 0))
            read, written = so_far.input_tokens + call.input_tokens, so_far.output_tokens + call.output_tokens
            self.by_model[name] = ModelCall(name, read, written, so_far.seconds + call.seconds)

    def grant(self, more: Budget) -> None:
        """The run may use so much more."""
        self.extra.update(more.bounds)

    @property
    def tokens(self) -> int:
        """Tokens of all calls, read and written."""
        return sum(one.input_tokens + one.output_tokens for one in self.by_model.values())

    @property
    def dollars(self) -> float:
        """What the calls cost. Raises `ValueError` for a model without a price."""
        try:
            return cost(self.by_model.values())
        except KeyError as missing:
            raise ValueError(f"a budget in dollars can't be kept: {missing.args[0]}") from None
