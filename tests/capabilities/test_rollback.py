"""Rollback: each result is undone once, the latest first, and the run names each step that can't be undone."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lite import (
    Decision,
    Plan,
    PlanError,
    PlannerExecutor,
    Policy,
    Run,
    ScriptedReviewer,
    Simulated,
    Tool,
    Toolbox,
    ToolExecutor,
)
from planexec_lite import events as e
from planexec_lite.capabilities.rollback import Rollback
from planexec_lite.meter import made_once
from tests.capabilities.scaffold import Site, Verdicts, broken, call, carry_out, check_rollback, up
from tests.core.shapes import Job, check_fold, jobs, step
from tests.rounds import rounds


@st.composite
def sites(draw: st.DrawFn) -> tuple[list[Job], set[str], set[str], dict[str, Any], int | None]:
    made = draw(jobs())
    undo = {job.id for job in made if draw(st.booleans())}
    stuck = {job.id for job in made if draw(st.integers(0, 4)) == 0}
    failure, when = draw(st.sampled_from(["skip", "stop"])), draw(st.sampled_from(["never", "failed", "unfinished"]))
    policy = {"failure": failure, "rollback": when, "retries": draw(st.integers(0, 1))}
    return made, undo, stuck, policy, draw(st.sampled_from([None, 1, 2, 3]))


def planned(made: list[Job], undo: set[str]) -> list[dict[str, Any]]:
    plain: dict[str, Any] = {"undo": None}
    return [
        up(job.id, *job.waits_for, fails=job.fails, quarters=job.quarters, retries=job.retries)
        | ({} if job.id in undo else plain)
        for job in made
    ]


@given(sites())
@rounds(300)
def test_what_was_done_is_undone_once_and_the_latest_first(drawn: Any) -> None:
    made, undo, stuck, policy, slots = drawn
    site = Site(" ".join(stuck))
    run = carry_out(planned(made, undo), site.tools, Simulated(slots), **policy)
    begun = [place for place, event in enumerate(run.events) if isinstance(event, e.RollbackStarted)]
    before = run.events[: begun[0]] if begun else run.events
    if begun:
        assert policy["rollback"] != "never"
        assert run.status == "rolled back"
        check_rollback(run, site, undo, before)
    else:
        nothing_done = not any(isinstance(event, e.StepDone) for event in run.events)
        assert policy["rollback"] == "never" or run.status == "finished" or nothing_done
        by_itself = PlannerExecutor(None, ToolExecutor(site.tools), workers=Simulated()).roll_back(run)
        check_fold(by_itself)
        assert by_itself.status == "rolled back"
        check_rollback(by_itself, site, undo, before)


def test_each_result_of_what_may_be_done_once_is_taken_back() -> None:
    log: list[str] = []

    def order() -> int:
        """Order something; each time it is another one."""
        log.append(f"+{len(log) + 1}")
        return len(log)

    def cancel(number: int) -> None:
        """Cancel an order."""
        log.append(f"-{number}")

    tools = Toolbox([Tool(order, effects="once"), Tool(cancel, effects="idempotent"), *Site().tools])
    undo = call("cancel", number="{step_1_result}")
    steps = [step("1", "order", success_criteria="cheap", retries=1, undo=undo), broken("2", "1")]
    carry_out(steps, tools, rollback="failed", evaluator=Verdicts("retry"))
    assert log == ["+1", "+2", "-2", "-1"]


@pytest.mark.parametrize(("when", "status"), [("unfinished", "rolled back"), ("failed", "stopped")])
def test_a_rejected_replan_rolls_back_where_the_policy_says_so(when: Any, status: str) -> None:
    site = Site()
    reviewer = ScriptedReviewer([Decision("approve", "Ada"), Decision("reject", "Ada", "no more")])
    policy = Policy(rollback=when, replan="failure")
    run = site.agent([up("1"), broken("2", "1")], [up("3", "1")], policy=policy, reviewer=reviewer).run("build")
    assert (run.status, site.standing) == (status, [] if status == "rolled back" else ["1"])
    assert run.reason.startswith("Ada rejected the plan: no more")


def test_by_hand_it_goes_back_to_a_step_that_stays_and_later_further() -> None:
    site = Site()
    agent, done = site.agent([]), site.run(up("1"), up("2", "1"), up("3", "2"), rollback=[call("tell", text="sorry")])
    part = agent.roll_back(done, to=2)
    assert (part.reason, site.log[-1]) == ("requested; undone: 3", "-3")
    whole = agent.roll_back(part)
    assert (whole.reason, site.log[3:]) == ("requested; undone: 2, 1; called: rollback 1", ["-3", "-2", "-1", "!sorry"])
    again = agent.roll_back(whole)
    assert (again.reason, len(site.log)) == ("requested; nothing was undone", 7)
    check_fold(again)


@pytest.mark.parametrize("listed", [False, True])
def test_an_undo_that_may_have_been_made_is_not_made_again(listed: bool) -> None:
    site, refunds = Site(), list[str]()

    def refund(name: str) -> None:
        """Pay it back, and break down behind that."""
        refunds.append(name)
        made_once()
        raise RuntimeError("no answer")

    site.tools = Toolbox([*site.tools, Tool(refund, effects="once")])
    back = call("refund", name="{step_1_result.name}")
    run = site.run(up("1", undo=None if listed else back), broken("2", "1"), rollback=[back] * listed)
    label = "rollback 1" if listed else "1"
    assert (label, "RuntimeError: no answer") in run.board[Rollback].remains
    again = site.agent([]).roll_back(run)
    check_fold(again)
    assert (again.status, refunds) == ("rolled back", ["1"])
    assert (label, "it is unknown whether it was undone") in again.board[Rollback].remains


TELL = call("tell", text="sorry")
BACK = call("take_down", name="{step_2_result.name}")
ON = call("tell", text="{step_2_result.name} on {step_1_result.name}")
CASES: dict[str, tuple[list[Any], list[Any], str, str]] = {
    "the undo fails": (
        [up("1", name="stuck"), up("2", "1"), broken("3", "2")],
        [],
        "+stuck +2 -2 -stuck",
        "undone: 2; not undone: 1 (RuntimeError: stuck is stuck)",
    ),
    "no undo": (
        [step("1", "look"), step("2", "tell", "1", text="hi"), up("3", "2"), broken("4", "3")],
        [],
        "!hi +3 -3",
        "undone: 3; not undone: 2 (no undo of its own)",
    ),
    "in doubt": (
        [up("1"), up("2", "1", quarters=40, timeout=1.0)],
        [],
        "+1 +2 -1",
        "undone: 1; not undone: 2 (unknown whether it was done)",
    ),
    "done after its timeout": (
        [up("1", quarters=12, timeout=1.0), up("2", quarters=20), broken("3", "2")],
        [],
        "+1 +2 -2",
        "undone: 2; not undone: 1 (it was done after its timeout)",
    ),
    "its reference has no result": (
        [up("1", fails=9), up("2", "1", undo=up("1")["undo"]) | {"run_anyway": True}],
        [],
        "+2",
        "(MissingResultError: {step_1_result.name}: step 1 has no result)",
    ),
    "the undo uses an earlier result": (
        [up("1"), up("2", "1", undo=ON), broken("3", "2")],
        [],
        "+1 +2 !2 on 1 -1",
        "undone: 2, 1",
    ),
    "calls of the plan": (
        [up("1"), broken("2", "1")],
        [up("1")["undo"], TELL],
        "+1 -1 !sorry",
        "undone: 1; called: rollback 2",
    ),
    "a call for a step without a result": (
        [up("1", undo=None), up("2", "1", fails=9)],
        [BACK, TELL],
        "+1 !sorry",
        "not undone: 1 (no undo of its own); not undone: rollback 1 (step 2 gave no result)",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_undone_and_what_is_not_is_named(name: str) -> None:
    steps, rollback, log, reason = CASES[name]
    site = Site(stuck="stuck")
    run = site.run(*steps, rollback=rollback)
    assert run.status == ("rolled back" if log else "failed")
    assert " ".join(site.log) == log
    assert run.reason.endswith(reason)


@pytest.mark.parametrize("name", ["{step_1_result.name}", "1"])
def test_a_call_that_does_the_same_as_another_is_not_made(name: str) -> None:
    site = Site()
    same, sorry = call("take_down", name=name), call("tell", text="sorry")
    run = site.run(up("1"), broken("2", "1"), rollback=[same | {"gate": True}, sorry, sorry])
    assert (run.status, site.log) == ("rolled back", ["+1", "-1", "!sorry"])


HOSTILE = {"steps": [up("9")], "rollback": [call("take_down", name="1"), call("tell", text="all is well")]}


@pytest.mark.parametrize("by_hand", [False, True])
def test_of_a_plan_that_nobody_approved_nothing_is_called(by_hand: bool) -> None:
    site = Site()
    said = [Decision("approve", "Ada"), *([] if by_hand else [Decision("reject", "Ada")])]
    policy = Policy(rollback="unfinished", replan="failure")
    first = {"steps": [up("1"), broken("2", "1")], "rollback": [call("tell", text="sorry")]}
    run = site.agent(first, HOSTILE, policy=policy, reviewer=ScriptedReviewer(said)).run("build")
    if by_hand:
        assert run.status == "paused"
        run = site.agent([]).roll_back(run)
    assert (run.status, site.log) == ("rolled back", ["+1", "-1", "!sorry"])


def test_the_rollback_that_a_reviewer_wrote_is_the_one_that_counts() -> None:
    site = Site()
    first = {"steps": [up("1"), broken("2", "1")], "rollback": [call("tell", text="sorry")]}
    edited = Plan.parse({**first, "rollback": [call("tell", text="forgive us")]})
    reviewer = ScriptedReviewer([Decision("approve", "Ada", plan=edited)])
    run = site.agent(first, reviewer=reviewer).run("build")
    assert (run.status, site.log) == ("rolled back", ["+1", "-1", "!forgive us"])


NEEDED = Policy(require_undo=True)


def test_where_an_undo_is_required_a_plan_without_one_is_invalid() -> None:
    site = Site()
    with pytest.raises(PlanError) as caught:
        site.run(
            up("1"), up("2", "1", undo=None), step("3", "look", "2"), step("4", "tell", text="done"), policy=NEEDED
        )
    assert [(problem.code, problem.step) for problem in caught.value.problems] == [("no_undo", "2"), ("no_undo", "4")]
    assert "{step_2_result}, or a gate" in str(caught.value)
    assert site.log == []


def test_a_later_plan_keeps_the_calls_that_take_back_what_is_done() -> None:
    site = Site()
    back = [call("take_down", name="{step_1_result.name}")]
    first = {"steps": [up("1", undo=None), broken("2", "1")], "rollback": back}
    second = {"steps": [up("3"), broken("4", "3")]}
    policy = Policy(rollback="failed", require_undo=True, replan="failure", max_replans=1)
    agent = site.agent(first, second, second | {"rollback": back}, policy=policy)
    run = agent.run("build")
    assert agent.planner.told == [[], [], ["no_undo"]]  # type: ignore[union-attr]
    assert (run.status, site.log) == ("rolled back", ["+1", "+3", "-3", "-1"])


class Stop(KeyboardInterrupt):
    """Somebody pulls the plug."""


@pytest.mark.parametrize("effects", ["idempotent", "once"])
def test_a_rollback_that_is_cut_off_goes_on_and_undoes_nothing_twice(effects: Any) -> None:
    site, cut = Site(), [True]

    def undo(name: str) -> None:
        """Take down, once cut off in the middle."""
        site.take_down(name)
        if cut and name == "2":
            cut.clear()
            raise Stop

    site.tools = Toolbox([*site.tools, Tool(undo, effects=effects)])
    steps = [up(id, *after, undo=call("undo", name=id)) for id, after in {"1": (), "2": ("1",), "3": ("2",)}.items()]
    with pytest.raises(Stop) as caught:
        site.run(*steps, broken("4", "3"))
    left: Run = caught.value.run  # type: ignore[attr-defined]
    run = site.agent([]).resume(left)
    check_fold(run)
    again = effects == "idempotent"  # the second call finds nothing to take down, and says so
    assert site.log[3:] == ["-3", "-2", *["-2"] * again, "-1"]
    why = "ValueError: list.remove(x): x not in list" if again else "interrupted; it is unknown whether it was undone"
    assert run.board[Rollback].remains == [("2", why)]
    assert run.board[Rollback].undone == ["3", "1"]


def test_what_was_under_way_when_the_run_was_left_is_named_until_it_is_done() -> None:
    site, cut = Site(), [True]
    put_up = site.put_up

    def cut_off(name: str) -> dict[str, str]:
        """Put something up, once cut off right behind that."""
        result = put_up(name)
        if cut.pop() if cut else False:
            raise Stop
        return result

    site.tools = Toolbox([Tool(cut_off, name="put_up", effects="idempotent"), site.tools["take_down"]])
    with pytest.raises(Stop) as caught:
        site.run(up("1"))
    left: Run = caught.value.run  # type: ignore[attr-defined]
    run = site.agent([]).roll_back(left)
    check_fold(run)
    assert run.reason.endswith("; not undone: 1 (interrupted; unknown whether it was done)")
    done = site.agent([]).resume(left)
    assert site.agent([]).roll_back(done).reason == "requested; undone: 1"
