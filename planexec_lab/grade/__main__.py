"""Grade planners over a data set: ``python -m planexec_lab.grade --planner WHO DATASET``."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from planexec_lab.grade.answers import Answered, answered, offered
from planexec_lab.grade.dataset import GoldRow, as_row, gold_rows, tools_in, tools_of, written
from planexec_lab.grade.report import Graded, as_data, compared, counted_rows, in_words
from planexec_lite.model.asking import endpoint, model_for
from planexec_lite.roles.planners import LLMPlanner
from planexec_lite.tools import Toolbox, ToolError, escaped

_WHO = """\
A planner is one of three:
  a model's name, such as gpt-4o, at the endpoint that PLANEXEC_LLM names (openai, or a URL);
  a script of the scripted model, FILE.yaml; its grade is the script's, and no model's;
  plans that were written before, FILE.json or FILE.jsonl, in any of the formats."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the grades.

    Args:
        arguments: what follows ``python -m planexec_lab.grade``; by default what this process was started with.

    Returns:
        The exit status: 0 however bad the plans are; 1 if a planner's endpoint answered no request; 2 for wrong use, such as a
        missing file.
    """
    parser = argparse.ArgumentParser(
        prog="python -m planexec_lab.grade",
        description="Grade a planner against the gold plans of a data set, alone or together with another planner.",
        epilog=_WHO,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("dataset", type=Path, help="a JSON list of rows, or a row a line: {goal, gold}, or a gold plan")
    parser.add_argument("--planner", default=model_for("planner"), metavar="WHO", help="by default: %(default)s")
    parser.add_argument("--against", metavar="WHO", help="a second planner, for the paired comparison")
    parser.add_argument(
        "--tools", metavar="LIST", help="a JSON list of tools, or a world; by default the gold plans' names"
    )
    parser.add_argument(
        "--keep",
        type=Path,
        metavar="FILE",
        help="write the planner's answers there as they come, a .jsonl for --planner",
    )
    parser.add_argument("--json", action="store_true", help="print every grade, for a machine")
    options = parser.parse_args(arguments)
    if isinstance(sys.stdout, TextIOWrapper):  # what a machine reads is UTF-8; people see what their terminal can show
        sys.stdout.reconfigure(
            encoding="utf-8" if options.json else None, errors="strict" if options.json else "replace"
        )
    try:
        rows, without = gold_rows(options.dataset)
        toolbox = tools_in(options.tools) if options.tools else None
        planners = [
            Graded.of(_called(who), rows, _answers(who, rows, toolbox, keep), toolbox)
            for who, keep in ((options.planner, options.keep), (options.against, None))
            if who is not None
        ]
    except (OSError, ValueError, ToolError) as problem:
        words = str(problem)
        if isinstance(problem, OSError) and problem.strerror:
            words = f"{problem.filename!r} can't be read: {problem.strerror}."
        print(words, file=sys.stderr)
        return 2
    if dead := [one for one in planners if one.answers and all(map(_failed, one.answers))]:
        print(_no_answer(dead[0]), file=sys.stderr)
        return 1
    comparison = compared(planners[0], planners[1]) if len(planners) == 2 else {}
    if options.json:
        left_out = [{"row": name, "why": why} for name, why in without]
        print(json.dumps({"left_out": left_out, **as_data(planners, comparison)}, indent=2, ensure_ascii=False))
        return 0
    print(f"{options.dataset.name}: {counted_rows(len(rows))}" + (f", {len(without)} left out" if without else ""))
    if toolbox is not None and (invalid := sum(any(gold.problems(toolbox) for gold in row.golds) for row in rows)):
        print(f"the gold plans of {counted_rows(invalid)} are invalid with these tools")
    print(in_words(planners, comparison))
    if toolbox is None or not toolbox.effects:
        print("risks: no tool says what it does to the world; --tools may name a list that does")
    for name, why in without:
        print(f"left out: {escaped(name)}: {escaped(why)}")
    return 0


def _failed(answer: Answered) -> bool:
    return answer.plan is None and bool(answer.errors)


def _no_answer(planner: Graded) -> str:
    error, times = Counter(planner.errors).most_common(1)[0]
    return f"{planner.planner} answered no request, so there is nothing to grade: {times} × {escaped(error)}"


def _is_script(who: str) -> bool:
    return Path(who).suffix in (".yaml", ".yml")


def _called(who: str) -> str:
    return f"{who}, a script: its grade is no model's" if _is_script(who) else who


def _answers(who: str, rows: Sequence[GoldRow], toolbox: Toolbox | None, keep: Path | None) -> list[Answered]:
    if Path(who).suffix in (".json", ".jsonl"):
        return written(Path(who), rows)
    tools = offered(toolbox if toolbox is not None else tools_of(rows))
    if not len(tools):
        raise ValueError("the gold plans name no tool; name a list of tools: --tools FILE")
    if silent := [row.name for row in rows if not row.goal]:
        more = " …" if len(silent) > 5 else ""
        raise ValueError(f"row {', '.join(silent[:5])}{more}: there is no goal to ask a planner for")
    in_words = not any(step.tool for row in rows for gold in row.golds for step in gold.steps)
    planner = LLMPlanner(_client(who), model_for("planner") if _is_script(who) else who, tasks=in_words)
    answers = []
    with keep.open("w", encoding="utf-8") if keep is not None else nullcontext() as file:
        for row in rows:
            answers.append(answered(planner, row.goal, tools))
            if file is not None:
                print(as_row(row, answers[-1]), file=file, flush=True)
    return answers


def _client(who: str) -> Any:
    """A client for a planner: of its script, or of the endpoint."""
    if _is_script(who):
        from mock_llm import MockLLM

        if not Path(who).is_file():
            raise FileNotFoundError(f"there is no script {who}")
        return MockLLM.load(Path(who)).client()
    client = endpoint()
    if client is None:
        raise ValueError(
            f"no endpoint for the model {who}: set PLANEXEC_LLM to openai or to a URL, or name a script (.yaml), "
            "or plans that were written before (.json, .jsonl)"
        )
    return client


if __name__ == "__main__":
    sys.exit(main())
