"""Judge the answers of a notebook: a program that reads a job from its input, and writes a line of JSON for each answer.

Each answer runs in a forked process. Its report starts with a random token, so a message that the answer itself writes is
not taken for its report.
"""

from __future__ import annotations

import ast
import json
import linecache
import os
import resource
import select
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

GIVEN_CPU = 10.0  # CPU seconds for a given cell
CELL_WALL = 60.0  # wall-clock seconds for each cell
ANSWER_WALL, NOTEBOOK_WALL = 240.0, 600.0  # seconds on the wall, generous for busy machines
LONGEST, LONGEST_TEXT = 1_000_000, 2_000  # bytes of a report, characters of a verdict
MB = 1 << 20
LIMITS = {
    resource.RLIMIT_CPU: 60,
    resource.RLIMIT_AS: 2048 * MB,
    resource.RLIMIT_FSIZE: 16 * MB,
    resource.RLIMIT_NOFILE: 256,
    resource.RLIMIT_CORE: 0,
}
PROCESSES = 64  # processes and threads of a notebook, where the sandbox counts them separately
STOPPED = "The answer ended its process, or was stopped: it used too much time or memory."
CHANGED = "An answer must not change the checker or the kit. These were restored: "


def main() -> None:
    """Read the job and print the outcome of each answer."""
    job = json.load(sys.stdin)
    sys.path.insert(0, job["kit"])
    import exercises
    from exercises.checker import book
    from exercises.checker.exercise import find, without_addresses

    for verb in exercises.__all__:
        setattr(exercises, verb, lambda *_, **__: None)  # a cell can call `check`; only the judge's verdict counts
    book.answer = job["stubs"].get  # the sources are not here, the stubs are
    for id in job["stubs"]:
        find(id)
    good: list[str] = []
    ends = time.monotonic() + NOTEBOOK_WALL
    for id in job["stubs"]:
        used = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
        outcome = apart(partial(tried, job, id, good), ends)
        if "plain" in outcome:
            outcome = apart(partial(judged_apart, id, outcome["plain"]), ends)
        if outcome.pop("completed", False) and id not in job["suspicious"]:
            good.append(id)  # a later answer can use its helpers
        used = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) - used
        outcome["text"] = without_addresses(outcome["text"])[:LONGEST_TEXT]
        print(json.dumps({"id": id, "seconds": round(used, 2)} | outcome), flush=True)


def tried(job: dict[str, Any], id: str, good: list[str]) -> dict[str, Any]:
    """Run the cells up to an answer, and judge it; return the values of a prediction instead."""
    from planexec_lite.workers.session import described

    from exercises.checker.exercise import find
    from exercises.checker.guard import Kept
    from exercises.checker.verbs import judged

    kept = Kept()
    namespace, ended = prepared(job, id, good, job["answers"][id])
    changed = {*kept.restore(), *(ended.changed if ended else ())}
    if changed:
        return {"status": "wrong", "text": f"{id} · Wrong\n  {CHANGED}{', '.join(sorted(changed)[:3])}."}
    problem = ended.error if ended else None
    completed = {"completed": problem is None}
    if id in job["predictions"] and all(name in namespace for name in find(id).names):
        values = {name: plain(namespace[name]) for name in find(id).names}
        if None not in values.values():
            return {"plain": values} | completed
    outcome = judged(id, namespace, draw=False)
    if outcome.status == "right":
        control, _ = prepared(job, id, [], job["controls"][id])
        if judged(id, control, draw=False).status == "right":
            return {"status": "wrong", "text": f"{id} · Wrong\n  {CHANGED}the check itself."}
    elif problem is not None:
        frames = traceback.extract_tb(problem.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == f"<{id}>"]
        line = f", in line {lines[-1]} of the cell" if lines else ""
        text = f"{id} · Raised an error\n  The cell of the answer raised {described(problem)}{line}."
        return {"status": "raised", "text": text} | completed
    return {"status": outcome.status, "text": outcome.text} | completed


def judged_apart(id: str, values: dict[str, str]) -> dict[str, Any]:
    """Judge the values of a prediction, in a process that never ran the answer."""
    from exercises.checker.verbs import judged

    outcome = judged(id, {name: ast.literal_eval(text) for name, text in values.items()}, draw=False)
    return {"status": outcome.status, "text": outcome.text, "completed": True}


def plain(value: Any) -> str | None:
    """Return plain data as a literal, or None for a value of any other type."""
    if (
        value is None
        or value is ...
        or type(value) in (bool, int, str)
        or (type(value) is float and abs(value) < 1e300)
    ):
        return repr(value)
    if type(value) is dict:
        parts = [part for pair in value.items() for part in pair]
    elif type(value) in (list, tuple, set):
        parts = list(value)
    else:
        return None
    return None if any(plain(part) is None for part in parts) else repr(value)


def prepared(job: dict[str, Any], id: str, good: list[str], answer: str) -> tuple[dict[str, Any], Any]:
    """Run the given cells and the good answers up to an answer, and the answer; return the namespace and how it ended."""
    from exercises.checker.guard import PACKAGES

    namespace: dict[str, Any] = {"__name__": "__main__"}
    for cell in job["cells"]:
        if cell["id"] == id:
            return namespace, run_cell(answer, namespace, id, PACKAGES, job["cpu"])
        if not cell["id"]:
            run_cell(cell["source"], namespace, "given")
        elif cell["id"] in good:
            run_cell(job["answers"][cell["id"]], namespace, cell["id"])
    return namespace, None


def run_cell(
    source: str, namespace: dict[str, Any], name: str, packages: tuple[str, ...] = (), cpu: float = GIVEN_CPU
) -> Any:
    """Run a cell; its exception, if any, is in `error`."""
    from exercises.checker.guard import guarded

    file = f"<{name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return guarded(lambda: exec(compile(source, file, "exec"), namespace), cpu, packages, CELL_WALL)


def apart(work: Callable[[], dict[str, Any]], ends: float) -> dict[str, Any]:
    """Do the work in a forked process with limits; return its report, or `stopped()` if it wrote none."""
    token = os.urandom(16).hex().encode()
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        with suppress(BaseException):
            os.close(reading)
            fence(writing)
            report = token + json.dumps(work()).encode()
            with open(writing, "wb") as pipe:
                pipe.write(report)
        os._exit(0)
    os.close(writing)
    report, deadline = b"", min(time.monotonic() + ANSWER_WALL, ends)
    while len(report) < LONGEST and select.select([reading], [], [], max(0.0, deadline - time.monotonic()))[0]:
        part = os.read(reading, 65536)
        if not part:
            break
        report += part
    os.close(reading)
    for target in (child, -child, *([-1] if os.getpid() == 1 else [])):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(target, signal.SIGKILL)
    while True:
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            break
    try:
        return dict(json.loads(report.removeprefix(token))) if report.startswith(token) else stopped()
    except ValueError:
        return stopped()


def stopped() -> dict[str, Any]:
    return {"status": "raised", "text": STOPPED}


def fence(writing: int) -> None:
    """Limit this process and leave it no file but the pipe of its report."""
    os.setsid()
    empty = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(empty, number)
    os.closerange(3, writing)
    os.closerange(writing + 1, 256)
    os.chdir(tempfile.mkdtemp())
    limits = LIMITS | ({resource.RLIMIT_NPROC: PROCESSES} if os.environ.get("PROCESSES") else {})
    for name, most in limits.items():
        with suppress(ValueError, OSError):  # macOS refuses some
            resource.setrlimit(name, (most, most))


if __name__ == "__main__":
    main()
