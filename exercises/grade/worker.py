"""Judge the answers of a notebook: a program that reads a job from its input, and writes a line of JSON for each answer.

Two forked processes belong to each answer. One runs the learner's cells; the other one, which never does, calls the learner's
functions over a line (see `wire`), compares, and writes the verdict. The answers to the exercises in `LIVE` hand over objects that
can't be called over a line. So their own process judges them, and a teacher looks at each that replaces a function or a class.
"""

from __future__ import annotations

import json
import linecache
import os
import resource
import select
import signal
import socket
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

SLOWER = 10  # a check over a line needs more CPU time
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
STOPPED = "The answer ended its process, or was stopped: it used too much time or memory, or returned too much."
ANEW = 0  # the number of the function that runs the cell again
SNAPSHOTS: list[Any] = []
LIVE = frozenset({"09.3", "10.1", "11.2"})
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
    SNAPSHOTS.extend(snapshots())
    good: list[str] = []
    ends = time.monotonic() + NOTEBOOK_WALL
    for id in job["stubs"]:
        used = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
        outcome = apart(partial(tried, job, id, good), ends)
        if outcome.pop("completed", False) and id not in job["suspicious"] and not outcome.get("foreign"):
            good.append(id)  # a later answer can use its helpers
        used = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) - used
        outcome["text"] = without_addresses(outcome["text"][:LONGEST_TEXT])
        print(json.dumps({"id": id, "seconds": round(used, 2)} | outcome), flush=True)


def tried(job: dict[str, Any], id: str, good: list[str]) -> dict[str, Any]:
    """Judge an answer that another process runs; this process never runs the learner's code."""
    from exercises.checker.exercise import find
    from exercises.checker.verbs import judged
    from exercises.grade.wire import Judging, Lost

    ours, theirs = socket.socketpair()
    hide_memory()
    child = os.fork()
    if not child:
        with suppress(BaseException):
            ours.close()
            fence(theirs.fileno())
            answer(job, id, good, theirs)
        os._exit(0)
    theirs.close()
    line = Judging(ours, job["answers"][id])
    try:
        first = line.first()[0]
        completed = {"completed": not first["raised"]}
        if first["changed"]:
            text = f"{id} · Wrong\n  {CHANGED}{', '.join(map(str, first['changed'][:3]))}."
            return {"status": "wrong", "text": text}
        if first["live"]:
            status, text = map(str, first["live"])
        else:
            again = lambda: list(line.ask("call", ANEW, "", [], {}))  # noqa: E731
            seconds = SLOWER * find(id).seconds  # a call of the answer has the exercise's own limit
            outcome = judged(id, dict(first["names"]), seconds, draw=False, patience=ANSWER_WALL, anew=again)
            status, text = outcome.status, outcome.text
            if line.lost:
                return stopped()
        if status != "right" and first["raised"]:
            return {"status": "raised", "text": str(first["raised"])} | completed
        foreign = {"foreign": [str(name) for name in first["foreign"][:3]]}
        return {"status": status, "text": text} | completed | foreign
    except (Lost, KeyError, TypeError, ValueError):
        return stopped()
    finally:
        os.kill(child, signal.SIGKILL)


def answer(job: dict[str, Any], id: str, good: list[str], end: socket.socket) -> None:
    """Run the cells up to an answer, and the answer, and let the judge call what it defines."""
    from planexec_lite.workers.session import described

    from exercises.checker import verbs
    from exercises.checker.exercise import find
    from exercises.grade.wire import Answering

    one = find(id)
    namespace, ended = prepared(job, id, good, job["answers"][id])
    changed = {*SNAPSHOTS[0].restore(), *(ended.changed if ended else ())}
    problem = ended.error if ended else None
    raised = ""
    if problem is not None:
        frames = traceback.extract_tb(problem.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == f"<{id}>"]
        place = f", in line {lines[-1]} of the cell" if lines else ""
        raised = f"{id} · Raised an error\n  The cell of the answer raised {described(problem)}{place}."
    line = Answering(end, one.seconds, partial(verbs._where, namespace=namespace))
    answers = {name: namespace[name] for name in one.names if name in namespace}
    line.share(lambda: verbs._anew(one, [namespace[name] for name in one.names], namespace))
    live = judged_here(job, id, namespace) if id in LIVE and not changed else None
    told = {"changed": sorted(changed), "raised": raised, "live": live, "names": {} if live else answers}
    line.serve(told | {"foreign": SNAPSHOTS[1].restore()})


def judged_here(job: dict[str, Any], id: str, namespace: dict[str, Any]) -> list[str]:
    """Judge an answer in its own process; after "right", the check must still refuse a wrong answer."""
    from exercises.checker.verbs import judged

    outcome = judged(id, namespace, draw=False)
    if outcome.status == "right":
        control, _ = prepared(job, id, [], job["controls"][id])
        if judged(id, control, draw=False).status == "right":
            return ["wrong", f"{id} · Wrong\n  {CHANGED}the check itself."]
    return [outcome.status, outcome.text]


def snapshots() -> tuple[Any, Any]:
    """Return the checker and the kit as they are, and the public functions and classes of all other imported modules."""
    from exercises.checker.guard import PACKAGES, Kept

    foreign = Kept(tuple({name.partition(".")[0] for name in [*sys.modules]} - {*PACKAGES, "__main__"}))
    foreign.names = [
        (owner, {name: value for name, value in names.items() if callable(value) and name[0] != "_"})
        for owner, names in foreign.names
    ]
    return Kept(), foreign


def hide_memory() -> None:
    """Keep other processes of this account out of the memory of this one, where the system can."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE


def prepared(job: dict[str, Any], id: str, good: list[str], answer: str) -> tuple[dict[str, Any], Any]:
    """Run the given cells and the good answers up to an answer, and the answer; return the namespace and how it ended."""
    from exercises.checker.guard import PACKAGES

    namespace: dict[str, Any] = {"__name__": "__main__"}
    for cell in job["cells"]:
        if cell["id"] == id:
            return namespace, run_cell(answer, namespace, id, PACKAGES, job["cpu"])
        if not cell["id"]:
            run_cell(cell["source"], namespace, "given", PACKAGES if cell["own"] else ())
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
