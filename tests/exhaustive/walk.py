"""Every order in which the outcomes of a run can arrive, using only `decide` and the fold, without a loop or workers.

A case is a plan, a policy and the possible outcomes of jobs. `decide` returns the next event of a board. If there is none, the
walk tries each outcome of each running job. It continues from equal boards only once. `rules` checks each event.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, permutations, product
from typing import Any

from planexec_lite import Backoff, Board, Breaker, Plan, Policy, Run, Step
from planexec_lite.agent import interrupt
from planexec_lite.assembly import chooser, decide
from planexec_lite.capabilities.approval import Approvals
from planexec_lite.capabilities.breaker import ToolHealth
from planexec_lite.capabilities.doubt import Doubt
from planexec_lite.capabilities.judging import Judging
from planexec_lite.capabilities.news import News
from planexec_lite.capabilities.replanning import Replanning
from planexec_lite.capabilities.retries import Backoffs, BackoffStarted
from planexec_lite.capabilities.rollback import Rollback
from planexec_lite.capabilities.undo import WorkDone
from planexec_lite.core import HOLD
from planexec_lite.plan import Call, Problem
from planexec_lite.run import events as e
from planexec_lite.tools import Effects, Limit
from tests.exhaustive import rules

Graph = Mapping[str, tuple[str, ...]]
Decide = Callable[[Board, Policy], e.Event | None]
IDS = "abcd"


def graphs(size: int) -> Iterator[Graph]:
    ids = IDS[:size]
    pairs = [(one, other) for one in ids for other in ids if one != other]
    for chosen in (edges for count in range(len(pairs) + 1) for edges in combinations(pairs, count)):
        graph = {id: tuple(other for one, other in chosen if one == id) for id in ids}
        if _ends(graph):
            yield graph


def shapes(size: int, kept: str) -> Iterator[Graph]:
    """The graphs of `size` steps without those that differ only in the names of steps other than `kept`."""
    seen: set[frozenset[tuple[str, str]]] = set()
    others = [id for id in IDS[:size] if id != kept]
    for graph in graphs(size):
        edges = [(id, other) for id in graph for other in graph[id]]
        if frozenset(edges) not in seen:
            yield graph
        for names in permutations(others):
            of = {kept: kept, **dict(zip(others, names, strict=True))}
            seen.add(frozenset((of[one], of[other]) for one, other in edges))


def _ends(graph: Graph) -> bool:
    done: set[str] = set()
    while free := [id for id in graph if id not in done and done.issuperset(graph[id])]:
        done.update(free)
    return len(done) == len(graph)


@dataclass(frozen=True)
class Case:
    """A plan and a policy, and the possible outcomes of the jobs."""

    graph: Graph  # the dependencies of each step
    policy: Policy = field(default_factory=Policy)
    fails: bool = True  # a step can fail
    doubt: bool = False  # a step can end in doubt
    judged: bool = False  # steps have a criterion; a verdict can be accept, retry or replan
    once: str = ""  # the at-most-once steps
    slots: int | None = None  # a limit on all steps together
    gate: str = ""  # a step with a gate; a person also approves the plan
    planner: bool = False  # a planner replans, or fails
    undo: bool = False  # all steps but the last have an undo, which can fail
    anyway: str = ""  # the steps that run anyway
    ticks: bool = False  # every outcome comes a second later
    crashes: int = 0  # the number of crashes, each after any event; then the run is resumed
    news: int = 0  # the number of news, at any time

    def step(self, id: str, depends_on: tuple[str, ...]) -> Step:
        first = id.rstrip(".")
        return Step(
            id=id,
            description=f"do {id}",
            tool="pay" if first in self.once else "act",
            params={"of": first},
            depends_on=depends_on,
            success_criteria="it holds" if self.judged else None,
            gate=first == self.gate,
            run_anyway=first in self.anyway,
            undo=Call(tool="take back") if self.undo and first != max(self.graph) else None,
        )

    def began(self) -> list[e.Event]:
        limits = (Limit("all", ("act", "pay"), self.slots),) if self.slots else ()
        plan = Plan(steps=tuple(self.step(id, waits_for) for id, waits_for in self.graph.items()))
        effects: dict[str, Effects] = {"pay": "once"}
        effects |= {"act": "idempotent"} if self.undo else {}
        began = e.RunStarted(0.0, "", self.planner, bool(self.gate), self.judged, limits, effects)
        return [began, e.PlanProposed(0.0, plan)]

    def rest(self, board: Board) -> Plan:
        """The answer of the planner: all steps that are not done, with other ids."""
        new = {id: id + "." for id in board.unfinished}
        steps = [self.step(new[id], tuple(new.get(other, other) for other in board.steps[id].depends_on)) for id in new]
        return Plan(steps=tuple(steps))


@dataclass
class Walk:
    """The number of boards, and the number of ends by status."""

    case: Case
    boards: int = 0
    ends: dict[str, int] = field(default_factory=dict)


def outcomes(board: Board, case: Case) -> Iterator[e.Event]:
    """The possible next events of a board without a decision: each outcome of each running job."""
    if board.paused is not None:
        question = board.asked
        verdicts = question.verdicts.keys() - {"change", "roll back"}
        for verdict in sorted(verdicts):
            yield e.Reviewed(0.0, verdict, "", "Ada", step=question.step, of=question.digest)  # type: ignore[arg-type]
    for job in sorted(board.in_flight, key=str):
        if job is None:
            yield e.PlanProposed(0.0, case.rest(board))
            yield e.PlanProposed(0.0, None, (Problem("planner_failed", None, "no answer"),))
        elif isinstance(board.in_flight[job], BackoffStarted):
            yield e.BackoffEnded(0.0, job)
        elif isinstance(board.in_flight[job], e.UndoStarted):
            yield e.UndoDone(0.0, job, None)
            yield e.UndoFailed(0.0, job, "no")
        elif board.state[job] == "judging":
            yield e.Judged(0.0, job, "accept")
            yield e.Judged(0.0, job, "retry", "once more")
            yield e.Judged(0.0, job, "replan", "otherwise")
            yield e.Judged(0.0, job, "accept", error="no verdict")
        else:
            yield e.StepDone(0.0, job, None)
            if case.fails:
                yield e.StepFailed(0.0, job, "no")
            if case.doubt:
                yield e.StepFailed(0.0, job, "late", in_doubt=True)
            if chooser(board.started, case.policy)(board) is HOLD:
                yield e.Requeued(0.0, job, "cancelled")


def walk(case: Case, decide: Decide = decide) -> Walk:
    """Walk every run of a case. Raises `AssertionError` with the events of the first run that breaks a rule."""
    seen = Walk(case)
    first = Board.of(case.began())
    start = (case.crashes, case.news, key_of(first, case.policy))
    came: dict[Any, tuple[Any, e.Event | None]] = {start: (None, None)}
    # a board stays open until all its successors have been visited; to meet an open board again is an endless run
    open_boards: set[Any] = set()
    waiting: list[tuple[Any, Board | None]] = [(start, first)]

    def visit(crashes: int, news: int, after: Board, event: e.Event) -> None:
        step = (crashes, news, key_of(after, case.policy))
        assert step not in open_boards, "the run comes back to an earlier board"
        if step not in came:
            came[step] = (key, event)
            waiting.append((step, after))

    while waiting:
        key, board = waiting.pop()
        if board is None:
            open_boards.discard(key)
            continue
        open_boards.add(key)
        waiting.append((key, None))
        seen.boards += 1
        event = decide(board, case.policy)
        later = board.now + case.ticks
        following = [event] if event is not None else [replace(one, at=later) for one in outcomes(board, case)]
        try:
            rules.at_rest(board, case, following)
            for event in following:
                if event is not None:
                    after = board.copy()
                    after.apply(event)
                    rules.recorded(board, event, after, case)
                    visit(*key[:2], after, event)
            if key[0] and board.in_flight:
                requeued = e.Requeued(board.now, "all running jobs", "interrupted")
                visit(key[0] - 1, key[1], crashed(board, case), requeued)
            if key[1] and not board.ended:
                after = board.copy()
                after.apply(news := e.NewsReceived(board.now, "hurry"))
                visit(key[0], key[1] - 1, after, news)
        except Exception as problem:
            raise AssertionError(f"{problem}\n{_told(came, key, event)}\n{case}") from problem
        if board.ended:
            seen.ends[board.ended.status] = seen.ends.get(board.ended.status, 0) + 1
    return seen


def crashed(board: Board, case: Case) -> Board:
    """The board after a crash, when the run is resumed."""
    run = Run()
    run.board, before = board.copy(), board
    interrupt(run)
    rules.gone_on(before, run.board, case)
    return run.board


def _told(came: Mapping[Any, tuple[Any, e.Event | None]], key: Any, last: e.Event | None) -> str:
    events = [last]
    while came[key][1] is not None:
        key, event = came[key]
        events.append(event)
    return "\n".join(f"  {event}" for event in reversed(events))


def key_of(board: Board, policy: Policy) -> Any:
    """The part of a board that matters: boards with the same key continue in the same ways.

    It leaves out superseded steps, the words of errors, and the orders in which steps were done and are skipped.
    """
    replanning, news, approvals = board[Replanning], board[News], board[Approvals]
    resting = [id for id, job in board.in_flight.items() if isinstance(job, BackoffStarted)]
    return (
        tuple((id, state) for id, state in board.state.items() if state != "superseded"),
        tuple(
            (id, attempt)
            for id, attempt in board.attempt.items()
            if board.state[id] in ("running", "judging", "failed", "in doubt")
        ),
        tuple(board.retry),
        frozenset(resting),
        frozenset(board[Backoffs].ended),
        tuple(board[Doubt].doubted),
        tuple(board[Judging].results),
        frozenset(board.queue.unreachable),
        frozenset(board.failed),
        len(board.results) > replanning.results,
        board.now,
        tuple(sorted((tool, count) for tool, (count, _) in board[ToolHealth].failures.items()))
        if policy.breaker
        else (),
        frozenset(board.in_flight),
        board.paused and (board.paused.reason, board.paused.step),
        board.ended and board.ended.status,
        (
            bool(board.problems),
            board.invalid_in_a_row,
            replanning.asked["rounds"],
            replanning.asked["replans"],
            replanning.ask_again,
            news.unread,
            news.unplanned,
        ),
        frozenset(approvals.approved),
        frozenset(approvals.asks.items()),
        board.reviews[-1].verdict if board.reviews else None,
        _taken_back(board) if "act" in board.started.effects else None,
    )


def _taken_back(board: Board) -> Any:
    """The progress of a rollback, and the order of results, which is the reverse order of undos."""
    rollback, work = board[Rollback], board[WorkDone]
    return (
        rollback.started is not None,
        tuple(one and one.step.id for one in work.pieces.values()),
        tuple(undo.label for undo in rollback.left),
        frozenset(label for label, _ in rollback.remains),
    )


def policies(planner: bool, **more: Any) -> Iterator[Policy]:
    """Every policy that matters; all have the settings `more`."""
    bounds: dict[str, Any] = {"max_replans": 1, "max_repairs": 0, "max_rounds": 1, **more}
    for failure, retries, replan in product(("skip", "stop"), (0, 1), ("never", "failure", "step", "stall")):
        if (planner or replan == "never") and not (replan == "stall" and failure == "stop"):
            yield Policy(failure=failure, retries=retries, replan=replan, **bounds)


BACKED_OFF = {"backoff": Backoff()}
KINDS: dict[str, dict[str, Any]] = {  # fields of a case, and under "policy" those of its policy
    "failures": {},
    "failures, and a planner": {"planner": True},
    "doubt, and an at-most-once step": {"doubt": True, "once": "b"},
    "one slot for all": {"slots": 1},
    "two slots for all": {"slots": 2, "doubt": True},
    "judged": {"judged": True, "fails": False},
    "a gate": {"gate": "b"},
    "backed off": {"policy": BACKED_OFF, "doubt": True},
    "backed off, and a planner": {"policy": BACKED_OFF, "planner": True},
    "run anyway": {"anyway": "b", "doubt": True},
    "run anyway, and a planner": {"anyway": "b", "planner": True},
    "a breaker that stays open": {"policy": {"breaker": Breaker(2, 1.0)}},
    "a breaker that lets one try": {"policy": {"breaker": Breaker(1, 0.0)}},
    "a deadline": {"policy": {"deadline": 2.0}, "ticks": True, "doubt": True},
    "a deadline, and backed off": {"policy": BACKED_OFF | {"deadline": 2.0}, "ticks": True},
    "rolled back": {"policy": {"rollback": "failed"}, "undo": True, "doubt": True},
    "rolled back, and a planner": {"policy": {"rollback": "failed"}, "undo": True, "planner": True},
    "rolled back, and judged": {"policy": {"rollback": "failed"}, "undo": True, "judged": True, "fails": False},
    "rolled back, and a gate": {"policy": {"rollback": "unfinished"}, "undo": True, "gate": "b"},
    "rolled back at a deadline": {"policy": {"deadline": 1.0, "rollback": "unfinished"}, "ticks": True, "undo": True},
    "rolled back, and backed off": {"policy": BACKED_OFF | {"rollback": "failed"}, "undo": True},
    "news": {"planner": True, "news": 1, "doubt": True},
    "news, and judged": {"planner": True, "news": 1, "judged": True, "fails": False},
    "news, and backed off": {"policy": BACKED_OFF, "planner": True, "news": 1},
}
CRASHES: dict[str, dict[str, Any]] = {  # the same kinds, with a crash after any event
    f"{kind}, and a crash": {**about, "crashes": 1, "once": "b"} for kind, about in KINDS.items()
}


def cases(graph: Graph, kind: str) -> Iterator[Case]:
    """The cases of a kind for a graph: one for each policy that matters."""
    about = {**(KINDS | CRASHES)[kind]}
    more = about.pop("policy", {})
    for policy in policies(bool(about.get("planner")), **more):
        if not about.get("judged") or policy.failure == "skip":
            yield Case(graph, policy, **about)


def walked(plans: Iterable[Graph], kind: str) -> list[Walk]:
    """Walk the cases of a kind over these graphs."""
    return [walk(case) for graph in plans for case in cases(graph, kind)]


def told(walks: Sequence[Walk]) -> str:
    """How many cases, boards and ends there were."""
    ends: Counter[str] = Counter()
    for one in walks:
        ends.update(one.ends)
    said = ", ".join(f"{count:,} {status}" for status, count in sorted(ends.items()))
    return f"{len(walks):,} cases, {sum(one.boards for one in walks):,} boards; ends: {said}"
