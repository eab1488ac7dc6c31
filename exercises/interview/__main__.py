"""A mock interview in the terminal: ``python -m exercises.interview --level 2 --minutes 30 [--real]``."""

from __future__ import annotations

import argparse
import sys
from textwrap import fill

from mock_llm import command

from exercises.interview import cards, interviewer, schedule
from exercises.interview.practice import Practice


def main(arguments: list[str] | None = None) -> int:
    """Hold the interview, print the report, and store the cards to learn.

    Returns 0, or 1 if the model could not judge the last answer.
    """
    parser = argparse.ArgumentParser(prog="python -m exercises.interview", description="A mock interview.")
    parser.add_argument(
        "--level", type=int, default=2, choices=sorted(cards.LEVELS), help="1 first round, 2 second, 3 senior"
    )
    parser.add_argument("--minutes", type=int, default=45, help="length of the interview (default 45)")
    parser.add_argument("--seed", type=int, default=0, help="another number gives other questions")
    parser.add_argument(
        "--drill", type=int, choices=range(1, len(interviewer.DRILLS) + 1), help="a drill instead of a mock"
    )
    parser.add_argument(
        "--real", action="store_true", help="the model that PLANEXEC_LLM names judges; without it, you do"
    )
    chosen = parser.parse_args(arguments)
    judge: interviewer.Judge | None = None  # the candidate marks the answers
    if chosen.real:
        from planexec_lite.model.asking import endpoint

        try:
            client = endpoint()
        except (ValueError, ImportError) as problem:
            parser.error(f"--real: {problem}")
        if client is None:
            parser.error("--real needs a model: set PLANEXEC_LLM to openai or to the URL of an endpoint")
        judge = interviewer.by_model(client)
    if chosen.drill:
        asked = cards.named(*interviewer.DRILLS[chosen.drill - 1].ids)
    else:
        if chosen.minutes < 5:
            parser.error("--minutes: give at least 5")
        asked = interviewer.interview(chosen.level, chosen.minutes, chosen.seed, schedule.due())
    print("Answer in sentences; an empty line ends your answer. Ctrl-D or Ctrl-C ends the interview.\n")
    talk = Practice("Interview", asked, judge)
    print(f"{talk!r}\n")
    judged = True
    while not talk.over:
        try:
            line = talk.answer(_answer())
        except (EOFError, KeyboardInterrupt):
            talk.end()
            print(
                "\nThe interview ends here." + ("" if talk.marks else " No question is finished, so nothing was kept.")
            )
        else:
            judged = interviewer.NOT_JUDGED not in line
            print("\n".join(fill(part, 92) if part[:1] != " " else part for part in line.splitlines()), end="\n\n")
    if talk.marks:
        print(talk.details(), talk.report(), sep="\n\n")
        print(f"\nKept: the marks of {len(talk.marks)} of {len(talk.asked)} questions.")
    if not judged:
        told = (
            "The model that PLANEXEC_LLM names did not judge your last answer. Check its endpoint, or leave out --real."
        )
        print(told, file=sys.stderr)
    return int(not judged)


def _answer() -> str:
    """Read lines up to an empty one. Raises `EOFError` at the end of the input."""
    lines = [input("> ")]
    while lines[-1].strip():
        lines.append(input("> "))
    return "\n".join(lines).strip()


if __name__ == "__main__":
    command.run(main)
