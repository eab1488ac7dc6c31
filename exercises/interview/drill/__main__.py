"""Mark an answer to the whiteboard drill: ``python -m exercises.interview.drill my_answer.py``."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

from mock_llm import command

from exercises.interview import cards
from exercises.interview.drill import rubric

SECONDS = 60.0  # wall-clock limit for each point; a check needs at most about five
FOLLOW_UPS = ("level-barrier", "replan-keeps-work", "approval-belongs-to-a-hash", "template-injection", "critical-path")


def mark(answer: Path) -> dict[str, str]:
    """Return the message of each point of the rubric; "" if the answer passes it."""
    return {name: _try(answer, name) for name in rubric.POINTS}


def rules(source: str) -> list[str]:
    """Return the rules of the drill that the source breaks: its length, and its imports."""
    lines = sum(bool(line.strip()) for line in source.splitlines())
    broken = [f"{lines} lines of code; {rubric.MOST_LINES} are the most"] if lines > rubric.MOST_LINES else []
    imported = re.findall(r"^\s*(?:from|import)\s+(planexec_lite|langgraph|llama_index|graphlib)\b", source, re.M)
    return broken + [f"imports {name}; write it from memory" for name in dict.fromkeys(imported)]


def _try(answer: Path, name: str) -> str:
    command = [sys.executable, rubric.__file__, str(answer), name]
    try:
        world = os.environ | {"PYTHONUTF8": "1"}
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            env=world,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"did not come to an end within {SECONDS:g} seconds"
    if done.returncode == 0:
        return ""
    return (done.stdout.strip() or done.stderr.strip() or "ended without a word").splitlines()[-1]


def main(arguments: list[str] | None = None) -> int:
    """Print the marks. Returns 0 when every point is shown and no rule is broken."""
    parser = argparse.ArgumentParser(
        prog="python -m exercises.interview.drill", description="Mark a whiteboard answer."
    )
    parser.add_argument("answer", type=Path, help="a Python file that defines run(goal, planner, tools)")
    answer = parser.parse_args(arguments).answer
    if not answer.is_file():
        parser.error(f"there is no file {answer}")
    broken = rules(answer.read_text(encoding="utf-8", errors="replace"))
    marks = mark(answer)
    for name, fault in marks.items():
        point = rubric.POINTS[name]
        print(f"{'✓' if not fault else '✗'} {0 if fault else point.worth}/{point.worth}  {point.shows}")
        print(*([f"        {fault}"] if fault else []), sep="\n", end="\n" if fault else "")
    reached = sum(rubric.POINTS[name].worth for name, fault in marks.items() if not fault)
    print(f"{reached} of {sum(point.worth for point in rubric.POINTS.values())} points")
    print(*(f"rule broken: {rule}" for rule in broken), sep="\n", end="\n" if broken else "")
    print("Now say it aloud. You will be asked:")
    for card in cards.named(*FOLLOW_UPS):
        print(f"  {card.question}", *(f"      {line}" for line in card.code.splitlines()), sep="\n")
    return 0 if not broken and not any(marks.values()) else 1


if __name__ == "__main__":
    command.run(main)
