"""Plans and runs to draw: the deployment of the seed article, wide, deep, broken and hostile ones; and random plans."""

from collections.abc import Iterable

from hypothesis import strategies as st

from planexec_lite import Plan, Policy, Run, Simulated, Step, Toolbox, ToolExecutor, execute, tool

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


@tool(latency=lambda seconds, fails: seconds)
def work(seconds: float, fails: bool) -> str:
    if fails:
        raise RuntimeError("3 of 12 checks failed")
    return f"took {seconds:g}"


def plan(rows: Iterable[tuple[str, str, float, list[str]]], fails: Iterable[str] = ()) -> Plan:
    steps = [
        Step(
            id=id,
            description=name,
            tool="work",
            params={"seconds": taken, "fails": id in fails},
            depends_on=tuple(deps),
        )
        for id, name, taken, deps in rows
    ]
    return Plan(goal="Deploy v2.3.1", steps=tuple(steps))


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


CIRCLE = plan(
    [("1", "Read", 1, []), ("2", "Write", 1, ["1", "4"]), ("3", "Back up", 1, ["1"]), ("4", "Test", 1, ["2", "3"])]
)
UNKNOWN = plan([("1", "Read", 1, []), ("2", "Write", 1, ["1", "99"])])
HOSTILE_PLAN = plan([(f"{n}", name, 2, [str(n - 1)] if n % 3 else []) for n, name in enumerate(HOSTILE)])

names = st.one_of(st.text(max_size=40), st.sampled_from(HOSTILE), st.sampled_from([row[1] for row in DEPLOY]))
ids = st.text("abcdefXYZ0123456789_.-äжשд数据", min_size=1, max_size=30)


@st.composite
def plans(draw: st.DrawFn, broken: bool = False) -> Plan:
    """Random plans; with `broken`, they may hold circles and unknown steps."""
    chosen = draw(st.lists(ids, max_size=24, unique=True))
    steps = []
    for number, id in enumerate(chosen):
        known = [*chosen, "nowhere", "not.there"] if broken else chosen[:number]
        deps = draw(st.lists(st.sampled_from(known), max_size=3, unique=True)) if known else []
        steps.append(Step(id=id, description=draw(names), depends_on=tuple(deps)))
    return Plan(steps=tuple(steps))
