"""Lesson 06, evaluate and replan: what its exercises are judged by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from exercises.checks import said
from exercises.checks.order import behind
from exercises.exercise import Trial, exercise, unforeseen
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

SHOPPING = ("leeks", "bread", "apples", "flour")
INSTEAD = (("leeks", "onions"), ("apples", "pears"))


class _Step(Step):
    """A step whose text leaves out what is not set."""

    def __repr__(self) -> str:
        named = self.model_dump(exclude_defaults=True).items()
        return f"Step({', '.join(f'{name}={value!r}' for name, value in named)})"


class _Rules:
    """A planner made of a function of the board, called with what stands there."""

    def __init__(self, rule: Callable[[Board], Any]) -> None:
        self.rule = rule

    def plan(self, goal: str, board: Board, tools: Toolbox) -> Plan:
        return Plan.parse(self.rule(board))


@exercise(
    "06.1",
    nudge="Play it with four coins: leeks, bread, apples, flour, one after the other. Say each time who speaks next.",
    question="At the moment when the leeks are missing, does anybody know about the apples? What is the difference "
    "between a planner that is asked at once and one that is asked when nothing else can be done?",
    learned="Asked at once, it hears of one failure at a time. Asked at the end, it hears of all, and later. "
    "Asked at every step, it hears of everything, and each step is paid for twice.",
)
def asked(trial: Trial, never: Any, failure: Any, stall: Any, step: Any) -> None:
    """Four whole numbers: how often the planner is asked under each setting, the first plan included."""
    trial.show(views.graph, Plan.parse(_shopping(Board())))
    rules = {
        "never": "Somebody has to write the first plan; after that nobody asks.",
        "failure": "A failure is a question at once, and each of the two comes at a time of its own.",
        "stall": "When nothing else can be done both failures are known: one question is enough.",
        "step": "Each step that ends is a question, failed or done, as long as something is left to do.",
    }
    for name, guess in (("never", never), ("failure", failure), ("stall", stall), ("step", step)):
        run = _bought(name)
        times = [type(event).__name__ for event in run.events].count("PlanStarted")
        trial.given(name, guess)
        number = said.number(trial, guess, f"a whole number, as in `{name} = 7`")
        trial.want(
            number == times, f'the questions in a run with replan="{name}", the first plan included', rules[name]
        )


def _shopping(board: Board) -> list[dict[str, Any]]:
    """What is still to be bought; what was sold out is replaced."""
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


@exercise(
    "06.2",
    nudge="Sections are counted from 1, and places in a list from 0. Look first whether there is a report at all.",
    question="Whose text stands in section 2? Where does the step say in which order its sections came? And what would "
    "a planner have to read in your reason, to mend it without asking back?",
    learned="A verdict says what is wrong in words that somebody can act on, and names the step at fault, not the messenger.",
)
def verdict(trial: Trial, judge: Any) -> None:
    """Accept, or replan with a reason that names every fault, and the step that a section without a source came from."""
    trial.show(lambda: views.board(_reported(judge)))
    good = {"file": "report-1.md", "sections": 3, "words": 115, "cites": ["doc-1"], "unknown": [], "uncited": []}
    for sources in (("7", "8", "9"), ("5b", "2", "11"), tuple(unforeseen(judge, 3))):
        step = _Step(id="10", tool="write_report", depends_on=sources, success_criteria="every section has a source")
        verdict = _verdict(trial, judge, step, good)
        rule = "What is met is accepted." + (" A text is the reason of a replan." if verdict.reason else "")
        trial.want(verdict.verdict == "accept", 'Verdict("accept"): three sections, each with a source', rule)
        for uncited, unknown in [([2], []), ([1], []), ([3, 1], []), ([], ["doc-99"]), ([3], ["doc-77", "doc-8"])]:
            result = good | {"uncited": uncited, "unknown": unknown}
            verdict = _verdict(trial, judge, step, result)
            rule = "A section without a source, or with one that nobody has, does not meet the criterion."
            trial.want(verdict.verdict == "replan", "replan, and a reason", rule)
            for fault in [*map(str, uncited), *unknown]:
                rule = "The reason is all that the planner reads: it names every fault."
                trial.want(fault in verdict.reason, f"a reason that names {fault}", rule)
            right = [sources[number - 1] for number in uncited] or [None]
            wanted = " or ".join(f"rejects={id!r}" for id in right)
            rule = "The report is only the messenger: section 2 holds what the second step of depends_on has found."
            rule = rule if uncited else "Nobody knows which step invented a document: then nobody is named."
            trial.want(verdict.rejects in right, wanted, rule)
        for claim in ("Done.", None, ["a section", "another"], {"said": "done"}, {}, {"sections": 3, "words": 115}):
            verdict = _verdict(trial, judge, step, claim)
            rule = "An executor that says 'done' has shown nothing. What can't be checked is not met."
            trial.want(verdict.verdict == "replan", "replan: this is no report", rule)
            trial.want(verdict.reason.strip(), "a reason", "A verdict without a reason helps nobody.")


def _verdict(trial: Trial, judge: Any, step: Step, result: Any) -> Verdict:
    """The verdict as the kit reads it: True or None accepts, a text is the reason of a replan."""
    came = trial.call(judge, step, result)
    trial.want(isinstance(came, (Verdict, bool, str, type(None))), "a Verdict", "An evaluator gives a verdict.")
    return RuleEvaluator(lambda *_: came).evaluate(step, result, Board())


def _reported(judge: Any) -> Run:
    """A report whose second section has no source, judged by the learner's rule; the planner mends what is named."""
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
            raise ValueError("the reason names no step at fault; what is to be mended?")
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


ROWS = (
    (1, "Ada", "ada@example.org"),
    (2, "Bo", None),
    (3, "Cem", "family@example.org"),
    (4, "Dora", "family@example.org"),
    (5, "Ada", "ada.b@example.org"),
)


@exercise(
    "06.3",
    nudge="List what a bad script may do: lose a row, lose an address, give an address to somebody else, write a row "
    "twice, invent one. Your function has to notice each, and nothing else.",
    question="Which damage leaves the number of rows as it was? And which leaves the set of addresses as it was? What "
    "has to be compared, so that neither passes?",
    learned="A criterion is worth something when a function can decide it, when damage can't satisfy it, and when a good "
    "result can't fail it.",
)
def criterion(trial: Trial, met: Any) -> None:
    """None when everybody is there with the same name and address; else a text that names one who is not."""
    before = list(ROWS)
    ada, bo, cem, dora, other = before
    trial.show(_migration, met)
    for after in (before, before[::-1], [dora, bo, other, ada, cem], [tuple(row) for row in before]):
        came = trial.call(met, before, after)
        rule = "The order of rows is no promise of a database, and Bo never had an address."
        trial.want(came is None, "None: nobody has lost anything", rule)
    trial.want(trial.call(met, [], []) is None, "None: there was nobody", "Who has nothing loses nothing.")
    damage: list[tuple[str, list[Any], tuple[str, ...]]] = [
        ("Dora has lost her address", [ada, bo, cem, (4, "Dora", None), other], ("Dora",)),
        ("Cem is gone", [ada, bo, dora, other], ("Cem",)),
        ("everybody is gone", [], ("Ada", "Bo", "Cem", "Dora")),
        ("two have exchanged their addresses", [(1, "Ada", other[2]), bo, cem, dora, (5, "Ada", ada[2])], ("Ada",)),
        ("Bo has got an address of somebody else", [ada, (2, "Bo", cem[2]), cem, dora, other], ("Bo",)),
        ("Dora has another name", [ada, bo, cem, (4, "Doro", dora[2]), other], ("Dora", "Doro")),
        ("Bo is there twice", [*before, bo], ("Bo",)),
        ("somebody is there who was not", [*before, (6, "Eve", "eve@example.org")], ("Eve",)),
        ("Cem is gone, and Bo there twice", [ada, bo, bo, dora, other], ("Cem", "Bo")),
    ]
    for what, after, hit in damage:
        came = trial.call(met, before, after)
        rule = "After the migration the same people are there, each once, with the same name and address."
        trial.want(isinstance(came, str) and came, f"a text: {what}", rule)
        rule = "A reason that names nobody sends somebody to search."
        trial.want(any(name in came for name in hit), f"a text that names {' or '.join(hit)}: {what}", rule)
        everybody = {name for _, name, _ in before}
        all_named = everybody - {*hit} and all(name in came for name in everybody)
        rule = "A reason that names everybody sends somebody to search too."
        trial.want(not all_named, f"a text that does not name everybody: {what}", rule)


def _migration(met: Any) -> views.Figure:
    run = _migrated(met)
    title = "A real migration takes an address away, and your criterion lets it pass"
    if run.status != "finished":
        title = "A real migration takes an address away, and your criterion stops it"
    return views.graph(run, title=title)


def _migrated(met: Any) -> Run:
    """The hasty migration of lesson 02, on the real database, judged by the learner's criterion."""
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
    steps[2]["success_criteria"] = "nobody has lost anything"
    judge = RuleEvaluator(lambda step, result: met(before, world.rows()))
    agent = PlannerExecutor(_Rules(lambda board: steps), ToolExecutor(world.tools), None, judge, Simulated())
    return agent.run(migration.GOAL)


@exercise(
    "06.4",
    nudge="The potatoes are in the bowl already, and the pantry holds enough to chop them once. The board says what is done.",
    question="A step that waits for chopped potatoes waits for step 2, which is done. By which name should the new plan "
    "call it? And which steps does a plan for the rest hold?",
    learned="A replan is a plan for the rest. Done steps stay done under their old ids, and new steps refer to them.",
)
def kept(trial: Trial, rest: Any) -> None:
    """The steps that are still to be done, with onions; what is done is left out, and waited for by its id."""
    trial.show(lambda: views.board(_dinner(rest, 4)[0]))
    for slots in (4, 1, 2):
        run, world = _dinner(lambda board: _looked_at(trial, rest, board), slots)
        twice = [ticket for ticket, times in Counter(world.tickets).items() if times > 1]
        trial.want(not twice, "no work done twice", f"Finished work is kept, and this was done again: {twice[:2]}.")
        ending = "" if run.status == "finished" else f"; the run: {run.reason}"
        rule = "The plan for the rest holds all that is still to be done."
        trial.want(run.status == "finished", f"a dinner that comes to its end{ending}", rule)
        trial.want(world.served == ["starter", "main", "dessert"], "three courses served", rule)


def _looked_at(trial: Trial, rest: Any, board: Board) -> Any:
    """What the learner's planner says to a board, looked at before the kit does."""
    came = trial.call(rest, board)
    try:
        plan = Plan.parse(came)
    except PlanError as problem:
        trial.wrong("a list of steps that `Plan.parse` reads", str(problem.problems[0]))
    again = [step.id for step in plan.steps if step.id in board.results]
    rule = "A plan for the rest leaves out what is done."
    trial.want(not again, f"no step that is done; done are {', '.join(board.results)}", f"{rule} It names {again}.")
    problems = plan.problems(kitchen.World().tools, done=board.results)
    trial.want(not problems, "a valid plan", str(problems[0]) if problems else "")
    done = [(board.steps[id].tool, dict(board.steps[id].params)) for id in board.results]
    twice = [str(step) for step in plan.steps if (step.tool, dict(step.params)) in done]
    trial.want(not twice, "no work that is done, under another id either", f"{rule} It does {twice[:2]} again.")
    new = {_work(step): step.id for step in plan.steps}
    old = Plan.parse(kitchen.PLAN)
    work = {step.id: _work(step) for step in old.steps}
    for step in old.steps:
        for before in [id for id in step.depends_on if work[id] in new and work[step.id] in new]:
            id, other = new[work[step.id]], new[work[before]]
            rule = "A new plan keeps the order of the work that is left: who waits for whom."
            trial.want(other in behind(plan, id), f"step {id} behind step {other}, directly or through others", rule)
    return plan


def _work(step: Step) -> str:
    """What a step of the dinner does, whatever its id; onions do for leeks."""
    return f"{step.tool} {dict(step.params)}".replace("leeks", "onions")


def _dinner(rest: Any, slots: int) -> tuple[Run, kitchen.World]:
    """The dinner of the kitchen world without leeks; the planner knows that when it is asked again."""
    world = kitchen.World(leeks=0)
    planner = _Rules(lambda board: rest(board) if board.steps else kitchen.PLAN)
    workers, policy = Simulated(slots), Policy(replan="failure", max_replans=1)
    return PlannerExecutor(planner, ToolExecutor(world.tools), workers=workers, policy=policy).run(kitchen.GOAL), world


@exercise(
    "06.5",
    nudge="There are two ways to go on for ever: the same plan again and again, and a new wrong plan each time. Each "
    "needs a stop of its own.",
    question="What do you have to remember of a plan that has failed, to recognise it? How many plans are written when "
    "the rest may be planned again three times?",
    learned="Bounds end the planner that always has another idea; a memory of what failed ends the one that has none.",
)
def bounded(trial: Trial, pursue: Any) -> None:
    """("finished", results by step) or ("gave up", a reason); bounded, and nothing that is done is done again."""
    market = _Market(trial)
    came = trial.call(pursue, market.planner(["soup", "roast", "tart"]), market.executor, 3)
    trial.show(_carried_out, tuple(market.done))
    trial.want(came == ("finished", {"soup": "soup!", "roast": "roast!", "tart": "tart!"}), _FINISHED, _EACH)
    trial.want(len(market.heard) == 1, "one question: the first plan went well", "Nobody asks without a reason.")
    came = trial.call(pursue, market.planner([]), market.executor, 3)
    trial.want(came == ("finished", {}), "('finished', {}): there was nothing to do", _EACH)
    _has_ideas(trial, pursue)
    _mends(trial, pursue)
    _has_no_idea(trial, pursue)


_FINISHED = "('finished', …) with the result of each step"
_EACH = "A plan whose steps are all done has finished."


class _Market:
    """A planner with a list of plans, and an executor that can't get what begins with `no`; both remember."""

    def __init__(self, trial: Trial) -> None:
        self.trial = trial
        self.heard: list[tuple[dict[str, Any], list[str]]] = []
        self.done: list[str] = []
        self.tried: list[str] = []
        self.most = 50

    def planner(self, *plans: list[str]) -> Callable[..., list[str]]:
        """A planner that gives one plan after the other, and the last one again and again."""
        self.heard, self.done, self.left = [], [], [list(plan) for plan in plans]

        def planner(done: dict[str, Any], failures: list[str]) -> list[str]:
            self.heard.append((dict(done), list(map(str, failures))))
            rule = "Every replan needs a bound."
            self.trial.want(len(self.heard) <= self.most, f"{self.most} questions at most", rule)
            return list(self.left.pop(0) if len(self.left) > 1 else self.left[0])

        planner.__name__ = f"planner<{'; then '.join(' + '.join(plan) for plan in plans)}>"
        return planner

    def executor(self, step: str) -> str:
        """Carries a step out."""
        rule = "Finished work is kept, also when the planner names it again."
        self.trial.want(step not in self.done, f"{step!r} carried out once", rule)
        self.tried.append(step)
        first = step == "knock" and self.tried.count(step) == 1
        if step.startswith("no ") or (step == "bake" and "heat" not in self.done) or first:
            raise LookupError(_error(step))
        self.done.append(step)
        return f"{step}!" if step != "wait" else ""


def _error(step: str) -> str:
    """What the market says to a step that fails, which is not the step's name."""
    return f"sold out since {len(step)} o'clock" if step != "bake" else "the oven is cold"


def _mends(trial: Trial, pursue: Any) -> None:
    """Two failures, and a planner that finds a way around each; it names done steps again."""
    market = _Market(trial)
    plans = ["soup", "no leeks", "roast"], ["soup", "onions", "roast", "no apples"], ["soup", "pears"]
    came = trial.call(pursue, market.planner(*plans), market.executor, 2)
    right = {"soup": "soup!", "onions": "onions!", "roast": "roast!", "pears": "pears!"}
    trial.want(came == ("finished", right), f"('finished', …) with {', '.join(right)}", "The rest is planned again.")
    trial.want(market.done == list(right), f"{list(right)} carried out", "After a failure the old plan is over.")
    heard = [done for done, _ in market.heard]
    wanted = [{}, {"soup": "soup!"}, {name: right[name] for name in ("soup", "onions", "roast")}]
    rule = "The planner is told what is done, with results."
    trial.want(heard == wanted, "a planner that was told of soup, then of onions and roast too", rule)
    for number, (_, failures) in enumerate(market.heard):
        rule = "The planner is told every failure so far, with the step and the error's words, and none twice."
        trial.want(len(failures) == number, f"{number} failures told at question {number + 1}, not {failures}", rule)
        for step, failure in zip(("no leeks", "no apples"), failures, strict=False):
            trial.want(step in failure and _error(step) in failure, f"{step!r} and its error among {failures}", rule)
    came = trial.call(pursue, market.planner(["bake"], ["heat", "bake"]), market.executor, 1)
    rule = "What failed may be tried again behind something new: that is what a replan is for."
    trial.want(came == ("finished", {"heat": "heat!", "bake": "bake!"}), "('finished', …) with heat and bake", rule)
    came = trial.call(pursue, market.planner(["bake", "heat"], ["heat", "bake"]), market.executor, 1)
    rule = "Another order is another plan: what waited for nothing before may find what it needs now."
    trial.want(came == ("finished", {"heat": "heat!", "bake": "bake!"}), "('finished', …) with heat, then bake", rule)
    came = trial.call(pursue, market.planner(["wait", "no leeks"], ["wait", "onions"]), market.executor, 1)
    rule = "An empty result is a result: the step is done."
    trial.want(came == ("finished", {"wait": "", "onions": "onions!"}), "('finished', …) with wait and onions", rule)
    came = trial.call(pursue, market.planner(["knock", "shout"], ["knock", "ring"]), market.executor, 1)
    rule = "Only a rest that has failed before is refused, and this one is another. Nobody heard the first knock."
    trial.want(came == ("finished", {"knock": "knock!", "ring": "ring!"}), "('finished', …) with knock and ring", rule)


def _has_no_idea(trial: Trial, pursue: Any) -> None:
    """A planner that says the same again: recognised, and not carried out a second time."""
    market = _Market(trial)
    market.most = 2
    rule = "A rest that has failed before is not tried again: it would fail again."
    for plans in [(["soup", "no leeks", "roast"],), (["soup", "no leeks", "roast"], ["no leeks", "roast"])]:
        came = trial.call(pursue, market.planner(*plans), _once(trial, market), 9)
        trial.want(_gave_up(came), "('gave up', a reason)", rule)
        trial.want("no leeks" in came[1], "a reason that names 'no leeks'", "The bound says why it ended.")
        trial.want(market.done == ["soup"], "soup, and no roast", "A failed plan is over.")
    market.most = 5
    plans = ["no leeks"], ["no chives"], ["no leeks"]
    came = trial.call(pursue, market.planner(*plans), _once(trial, market), 9)
    trial.want(_gave_up(came) and len(market.heard) == 3, "('gave up', a reason) after the third answer", rule)
    wanted = "a reason that names the last failure, 'no chives'"
    trial.want("no chives" in came[1], wanted, "The bound says why it ended.")


def _once(trial: Trial, market: _Market) -> Callable[[str], str]:
    """The market's executor, for one attempt at each step."""
    tried: list[str] = []

    def executor(step: str) -> str:
        trial.want(
            step not in tried, f"{step!r} tried once", "The same rest is not tried again; nothing of it is tried again."
        )
        tried.append(step)
        return market.executor(step)

    return executor


def _has_ideas(trial: Trial, pursue: Any) -> None:
    """A planner with a new wrong idea each time: bounded by the number of replans."""
    ideas = ["no leeks"], ["no chives"], ["no garlic"], ["no onions"], ["no salt"], ["no fire"], ["soup"]
    for most in (3, 0, 1, 5):
        market = _Market(trial)
        market.most = most + 1
        came = trial.call(pursue, market.planner(*ideas), market.executor, most)
        wanted = f"('gave up', a reason) after {most} replans: {most + 1} plans in all"
        trial.want(_gave_up(came), wanted, "Every replan needs a bound.")
        trial.want(len(market.heard) == most + 1, f"{wanted}, not {len(market.heard)}", "The first plan is no replan.")
        last = ideas[most][0]
        trial.want(last in came[1], f"a reason that names the last failure, {last!r}", "The bound says why it ended.")
    market = _Market(trial)
    came = trial.call(pursue, market.planner(*ideas), market.executor, 6)
    trial.want(
        came == ("finished", {"soup": "soup!"}), "('finished', …): the sixth replan works", "The last one counts."
    )


def _gave_up(came: Any) -> bool:
    return isinstance(came, tuple) and len(came) == 2 and came[0] == "gave up" and isinstance(came[1], str)


def _carried_out(steps: tuple[str, ...]) -> views.Figure:
    """The steps that the learner's loop carried out, as a plan."""
    return views.graph(Plan.parse([{"description": name} for name in steps]), title="What your loop carried out")
