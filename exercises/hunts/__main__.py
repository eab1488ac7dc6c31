"""The command: `python -m exercises.hunts`, `… NAME`, `… NAME --test`, `--hint`, `--solution`, `--reset`; `%hunt` in a notebook."""

from __future__ import annotations

import argparse
import difflib
import shlex
import sys
import tempfile
import textwrap
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from mock_llm import command

from exercises.checker import record
from exercises.hunts.catalogue import BEST, Hunt, hunts
from exercises.hunts.judge import Verdict, run

COMMAND, MAGIC = "python -m exercises.hunts", "%hunt"
WORDS = {
    "right": "✓ right",
    "wrong": "✗ wrong",
    "raised": "✗ raised an error",
    "late": "✗ did not end",
}
NOT_STARTED = "○ not started"
MOST_LINES, MOST_COLUMNS = 30, 200


def main(arguments: Sequence[str] | None = None, command: str = COMMAND) -> int:
    """Run a command; return its exit status: 0, or 1 for a test that is not passed, or 2 for an unknown hunt."""
    parser = argparse.ArgumentParser(prog=command, description="Bug hunts: find a defect that was seen in the wild.")
    parser.add_argument("name", nargs="?", help="a hunt; without it, all hunts are listed")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--test", action="store_true", help="test your copy of the program")
    what.add_argument(
        "--hint",
        nargs="?",
        type=int,
        const=1,
        choices=(1, 2),
        help="a nudge; --hint 2 asks a question",
    )
    what.add_argument("--solution", action="store_true", help="compare your copy with a possible fix")
    what.add_argument(
        "--reset",
        action="store_true",
        help="restore the defect; your changes are saved in a file",
    )
    given = parser.parse_args(arguments)
    if given.name is None:
        print(listing(command))
        return 0
    if given.name not in hunts():
        near = difflib.get_close_matches(given.name, hunts(), 1)
        print(f"there is no hunt {given.name!r}" + (f"; is it {near[0]}?" if near else ""))
        return 2
    hunt = hunts()[given.name]
    if given.test:
        return _test(hunt)
    if given.hint:
        print(_filled(hunt.hints[given.hint - 1]))
        print(f"\nA question: {command} {hunt.name} --hint 2" if given.hint == 1 else "")
    elif given.solution:
        mine = begin(hunt).read_text(encoding="utf-8", errors="replace") if changed(hunt) else None
        print(hunt.difference(mine), _filled("Seen in the wild: " + hunt.seen), sep="\n\n")
    elif given.reset:
        saved = reset(hunt)
        print("The defect is back." + (f" Your version is in {_shown(saved)}." if saved else ""))
    else:
        print(case(hunt))
        if command == COMMAND:
            rows = (
                f"your copy   {_shown(copy(hunt))}",
                f"the test    {command} {hunt.name} --test",
            )
            print("", *rows, f"a hint      {command} {hunt.name} --hint", sep="\n  ")
    return 0


def hunt(line: str, cell: str | None = None) -> None:
    """List the hunts, `%hunt`; open one in this cell, `%hunt NAME`; test the program in a cell that starts with `%%hunt NAME`."""
    words = shlex.split(line)
    name = words[0] if words else ""
    if cell is not None and name in hunts():
        begin(hunts()[name]).write_text(cell, encoding="utf-8")
        words = [name, "--test"]
    with suppress(SystemExit):
        status = main(words, MAGIC)
        if cell is None and status == 0 and words == [name]:
            _open(hunts()[name])


def _open(hunt: Hunt) -> None:
    """Put the learner's copy into the cell that asked for it."""
    from IPython import get_ipython  # type: ignore[attr-defined, unused-ignore]

    source = begin(hunt).read_text(encoding="utf-8", errors="replace")
    print(f"\nThe program is now in this cell. Change it, and run the cell. A hint: {MAGIC} {hunt.name} --hint")
    payload = {"source": "set_next_input", "text": f"%%hunt {hunt.name}\n{source.rstrip()}", "replace": True}
    get_ipython().payload_manager.write_payload(payload, single=False)  # `set_next_input` does nothing in a browser tab


def listing(command: str) -> str:
    """List every hunt with the learner's progress and the hunt's title, the best dozen first."""
    known = {name: WORDS.get(record.known().get(f"hunt {name}", ""), NOT_STARTED) for name in hunts()}
    right = sum(word == WORDS["right"] for word in known.values())
    rows = [
        f"{one.lesson}  {name:25}{known[name]:19}{one.difficulty} of 5  {one.title}" for name, one in hunts().items()
    ]
    head = f"{len(rows)} hunts, {right} right. The columns: lesson, hunt, status, difficulty, title."
    parts = ["The best dozen", *rows[: len(BEST)], "", "More", *rows[len(BEST) :]]
    return "\n".join([head, "", *parts, "", f"Begin with: {command} {BEST[0]}"])


def case(hunt: Hunt) -> str:
    """Describe a hunt: the symptom, the expected output, and the actual output of the learner's copy."""
    printed = run(begin(hunt).read_bytes())
    came = printed.text.rstrip("\n").splitlines() or ["nothing"]
    if len(came) > MOST_LINES:
        came = [*came[:MOST_LINES], f"… and {len(came) - MOST_LINES:,} lines more"]
    came = [line if len(line) <= MOST_COLUMNS else f"{line[:MOST_COLUMNS]} …" for line in came]
    came += ["… and it did not end, so it was stopped"] * (not printed.ended)
    came += [printed.error] * bool(printed.error)
    right = printed.ended and printed.text.rstrip("\n") == hunt.expected.rstrip("\n")
    return "\n".join(
        [
            f"{hunt.title} (lesson {hunt.lesson})",
            f"Difficulty {hunt.difficulty} of 5, {hunt.minutes} minutes, about {hunt.lines} lines to change",
            "",
            _filled(hunt.symptom),
            "",
            "Expected:",
            textwrap.indent(hunt.expected.rstrip("\n"), "    "),
            "Actual:",
            textwrap.indent("\n".join(came), "    "),
            *["", "The output is correct. Does the test agree?"] * right,
        ]
    )


def _test(hunt: Hunt) -> int:
    verdict = hunt.judged(begin(hunt).read_bytes())
    if not changed(hunt):
        print(f"{NOT_STARTED}: your copy is unchanged.")
    else:
        record.remember(f"hunt {hunt.name}", "raised" if verdict.word == "late" else verdict.word)
    print(described(verdict))
    if verdict.word == "right":
        print("\n" + _filled("Seen in the wild: " + hunt.seen))
    return 0 if verdict.word == "right" else 1


def described(verdict: Verdict) -> str:
    """Describe a verdict."""
    test = f" · {verdict.test}" if verdict.test else ""
    return f"{WORDS[verdict.word]}{test}\n{_filled(verdict.message, '  ')}"


def copy(hunt: Hunt) -> Path:
    """Return the path of the learner's copy: next to the progress, in a folder that git ignores."""
    place = record.place()
    return (place.parent / "hunts" / "mine" if place else Path(_scratch().name)) / f"{hunt.name}.py"


def begin(hunt: Hunt) -> Path:
    """Return the path of the learner's copy, and make the copy first if necessary."""
    path = copy(hunt)
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(hunt.program, encoding="utf-8")
    return path


def changed(hunt: Hunt) -> bool:
    """Return whether the learner has changed the copy. An editor might have changed the encoding or the line ends."""
    return begin(hunt).read_bytes().splitlines() != hunt.program.encode().splitlines()


def reset(hunt: Hunt) -> Path | None:
    """Restore the defect; return the file with the learner's changes, or None without changes."""
    saved = None
    if changed(hunt):
        number = 1
        while (saved := copy(hunt).with_name(f"{hunt.name}_kept_{number}.py")).exists():
            number += 1
        copy(hunt).rename(saved)
    copy(hunt).unlink(missing_ok=True)
    begin(hunt)
    return saved


@cache
def _scratch() -> tempfile.TemporaryDirectory[str]:
    """Return a folder that lasts as long as progress without a file: as long as this process."""
    return tempfile.TemporaryDirectory(prefix="hunts-")


def _filled(text: str, indent: str = "") -> str:
    return textwrap.fill(" ".join(text.split()), 92, initial_indent=indent, subsequent_indent=indent)


def _shown(path: Path) -> str:
    """Return a path relative to the current folder, if possible."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


if __name__ == "__main__":
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # for a console without these symbols
    command.run(main)
