"""Run the worker for a notebook, with as much separation as the system allows, and collect its lines.

On Linux with user namespaces (or as root), the worker has a separate root folder with Python, the system's programs and a
copy of the kit without solutions, all read-only, and a small `/tmp`. It has no network, sees no other processes, and has no
rights. Elsewhere, only the limits of `worker` apply, and `Sandbox.separation` says so.
"""

from __future__ import annotations

import atexit
import itertools
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import IO, Any

import psutil

from exercises.checker import book

ROOT = book.HERE.parent
PACKAGES = ("planexec_lite", "planexec_lab", "mock_llm", "exercises")
SECRET = ("source", "solutions", "answers", "capstone", "interview", "teachers", "*.ipynb", "*.md")
WALL = 660.0  # seconds for each notebook, more than the worker's own limit
MEMORY = 3 << 30  # bytes of all processes of a notebook together
FILES = ("/etc/ld.so.cache", "/etc/passwd", "/etc/localtime", "/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")
FULL = "Linux namespaces: no network, no other files or processes, solutions unreadable."
PARTLY = (
    "LIMITS ONLY. This system gives no namespaces ({why}): answers can use the network, and read and write files of this "
    "account. So answers with suspicious names are not run until you trust them. Grade untrusted answers on Linux."
)
_UIDS = itertools.count(200_000)


@dataclass
class Sandbox:
    """A copy of the kit without solutions, and how the answers are separated from this machine."""

    folder: Path
    namespaces: bool = True
    separation: str = field(default=FULL)

    def __post_init__(self) -> None:
        for package in PACKAGES:
            hidden = shutil.ignore_patterns(*SECRET) if package == "exercises" else None
            shutil.copytree(ROOT / package, self.kit / package, ignore=hidden)
        (self.folder / "root").mkdir()
        warm = "import exercises.checker.exercise as e, exercises.checker.verbs; [e.of_lesson(f'{n:02}') for n in range(1, 100)]"
        subprocess.run([sys.executable, "-c", warm], cwd=self.kit, env=self._environment(), check=True)
        imports = "import sys; sys.path.insert(0, '/kit'); import exercises.checker.verbs"
        python = self._fenced(shlex.join([sys.executable, "-c", imports]))
        try:
            subprocess.run(python, check=True, capture_output=True, text=True, timeout=60, env=self._environment())
        except (OSError, subprocess.SubprocessError) as problem:
            why = (getattr(problem, "stderr", None) or str(problem)).strip().splitlines()[-1]
            self.namespaces, self.separation = False, PARTLY.format(why=why)

    @property
    def kit(self) -> Path:
        """The folder of the copied packages."""
        return self.folder / "kit"

    def judge(self, job: dict[str, Any]) -> list[dict[str, Any]]:
        """Judge the answers of a notebook; answers without a report are missing in the list."""
        kit = "/kit" if self.namespaces else str(self.kit)
        if not self.namespaces:
            harmless = {id: stub for id, stub in job["stubs"].items() if id not in job["suspicious"]}
            job = job | {"stubs": harmless}
        command = [sys.executable, "-P", f"{kit}/exercises/grade/worker.py"]
        with tempfile.TemporaryDirectory(dir=self.folder) as scratch:
            own = {
                "TMPDIR": "/tmp" if self.namespaces else scratch,
                "PLANEXEC_SEED": job["seed"],
                "PLANEXEC_STUDENT": job["student"],
            }
            environment = self._environment() | own
            worker = subprocess.Popen(
                self._fenced(shlex.join(command)) if self.namespaces else command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment,
                cwd=scratch,
                start_new_session=True,
            )
            return _lines(worker, json.dumps(job | {"kit": kit}).encode())

    def _environment(self) -> dict[str, str]:
        fixed = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "HOME": "/tmp", "LANG": "C.UTF-8", "TZ": "UTC"}
        limited = {"PROCESSES": "1"} if self.namespaces else {}
        return fixed | {"PYTHONHASHSEED": "0", "PLANEXEC_PROGRESS": ""} | limited

    def _fenced(self, command: str) -> list[str]:
        """Return a command that runs another one in namespaces, in a separate root folder, without rights."""
        root = shlex.quote(str(self.folder / "root"))
        lines = [f"mount -t tmpfs -o mode=755,size=1m none {root}", f"cd {root}"]
        lines.append("mkdir tmp && mount -t tmpfs -o mode=1777,size=64m none tmp")  # the checkout can be below /tmp
        python = {sys.prefix, sys.base_prefix, os.path.realpath(sys.prefix), os.path.realpath(sys.base_prefix)}
        folders = [("/usr", "usr"), (str(self.kit), "kit"), ("/etc/alternatives", "etc/alternatives")]
        folders += [(path, path.lstrip("/")) for path in sorted(python) if not path.startswith("/usr")]
        for name in ("bin", "sbin", "lib", "lib64", "lib32"):
            place = Path("/", name)
            if place.is_symlink():
                lines.append(f"ln -s {shlex.quote(os.readlink(place))} {name}")
            elif place.is_dir():
                folders.append((str(place), name))
        for source, target in folders:
            if os.path.isdir(source):
                source, target = shlex.quote(source), shlex.quote(target)
                lines += [f"mkdir -p {target} && mount --rbind {source} {target}", f"mount -o remount,bind,ro {target}"]
        lines.append("mkdir -p etc dev dev/shm old proc && mount --rbind /proc proc")
        lines += [f"touch .{name} && mount --bind {name} .{name}" for name in FILES if os.path.exists(name)]
        lines += ["pivot_root . old && cd /tmp", "umount -l /old /proc", "mount -o remount,ro /"]
        rights = "setpriv --no-new-privs --bounding-set=-all --inh-caps=-all"
        own, names = os.geteuid() != 0, "--mount --net --pid --ipc --uts --fork --kill-child"
        if not own:
            uid = next(_UIDS)
            rights += f" --reuid={uid} --regid={uid} --clear-groups"
        lines.append(f"exec {rights} {command}")
        return [
            "unshare",
            *names.split(),
            *(["--user", "--map-root-user"] if own else []),
            "sh",
            "-ec",
            "\n".join(lines),
        ]


def _lines(worker: subprocess.Popen[bytes], job: bytes) -> list[dict[str, Any]]:
    """Give the worker its job; stop it when its time or memory is used up; return the lines that it wrote."""
    assert worker.stdin
    assert worker.stdout
    written: list[bytes] = []
    reader = threading.Thread(target=_read, args=(worker.stdout, written), daemon=True)
    reader.start()  # a pipe holds 64 kB
    with suppress(BrokenPipeError), worker.stdin:
        worker.stdin.write(job)
    ends = time.monotonic() + WALL
    try:
        while worker.poll() is None and time.monotonic() < ends and _memory(worker.pid) < MEMORY:
            with suppress(subprocess.TimeoutExpired):
                worker.wait(0.2)
    finally:
        for process in _below(worker.pid):
            with suppress(psutil.Error):
                process.kill()
        worker.kill()
        worker.wait()
    reader.join()
    with worker.stdout:
        return [dict(json.loads(line)) for line in b"".join(written).splitlines() if line.endswith(b"}")]


def _read(stream: IO[bytes], written: list[bytes]) -> None:
    """Read a stream to its end."""
    while part := stream.read1(65536):  # type: ignore[attr-defined]
        written.append(part)


def _below(pid: int) -> list[psutil.Process]:
    try:
        return list(psutil.Process(pid).children(recursive=True))
    except psutil.Error:
        return []


def _memory(pid: int) -> int:
    total = 0
    for process in _below(pid):
        with suppress(psutil.Error):
            total += process.memory_info().rss
    return total


_LOCK = threading.Lock()


@cache
def sandbox() -> Sandbox:
    """Return the sandbox of this process."""
    folder = tempfile.mkdtemp(prefix="grade-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Sandbox(Path(folder))


def judge(job: dict[str, Any]) -> tuple[list[dict[str, Any]], str]:
    """Judge a notebook in the sandbox of this process; return the outcomes, and what separated the answers."""
    with _LOCK:
        box = sandbox()
    return box.judge(job), box.separation
