"""Beside the frameworks: what runs inside the optional environment, and how it is started from outside.

``python -m tests.bench.elsewhere SETTINGS.json OUT.json`` runs ours, the plain peers and the frameworks in one process,
interleaved, and writes the seconds as JSON. The project is imported from the checkout; the environment itself holds
pydantic and the frameworks alone.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from planexec_lite import Inline
from tests.bench import imports, makespan, peers
from tests.bench.plans import FUNCTIONS, SHAPES, alone, text_of, valid
from tests.bench.timing import Taken, rounds

ROOT = Path(__file__).parents[2]
OURS, PLAIN, DASK = "planexec_lite, Inline", "asyncio + graphlib", "Dask distributed"
PACKAGE_OF = {  # contender -> package, and what is imported of it
    "LangGraph, graph": ("langgraph", "langgraph.graph"),
    "LangGraph, compiled before": ("langgraph", "langgraph.graph"),
    "LangGraph, functional": ("langgraph", "langgraph.func"),
    "LlamaIndex workflows": ("llama-index-workflows", "workflows"),
    DASK: ("distributed", "distributed"),
}


@dataclass
class Found:
    """What was measured: seconds by shape, number of steps and contender, and by barrier case and contender.

    `missing` says why a framework did not run, and `versions` which package was measured.
    """

    overhead: dict[str, dict[str, Taken]] = field(default_factory=dict)
    makespan: dict[str, Taken] = field(default_factory=dict)
    imports: dict[str, list[float]] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Settings:
    """How much is measured: rounds by number of steps, rounds of the barrier cases and of the imports, length of sleeps."""

    sizes: dict[str, int]
    makespans: int = 3
    imports: int = 5
    scale: float = 1.0
    frameworks: tuple[str, ...] = tuple(PACKAGE_OF)


def start(python: Path, settings: Settings) -> Found:
    """Run this module with the interpreter `python`. Raises `RuntimeError` with its last words if it fails."""
    with tempfile.TemporaryDirectory() as folder:
        asked = Path(folder, "settings.json")
        asked.write_text(json.dumps(asdict(settings)), encoding="utf-8")
        return Found(**answer(python, "tests.bench.elsewhere", str(asked)))


def answer(python: Path, module: str, *arguments: str) -> Any:
    """Run a module with the interpreter `python`, and return what it writes as JSON to the file of its last argument."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "found.json")
        command = [str(python), "-m", module, *arguments, str(file)]
        try:
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=3600)
        except (OSError, subprocess.TimeoutExpired) as problem:
            raise RuntimeError(str(problem)) from None
        if done.returncode or not file.exists():
            lines = (done.stderr.strip() or done.stdout.strip() or "it said nothing").splitlines()
            raise RuntimeError(next((line for line in reversed(lines) if re.match(r"[\w.]+: ", line)), lines[-1]))
        return json.loads(file.read_text(encoding="utf-8"))


def measure(settings: Settings, makers: dict[str, Any]) -> Found:
    """Try each framework on a small plan, then run all that got it right."""
    measured, works = Found(), dict[str, Any]()
    for name, make in makers.items():
        try:
            check(make)
        except Exception as problem:
            measured.missing[name] = f"{type(problem).__name__}: {problem}".splitlines()[0]
        else:
            works[name] = make
            measured.versions[PACKAGE_OF[name][0]] = version(PACKAGE_OF[name][0])
    for shape in SHAPES:
        taken = {steps: rounds(contenders(shape, int(steps), works), n) for steps, n in settings.sizes.items()}
        measured.overhead[shape] = taken
    measured.makespan = makespan.measure(settings.makespans, settings.scale, works)
    codes = {"planexec_lite": imports.OURS} | {PACKAGE_OF[name][0]: f"import {PACKAGE_OF[name][1]}" for name in works}
    measured.imports = imports.interleaved(codes, settings.imports)
    return measured


def check(make: Callable[..., Any]) -> None:
    """Raise `AssertionError` unless a framework gets the results of a small plan right."""
    steps = peers.read(text_of("random", 12))
    expected, given = peers.with_asyncio(steps, FUNCTIONS), make(steps, FUNCTIONS, None)()
    assert given == expected, f"it gave {given}, expected {expected}"


def contenders(shape: str, steps: int, makers: dict[str, Any]) -> dict[str, Callable[[], Any]]:
    """Everybody who carries out the plan, ours first."""
    text = text_of(shape, steps)
    plan, bare = valid(text), peers.read(text)
    return {
        OURS: lambda: alone(plan, Inline()),
        PLAIN: lambda: peers.with_asyncio(bare, FUNCTIONS),
        **{name: make(bare, FUNCTIONS, None) for name, make in makers.items()},
    }


def main() -> None:
    """Measure as the settings in the first file say, and write what was found to the second."""
    from tests.bench.frameworks import FRAMEWORKS

    settings = Settings(**json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    measured = measure(settings, {name: FRAMEWORKS[name] for name in settings.frameworks})
    Path(sys.argv[2]).write_text(json.dumps(asdict(measured)), encoding="utf-8")


if __name__ == "__main__":
    main()
