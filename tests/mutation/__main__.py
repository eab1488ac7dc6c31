"""Draw changes by chance, and keep those that the tests notice.

usage: python -m tests.mutation COUNT [SEED]     (the count is how many each of the three parts gets)
"""

import random
import sys
import tempfile
from pathlib import Path

from tests.exercises.mutants import mutants
from tests.guards.books import ROOT
from tests.mutation.changes import Change, copy_to, keep, kept, turns_red


def tests_of(file: Path) -> str:
    """The tests that are tried when a file is changed, as arguments of pytest: those of its folder."""
    if file.parent.name == "checks":
        return f"tests/exercises/test_each_exercise.py -k {file.stem[-2:]}."
    if file.is_relative_to(ROOT / "mock_llm"):
        return "tests/mock_llm"
    if file.parent.name in ("checker", "authors"):
        return "tests/exercises/test_checker.py tests/exercises/test_record.py tests/exercises/test_generated.py"
    folder = file.parent.name if (ROOT / "tests" / file.parent.name).is_dir() else "core"
    return f"tests/{folder}"


def files(part: str) -> list[Path]:
    places = {
        "core": ["planexec_lite/**/*.py"],
        "mock": ["mock_llm/**/*.py"],
        "checks": ["exercises/checker/checks/*.py", "exercises/checker/*.py", "exercises/authors/*.py"],
    }
    paths = {file for pattern in places[part] for file in ROOT.glob(pattern)}
    return sorted(file for file in paths if not file.name.startswith("__"))


def part_of(change: Change) -> str:
    return {"planexec_lite": "core", "mock_llm": "mock"}.get(change.file.partition("/")[0], "checks")


def main(count: int, seed: int) -> None:
    chance, changes, green = random.Random(seed), kept(), set[str]()
    with tempfile.TemporaryDirectory() as folder:
        checkout = copy_to(Path(folder) / "checkout")
        for part in ("core", "mock", "checks"):
            while sum(part_of(one) == part for one in changes) < count:
                file = chance.choice(files(part))
                lines = len(file.read_text(encoding="utf-8").splitlines())
                made = mutants(file.read_text(encoding="utf-8"), {chance.randint(1, lines)})
                if not made:
                    continue
                mutant = chance.choice(made)
                change = Change(file.relative_to(ROOT).as_posix(), mutant.label, tests_of(file))
                if change.tests not in green and turns_red(None, change, checkout):
                    raise SystemExit(f"red without any change: {change.tests}")
                green.add(change.tests)
                red = turns_red(mutant.source, change, checkout)
                print(f"{part} {'killed' if red else 'ALIVE '} {file.stem}: {change.line}", flush=True)
                if red and not any(one.line == change.line for one in changes):
                    changes.append(change)
                    keep(changes)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
