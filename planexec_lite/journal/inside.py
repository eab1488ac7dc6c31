"""Runs inside steps, written down as they go: what would be lost of them if the process died before their step has ended.

Each has a file of its own in a folder beside the journal, a line for each event: "9f…-17" is the run inside the step that event 17
of the run with the uid 9f… started (no other journal has such a run), "9f…-17-4" a run inside that one. The run around it makes
the file before it starts the step. When the step has ended, what happened inside it is among the events of the run around it,
and the file goes.

These are plain files because a step may be carried out in a process that was forked off the one that has the journal open, and
SQLite must not be used there. They are appended to without a lock. Whoever takes the run over appends an end, and reads what
stands before it; whoever still writes sees that the file has grown by more than its own lines, and begins with nothing more.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from errno import ENOSPC
from pathlib import Path

from planexec_lite.events import Event, StepCancelled, StepDone, StepFailed, StepPaused, from_json, to_json
from planexec_lite.journal.database import JournalError, Synchronous, in_words
from planexec_lite.journal.words import UNREADABLE, described
from planexec_lite.loop.run import Run

END = b"\0"  # what no line holds
NO_LINK = getattr(os, "O_NOFOLLOW", 0)  # a file that somebody else put there leads nowhere


@dataclass(slots=True)
class Files:
    """The files of the runs inside the steps of one run.

    Args:
        journal: the journal that they are beside of.
        synchronous: as `Journal` says.
        within: what their names begin with: the run's uid, or the name of its own file.
        made: by step, the numbers of the events that started its attempts that have a file.
    """

    journal: Path
    synchronous: Synchronous
    within: str
    made: dict[str, list[int]] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """Where they are."""
        return Path(f"{self.journal.resolve()}-inside")  # one and the same, whatever link leads there

    def make(self, step: str, number: int) -> InsideStore:
        """Make the file of a step that event `number` is about to start."""
        where = f"{self.within}-{number}"
        with in_words(self.journal):
            new = not self.folder.exists()
            self._touch(where)
            if self.synchronous == "FULL" and os.name == "posix":
                for folder in (self.folder, *[self.folder.parent] * new):  # their names have to be on disk too
                    _sync(folder)
        self.made.setdefault(step, []).append(number)
        return InsideStore(self.journal, self.synchronous, where)

    def _touch(self, where: str) -> None:
        """Make an empty file; the folder may be removed meanwhile by a process whose last file has gone."""
        for last in (*[False] * 99, True):
            self.folder.mkdir(mode=0o700, exist_ok=True)
            try:
                os.close(os.open(self.folder / where, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | NO_LINK, 0o600))
                return
            except FileNotFoundError:
                if last:
                    raise

    def forget_ended(self, first: int, events: Sequence[Event]) -> None:
        """Remove the files of those attempts that have ended among `events`, the first of which is number `first`."""
        for number, event in enumerate(events, first) if self.made else ():
            if isinstance(event, StepDone | StepFailed | StepPaused | StepCancelled):
                made = self.made.get(event.step, [])
                while made and made[0] < number:  # the next attempt may have a file by now
                    self._forget(f"{self.within}-{made.pop(0)}")

    def forget_others(self) -> None:
        """Remove the files that were not made here."""
        mine = [f"{self.within}-{number}" for made in self.made.values() for number in made]
        for file in self._mine():
            if not any(file.name == one or file.name.startswith(f"{one}-") for one in mine):
                self._forget(file.name)

    def take_over(self) -> Mapping[str, Sequence[Event]]:
        """What is written down, by where it is, as in `RunStore.take_over`: nobody writes more of it from here on.

        Raises `JournalError` for what can't be read.
        """
        taken: dict[str, Sequence[Event]] = {}
        seen: set[str] = set()
        # those around first: whoever still writes there begins with nothing inside them any more, or its file is found next
        while file := min((one for one in self._mine() if one.name not in seen), default=None):
            seen.add(file.name)
            whole = _ended(file).partition(END)[0].split(b"\n")[:-1]  # a line that was cut off was never written
            where = file.name.removeprefix(f"{self.within}-").replace("-", "/")
            taken[where] = [_read(line, number, file) for number, line in enumerate(whole, 1)]
        return taken

    def _mine(self) -> Iterator[Path]:
        with suppress(FileNotFoundError, NotADirectoryError):  # a folder that can't be read is no empty one
            yield from (self.folder / name for name in os.listdir(self.folder) if name.startswith(f"{self.within}-"))

    def _forget(self, where: str) -> None:
        """Remove a file, and those of the runs inside that one; and the folder with the last of them."""
        for file in [self.folder / where, *self.folder.glob(f"{where}-*")]:
            file.unlink(missing_ok=True)
        with suppress(OSError):
            self.folder.rmdir()


@dataclass(frozen=True, slots=True)
class InsideStore:
    """Where one run inside a step is written down: the file `where` beside the journal, which is there already."""

    journal: Path
    synchronous: Synchronous
    where: str

    @contextmanager
    def carry_on(self, run: Run) -> Iterator[None]:
        """Write down what `run` records from here on.

        Raises `JournalError` where the file can't be reached, such as on another computer, or is there no more.
        """
        files = Files(self.journal, self.synchronous, self.where)
        with in_words(self.journal):
            try:
                handle = os.open(files.folder / self.where, os.O_RDWR | os.O_APPEND | NO_LINK)
            except FileNotFoundError:
                raise JournalError(
                    f"a run inside a step is written down beside the journal {self.journal.name}, and its file can't be reached: "
                    "put the journal where every worker can reach it, or do without one"
                ) from None
        run.journal, run.log = self, (log := _InsideLog(files, handle, run.stored))
        try:
            yield
        except BaseException:
            with suppress(Exception):  # what was interrupted is told first
                run.stored = log.stored
                run.commit()
            raise
        finally:
            run.log = None
            os.close(handle)

    def take_over(self, run: Run) -> Mapping[str, Sequence[Event]]:
        """Nothing: the run around this one has told what is known of the runs inside it."""
        return {}


@dataclass(slots=True)
class _InsideLog:
    """Where the events of a run inside a step go."""

    files: Files
    handle: int
    stored: int  # how many events of the run are written down
    size: int = 0  # of the file in bytes, as far as this has written it
    ended: bool = False

    def append(self, number: int, events: Sequence[Event], status: str, news: Sequence[int] = ()) -> None:
        """Write down events. Raises `JournalError` where that fails, and from then on."""
        name = self.files.journal.name
        lines = "".join(f"{to_json(event)}\n" for event in events).encode()
        if self.ended:
            raise JournalError(f"what is written down beside the journal {name} has ended before this")
        self.ended = True
        with in_words(self.files.journal):
            wrote = os.write(self.handle, lines)
            if wrote < len(lines):
                raise OSError(ENOSPC, "there is no room for it")
            if self.files.synchronous == "FULL":
                os.fsync(self.handle)
            self.size += wrote
            if os.fstat(self.handle).st_size != self.size:
                raise JournalError(
                    f"the run in {name} was taken over by somebody else; what goes on inside its step ends here"
                )
        self.stored = number + len(events)
        self.ended = False
        self.files.forget_ended(number, events)

    def inbox(self) -> Mapping[int, str]:
        """Nothing: news is told to the run around it."""
        return {}

    def inside(self, step: str, number: int) -> InsideStore:
        """Where the run inside a step of this run is written down, which event number `number` is about to start."""
        return self.files.make(step, number)


def _ended(file: Path) -> bytes:
    """Append an end to a file, and return what stands in it."""
    with os.fdopen(os.open(file, os.O_RDWR | os.O_APPEND | NO_LINK), "r+b") as whole:
        whole.write(END)
        whole.seek(0)
        return whole.read()


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _read(line: bytes, number: int, file: Path) -> Event:
    try:
        return from_json(line.decode())
    except UNREADABLE as problem:
        raise JournalError(
            f"line {number} of {file.parent.name}/{file.name} can't be read ({described(problem)})"
        ) from problem
