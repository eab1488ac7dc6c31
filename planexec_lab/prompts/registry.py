"""The registry: versions of prompts, release labels, the request log and data sets, all in one SQLite file."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from planexec_lab.prompts import datasets, request_log, versions
from planexec_lab.prompts.datasets import Row
from planexec_lab.prompts.file import FILE, name_of
from planexec_lab.prompts.logged_client import logged
from planexec_lab.prompts.request_log import LoggedRequest, Reply
from planexec_lab.prompts.versions import PromptVersion, Release
from planexec_lite.plan.data import as_words
from planexec_lite.roles.planners import LLMPlanner

PLANNER = "planner"
"""The name of the planner's prompt."""


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Registry:
    """A file with prompts as versions, and with what was asked under each of them. Several processes may share it.

    Args:
        path: the file. The first write creates it, and only its owner can read it; its folder must exist. The files "-wal",
            "-shm" and "-lock", with the same name before these endings, belong to it.
        now: gives the time that is written down.

    Its methods raise `RegistryError` for a file that is missing, damaged, locked or none of ours, and for a prompt, version or
    label that is not there; `ValueError` for a name or a text that can't be written down.
    """

    path: Path
    now: Callable[[], datetime] = field(default=_now, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", Path(self.path).absolute())  # it is the same file when the folder is changed

    def save(self, name: str, text: str, note: str = "") -> PromptVersion:
        """Return the version of a prompt with this text; a new text becomes the next version."""
        name, text, note = name_of(name, "the name of a prompt"), as_words(text, "a prompt"), as_words(note, "a note")
        if not text.strip():
            raise ValueError(f"the prompt {name!r} has no text; write what the model is to be told")
        with self._writing() as db:
            return versions.save(db, name, text, note, self._at())

    def names(self) -> list[str]:
        """Return the names of the prompts, in the order in which they were first saved."""
        with self._reading() as db:
            return versions.names(db)

    def versions(self, name: str) -> list[PromptVersion]:
        """Return the versions of a prompt, the first one first."""
        with self._reading() as db:
            return versions.of(db, name)

    def get(self, name: str, which: int | str | None = None) -> PromptVersion:
        """Return a version of a prompt, by its number or by a label that points to it; None: the newest."""
        with self._reading() as db:
            return versions.get(db, name, which)

    def diff(self, name: str, old: int | str, new: int | str) -> str:
        """Return what is different in version `new`, line by line, as unified diff; "" for equal texts."""
        with self._reading() as db:
            return versions.diff(versions.get(db, name, old), versions.get(db, name, new))

    def release(self, name: str, which: int | str, label: str, note: str = "") -> Release:
        """Let a label, such as "production", point to a version; where it pointed before stays in its history."""
        label, note = name_of(label, "a label"), as_words(note, "a note")
        if label.isdecimal():
            raise ValueError(f"a label {label!r} would be taken for the number of a version; give it a word")
        with self._writing() as db:
            return versions.release(db, versions.get(db, name, which), label, note, self._at())

    def labels(self, name: str) -> dict[str, int]:
        """Return where each label of a prompt points: label -> number of the version."""
        with self._reading() as db:
            versions.of(db, name)
            return versions.labels(db, name)

    def history(self, name: str, label: str | None = None) -> list[Release]:
        """Return where a label of a prompt has pointed, oldest first; None: all labels."""
        with self._reading() as db:
            versions.of(db, name)
            return [one for one in versions.history(db, name) if label in (None, one.label)]

    def planner(self, client: Any, which: int | str | None = None, name: str = PLANNER, **options: Any) -> LLMPlanner:
        """Return a planner with the text of a version, whose requests are logged under that version.

        Args:
            client: a synchronous `openai.OpenAI` client.
            which: the version, by number or label; None: the newest.
            name: of the prompt.
            options: of `LLMPlanner`.

        Raises `ValueError` for a text that lacks a field of the planner's, or has another one.
        """
        version = self.get(name, which)
        LLMPlanner(client, instructions=version.text)  # the text is looked at before anything else
        return LLMPlanner(self.logged(client, version), instructions=version.text, **options)

    def logged(self, client: Any, prompt: PromptVersion | None = None) -> Any:
        """Return a copy of an `openai.OpenAI` client that logs every request here as a `LoggedRequest`.

        Answers of chat completions are read; for other endpoints only the request and the fact of an answer are kept.

        Args:
            client: synchronous; it is not changed.
            prompt: the prompt version.

        Raises `TypeError` for another client.
        """
        name, number = (prompt.name, prompt.number) if prompt else (None, None)

        def begin(*sent: str) -> int:
            with self._writing() as db:
                return request_log.begin(db, self._at(), name, number, sent)

        def end(id: int, model: str, reply: Reply) -> None:
            with self._writing() as db:
                request_log.end(db, id, model, reply)

        return logged(client, begin, end)

    def log(self, name: str | None = None, version: int | None = None) -> list[LoggedRequest]:
        """Return the logged requests, oldest first: all, those of a prompt, or those of a version."""
        with self._reading() as db:
            return request_log.read(db, name, version)

    def add_rows(self, dataset: str, rows: Iterable[Row]) -> int:
        """Add rows to a data set, and return how many were new: an equal row is kept once.

        Raises `ValueError` for a row that can't be written down and read again; then none is added.
        """
        dataset = name_of(dataset, "the name of a data set")
        given = [*rows]  # iterating might read this file
        with self._writing() as db:
            return datasets.add(db, dataset, given)

    def rows(self, dataset: str) -> list[Row]:
        """Return the rows of a data set, in the order in which they were added."""
        with self._reading() as db:
            return datasets.read(db, dataset)

    def datasets(self) -> dict[str, int]:
        """Return how many rows each data set has, by name."""
        with self._reading() as db:
            return datasets.counted(db)

    def _at(self) -> str:
        return self.now().isoformat(timespec="seconds")

    def _reading(self) -> AbstractContextManager[sqlite3.Connection]:
        return FILE.reading(self.path)

    def _writing(self) -> AbstractContextManager[sqlite3.Connection]:
        return FILE.writing(self.path)
