"""Checks of the capstone: the learner's program, part by part, against the kit's runs of the same plans."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from planexec_lab import connect
from planexec_lab.worlds import arithmetic, deploy, migration, refactor, research
from planexec_lite import (
    LLMPlanner,
    NextStepPlanner,
    Plan,
    PlannerExecutor,
    Policy,
    RuleEvaluator,
    RulePlanner,
    Run,
    Simulated,
    Tool,
    Toolbox,
    ToolExecutor,
    Verdict,
    execute,
)
from planexec_lite.run.events import UndoDone

from exercises.capstone import Entry, events, functions, planner_of, seconds, thoughts
from exercises.checker.data import data
from exercises.checker.exercise import Raised, Trial, exercise
from exercises.checker.guard import Stop

SEEDS = range(20)
Steps = list[dict[str, Any]]


def call(id: str, tool: str, after: tuple[str, ...] = (), /, **params: Any) -> dict[str, Any]:
    """Return a step."""
    return {"id": id, "tool": tool, "params": params, "depends_on": list(after)}


def work_step(id: int, seconds: int, fails: bool, after: list[int], whole: bool = False) -> dict[str, Any]:
    """Return a step that works some seconds and refers to the results of others, in a list or as a `whole` parameter."""
    references = [f"{{step_{other}_result}}" for other in after]
    heard: Any = (references or [[]])[0] if whole else references
    return call(str(id), "work", tuple(map(str, after)), seconds=seconds, fails=fails, heard=heard)


def random_plan(seed: int, fail: bool = True, whole: bool = False, first: int = 1, longer: int = 0) -> Steps:
    """Return up to eight steps in any order that depend on each other and take up to four seconds; some fail."""
    chance, steps = Random(seed), []
    for number in range(1, chance.randint(1, 8) + 1):
        after = chance.sample(range(first, first + number - 1), min(number - 1, chance.randint(0, 3)))
        fails = fail and chance.random() < 0.2
        steps.append(work_step(first + number - 1, chance.randint(0, 4) + longer, fails, after, whole))
    chance.shuffle(steps)
    return steps


def toolbox() -> Toolbox:
    """Return a toolbox with the tool of the random plans."""

    def work(seconds: int, fails: bool, heard: list[Any]) -> list[Any]:
        """Work some seconds, and return what was heard."""
        if fails:
            raise RuntimeError("broken")
        return [seconds, *heard]

    return Toolbox([Tool(work, latency=lambda seconds, fails, heard: float(seconds), effects="none")])


def planned(*plans: Any) -> RulePlanner:
    """Return a planner that gives these plans in turn."""
    written = cycle(plans)
    return RulePlanner(lambda goal: next(written))


def always(plan: Steps) -> Callable[..., Steps]:
    """Return a planner that always gives this plan."""
    return lambda *_: plan


def called(trial: Trial, what: str, function: Callable[..., Any], *args: Any, **named: Any) -> Any:
    """Call the learner's function with the objects themselves, because the program writes into some of them."""
    trial.head, trial.called, trial.came = "called", what, "nothing"
    try:
        value = function(*args, **named)
    except Stop:
        raise
    except Exception as error:
        raise Raised(error) from error
    trial.came = str(value)
    return value


def same(trial: Trial, log: list[Entry], wanted: list[Entry]) -> None:
    """Compare the log with the events of the kit's run."""
    mine = [tuple(entry) for entry in log]
    number = next((n for n, pair in enumerate(zip(mine, wanted, strict=False)) if pair[0] != pair[1]), None)
    if number is None and len(mine) != len(wanted):
        number = min(len(mine), len(wanted))
    if number is not None:
        mine_and_kit = [
            " ".join(rows[number]).strip() if number < len(rows) else "the log has ended" for rows in (mine, wanted)
        ]
        trial.came = f"entry {number + 1} of the log: {mine_and_kit[0]}"
        trial.wrong(mine_and_kit[1], f"The log has the same entries as the kit's run; the first {number} agree.")


def ran(trial: Trial, part: int, kit: Run, tools: Any, run: Any, repaired: Any = None, **named: Any) -> Any:
    """Run the learner's program on the answers of the kit's planner, compare the logs, and return what it returned."""
    log: list[Entry] = []
    planner = planner_of(kit)
    if repaired is not None:
        planner = called(trial, "repaired(planner, tools, log)", repaired, planner, functions(tools), log, attempts=4)
    goal = kit.board.goal
    came = called(trial, f"run({goal[:60]!r}, …)", run, goal, planner, functions(tools), state=({}, log), **named)
    wanted = events(kit) if repaired is not None or part < 4 else [entry for entry in events(kit) if entry[1]]
    same(trial, log, wanted)
    if part < 3:
        results = came.get("results", came) if isinstance(came, dict) else came
        trial.want(results == kit.results, str(kit.results), "The results are those of the kit, by step.")
    else:
        outcome(trial, came, kit.status, kit.results)
    return came


def outcome(trial: Trial, came: Any, status: str, results: Any) -> None:
    """Compare what `run` returned with a status and results."""
    trial.want(
        isinstance(came, dict) and {"status", "results", "reason"} <= set(came),
        "a dict with `status`, `results` and `reason`",
        "From part 3 on, `run` returns three things.",
    )
    trial.want(came["status"] == status, f"status {status!r}", 'The status is "finished" or "failed", as in the kit.')
    trial.want(came["results"] == results, f"results {results}", "The results of the done steps are those of the kit.")


def in_order(trial: Trial, part: int, run: Any, repaired: Any = None) -> None:
    """Try random plans without failures, whose steps are listed in order in parts 1 and 2."""
    for seed in SEEDS:
        steps = random_plan(seed, fail=False, whole=True)
        if part < 3:
            steps.sort(key=lambda step: int(step["id"]))
        kit = PlannerExecutor(planned(steps), ToolExecutor(toolbox()), workers=Simulated(1)).run("work")
        ran(trial, part, kit, toolbox(), run, repaired)


def failures(trial: Trial, part: int, run: Any, repaired: Any, **named: Any) -> None:
    """Try random plans whose steps fail; from part 6 on, a second plan follows a failure."""
    policy = Policy(replan="stall", max_replans=1) if part > 5 else Policy()
    for seed in SEEDS:
        plans = random_plan(seed), random_plan(seed + 100, first=11, longer=5)
        agent = PlannerExecutor(planned(*plans), ToolExecutor(toolbox()), workers=Simulated(1), policy=policy)
        options = {name: make() for name, make in named.items()}
        ran(trial, part, agent.run("work"), toolbox(), run, repaired, **options)


@exercise("capstone.1")
def part_1(trial: Trial, run: Any) -> None:
    """The log and the results of the kit's run."""
    agent = PlannerExecutor(RulePlanner(arithmetic.rules), ToolExecutor(arithmetic.TOOLS))
    ran(trial, 1, agent.run("What is 12 * 4 + 5?"), arithmetic.TOOLS, run)
    in_order(trial, 1, run)


@exercise("capstone.2")
def part_2(trial: Trial, react: Any) -> None:
    """The thoughts and actions of the kit's run, and the model's answer."""
    log: list[Entry] = []
    mine, theirs = migration.World(), migration.World()
    answer = called(
        trial, "react(task, model, tools, log)", react, migration.GOAL, migration.agent, functions(mine.tools), log
    )
    kit = PlannerExecutor(NextStepPlanner(connect("migration")), ToolExecutor(theirs.tools)).run(migration.GOAL)
    same(trial, log, thoughts(kit))
    trial.want(answer == kit.answer, repr(kit.answer), "`react` returns the parameters of the action `answer`.")
    texts: list[str] = []

    def model(text: str) -> tuple[str, str, dict[str, Any]]:
        texts.append(text)
        return "again", "look", {}

    trial.head, trial.called, trial.came = (
        "called",
        "react(task, model, tools, log, turns=3); the model never answers",
        "a value",
    )
    try:
        react("look", model, {"look": lambda: "seen 42"}, [], turns=3)
    except RuntimeError as error:
        trial.came = f"RuntimeError: {error}"
    else:
        trial.wrong("RuntimeError", "After `turns` turns without an answer, `react` raises RuntimeError.")
    trial.came = f"{len(texts)} questions to the model"
    trial.want(len(texts) == 3, "three questions", "The model is asked `turns` times at most.")
    trial.came = texts[-1]
    trial.want(
        texts[-1].count("seen 42") == 2,
        "the text contains both observations",
        "The model reads what the actions showed.",
    )


@exercise("capstone.3")
def part_3(trial: Trial, run: Any) -> None:
    """The log of the kit's run; a bad plan fails before a step starts."""
    in_order(trial, 3, run)
    refused(trial, run)


def refused(trial: Trial, run: Any) -> None:
    """Check that a bad plan starts no step."""
    for fault, rows in data("capstone.3")["bad"].items():
        log: list[Entry] = []
        plan = [call(id, tool, tuple(after), word=word) for id, tool, word, after in rows]
        tools = {"say": lambda word: word}
        came = called(trial, f"run('speak', …): {fault}", run, "speak", always(plan), tools, state=({}, log))
        started = [name for name, *_ in log if name == "StepStarted"]
        trial.want(not started, "no step started", f"A bad plan never runs: {fault}.")
        outcome(trial, came, "failed", {})


@exercise("capstone.4")
def part_4(trial: Trial, run: Any, repaired: Any) -> None:
    """The log of the kit's run: a valid plan after three answers without one."""
    agent = PlannerExecutor(
        LLMPlanner(connect("arithmetic", "stubborn")), ToolExecutor(arithmetic.TOOLS), policy=Policy(max_repairs=3)
    )
    ran(trial, 4, agent.run("What is 7 * 6 + 1?"), arithmetic.TOOLS, run, repaired)
    in_order(trial, 4, run, repaired)
    asked: list[Any] = []

    def planner(goal: str, results: Any, errors: Any) -> Steps:
        asked.append(errors)
        return [call("1", "sing")]

    ask = called(trial, "repaired(planner, tools, log, attempts=2)", repaired, planner, {"say": str}, [], attempts=2)
    trial.called, trial.came = "the repaired planner; its planner always names an unknown tool", "a plan"
    try:
        ask("speak", {}, {})
    except ValueError as error:
        trial.came = f"ValueError: {error}"
    else:
        trial.wrong(
            "ValueError", "After `attempts` answers without a valid plan, the repaired planner raises ValueError."
        )
    trial.came = f"{len(asked)} questions, with the errors {asked}"
    trial.want(len(asked) == 2, "two questions", "The planner is asked `attempts` times.")
    trial.want(not asked[0] and asked[1], "errors at the second question", "The planner gets what was wrong.")


@exercise("capstone.5")
def part_5(trial: Trial, run: Any, repaired: Any) -> None:
    """The log of the kit's run, in which one step fails."""
    brief = [
        call("1", "summarize_text", text="[doc-7] Turbines that float reach deep water."),
        call("2", "write_report", ("1",), sections=["{step_1_result}", "And about wind: {step_1_result}"]),
        call("3", "read_document", id="doc-99"),
        call("4", "summarize_text", ("3",), text="{step_3_result}"),
    ]
    world = research.World()
    kit = PlannerExecutor(planned(brief), ToolExecutor(research.World().tools)).run("a brief")
    ran(trial, 5, kit, world.tools, run, repaired)
    failures(trial, 5, run, repaired)
    once(trial, run)


def once(trial: Trial, run: Any) -> None:
    """Check that a reference inside a result stays unchanged, and that a result keeps its type at any depth."""
    heard: list[Any] = []
    tools = {"page": lambda: "see {step_2_result}", "rows": lambda: [1, None], "hear": lambda what: heard.append(what)}
    what = ["{step_1_result}", {"both": "{step_1_result}, {step_2_result}", "rows": "{step_2_result}"}]
    plan = [call("1", "page"), call("2", "rows"), call("3", "hear", ("1", "2"), what=what)]
    called(trial, f"run('read', …); the parameter of step 3 is {what}", run, "read", always(plan), tools)
    page, rows = "see {step_2_result}", [1, None]
    wanted = [page, {"both": f"{page}, {rows}", "rows": rows}]
    trial.came = str(heard)
    trial.want(
        heard == [wanted], str([wanted]), "A result keeps its type, in lists and dicts too, and is inserted once."
    )


@exercise("capstone.6")
def part_6(trial: Trial, run: Any, repaired: Any) -> None:
    """The log of the kit's run, in which a judge refuses a result and the planner repairs the plan."""

    def judge(step: Any, result: Any) -> str:
        return str(result["summary"]) if isinstance(result, dict) and result.get("failed") else ""

    def verdict(step: Any, result: Any) -> Verdict:
        fault = judge(step, result)
        return Verdict("replan", fault) if fault else Verdict("accept")

    agent = PlannerExecutor(
        LLMPlanner(connect("refactor")),
        ToolExecutor(refactor.World().tools),
        evaluator=RuleEvaluator(verdict),
        policy=Policy(replan="failure"),
    )
    ran(trial, 6, agent.run(refactor.GOAL), refactor.World().tools, run, repaired, judge=judge)
    failures(trial, 6, run, repaired)


@exercise("capstone.7")
def part_7(trial: Trial, run: Any, repaired: Any, Desk: Any, Paused: Any) -> None:  # noqa: N803
    """A pause without effects, and after the approval the log of the kit's run."""
    shop, log = deploy.World(), list[Entry]()
    kit = PlannerExecutor(LLMPlanner(connect("deploy")), ToolExecutor(deploy.World().tools)).run(deploy.GOAL)
    tools = functions(shop.tools)
    desk = called(trial, "Desk(planner)", Desk, repaired(planner_of(kit), tools, log))
    trial.called, trial.came = "run(goal, desk, tools); the plan is not approved", "no pause"
    try:
        run(deploy.GOAL, desk, tools, state=({}, log))
    except Paused:
        trial.came = f"Paused; in production is {shop.deployed('production')}"
    else:
        trial.wrong("Paused", "An unapproved plan does not run.")
    trial.want(shop.deployed("production") == "v2.3.0", "v2.3.0 in production", "Nothing runs before the approval.")
    desk.approved.add(desk.hash)
    came = called(
        trial, "desk.approved.add(desk.hash); run(goal, desk, tools)", run, deploy.GOAL, desk, tools, state=({}, log)
    )
    same(trial, log, events(kit))
    outcome(trial, came, kit.status, kit.results)
    plans = [[call("1", "fail")], [call("2", "say")]]
    desk = Desk(lambda *_: plans.pop(0))
    calls: list[str] = []
    tools = {"fail": lambda: 1 / 0, "say": lambda: calls.append("say")}
    trial.called, trial.came = (
        "run(goal, desk, tools); the approved plan fails, and the planner gives another",
        "no pause",
    )
    for _ in range(2):
        try:
            run("speak", desk, tools)
        except Paused:
            desk.approved = desk.approved or {desk.hash}
    trial.came = f"{len(calls)} calls of the second plan"
    trial.want(not plans and not calls, "Paused", "A new plan has another hash, and asks again.")


@exercise("capstone.8")
def part_8(trial: Trial, run: Any, repaired: Any, Simulated: Any) -> None:  # noqa: N803
    """The log and the seconds of the kit's run with the same slots."""
    shop, release = deploy.World(), Plan.parse(deploy.PLAN)
    kit = PlannerExecutor(planned(release), ToolExecutor(deploy.World().tools), workers=clock(4)).run(deploy.GOAL)
    workers = called(trial, "Simulated(4, seconds)", Simulated, 4, seconds)
    ran(trial, 8, kit, shop.tools, run, repaired, workers=workers)
    timed(trial, workers, kit)
    for seed in SEEDS:
        kit = execute(Plan.parse(random_plan(seed)), ToolExecutor(toolbox()), workers=clock(1 + seed % 4))
        workers = Simulated(1 + seed % 4, seconds)
        ran(trial, 8, kit, toolbox(), run, workers=workers, asks=1)
        timed(trial, workers, kit)
    failures(trial, 8, run, repaired, workers=lambda: Simulated(1, seconds))
    if sys.platform != "emscripten":  # a browser tab has no threads
        both = threading.Barrier(2, timeout=2)
        plan = [call("1", "meet"), call("2", "meet")]
        came = called(
            trial,
            "run('meet', …) without `workers`; two tools wait for each other",
            run,
            "meet",
            always(plan),
            {"meet": both.wait},
        )
        outcome(trial, came | {"results": {}}, "finished", {})


def clock(slots: int) -> Simulated:
    """Return the kit's simulated workers, whose name the learner's class has too."""
    return Simulated(slots)


def timed(trial: Trial, workers: Any, kit: Run) -> None:
    """Compare the seconds."""
    trial.came = f"`now` is {workers.now:g}"
    trial.want(
        workers.now == kit.makespan,
        f"{kit.makespan:g} seconds, as in the kit",
        "A step starts as soon as its dependencies are done and a slot is free.",
    )


@exercise("capstone.9")
def part_9(trial: Trial, run: Any, Simulated: Any, rollback: Any) -> None:  # noqa: N803
    """The calls that the kit's rollback makes, in its order."""
    undos = {"4": {"tool": "deploy_staging", "params": {"tag": "v2.3.0"}}}
    undos["6"] = {"tool": "rollback_production", "params": {"to": "previous"}}
    steps = [step.model_dump(mode="json") for step in Plan.parse(deploy.PLAN).steps]
    shop = deploy.World(currency=None)
    plan = [step | {"undo": undos.get(step["id"])} for step in steps]
    undone(trial, plan, deploy.World(currency=None).tools, shop.tools, run, Simulated(4, seconds), rollback)
    for seed in SEEDS:
        plan = random_plan(seed)
        for step in plan[::2]:
            own = f"{{step_{step['id']}_result}}"
            step["undo"] = {"tool": "work", "params": {"seconds": 0, "fails": False, "heard": [step["id"], own]}}
        undone(trial, [*plan, work_step(9, 9, True, [])], toolbox(), toolbox(), run, Simulated(2, seconds), rollback, 2)


def undone(
    trial: Trial, plan: Steps, theirs: Any, mine: Any, run: Any, workers: Any, rollback: Any, slots: int = 4
) -> None:
    """Compare a rollback with the kit's."""
    parsed = Plan.parse(plan)
    kit = execute(parsed, ToolExecutor(theirs), workers=clock(slots), policy=Policy(rollback="failed"))
    written = [step.model_dump(mode="json") for step in parsed.steps]
    tools = functions(mine)
    came = run("work", always(written), tools, workers=workers, asks=1)
    results = called(trial, "rollback(plan, results, tools)", rollback, written, came["results"], tools)
    wanted = [event.result for event in kit.events if isinstance(event, UndoDone)]
    trial.want(results == wanted, str(wanted), "Done steps with an undo are undone once each, the latest first.")


@exercise("capstone.10")
def part_10(trial: Trial, run: Any, Simulated: Any, Shelf: Any) -> None:  # noqa: N803
    """The same results with and without a crash; a call whose result is on disk is not repeated."""
    for seed in SEEDS:
        with TemporaryDirectory() as folder:
            path = Path(folder, "results.json")
            path.write_text("{}", encoding="utf-8")
            crashed(trial, 1 + seed % 4, random_plan(seed, fail=False), run, Simulated, Shelf, path)


def crashed(trial: Trial, crash: int, steps: Steps, run: Any, simulated: Any, shelf_of: Any, path: Path) -> None:
    """Run a plan with a crash in this call, and continue from the file."""
    calls: list[Any] = []
    real = functions(toolbox())["work"]

    def work(**params: Any) -> Any:
        calls.append(params)
        if len(calls) == crash:
            raise KeyboardInterrupt
        return real(**params)

    def carried_out(shelf: Any) -> Any:
        shelf.path = path
        workers = simulated(1, lambda tool, params: params["seconds"])
        return run("work", always(steps), {"work": work}, workers=workers, state=(shelf, []))

    trial.head, trial.called, trial.came = "called", f"run(…, state=(Shelf(), log)); a crash in call {crash}", "nothing"
    try:
        carried_out(shelf_of())
    except KeyboardInterrupt as stop:
        if isinstance(stop, Stop):
            raise
    stored, before = json.loads(path.read_text(encoding="utf-8")), len(calls)
    came = called(trial, f"the same again after a crash in call {crash}", carried_out, shelf_of(stored))
    after, done = len(calls) - before, before - (before == crash)
    trial.came = (
        f"{len(stored)} results on disk after {before} calls, then {after} calls; the plan has {len(steps)} steps"
    )
    trial.want(len(stored) == done, f"{done} results on disk", "Each result is on disk before the next step starts.")
    trial.want(
        after == len(steps) - done, "one call of each other step", "Don't repeat a call whose result is on disk."
    )
    outcome(trial, came, "finished", execute(Plan.parse(steps), ToolExecutor(toolbox()), workers=clock(1)).results)


@exercise("capstone.11")
def part_11(trial: Trial, run: Any, Simulated: Any) -> None:  # noqa: N803
    """An outer plan of two steps; the first is a nested run."""
    shop = deploy.World()
    steps = [step.model_dump(mode="json") for step in Plan.parse(deploy.PLAN).steps]
    inner = [step for step in steps if step["tool"] != "notify_team"]
    tools = functions(shop.tools)

    def release_it(tag: str) -> str:
        workers = Simulated(4, seconds)
        inside = run(f"Deploy {tag}", always(inner), tools, workers=workers)
        return f"{tag} {inside['status']} in {workers.now:g} s, {len(inside['results'])} steps"

    outer = [call("1", "release_it", tag="v2.3.1"), call("2", "notify_team", ("1",), message="{step_1_result}")]
    workers = Simulated(1, lambda tool, params: 1)
    came = called(
        trial,
        "run(goal, planner, …); step 1 calls run",
        run,
        deploy.GOAL,
        always(outer),
        tools | {"release_it": release_it},
        workers=workers,
    )
    trial.want(came["status"] == "finished", 'status "finished"', "The inner run is a step of the outer run.")
    trial.came = str(shop.messages)
    wanted = ["v2.3.1 finished in 265 s, 7 steps"]
    trial.want(shop.messages == wanted, str(wanted), "The outer plan gets the result of the inner run.")
