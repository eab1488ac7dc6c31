"""Checks for lesson 06, evaluate and replan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from planexec_lab import views
from planexec_lab.worlds import kitchen, migration, research
from planexec_lite import (
    Board,
    Plan,
    PlanError,
    PlannerExecutor,
    Policy,
    RuleEvaluator,
    Run,
    Simulated,
    Step,
    Toolbox,
    ToolExecutor,
    Verdict,
    tool,
)
from planexec_lite.capabilities.judging import Judging

from exercises.checker.checks import said
from exercises.checker.checks.order import behind
from exercises.checker.data import data
from exercises.checker.exercise import Trial, exercise, raising, unforeseen

SHOPPING = ("leeks", "bread", "apples", "flour")
INSTEAD = (("leeks", "onions"), ("apples", "pears"))


class _Step(Step):
    """A step whose repr shows only the fields that differ from their defaults."""

    def __repr__(self) -> str:
        named = self.model_dump(exclude_defaults=True).items()
        return f"Step({', '.join(f'{name}={value!r}' for name, value in named)})"


class _Rules:
    """A planner that calls a function of the board."""

    def __init__(self, rule: Callable[[Board], Any]) -> None:
        self.rule = rule

    def plan(self, goal: str, board: Board, tools: Toolbox) -> Plan:
        return Plan.parse(self.rule(board))


@exercise("06.1")
def asked(trial: Trial, never: Any, failure: Any, stall: Any, step: Any) -> None:
    """Four whole numbers: how often the planner is asked under each setting, including the first plan."""
    trial.show(views.graph, Plan.parse(_shopping(Board())))
    rules = {
        "never": "The planner writes the first plan; after that, this setting never asks again.",
        "failure": "Each failure causes a question at once, and the two failures happen at different times.",
        "stall": "When the run stalls, both failures are known, so one question is enough.",
        "step": "Each step that ends, done or failed, causes a question as long as work is left.",
    }
    for name, guess in (("never", never), ("failure", failure), ("stall", stall), ("step", step)):
        run = _bought(name)
        times = [type(event).__name__ for event in run.events].count("PlanStarted")
        trial.given(name, guess)
        number = said.number(trial, guess, f"a whole number, as in `{name} = 7`")
        trial.want(
            number == times, f'the questions in a run with replan="{name}", including the first plan', rules[name]
        )


def _shopping(board: Board) -> list[dict[str, Any]]:
    """Return the steps still to be done, with replacements for items that are sold out."""
    failed = {str(board.steps[id].params["what"]) for id in board.failed}
    swap, have = dict(INSTEAD), {str(board.steps[id].params["what"]) for id in board.results}
    wanted = [swap[what] if what in failed or swap.get(what) in have else what for what in SHOPPING]
    return [
        {"id": what, "description": f"Buy {what}", "tool": "buy", "params": {"what": what}, "depends_on": []}
        for what in wanted
        if what not in have
    ]


def _bought(replan: Any) -> Run:
    @tool(latency=5.0, effects="none")
    def buy(what: str) -> str:
        """Buy something."""
        if what in dict(INSTEAD):
            raise ValueError(f"{what} are sold out")
        return what

    executor = ToolExecutor(Toolbox([buy]))
    agent = PlannerExecutor(_Rules(_shopping), executor, workers=Simulated(1), policy=Policy(replan=replan))
    return agent.run("Buy what the dinner needs")


@exercise("06.2")
def verdict(trial: Trial, judge: Any) -> None:
    """Accept, or replan with a reason that names every fault, and with the step that wrote a section without a source."""
    trial.show(lambda: views.board(_reported(judge)))
    good = {"file": "report-1.md", "sections": 3, "words": 115, "cites": ["doc-1"], "unknown": [], "uncited": []}
    for sources in (("7", "8", "9"), ("5b", "2", "11"), tuple(unforeseen(judge, 3))):
        step = _Step(id="10", tool="write_report", depends_on=sources, success_criteria="every section has a source")
        verdict = _verdict(trial, judge, step, good)
        rule = "Accept a result that meets its criterion." + (
            " Returning a string means replan." if verdict.reason else ""
        )
        trial.want(verdict.verdict == "accept", 'Verdict("accept"): three sections, each with a source', rule)
        for uncited, unknown in [([2], []), ([1], []), ([3, 1], []), ([], ["doc-99"]), ([3], ["doc-77", "doc-8"])]:
            result = good | {"uncited": uncited, "unknown": unknown}
            verdict = _verdict(trial, judge, step, result)
            rule = "A section without a source, or with a source that doesn't exist, does not meet the criterion."
            trial.want(verdict.verdict == "replan", "replan, and a reason", rule)
            for fault in [*map(str, uncited), *unknown]:
                rule = "The planner reads only the reason, so the reason must name every fault."
                trial.want(fault in verdict.reason, f"a reason that names {fault}", rule)
            right = [sources[number - 1] for number in uncited] or [None]
            wanted = " or ".join(f"rejects={id!r}" for id in right)
            rule = "Don't reject the report step: section 2 contains the result of the second step in depends_on."
            rule = rule if uncited else "The result does not show which step invented a document, so set no `rejects`."
            trial.want(verdict.rejects in right, wanted, rule)
        for claim in ("Done.", None, ["a section", "another"], {"said": "done"}, {}, {"sections": 3, "words": 115}):
            verdict = _verdict(trial, judge, step, claim)
            rule = "An executor's 'done' proves nothing. If you can't check a criterion, it is not met."
            trial.want(verdict.verdict == "replan", "replan: this is not a report", rule)
            trial.want(verdict.reason.strip(), "a reason", "A planner can't act on a verdict without a reason.")


def _verdict(trial: Trial, judge: Any, step: Step, result: Any) -> Verdict:
    """Return the verdict as the kit reads it: True and None mean accept, a string is the reason for a replan."""
    came = trial.call(judge, step, result)
    trial.want(isinstance(came, (Verdict, bool, str, type(None))), "a Verdict", "An evaluator returns a verdict.")
    return RuleEvaluator(lambda *_: came).evaluate(step, result, Board())


def _reported(judge: Any) -> Run:
    """Run a report whose second section has no source, judged by the learner's rule; the planner replaces the rejected step."""
    world = research.World()
    first = [
        {"id": "1", "tool": "read_document", "params": {"id": "doc-1"}, "depends_on": []},
        {"id": "2", "description": "Remember something about wind power", "depends_on": []},
        {"id": "3", "tool": "write_report", "params": {"sections": ["{step_1_result.text}", "{step_2_result}"]}},
    ]
    first[2] |= {"depends_on": ["1", "2"], "success_criteria": "every section has a source"}

    def mends(board: Board) -> Any:
        if not board.steps:
            return first
        if not board[Judging].rejected:
            raise ValueError("the verdict rejects no step, so the planner can't know which section to replace")
        (id,) = board[Judging].rejected
        reading = {"id": f"{id}b", "tool": "read_document", "params": {"id": "doc-7"}, "depends_on": []}
        sections = ["{step_1_result.text}", f"{{step_{id}b_result.text}}"]
        return [reading, first[2] | {"params": {"sections": sections}, "depends_on": ["1", f"{id}b"]}]

    agent = PlannerExecutor(
        _Rules(mends),
        ToolExecutor(world.tools),
        evaluator=RuleEvaluator(judge),
        workers=Simulated(2),
        policy=Policy(replan="failure"),
    )
    return agent.run("Report on wind and sun")


@exercise("06.3")
def criterion(trial: Trial, met: Any) -> None:
    """None if all customers still have the same name and address; otherwise a string that names a customer who is affected."""
    given = data("06.3")
    before = [tuple(row) for row in given["rows"]]
    ada, bo, cem, dora, other = before
    trial.show(_migration, met)
    for after in (before, before[::-1], [dora, bo, other, ada, cem], [tuple(row) for row in before]):
        came = trial.call(met, before, after)
        rule = "A database does not guarantee the order of rows, and Bo never had an address."
        trial.want(came is None, "None: no customer's data changed", rule)
    trial.want(trial.call(met, [], []) is None, "None: the table was empty", "An empty table has nothing to lose.")
    for what, hit, *left in given["damage"]:
        after = [before[row - 1] if isinstance(row, int) else tuple(row) for row in left]
        came = trial.call(met, before, after)
        rule = "After the migration, the same customers must exist, each once, with the same name and address."
        trial.want(isinstance(came, str) and came, f"a string, because {what}", rule)
        rule = "A reason without a name forces the reader to search for the damage."
        trial.want(any(name in came for name in hit), f"a text that names {' or '.join(hit)}, because {what}", rule)
        others = sorted({name for _, name, _ in before if name in came} - {*hit})
        rule = "A reason that names customers without damage forces the reader to search, too."
        trial.want(not others, f"a text that does not name {', '.join(others)}, because only {what}", rule)


def _migration(met: Any) -> views.Figure:
    run = _migrated(met)
    title = "A real migration deletes an address, and your criterion accepts it"
    if run.status != "finished":
        title = "A real migration deletes an address, and your criterion stops it"
    return views.graph(run, title=title)


def _migrated(met: Any) -> Run:
    """Run the hasty migration of lesson 02 on the real database, judged by the learner's criterion."""
    world = migration.World()
    before = world.rows()
    steps = [
        {"id": "1", "tool": "backup_database", "depends_on": []},
        {"id": "2", "tool": "write_migration", "params": {"sql": migration.HASTY_SCRIPT}, "depends_on": ["1"]},
        {"id": "3", "tool": "run_migration", "params": {"file": "{step_2_result.file}"}, "depends_on": ["2"]},
        {"id": "4", "tool": "update_config", "params": {"schema": 2}, "depends_on": ["3"]},
    ]
    for step, words in zip(
        steps, ("Back up", "Write a migration script", "Run it on production", "Tell the shop"), strict=True
    ):
        step["description"] = words
    steps[2]["success_criteria"] = "no customer's data changed"
    judge = RuleEvaluator(lambda step, result: met(before, world.rows()))
    agent = PlannerExecutor(_Rules(lambda board: steps), ToolExecutor(world.tools), None, judge, Simulated())
    return agent.run(migration.GOAL)


EMPTY = "each tool returns None"
CANDLES = "step 15 of the first plan, 'Light the candles', has no tool"
REMAINING = "The plan for the rest must contain all remaining steps."


@exercise("06.4")
def kept(trial: Trial, rest: Any) -> None:
    """The remaining steps, with onions. Leave out done steps; new steps depend on them by their old ids."""
    trial.show(lambda: views.board(_dinner(rest, 4)[0]))
    for slots, trial.scenario in ((4, ""), (1, ""), (2, ""), (2, EMPTY), (2, CANDLES)):
        run, world = _dinner(lambda board: _looked_at(trial, rest, board), slots, trial.scenario)
        twice = [ticket for ticket, times in Counter(world.tickets).items() if times > 1]
        trial.want(
            not twice, "no work done twice", "Keep finished work.", f"done twice: {', '.join(map(str, twice[:2]))}"
        )
        rule = REMAINING
        trial.want(run.status == "finished", "a dinner that finishes", rule, f"{run.status}: {run.reason}")
        trial.want(world.served == ["starter", "main", "dessert"], "three courses served", rule)


def _looked_at(trial: Trial, rest: Any, board: Board) -> Any:
    """Check the learner's plan for a board before the kit receives it."""
    came = trial.call(rest, board)
    try:
        plan = Plan.parse(came)
    except PlanError as problem:
        trial.wrong("a list of steps that `Plan.parse` reads", str(problem.problems[0]))
    again = [step.id for step in plan.steps if step.id in board.results]
    rule = "A plan for the rest leaves out done steps."
    trial.want(
        not again, f"no step that is already done ({', '.join(board.results)})", rule, f"steps {', '.join(again)}"
    )
    problems = plan.problems(kitchen.World().tools, done=board.results)
    trial.want(not problems, "a valid plan", str(problems[0]) if problems else "")
    done = [(board.steps[id].tool, dict(board.steps[id].params)) for id in board.results]
    twice = [str(step) for step in plan.steps if (step.tool, dict(step.params)) in done]
    trial.want(not twice, "no finished work, not even under a new id", rule, f"repeated: {'; '.join(twice[:2])}")
    new = {_work(step): step.id for step in plan.steps}
    work = {step.id: _work(step) for step in board.plan.steps}
    lost = [f"{step.id}, {step.description}" for step in board.plan.steps if not step.tool and work[step.id] not in new]
    trial.want(not lost, f"a plan that also contains step {'; '.join(lost)}", REMAINING)
    for step in board.plan.steps:
        for before in [id for id in step.depends_on if work[id] in new and work[step.id] in new]:
            id, other = new[work[step.id]], new[work[before]]
            rule = "The new plan must keep the dependencies between the remaining steps."
            trial.want(other in behind(plan, id), f"step {id} depending on step {other}, directly or indirectly", rule)
    return plan


def _work(step: Step) -> str:
    """Return a step's tool and parameters, with onions for leeks."""
    return f"{step.tool or step.description} {dict(step.params)}".replace("leeks", "onions")


class _Silent(ToolExecutor):
    """A tool executor whose results are all None."""

    def execute(self, step: Step, inputs: Any) -> None:
        super().execute(step, inputs)


def _dinner(rest: Any, slots: int, scenario: str = "") -> tuple[Run, kitchen.World]:
    """Run the dinner of the kitchen world without leeks, with `rest` as the replanner."""
    menu = Plan.parse(kitchen.PLAN)
    if scenario == CANDLES:
        menu = menu.changed(steps=[*menu.steps, Step(id="15", description="Light the candles", depends_on=["6"])])
    world = kitchen.World(leeks=0)
    hands = _Silent(world.tools) if scenario == EMPTY else ToolExecutor(world.tools)
    planner = _Rules(lambda board: rest(board) if board.steps else menu)
    workers, policy = Simulated(slots), Policy(replan="failure", max_replans=1)
    return PlannerExecutor(planner, hands, workers=workers, policy=policy).run(kitchen.GOAL), world


@exercise("06.5")
def bounded(trial: Trial, pursue: Any) -> None:
    """("finished", results by step) or ("gave up", a reason), with a bound on replans and without repeating done steps."""
    market = _Market(trial)
    came = trial.call(pursue, market.planner(["soup", "roast", "tart"]), market.executor, 3)
    trial.show(_carried_out, tuple(market.done))
    trial.want(came == ("finished", {"soup": "soup!", "roast": "roast!", "tart": "tart!"}), _FINISHED, _EACH)
    trial.want(len(market.heard) == 1, "one question: the first plan succeeded", "Ask again only after a failure.")
    came = trial.call(pursue, market.planner([]), market.executor, 3)
    trial.want(came == ("finished", {}), "('finished', {}): the plan is empty", _EACH)
    _has_ideas(trial, pursue)
    _mends(trial, pursue)
    _has_no_idea(trial, pursue)
    error = LookupError("the planner is out")
    trial.lets_through(error, pursue, raising(error), market.executor, 3)


_FINISHED = "('finished', …) with the result of each step"
_EACH = "When all steps of the plan are done, the run has finished."


class _Market:
    """A planner with a list of plans and an executor that fails for steps that start with `no`; both record their calls."""

    def __init__(self, trial: Trial) -> None:
        self.trial = trial
        self.heard: list[tuple[dict[str, Any], list[str]]] = []
        self.done: list[str] = []
        self.tried: list[str] = []
        self.most = 50

    def planner(self, *plans: list[str]) -> Callable[..., list[str]]:
        """Return a planner that gives one plan after the other, then repeats the last plan."""
        self.heard, self.done, self.left = [], [], [list(plan) for plan in plans]

        def planner(done: dict[str, Any], failures: list[str]) -> list[str]:
            self.heard.append((dict(done), list(map(str, failures))))
            rule = "Every replan needs a bound."
            self.trial.want(len(self.heard) <= self.most, f"at most {self.most} questions", rule)
            return list(self.left.pop(0) if len(self.left) > 1 else self.left[0])

        planner.__name__ = f"planner<{'; then '.join(' + '.join(plan) for plan in plans)}>"
        return planner

    def executor(self, step: str) -> str:
        """Run a step."""
        rule = "Keep finished work, even if the planner names the step again."
        self.trial.want(step not in self.done, f"{step!r} run once", rule)
        self.tried.append(step)
        first = step == "knock" and self.tried.count(step) == 1
        if step.startswith("no ") or (step == "bake" and "heat" not in self.done) or first:
            raise LookupError(_error(step))
        self.done.append(step)
        return f"{step}!" if step != "wait" else ""


def _error(step: str) -> str:
    """Return the error message of a failing step, which does not contain the step's name."""
    return f"sold out since {len(step)} o'clock" if step != "bake" else "the oven is cold"


def _mends(trial: Trial, pursue: Any) -> None:
    """Check two failures with a planner that finds a way around each and names done steps again."""
    market = _Market(trial)
    plans = ["soup", "no leeks", "roast"], ["soup", "onions", "roast", "no apples"], ["soup", "pears"]
    came = trial.call(pursue, market.planner(*plans), market.executor, 2)
    right = {"soup": "soup!", "onions": "onions!", "roast": "roast!", "pears": "pears!"}
    trial.want(
        came == ("finished", right),
        f"('finished', …) with {', '.join(right)}",
        "After a failure, ask for a new plan for the rest.",
    )
    trial.want(
        market.done == list(right), f"{list(right)} run, in this order", "After a failure, stop using the old plan."
    )
    heard = [done for done, _ in market.heard]
    wanted = [{}, {"soup": "soup!"}, {name: right[name] for name in ("soup", "onions", "roast")}]
    rule = "Pass the results so far to the planner."
    trial.want(heard == wanted, "questions with no results, then with soup, then with onions and roast too", rule)
    for number, (_, failures) in enumerate(market.heard):
        rule = "Pass every failure so far to the planner, each once, with the step and the error message."
        trial.want(
            len(failures) == number, f"{number} failures in question {number + 1}", rule, f"the failures {failures}"
        )
        for step, failure in zip(("no leeks", "no apples"), failures, strict=False):
            trial.want(step in failure and _error(step) in failure, f"{step!r} and its error among {failures}", rule)
    for plans, right, rule in data("06.5")["again"]:
        came = trial.call(pursue, market.planner(*plans), market.executor, 1)
        trial.want(came == ("finished", right), f"('finished', …) with {' and '.join(right)}", rule)


def _has_no_idea(trial: Trial, pursue: Any) -> None:
    """Check that the loop recognises a planner that repeats itself, and does not run its plan again."""
    market = _Market(trial)
    market.most = 2
    rule = "If the same remaining steps have failed before, don't try them again."
    for plans in [(["soup", "no leeks", "roast"],), (["soup", "no leeks", "roast"], ["no leeks", "roast"])]:
        came = trial.call(pursue, market.planner(*plans), _once(trial, market), 9)
        trial.want(_gave_up(came), "('gave up', a reason)", rule)
        trial.want("no leeks" in came[1], "a reason that names 'no leeks'", "The reason must contain the last failure.")
        trial.want(market.done == ["soup"], "only soup run, and no roast", "After a failure, stop using the old plan.")
    market.most = 5
    plans = ["no leeks"], ["no chives"], ["no leeks"]
    came = trial.call(pursue, market.planner(*plans), _once(trial, market), 9)
    trial.want(_gave_up(came) and len(market.heard) == 3, "('gave up', a reason) after the third answer", rule)
    wanted = "a reason that names the last failure, 'no chives'"
    trial.want("no chives" in came[1], wanted, "The reason must contain the last failure.")


def _once(trial: Trial, market: _Market) -> Callable[[str], str]:
    """Return the market's executor, which now allows one attempt per step."""
    tried: list[str] = []

    def executor(step: str) -> str:
        trial.want(
            step not in tried,
            f"{step!r} tried once",
            "If the same remaining steps have failed before, try none of them again.",
        )
        tried.append(step)
        return market.executor(step)

    return executor


def _has_ideas(trial: Trial, pursue: Any) -> None:
    """Check that the bound on replans stops a planner with a new wrong idea each time."""
    ideas = ["no leeks"], ["no chives"], ["no garlic"], ["no onions"], ["no salt"], ["no fire"], ["soup"]
    for most in (3, 0, 1, 5):
        market = _Market(trial)
        market.most = most + 1
        came = trial.call(pursue, market.planner(*ideas), market.executor, most)
        wanted = f"('gave up', a reason) after {most} replans: {most + 1} plans in all"
        trial.want(_gave_up(came), wanted, "Every replan needs a bound.")
        trial.want(
            len(market.heard) == most + 1,
            f"{wanted}",
            "The first plan does not count as a replan.",
            f"{len(market.heard)} plans in all",
        )
        last = ideas[most][0]
        trial.want(
            last in came[1],
            f"a reason that names the last failure, {last!r}",
            "The reason must contain the last failure.",
        )
    market = _Market(trial)
    came = trial.call(pursue, market.planner(*ideas), market.executor, 6)
    trial.want(
        came == ("finished", {"soup": "soup!"}),
        "('finished', …): the sixth replan works",
        "Run the last allowed replan, too.",
    )


def _gave_up(came: Any) -> bool:
    return isinstance(came, tuple) and len(came) == 2 and came[0] == "gave up" and isinstance(came[1], str)


def _carried_out(steps: tuple[str, ...]) -> views.Figure:
    """Draw the steps that the learner's loop ran."""
    return views.graph(Plan.parse([{"description": name} for name in steps]), title="The steps that your loop ran")


@exercise("06.6")
def quoted(trial: Trial, proven: Any) -> None:
    """A verdict: accept if each quoted line is a whole line of the log; else replan, with the line as the reason."""
    for one in data("06.6")["logs"]:
        log: list[str] = one["log"]

        def search(text: str, log: Sequence[str] = log) -> list[str]:
            return [line for line in log if text in line]

        for rule, rows in one["cases"].items():
            for missing, *lines in rows:
                verdict = _judgement(trial, proven, search, lines)
                wanted = f'a verdict "replan", because no log contains {missing!r}' if missing else 'a verdict "accept"'
                trial.want((verdict.verdict == "replan") == bool(missing), wanted, rule)
                reason = (
                    "The planner reads the reason, so it must name the first line that the log lacks, and no other."
                )
                others = [line for line in lines if line != missing and line in verdict.reason]
                exact = missing in verdict.reason and not others
                trial.want(exact or not missing, f"a reason that quotes {missing!r} alone", reason)
    verdict = _judgement(trial, proven, search, [log[0], ""])
    trial.want(verdict.verdict == "replan", 'a verdict "replan"', "An empty line is no line of the log.")
    verdict = _judgement(trial, proven, search, [])
    trial.want(verdict.verdict == "replan", 'a verdict "replan"', "Without a line there is nothing to look up.")
    trial.want(verdict.reason, "a verdict with a reason", "The planner reads the reason.")
    error = KeyError("the log is locked")
    trial.lets_through(error, proven, {"finding": "the hand-over failed", "lines": log[:1]}, raising(error))


def _judgement(trial: Trial, proven: Any, search: Callable[[str], list[str]], lines: list[str]) -> Verdict:
    verdict = trial.call(proven, {"finding": "the hand-over failed", "lines": lines}, search)
    trial.want(isinstance(verdict, Verdict), "a `Verdict`", "An evaluator returns a verdict with its reason.")
    assert isinstance(verdict, Verdict)
    return verdict
