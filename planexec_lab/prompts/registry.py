"""The registry: versions of prompts, release labels and the request log, all in one SQLite file."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from difflib import unified_diff
from pathlib import Path
from typing import Any

from planexec_lab.prompts.file import FILE, RegistryError, digest, name_of
from planexec_lab.prompts.logged_client import logged
from planexec_lab.prompts.request_log import LoggedRequest, Reply
from planexec_lab.prompts.versions import COLUMNS, PromptVersion, Release, read_version
from planexec_lite.meter import ModelCall
from planexec_lite.model.prices import PRICES, cost
from planexec_lite.plan.data import as_words
from planexec_lite.roles.planners import LLMPlanner
from planexec_lite.tools import escaped, suggest

PLANNER = "planner"
"""The name of the planner's prompt."""


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Registry:
    """A file with prompts as versions, and with what was asked under each of them. Several processes may share it.

    Args:
        path: the file. The first write creates it, and only its owner can read it; its folder must exist. The files
            "-lock" and "-journal", with the same name before these endings, belong to it.
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
        with FILE.writing(self.path) as db:
            asked = f"SELECT {COLUMNS} FROM versions WHERE prompt = ? AND digest = ?"
            if row := db.execute(asked, (name, digest(text))).fetchone():
                return read_version(row)
            (count,) = db.execute("SELECT count(*) FROM versions WHERE prompt = ?", (name,)).fetchone()
            row = (name, count + 1, text, note, self._at(), digest(text))
            db.execute(f"INSERT INTO versions ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)", row)
            return read_version(row)

    def names(self) -> list[str]:
        """Return the names of the prompts, in the order in which they were first saved."""
        with FILE.reading(self.path) as db:
            return [name for (name,) in db.execute("SELECT prompt FROM versions GROUP BY prompt ORDER BY min(rowid)")]

    def versions(self, name: str) -> list[PromptVersion]:
        """Return the versions of a prompt, the first one first."""
        with FILE.reading(self.path) as db:
            asked = f"SELECT {COLUMNS} FROM versions WHERE prompt = ? ORDER BY number"
            rows = db.execute(asked, (name,)).fetchall()
        if not rows:
            known = self.names()
            there = ", ".join(map(repr, known[:20])) or "none"
            raise RegistryError(f"there is no prompt {name!r}{suggest(name, known)}; there are: {there}")
        if [row[1] for row in rows] != [*range(1, len(rows) + 1)]:
            raise RegistryError(f"versions of the prompt {name!r} are missing: the file is damaged")
        return [read_version(row) for row in rows]

    def get(self, name: str, which: int | str | None = None) -> PromptVersion:
        """Return a version of a prompt, by its number or by a label that points to it; None: the newest."""
        number = which
        if isinstance(which, str):
            labels = self.labels(name)
            if which not in labels:
                there = ", ".join(map(repr, labels)) or "none"
                raise RegistryError(f"the prompt {name!r} has no label {which!r}; it has: {there}")
            number = labels[which]
        known = self.versions(name)  # read after the label, which can point to a version that was saved a moment ago
        if number is None:
            return known[-1]
        for version in known:
            if version.number == number:
                return version
        raise RegistryError(f"the prompt {name!r} has no version {number}; it has 1 to {len(known)}")

    def diff(self, name: str, old: int | str, new: int | str) -> str:
        """Return what is different in version `new`, line by line, as unified diff; "" for equal texts."""
        versions = self.get(name, old), self.get(name, new)
        before, after = ([*map(escaped, version.text.split("\n"))] for version in versions)
        first, second = map(str, versions)
        return "\n".join(unified_diff(before, after, first, second, lineterm=""))

    def release(self, name: str, which: int | str, label: str, note: str = "") -> Release:
        """Let a label, such as "production", point to a version; where it pointed before stays in its history."""
        label, note = name_of(label, "a label"), as_words(note, "a note")
        if label.isdecimal():
            raise ValueError(f"a label {label!r} would be taken for the number of a version; give it a word")
        row = (name, label, self.get(name, which).number, note, self._at())
        with FILE.writing(self.path) as db:
            db.execute("INSERT INTO releases (prompt, label, number, note, at) VALUES (?, ?, ?, ?, ?)", row)
        return Release(*row)

    def labels(self, name: str) -> dict[str, int]:
        """Return where each label of a prompt points: label -> number of the version."""
        return {release.label: release.number for release in self.history(name)}

    def history(self, name: str) -> list[Release]:
        """Return where the labels of a prompt have pointed, oldest first."""
        self.versions(name)  # raises for an unknown prompt
        asked = "SELECT prompt, label, number, note, at FROM releases WHERE prompt = ? ORDER BY id"
        with FILE.reading(self.path) as db:
            return [Release(*row) for row in db.execute(asked, (name,))]

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

        The log has the outcome and the counts of each request, and no texts, because they can contain keys.

        Args:
            client: synchronous; it is not changed.
            prompt: the prompt version.

        Raises `TypeError` for another client.
        """
        name, number = (prompt.name, prompt.number) if prompt else (None, None)

        def begin(model: str) -> int:
            with FILE.writing(self.path) as db:
                into = "INSERT INTO requests (at, prompt, version, model, status) VALUES (?,?,?,?,?)"
                return db.execute(into, (self._at(), name, number, model, "no answer")).lastrowid or 0

        def end(id: int, model: str, reply: Reply) -> None:
            tokens = reply.input_tokens, reply.output_tokens
            dollars = cost([ModelCall(model, *tokens)]) if model in PRICES else None
            with FILE.writing(self.path) as db:
                columns = "status = ?, input_tokens = ?, output_tokens = ?, cost = ?, error = ?"
                row = (reply.status, *tokens, dollars, reply.error, id)
                db.execute(f"UPDATE requests SET {columns} WHERE id = ?", row)

        return logged(client, begin, end)

    def log(self) -> list[LoggedRequest]:
        """Return the logged requests, oldest first."""
        columns = ", ".join(field.name for field in fields(LoggedRequest))
        with FILE.reading(self.path) as db:
            return [LoggedRequest(*row) for row in db.execute(f"SELECT {columns} FROM requests ORDER BY id")]

    def _at(self) -> str:
        return self.now().isoformat(timespec="seconds")
