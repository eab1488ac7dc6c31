"""Your own model as the planner: ``python -m planexec_lab try-model`` asks an endpoint for plans of the worlds' goals.

Each trial is one goal, with up to two repairs by the validator's words. A line of a file for each trial lets a later call go on.
Nothing of a plan is carried out. Timed-out, cut-off and refused answers are counted as what they are. What got no answer is asked
again by a later call.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from itertools import product
from pathlib import Path

from planexec_lab.recorded.real_models import facts
from planexec_lab.views.charts import tallies
from planexec_lab.views.drawing.figure import Figure
from planexec_lab.views.drawing.text_fitting import clean
from planexec_lite.agent import PlannerExecutor
from planexec_lite.assembly import Policy
from planexec_lite.capabilities.stepping import ToolExecutor
from planexec_lite.core.events import PlanProposed
from planexec_lite.model import prices
from planexec_lite.model.asking import endpoint
from planexec_lite.roles.planners import LLMPlanner
from planexec_lite.roles.reviewers import AskPerson

GOALS = ("deploy", "migration", "refactor", "research", "support", "kitchen")
OUTCOMES = ("valid at once", "after 1 repair", "after 2 repairs", "never valid", "no answer")
PUBLISHED = ("gpt-4o", "claude-3.5-sonnet", "llama-3.1-405b")
"""Models of the published table that are shown beside the trials."""


@dataclass(frozen=True)
class Trial:
    """One goal given to a model: its outcome, the codes of all problems of its plans, tokens, dollars and seconds."""

    model: str
    goal: str
    number: int
    outcome: str
    faults: Sequence[str]
    tokens: int
    dollars: float
    seconds: float
    error: str = ""


def try_goal(planner: LLMPlanner, goal: str, number: int) -> Trial:
    """Ask for one plan of the world named `goal`; the run pauses before the plan could be carried out."""
    world = import_module(f"planexec_lab.worlds.{goal}")
    tools = ToolExecutor(world.World().tools)
    agent = PlannerExecutor(planner, tools, AskPerson(), policy=Policy(max_repairs=2))
    run = agent.run(world.GOAL)
    answers = [event for event in run.events if isinstance(event, PlanProposed)]
    errors = [answer.error for answer in answers if answer.error]
    outcome = OUTCOMES[3] if answers[-1].problems else OUTCOMES[len(answers) - len(errors) - 1]
    if len(errors) == len(answers):
        outcome = OUTCOMES[4]
    return Trial(
        planner.model,
        goal,
        number,
        outcome,
        [problem.code for answer in answers for problem in answer.problems],
        run.usage.input_tokens + run.usage.output_tokens,
        prices.cost(call for call in run.board.calls if call.model in prices.PRICES),
        run.usage.seconds,
        clean(errors[-1]) if outcome == OUTCOMES[4] else "",
    )


def read_trials(path: Path, model: str) -> list[Trial]:
    """The answered trials of `model` in a file; raises `ValueError` with the number of a line that is not a trial."""
    trials = []
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    for number, line in enumerate(path.read_text().splitlines(), 1):
        try:
            trials.append(Trial(**json.loads(line)))
        except (ValueError, TypeError):
            raise ValueError(f"{path}, line {number}: this is no trial; remove it, or name another file") from None
    return [trial for trial in trials if trial.model == model and not trial.error]


def figure(trials: Sequence[Trial]) -> Figure:
    """Draw the outcomes of the trials, a row for each goal, beside published plans for the blocks world.

    The published models had one try; a plan that can be carried out counts as valid.
    """
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for trial in trials:
        counts[trial.goal][trial.outcome] += 1
    for fact in facts("blocks_plans").rows:
        if fact["model"] in PUBLISHED and fact["prompt"] == "one example":
            valid = int(fact["valid"]) + int(fact["misses_goal"])
            row = {OUTCOMES[0]: valid, OUTCOMES[3]: int(fact["problems"]) - valid}
            counts[f"{fact['model']}, blocks"].update(row)
    rows = {name: {outcome: count[outcome] for outcome in OUTCOMES} for name, count in counts.items()}
    at_once = sum(trial.outcome == OUTCOMES[0] for trial in trials)
    title = f"{trials[0].model}: {at_once} of {len(trials)} plans were valid at once"
    return tallies(rows, title, wanted=OUTCOMES[0], of="plans")


def report(trials: Sequence[Trial]) -> str:
    """Everything about the trials as text: outcomes, kinds of fault, tokens, cost and time."""
    faults = Counter(fault for trial in trials for fault in trial.faults)
    kinds = ", ".join(f"{count} {fault}" for fault, count in faults.most_common())
    tokens, seconds = sum(trial.tokens for trial in trials), sum(trial.seconds for trial in trials)
    cost = f"{sum(trial.dollars for trial in trials):.4f} dollars, prices of {prices.AS_OF} or later"
    if trials[0].model not in prices.PRICES:
        cost = "no price is known for this model"
    drawn = figure(trials)
    rows = drawn.alt.partition(" by outcome. ")[2].rstrip(".").split("; ")
    return "\n".join([drawn.title, *rows, f"faults: {kinds or 'none'}", f"{tokens:,} tokens; {cost}; {seconds:.1f} s"])


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("--goals", nargs="+", choices=GOALS, default=GOALS, metavar="GOAL", help=", ".join(GOALS))
    parser.add_argument("--n", type=int, default=20, help="plans for each goal")
    parser.add_argument("--tokens", type=int, default=200_000, help="no new plan is asked for after so many tokens")
    parser.add_argument(
        "--dollars", type=float, default=math.inf, help="no new plan is asked for after so many US dollars"
    )
    parser.add_argument(
        "--timeout", type=float, default=120.0, help="seconds to wait for an answer; asked up to 6 times"
    )
    parser.add_argument(
        "--file", type=Path, default=Path("try-model.jsonl"), help="the outcomes, to go on later; beside it the figure"
    )


def main(options: argparse.Namespace) -> int:
    """Run the command. Returns 0; 1 if the endpoint gave no answer; 2 if a setting is missing or wrong; 130 after Ctrl-C."""
    try:
        if (client := endpoint()) is None:
            raise ValueError("try-model needs PLANEXEC_LLM: openai, or a URL such as http://127.0.0.1:11434/v1")
        planner = LLMPlanner(client.with_options(timeout=options.timeout, max_retries=1))
        if options.dollars < math.inf and planner.model not in prices.PRICES:
            raise ValueError(f"--dollars: no price is known for {planner.model!r}; limit it by --tokens")
        return _tried(planner, read_trials(options.file, planner.model), options)
    except KeyboardInterrupt:
        print(f"\nStopped. The same command goes on after the trials in {options.file}.", file=sys.stderr)
        return 130
    except (ValueError, ImportError, OSError) as problem:
        print(problem, file=sys.stderr)
        return 2


def _tried(planner: LLMPlanner, known: Sequence[Trial], options: argparse.Namespace) -> int:
    wanted = list(product(range(options.n), options.goals))
    trials = [trial for trial in known if (trial.number, trial.goal) in wanted]
    done = [(trial.number, trial.goal) for trial in trials]
    for number, goal in [one for one in wanted if one not in done]:
        spent = sum(trial.tokens for trial in trials)
        cost = sum(trial.dollars for trial in trials)
        if spent >= options.tokens or cost >= options.dollars:
            print(
                f"The limit is reached: {spent:,} tokens, {cost:.4f} dollars. The rest was not asked.", file=sys.stderr
            )
            break
        print(f"{len(trials) + 1} of {len(wanted)}: {goal}", end="", file=sys.stderr, flush=True)
        trial = try_goal(planner, goal, number)
        print(f", {trial.outcome}{trial.error and ': '}{trial.error}", file=sys.stderr)
        if trial.error and all(one.error for one in trials[-2:]):
            print(
                "The endpoint gives no answer. Check PLANEXEC_LLM, the key and the model's name in"
                f" PLANEXEC_PLANNER_MODEL ({planner.model}). Then the same command goes on.",
                file=sys.stderr,
            )
            return 1
        trials.append(trial)
        with options.file.open("a") as file:
            file.write(json.dumps(asdict(trial)) + "\n")
    if not trials:
        raise ValueError("nothing was asked; --n, --tokens and --dollars must be above 0")
    print(report(trials))
    options.file.with_suffix(".svg").write_text(figure(trials).svg)
    return 0
