"""The command line: `python -m exercises.hunts`, `… NAME`, `… NAME --test`, `--hint`, `--reset`, `--solution`."""

from __future__ import annotations

import argparse
import difflib
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path

from exercises.hunts.answers import changed_lines, difference
from exercises.hunts.bench import Bench
from exercises.hunts.catalogue import Hunt, hunts
from exercises.hunts.judge import LIMIT, Verdict, judge_apart, run

COMMAND = "python -m exercises.hunts"
WORDS = {"right": "✓ solved", "wrong": "✗ not yet", "error": "✗ raised an error", "late": "✗ did not end"}
NOT_STARTED = "○ not started"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return its exit status: 0, or 1 for a test that is not passed, or 2 for an unknown hunt."""
    parser = argparse.ArgumentParser(prog=COMMAND, description="Bug hunts: find the defect that was found in the wild.")
    parser.add_argument("name", nargs="?", help="a hunt; without it, all hunts are listed")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--test", action="store_true", help="test your copy of the program")
    what.add_argument("--hint", nargs="?", type=int, const=1, choices=(1, 2), help="a nudge; --hint 2 asks a question")
    what.add_argument("--solution", action="store_true", help="one possible fix, as a diff")
    what.add_argument("--reset", action="store_true", help="restore the defect; your changes are saved in a file")
    given = parser.parse_args(arguments)
    bench = Bench.usual()
    if given.name is None:
        print(listing(bench))
        return 0
    if given.name not in hunts():
        near = difflib.get_close_matches(given.name, hunts(), 1)
        print(f"there is no hunt {given.name!r}" + (f"; is it {near[0]}?" if near else ""), file=sys.stderr)
        return 2
    hunt = hunts()[given.name]
    if given.test:
        return _test(hunt, bench)
    if given.hint:
        print(_filled(hunt.hints[given.hint - 1]))
        print(f"\nA question: {COMMAND} {hunt.name} --hint 2" if given.hint == 1 else "")
    elif given.solution:
        print(difference(hunt), "\n" + _filled("Seen in the wild: " + hunt.wild), sep="\n")
    elif given.reset:
        kept = bench.reset(hunt)
        print("The defect is back." + (f" Your version is in {_shown(kept)}." if kept else ""))
    else:
        print(case(hunt, bench))
    return 0


def state(hunt: Hunt, bench: Bench) -> str:
    """Return the learner's progress with a hunt, as a symbol and words."""
    return WORDS[judge_apart(hunt.tests, bench.copy(hunt)).word] if bench.changed(hunt) else NOT_STARTED


def listing(bench: Bench) -> str:
    """List every hunt with the learner's progress and the hunt's title."""
    states = {name: state(hunt, bench) for name, hunt in hunts().items()}
    solved = sum(word == WORDS["right"] for word in states.values())
    rows = [
        f"{hunt.lesson}  {name:24}{states[name]:20}{hunt.difficulty} of 5  {hunt.title}"
        for name, hunt in hunts().items()
    ]
    head = f"{len(rows)} hunts, {solved} solved. First the lesson; before the title, the difficulty."
    return "\n".join([head, "", *rows, "", f"Begin with: {COMMAND} {next(iter(hunts()))}"])


MOST_LINES, MOST_COLUMNS = 30, 200


def case(hunt: Hunt, bench: Bench) -> str:
    """Describe a hunt: the symptom, the expected output, and the actual output."""
    copy = bench.begin(hunt)
    printed = run(copy, LIMIT)
    came = printed.text.rstrip("\n").splitlines() or ["nothing"]
    if len(came) > MOST_LINES:
        came = [*came[:MOST_LINES], f"… and {len(came) - MOST_LINES:,} lines more"]
    came = [line if len(line) <= MOST_COLUMNS else f"{line[:MOST_COLUMNS]} …" for line in came]
    came += ["… and it did not end, so it was stopped"] * (not printed.ended)
    came += [printed.error] * bool(printed.error)
    expected = hunt.expected.rstrip("\n")
    if printed.ended and printed.text.rstrip("\n") == expected:
        verdict = "The output is correct. Do the tests agree?"
    else:
        verdict = "Find the cause, and fix it."
    return "\n".join(
        [
            f"{hunt.title} (lesson {hunt.lesson})",
            f"Difficulty {hunt.difficulty} of 5, {hunt.minutes} minutes, about {changed_lines(hunt)} lines to change",
            "",
            _filled(hunt.symptom),
            "",
            "Expected:",
            textwrap.indent(expected, "    "),
            "Actual:",
            textwrap.indent("\n".join(came), "    "),
            "",
            verdict,
            f"  your copy   {_shown(copy)}",
            f"  the test    {COMMAND} {hunt.name} --test",
            f"  a hint      {COMMAND} {hunt.name} --hint",
        ]
    )


def _test(hunt: Hunt, bench: Bench) -> int:
    verdict = judge_apart(hunt.tests, bench.begin(hunt))
    print(told(verdict) if bench.changed(hunt) else f"{NOT_STARTED}: your copy is unchanged.\n{told(verdict)}")
    if verdict.word == "right":
        print("\n" + _filled("Seen in the wild: " + hunt.wild))
    return 0 if verdict.word == "right" else 1


def told(verdict: Verdict) -> str:
    """Describe a verdict."""
    test = f" · {verdict.test}" if verdict.test else ""
    return f"{WORDS[verdict.word]}{test}\n{_filled(verdict.message, '  ')}"


def _filled(text: str, indent: str = "") -> str:
    return textwrap.fill(" ".join(text.split()), 100, initial_indent=indent, subsequent_indent=indent)


def _shown(path: Path) -> str:
    """Return a path relative to the current folder, if possible."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


if __name__ == "__main__":
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # for a console without these symbols
    sys.exit(main())
