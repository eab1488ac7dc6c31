"""The rubric of the whiteboard drill: the points, their worth, and a check for each.

Each check calls the answer's ``run(goal, planner, tools)`` with its own planner and tools, and asserts the result.
It needs only the standard library: ``python exercises/interview/drill/rubric.py FILE POINT`` tries one point.
"""

from __future__ import annotations

import runpy
import sys
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

Run = Callable[..., dict[str, Any]]
MOST_LINES = 60
PATIENCE = 5.0  # seconds that a step waits for another step that should run at the same time


class Point(NamedTuple):
    """One point of the rubric: the ability that the answer shows, its worth, and the check."""

    shows: str
    worth: int
    check: Callable[[Run], None]


def step(id: str, tool: str, *after: str, **params: Any) -> dict[str, Any]:
    return {"id": id, "tool": tool, "params": params, "depends_on": list(after)}


def result_of(id: str) -> str:
    return f"{{step_{id}_result}}"


class Planner:
    """Returns one plan after the other, the last one repeatedly, and records its inputs."""

    def __init__(self, *plans: list[dict[str, Any]]) -> None:
        self.plans = plans
        self.inputs: list[tuple[str, dict[str, Any], dict[str, Any]]] = []

    def __call__(self, goal: str, results: dict[str, Any], errors: dict[str, Any]) -> list[dict[str, Any]]:
        assert len(self.inputs) < 10, "the planner was called a tenth time; the loop has no bound"
        self.inputs.append((goal, dict(results), dict(errors)))
        return self.plans[min(len(self.inputs), len(self.plans)) - 1]


class Diary:
    """Tools that record their calls."""

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
    assert [goal for goal, *_ in planner.inputs] == ["say a, then b"], "ask the planner once, with the goal"
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
    together = threading.Barrier(2)  # 1 and 3 meet here: possible only if 3 starts while 1 is still running
    tools = {"meet": lambda: together.wait(PATIENCE) >= 0, "quick": lambda: True}
    plan = [step("1", "meet"), step("2", "quick"), step("3", "meet", "2")]
    ended = run("meet", Planner(plan), tools)
    assert set(ended["results"]) == {"1", "2", "3"}, (
        "3 is ready when 2 is done, but it had to wait for 1, which is not its dependency"
    )


def refuses_bad_plans(run: Run) -> None:
    good = step("1", "say", word="a")
    bad_plans = {
        "a cycle": [good, step("2", "say", "3", word="b"), step("3", "say", "2", word="c")],
        "a step that depends on a missing step": [good, step("2", "say", "9", word="b")],
        "an unknown tool": [good, step("2", "shout", word="b")],
        "two steps with the same id": [good, good],
        "a reference to a step that is not a dependency": [good, step("2", "say", word=result_of("1"))],
    }
    for name, plan in bad_plans.items():
        diary = Diary()
        ended = run("nothing", Planner(plan), diary.tools)
        assert not diary.calls, f"{name}: reject the plan before its first step"
        assert ended["status"] == "failed", f"{name}: the status is {ended['status']!r}"
        assert ended["reason"], f"{name}: say why"


def survives_failure(run: Run) -> None:
    diary = Diary()
    plan = [step("1", "fail", word="a"), step("2", "say", "1", word="b"), step("3", "say", word="c")]
    ended = run("a, then b, and c", Planner(plan), diary.tools)
    assert "b" not in diary.calls, "2 depends on 1, which failed; a failed step is not done"
    assert "c" in diary.calls, "3 does not depend on 1; it should run"
    assert ended["status"] == "failed", f"step 1 failed, but the status is {ended['status']!r}"


def replans_and_keeps(run: Run) -> None:
    diary = Diary()
    start, end = step("1", "say", word="a"), step("3", "say", "2", word="c")
    planner = Planner([start, step("2", "fail", "1", word="b"), end], [start, step("2", "say", "1", word="B"), end])
    ended = run("a, b, c", planner, diary.tools)
    assert len(planner.inputs) == 2, f"one step failed; the planner was called {len(planner.inputs)} times, not twice"
    _, results, errors = planner.inputs[1]
    assert results == {"1": "a"}, f"tell the planner which steps are done; it received {results}"
    assert "2" in errors, f"tell the planner which steps failed; it received {errors}"
    assert diary.calls == ["a", "b", "B", "c"], f"finished steps must not run again; the calls were {diary.calls}"
    assert ended["status"] == "finished", f"the new plan worked, but the status is {ended['status']!r}"


def is_bounded(run: Run) -> None:
    planner = Planner([step("1", "fail", word="a")])
    ended = run("a", planner, Diary().tools)
    assert len(planner.inputs) == 2, f"replan once; the planner was called {len(planner.inputs)} times"
    assert ended["status"] == "failed", f"the bound was reached, but the status is {ended['status']!r}"
    assert ended["reason"], "say which bound ended it"


POINTS = {
    "plan": Point("calls the planner once, before any step runs", 1, plans_first),
    "order": Point("runs a step when its dependencies are done, in any order of the list", 2, keeps_order),
    "results": Point("passes results on with their type", 1, passes_results),
    "data": Point("never reads a result as a reference", 1, results_are_data),
    "parallel": Point("runs independent steps at the same time", 2, runs_in_parallel),
    "ready": Point("starts a step as soon as it is ready, without a level barrier", 1, has_no_barrier),
    "refuse": Point("rejects a bad plan before its first step, with a reason", 2, refuses_bad_plans),
    "failure": Point(
        "continues with independent steps after a failure, and never with dependent ones", 2, survives_failure
    ),
    "replan": Point(
        "replans after a failure, tells the planner which steps are done and which failed, and repeats no step",
        2,
        replans_and_keeps,
    ),
    "bound": Point("stops after one replan, and says so", 1, is_bounded),
}


if __name__ == "__main__":
    try:
        POINTS[sys.argv[2]].check(runpy.run_path(sys.argv[1])["run"])
    except (Exception, SystemExit) as problem:
        message = str(problem) if isinstance(problem, AssertionError) else f"{type(problem).__name__}: {problem}"
        print(message.splitlines()[0] if message else type(problem).__name__)
        sys.exit(1)
