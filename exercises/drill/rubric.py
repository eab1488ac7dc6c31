"""The rubric of the whiteboard drill: what an answer has to show, a check for each point, and what it is worth.

Each check calls the answer's ``run(goal, planner, tools)`` with a planner and tools of its own, and asserts what must
hold. It needs nothing but the standard library: ``python exercises/drill/rubric.py FILE POINT`` tries one point.
"""

from __future__ import annotations

import runpy
import sys
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

Run = Callable[..., dict[str, Any]]
MOST_LINES = 60
PATIENCE = 5.0  # seconds that a step waits for another that should run beside it


class Point(NamedTuple):
    """One point of the rubric: what the answer shows, how many points it gives, and the check."""

    shows: str
    worth: int
    check: Callable[[Run], None]


def step(id: str, tool: str, *after: str, **params: Any) -> dict[str, Any]:
    return {"id": id, "tool": tool, "params": params, "depends_on": list(after)}


def result_of(id: str) -> str:
    return f"{{step_{id}_result}}"


class Planner:
    """Gives one plan after the other, the last one again and again, and keeps what it was told."""

    def __init__(self, *plans: list[dict[str, Any]]) -> None:
        self.plans = plans
        self.told: list[tuple[str, dict[str, Any], dict[str, Any]]] = []

    def __call__(self, goal: str, results: dict[str, Any], errors: dict[str, Any]) -> list[dict[str, Any]]:
        assert len(self.told) < 10, "the planner was asked a tenth time; nothing bounds the loop"
        self.told.append((goal, dict(results), dict(errors)))
        return self.plans[min(len(self.told), len(self.plans)) - 1]


class Diary:
    """Tools that write down when they were called."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.tools: dict[str, Callable[..., Any]] = {"say": self.say, "fail": self.fail}

    def say(self, word: Any) -> Any:
        self.calls.append(str(word))
        return word

    def fail(self, word: str) -> None:
        self.calls.append(word)
        raise RuntimeError(f"{word} is broken")


def plans_first(run: Run) -> None:
    diary, planner = Diary(), Planner([step("1", "say", word="a"), step("2", "say", "1", word="b")])
    ended = run("say a, then b", planner, diary.tools)
    assert [goal for goal, *_ in planner.told] == ["say a, then b"], "ask the planner once, with the goal"
    assert ended["status"] == "finished", f"two good steps are done, and the status is {ended['status']!r}"
    assert ended["results"] == {"1": "a", "2": "b"}, f"the results by step id are {ended['results']}"


def keeps_order(run: Run) -> None:
    diary = Diary()
    plan = [step("3", "say", "2", word="c"), step("2", "say", "1", word="b"), step("1", "say", word="a")]
    run("a, b, c", Planner(plan), diary.tools)
    assert diary.calls == ["a", "b", "c"], f"3 waits for 2, and 2 for 1; they ran as {diary.calls}"


def passes_results(run: Run) -> None:
    tools = {"three": lambda: ["x", "y", "z"], "count": lambda items: len(items)}
    ended = run("count", Planner([step("1", "three"), step("2", "count", "1", items=result_of("1"))]), tools)
    assert ended["results"].get("2") == 3, f"a list of three has to arrive as a list; got {ended['results'].get('2')!r}"


def results_are_data(run: Run) -> None:
    tools = {"mail": lambda: result_of("2"), "secret": lambda: "the secret", "quote": lambda text: text}
    plan = [step("1", "mail"), step("2", "secret"), step("3", "quote", "1", "2", text=result_of("1"))]
    quoted = run("quote the mail", Planner(plan), tools)["results"].get("3")
    assert quoted == result_of("2"), f"the mail looks like a reference and is data; it was quoted as {quoted!r}"


def runs_in_parallel(run: Run) -> None:
    both = threading.Barrier(2)
    tools = {"meet": lambda: both.wait(PATIENCE) >= 0}
    ended = run("meet", Planner([step("1", "meet"), step("2", "meet")]), tools)
    assert set(ended["results"]) == {"1", "2"}, "1 and 2 wait for each other: they never ran at the same time"


def has_no_barrier(run: Run) -> None:
    heard = threading.Barrier(2)  # 1 and 3 meet here: possible only if 3 starts while 1 is still running
    tools = {"meet": lambda: heard.wait(PATIENCE) >= 0, "quick": lambda: True}
    plan = [step("1", "meet"), step("2", "quick"), step("3", "meet", "2")]
    ended = run("meet", Planner(plan), tools)
    assert set(ended["results"]) == {"1", "2", "3"}, (
        "3 is ready when 2 is done, and had to wait for 1, which it does not need"
    )


def refuses_bad_plans(run: Run) -> None:
    good = step("1", "say", word="a")
    bad_plans = {
        "a circle": [good, step("2", "say", "3", word="b"), step("3", "say", "2", word="c")],
        "a step that waits for nobody's step": [good, step("2", "say", "9", word="b")],
        "an unknown tool": [good, step("2", "shout", word="b")],
        "two steps with one id": [good, good],
        "a result that is not waited for": [good, step("2", "say", word=result_of("1"))],
    }
    for name, plan in bad_plans.items():
        diary = Diary()
        ended = run("nothing", Planner(plan), diary.tools)
        assert not diary.calls, f"{name}: refuse the plan before its first step"
        assert ended["status"] == "failed", f"{name}: the status is {ended['status']!r}"
        assert ended["reason"], f"{name}: say why"


def survives_failure(run: Run) -> None:
    diary = Diary()
    plan = [step("1", "fail", word="a"), step("2", "say", "1", word="b"), step("3", "say", word="c")]
    ended = run("a, then b, and c", Planner(plan), diary.tools)
    assert "b" not in diary.calls, "2 waits for 1, which failed; a failed step is not done"
    assert "c" in diary.calls, "3 does not wait for 1; it should run"
    assert ended["status"] == "failed", f"step 1 failed, and the status is {ended['status']!r}"


def replans_and_keeps(run: Run) -> None:
    diary = Diary()
    start, end = step("1", "say", word="a"), step("3", "say", "2", word="c")
    planner = Planner([start, step("2", "fail", "1", word="b"), end], [start, step("2", "say", "1", word="B"), end])
    ended = run("a, b, c", planner, diary.tools)
    assert len(planner.told) == 2, f"one step failed; the planner was asked {len(planner.told)} times, not twice"
    _, results, errors = planner.told[1]
    assert results == {"1": "a"}, f"tell the planner what is done; it was told {results}"
    assert "2" in errors, f"tell the planner what failed; it was told {errors}"
    assert diary.calls == ["a", "b", "B", "c"], f"what is done is not done again; the calls were {diary.calls}"
    assert ended["status"] == "finished", f"the new plan worked, and the status is {ended['status']!r}"


def is_bounded(run: Run) -> None:
    planner = Planner([step("1", "fail", word="a")])
    ended = run("a", planner, Diary().tools)
    assert len(planner.told) == 2, f"replan once; the planner was asked {len(planner.told)} times"
    assert ended["status"] == "failed", f"the bound was reached, and the status is {ended['status']!r}"
    assert ended["reason"], "say which bound ended it"


POINTS = {
    "plan": Point("asks the planner once, before anything runs", 1, plans_first),
    "order": Point("runs a step when all that it waits for is done, whatever the order of the list", 2, keeps_order),
    "results": Point("hands results on with their type", 1, passes_results),
    "data": Point("never takes a result for a reference", 1, results_are_data),
    "parallel": Point("runs independent steps at the same time", 2, runs_in_parallel),
    "ready": Point("starts a step as soon as it is ready, without a level barrier", 1, has_no_barrier),
    "refuse": Point("refuses a bad plan before its first step, with a reason", 2, refuses_bad_plans),
    "failure": Point("goes on beside a failure, and never behind it", 2, survives_failure),
    "replan": Point(
        "replans after a failure, with what is done and what failed, and repeats nothing", 2, replans_and_keeps
    ),
    "bound": Point("gives up after one replan, and says so", 1, is_bounded),
}


if __name__ == "__main__":
    try:
        POINTS[sys.argv[2]].check(runpy.run_path(sys.argv[1])["run"])
    except (Exception, SystemExit) as problem:
        message = str(problem) if isinstance(problem, AssertionError) else f"{type(problem).__name__}: {problem}"
        print(message.splitlines()[0] if message else type(problem).__name__)
        sys.exit(1)
