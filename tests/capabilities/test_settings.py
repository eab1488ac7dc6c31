"""Settings and decisions with an invalid value are rejected, with the name of the value."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from planexec_lite import (
    Backoff,
    Breaker,
    Budget,
    Decision,
    Grant,
    Plan,
    Policy,
    Pool,
    Simulated,
    Team,
    Tool,
    Verdict,
)

ENDLESS, NO_NUMBER = float("inf"), float("nan")
INVALID: list[tuple[Any, list[Any], str]] = [  # what is created, invalid values, and the words of the error
    (Grant, ["many", -1, True, 2.5, None], "new_steps"),
    (Verdict, ["accepted", "", None], "verdict="),
    (Decision, ["maybe"], "a reviewer says"),
    (lambda verdict: Decision(verdict, plan=Plan()), ["reject", "change"], "go with 'approve'"),
    (lambda verdict: Decision(verdict, grant=Grant(1)), ["reject", "change"], "go with 'approve'"),
    (lambda text: Verdict("replan", text), ["a\ud800"], "can't be saved"),
    (lambda text: Decision("reject", by=text), ["a\ud800"], "can't be saved"),
    (lambda text: Decision("reject", comment=text), ["a\ud800"], "can't be saved"),
    (lambda steps: Budget(steps=steps), [-1, 1.5], "steps\n.* (greater than or equal to 0|valid integer)"),
    (lambda tokens: Budget(tokens=tokens), [True], "tokens\n.* valid integer"),
    (lambda dollars: Budget(dollars=dollars), [NO_NUMBER], "dollars\n.* finite number"),
    (lambda seconds: Budget(seconds=seconds), [ENDLESS], "seconds\n.* finite number"),
    (lambda steps: Budget(step=steps), [3], "step\n.*Unexpected keyword"),  # type: ignore[call-arg]
    (lambda retries: Policy(retry=retries), [3], "retry\n.*Unexpected keyword"),  # type: ignore[call-arg]
    (lambda first: Backoff(frist=first), [1.0], "frist\n.*Unexpected keyword"),  # type: ignore[call-arg]
    (lambda effects: Tool(print, efects=effects), ["once"], "no option 'efects'; did you mean 'effects'"),  # type: ignore[call-arg]
    (
        lambda effects: Tool(print, effects=effects),
        ["Once", "", None, ["once"]],
        "write one of none, idempotent, unknown, once",
    ),
    (lambda first: Backoff(first=first), [-1.0], "first\n.* greater than or equal to 0"),
    (lambda longest: Backoff(longest=longest), [ENDLESS], "longest\n.* finite number"),
    (lambda factor: Backoff(factor=factor), [0.5], "factor\n.* greater than or equal to 1"),
    (lambda jitter: Backoff(jitter=jitter), [1.5], "jitter\n.* less than or equal to 1"),
    (lambda failures: Breaker(failures=failures), [0], "failures\n.* greater than 0"),
    (
        lambda seconds: Breaker(seconds=seconds),
        [-1.0, ENDLESS],
        "seconds\n.* (greater than or equal to 0|finite number)",
    ),
    (lambda failure: Policy(failure=failure), ["panic"], "failure"),
    (lambda failure: Policy(failure=failure, replan="stall"), ["stop"], "stall"),
    (lambda retries: Policy(retries=retries), [-1], "retries\n.* greater than or equal to 0"),
    (lambda retries: Policy(retries=retries), [11, 10**9], "retries\n.* less than or equal to 10"),
    (lambda most: Policy(max_repairs=most), [-1], "max_repairs"),
    (lambda most: Policy(max_rounds=most), [-1], "max_rounds"),
    (lambda most: Policy(max_steps=most), [-1], "max_steps"),
    (lambda deadline: Policy(deadline=deadline), [-1.0, ENDLESS, NO_NUMBER], "deadline\n"),
    (Team, [{}], "at least one role"),
    (lambda slots: Team({"cook": Team}, slots=slots), [{"cok": 1}], "did you mean 'cook'"),
    (lambda slots: Team({"cook": Team}, slots=slots), [{"cook": 0}], "cook=0"),
    (Simulated, [0, -1], "slots="),
    (lambda slots: Pool(ThreadPoolExecutor(1), slots), [0, -1], "slots="),
]


@pytest.mark.parametrize(("create", "values", "words"), INVALID)
def test_an_invalid_setting_is_rejected_with_its_name(create: Any, values: list[Any], words: str) -> None:
    for value in values:
        with pytest.raises(ValueError, match=words):
            create(value)
