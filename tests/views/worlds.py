"""Plans and runs to draw: the deployment of the article, wide, deep, broken and hostile ones; and random plans."""

from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st

from planexec_lite import (
    Plan,
    PlannerExecutor,
    Policy,
    RuleEvaluator,
    Run,
    Simulated,
    Step,
    Toolbox,
    ToolExecutor,
    execute,
    tool,
)
from planexec_lite.capabilities.judging import Verdict
from planexec_lite.meter import charge
from planexec_lite.run import events as e

DEPLOY = [
    ("1", "Run full test suite", 20, []),
    ("2", "Build Docker image", 30, ["1"]),
    ("3", "Backup production database", 15, []),
    ("4", "Deploy to staging", 12, ["2"]),
    ("5", "Verify staging works", 8, ["4"]),
    ("6", "Deploy to production", 25, ["3", "5"]),
    ("7", "Verify production works", 7, ["6"]),
    ("8", "Send notification", 1, ["7"]),
]
SECONDS = {id: float(taken) for id, _, taken, _ in DEPLOY}
HOSTILE = [
    "<script>alert('x')</script>",
    "\"double\" & 'single' 100% %3C $x^2$ {y} #id",
    "]]> --> </svg></figure> &lt;",
    "two\nlines\tand\x00a null \x1b[31m\u202e\ud800",
    "x" * 500,
    "party \N{PARTY POPPER} \N{WOMAN}\u200d\N{WOMAN}\u200d\N{GIRL}",
    "数据库迁移脚本测试然后部署到生产环境并通知团队所有成员",
    "Проверка целостности данных после переноса",
    "שלום עולם",
    "",
]


@tool(latency=lambda seconds, fails: seconds, effects="none")
def work(seconds: float, fails: bool) -> str:
    if fails:
        raise RuntimeError("3 of 12 checks failed")
    return f"took {seconds:g}"


def plan(rows: Iterable[tuple[str, str, float, list[str]]], fails: Iterable[str] = ()) -> Plan:
    def step(id: str, name: str, taken: float, deps: list[str]) -> Step:
        params = {"seconds": taken, "fails": id in fails}
        return Step(id=id, description=name, tool="work", params=params, depends_on=tuple(deps))

    return Plan(goal="Deploy v2.3.1", steps=tuple(step(*row) for row in rows))


def run(shown: Plan, slots: int | None = 4, retries: int = 0) -> Run:
    return execute(shown, ToolExecutor(Toolbox([work])), workers=Simulated(slots), policy=Policy(retries=retries))


def deploy(fails: Iterable[str] = (), retries: int = 0) -> Run:
    return run(plan(DEPLOY, fails), retries=retries)


def chain(length: int) -> Plan:
    return plan([(str(n), f"Do part {n}", 1, [str(n - 1)] if n > 1 else []) for n in range(1, length + 1)])


def fan(width: int) -> Plan:
    middle = [str(n) for n in range(2, width + 2)]
    rows: list[tuple[str, str, float, list[str]]] = [("1", "Collect sources", 1, [])]
    rows += [(id, f"Summarise source {id}", 2, ["1"]) for id in middle]
    return plan([*rows, (str(width + 2), "Write the report", 1, middle)])


def layered(layers: int, width: int) -> Plan:
    rows = []
    for number in range(layers * width):
        layer, place = divmod(number, width)
        above = (layer - 1) * width
        deps = sorted({above + place + 1, above + (place * 3 + layer) % width + 1}) if layer else []
        rows.append((str(number + 1), f"Work on part {number + 1}", 1.0, [str(dep) for dep in deps]))
    return plan(rows)


HOSTILE_PLAN = plan(
    # what JSON can't hold is never run
    [(f"{n}", name.replace("\ud800", ""), 2, [str(n - 1)] if n % 3 else []) for n, name in enumerate(HOSTILE)]
)


class Planner:
    """Gives its plans one after the other, and takes three seconds for each."""

    def __init__(self, *plans: Plan) -> None:
        self.plans = list(plans)

    def plan(self, goal: str, board: object, tools: object) -> Plan:
        charge(3.0)
        return self.plans.pop(0)


REFACTOR = [
    ("1", "List the endpoints", 2, []),
    ("2", "Update endpoints to use JWT", 20, ["1"]),
    ("3", "Update tests", 15, ["2"]),
    ("4", "Run test suite", 8, ["3"]),
    ("5", "Tell everybody", 1, ["4"]),
]
MENDED = [
    ("2b", "Fix the token header", 5, ["2"]),
    ("3", "Update tests", 15, ["2b"]),
    ("4", "Run test suite", 8, ["3"]),
]


def given(shown: Plan, *events: e.Event, **more: Any) -> Run:
    """A run of a plan that was given, with these events; `more` are fields of its start."""
    return Run([e.RunStarted(0.0, "goal", planner=False, reviewer=False, **more), e.PlanProposed(0.0, shown), *events])


def criteria(shown: Plan, *ids: str) -> Plan:
    return shown.changed(
        steps=[s.model_copy(update={"success_criteria": f"{s.id} is fine"}) if s.id in ids else s for s in shown.steps]
    )


def replanned() -> Run:
    """As in the refactoring: step 3 is rejected because of step 2; 2b fixes it, 3 runs again, 5 is left out."""
    verdicts = iter(["2 endpoints answer <401>", None])

    def judge(step: Step, result: object) -> Verdict | bool:
        charge(1.0)
        reason = next(verdicts) if step.id == "3" else None
        return Verdict("replan", reason, rejects="2") if reason else True

    planner = Planner(criteria(plan(REFACTOR), "1", "2", "3"), criteria(plan(MENDED), "3"))
    executor, policy = ToolExecutor(Toolbox([work])), Policy(replan="failure")
    return PlannerExecutor(planner, executor, None, RuleEvaluator(judge), Simulated(4), policy).run("Move to JWT")


def midway() -> Run:
    """A running run: 2 was never judged, news superseded 3, and the result of 4 is being judged."""
    first = criteria(plan([("1", "Read", 2, []), ("2", "Back up", 4, ["1"]), ("3", "Migrate", 9, ["2"])]), "2")
    second = criteria(plan([("4", "Migrate the half", 3, ["2"])]), "4")
    return Run([
        e.RunStarted(0.0, "Migrate", planner=True, reviewer=False, evaluator=True),
        e.PlanStarted(0.0, "first"),
        e.PlanProposed(3.0, first, seconds=3.0),
        e.StepStarted(3.0, "1"),
        e.StepDone(5.0, "1", "read", 2.0),
        e.StepStarted(5.0, "2"),
        e.StepDone(9.0, "2", {"size": 4}, 4.0),
        e.JudgeStarted(9.0, "2"),
        e.Judged(10.0, "2", "accept", error="RuntimeError: no model", seconds=1.0),
        e.NewsReceived(10.0, "the window closes at <18:00>"),
        e.PlanStarted(10.0, "news"),
        e.PlanProposed(12.0, second, seconds=2.0),
        e.StepStarted(12.0, "4"),
        e.StepDone(15.0, "4", {"rows": 9}, 3.0),
        e.JudgeStarted(15.0, "4"),
    ])  # fmt: skip


def thinking() -> Run:
    """A step that is carried out by thinking aloud; its second try has one thought."""
    inside = [
        e.Thought("I look for <b>failed</b> in the log."),
        e.Action("search", {"text": "failed", "limit": 3}),
        e.Observation("ValueError: there is no log 'x'", error=True),
        e.Action("search", {"text": "lost"}),
        e.Observation("x" * 900),
        {"event": "of a nested run"},
    ]
    return given(
        plan([("1", "Find the gap", 1, []), ("2", "Mend it", 1, ["1"])]),
        e.StepStarted(0.0, "1", 1, 2),
        *(e.Inside(1.0, "1", event) for event in inside),
        e.StepFailed(2.0, "1", "RuntimeError: not done", 2.0),
        e.StepStarted(2.0, "1", 2, 2),
        e.Inside(3.0, "1", e.Thought("The key is missing.")),
        e.StepDone(3.0, "1", "The key is missing.", 1.0),
        e.StepStarted(3.0, "2"),
        e.Inside(4.0, "2", e.Thought("Mended.")),
    )


def streamed() -> Run:
    """A run whose planner is still writing while the first step is at work."""
    shown = plan([("1", "Read", 2, []), ("2", "Write", 3, ["1"])])
    return Run([
        e.RunStarted(0.0, "Write", planner=True, reviewer=False),
        e.PlanStarted(0.0, "first"),
        e.StepProposed(2.0, shown.steps[0]),
        e.StepStarted(2.0, "1"),
        e.StepDone(4.0, "1", "read", 2.0),
        e.PlanProposed(5.0, shown, seconds=5.0),
        e.StepStarted(5.0, "2"),
        e.StepDone(8.0, "2", "written", 3.0),
        e.Ended(8.0, "finished", "2 steps done"),
    ])  # fmt: skip


names = st.one_of(st.text(max_size=40), st.sampled_from(HOSTILE), st.sampled_from([row[1] for row in DEPLOY]))
LETTERS = "abcdefXYZ0123456789_.-"
ids, any_ids = (st.text(letters, min_size=1, max_size=30) for letters in (LETTERS, LETTERS + "äжשд数据"))


@st.composite
def plans(draw: st.DrawFn, broken: bool = False) -> Plan:
    """Random plans; with `broken`, they can have cycles, unknown steps, and ids that can't be run."""
    chosen = draw(st.lists(any_ids if broken else ids, max_size=24, unique=True))
    steps = []
    for number, id in enumerate(chosen):
        known = [*chosen, "nowhere", "not.there"] if broken else chosen[:number]
        deps = draw(st.lists(st.sampled_from(known), max_size=3, unique=True)) if known else []
        steps.append(Step(id=id, description=draw(names), depends_on=tuple(deps)))
    return Plan(steps=tuple(steps))
