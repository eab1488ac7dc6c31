"""Hostile journals: whatever is in them, the answer is a run or a `JournalError`, and nothing is executed."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest

from planexec_lite import Journal, JournalError, Policy, Simulated, ToolExecutor, execute
from tests.core.shapes import Job, Workshop, plan_of

ODD: list[Any] = [None, True, -1, 10**400, 1e308, "", "x" * 5000, "\x1b[2J\u202e", "__import__('os')", [], {}, [[[[]]]],
       {"$ref": "#"}, "{step_1_result}", "!!python/object", "cos\nsystem\n(S'true'\ntR."]  # fmt: skip


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Journal:
    """A journal with a run that failed, tried again and skipped."""
    journal = Journal(tmp_path_factory.mktemp("hostile") / "runs.db")
    made = [Job("1"), Job("2", ("1",), 2, 1, 1), Job("3", ("1",), 1, 2, 1), Job("4", ("3",)), Job("5", ("2",))]
    execute(plan_of(made), ToolExecutor(Workshop().toolbox), workers=Simulated(2), policy=Policy(), journal=journal)
    return journal


def spoiled(value: Any, chance: Random) -> Any:
    """The same data with something in it exchanged, doubled or gone, at any depth."""
    if isinstance(value, dict) and value and chance.random() < 0.8:
        key = chance.choice(list(value))
        if chance.random() < 0.15:
            return {other: part for other, part in value.items() if other != key}
        return value | {key: spoiled(value[key], chance)}
    if isinstance(value, list) and value and chance.random() < 0.8:
        at = chance.randrange(len(value))
        return [*value[:at], spoiled(value[at], chance), *value[at + chance.randrange(2) :]]
    return chance.choice(ODD)


def spoiled_line(line: str, chance: Random) -> str:
    try:
        return json.dumps(spoiled(json.loads(line), chance))
    except ValueError:  # it was cut before
        return line * 2


def spoiled_lines(lines: list[str], chance: Random) -> list[str]:
    """The lines, some of which are exchanged, doubled, cut, moved or changed inside."""
    lines = [*lines]
    for _ in range(chance.randint(1, 3)):
        at, other = chance.randrange(len(lines)), chance.randrange(len(lines))
        match chance.randrange(6):
            case 0 | 1 | 2:
                lines[at] = spoiled_line(lines[at], chance)
            case 3:
                lines[at], lines[other] = lines[other], lines[at]
            case 4:
                lines[at] = lines[at][: chance.randrange(len(lines[at]) + 1)]
            case 5:
                lines[at] = re.sub(r"\d", lambda _: str(chance.randrange(10)), lines[at])
    return lines


def attempts(fewer: int) -> list[Any]:
    return [
        pytest.param(range(fewer), id="some"),
        pytest.param(range(fewer, 10_000), id="ten thousand", marks=pytest.mark.weekly),
    ]


@pytest.mark.parametrize("seeds", attempts(300))
def test_spoiled_events_are_a_run_or_refused(seeds: range, kept: Journal, tmp_path: Path) -> None:
    whole, refused = kept.path.read_bytes(), list[str]()
    with closing(sqlite3.connect(kept.path)) as db:
        lines = [line for (line,) in db.execute("SELECT data FROM events ORDER BY number")]
    for seed in seeds:
        there = Journal(tmp_path / f"{seed}.db", "OFF")
        there.path.write_bytes(whole)
        with closing(sqlite3.connect(there.path)) as db, db:
            changed = enumerate(spoiled_lines(lines, Random(seed)))
            db.executemany("UPDATE events SET data = ? WHERE number = ?", [(line, number) for number, line in changed])
        try:
            run = there.load(1)
        except JournalError as problem:
            refused.append(str(problem))
        else:
            assert all((repr(run), run.status, run.usage))  # as good a run as any
        there.path.unlink()
    assert len(refused) > len(seeds) / 2
    assert max(map(len, refused)) < 500


@pytest.mark.parametrize("seeds", attempts(100))
def test_a_spoiled_file_is_read_or_refused(seeds: range, kept: Journal, tmp_path: Path) -> None:
    whole, refused = kept.path.read_bytes(), 0
    for seed in seeds[:2_000]:
        chance, path = Random(seed), tmp_path / f"{seed}.db"
        data = bytearray(whole)
        for _ in range(chance.choice((1, 3, 300))):
            data[chance.randrange(len(data))] = chance.randrange(256)
        path.write_bytes(data[: chance.randrange(len(data))] if chance.random() < 0.2 else data)
        before = path.read_bytes()
        try:
            for one in Journal(path).list():
                Journal(path).load(one.id)
        except JournalError:
            refused += 1
        assert path.read_bytes() == before
        path.unlink()
    assert 0 < refused < len(seeds)
