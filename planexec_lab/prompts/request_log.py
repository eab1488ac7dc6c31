"""The request log: what was asked of a model under which version of a prompt, and what came of it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from planexec_lab.prompts.file import RegistryError
from planexec_lab.views.drawing.text_fitting import aligned, clean
from planexec_lite.meter import ModelCall
from planexec_lite.model.prices import cost

Outcome = Literal["answered", "cut off", "failed", "no answer"]


@dataclass(frozen=True, slots=True)
class LoggedRequest:
    """One request to a model on the wire; a client's retry is another request.

    Args:
        id: its number in the file.
        at: the time of sending.
        prompt: the name of the prompt, or None.
        version: its version.
        path: the endpoint's path, such as "/v1/chat/completions".
        model: its name.
        request: the request body: messages, schema, settings.
        status: "answered"; "cut off": the answer is incomplete; "failed": an error came instead, or in the middle; "no answer":
            it is still awaited, or its process died.
        answer: the text, even if incomplete; tool calls as JSON.
        finish_reason: the model's finish reason, or "".
        input_tokens: the endpoint's count.
        output_tokens: the endpoint's count.
        cost: in US dollars; None for a model without a price (`prices`).
        seconds: until the answer was complete; the endpoint's report, else measured.
        error: the message, or "".
    """

    id: int
    at: str
    prompt: str | None
    version: int | None
    path: str
    model: str
    request: dict[str, Any]
    status: Outcome
    answer: str = ""
    finish_reason: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    seconds: float = 0.0
    error: str = ""


@dataclass(slots=True)
class Reply:
    """The outcome of a request."""

    status: Outcome = "answered"
    answer: str = ""
    finish_reason: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0
    error: str = ""


_COLUMNS = (
    "id, at, prompt, version, path, model, request, status, answer, finish_reason, input_tokens, output_tokens, "
    "cost, seconds, error"
)


def begin(db: sqlite3.Connection, at: str, prompt: str | None, version: int | None, sent: Sequence[str]) -> int:
    """Write down a request before it is sent, as (path, model, body), and return its number."""
    into = "INSERT INTO requests (at, prompt, version, path, model, request, status) VALUES (?,?,?,?,?,?,?)"
    row = (at, prompt, version, *sent, "no answer")
    return db.execute(into, row).lastrowid or 0


def end(db: sqlite3.Connection, id: int, model: str, reply: Reply) -> None:
    """Write down what came of it."""
    dollars: float | None
    try:
        dollars = cost([ModelCall(model, reply.input_tokens, reply.output_tokens)])
    except KeyError:
        dollars = None
    row = (reply.status, reply.answer, reply.finish_reason, reply.input_tokens, reply.output_tokens, dollars)
    names = "status = ?, answer = ?, finish_reason = ?, input_tokens = ?, output_tokens = ?, cost = ?"
    db.execute(
        f"UPDATE requests SET {names}, seconds = ?, error = ? WHERE id = ?", (*row, reply.seconds, reply.error, id)
    )


def read(db: sqlite3.Connection, name: str | None, version: int | None) -> list[LoggedRequest]:
    """Return the requests of a prompt, or of all, oldest first."""
    asked = f"SELECT {_COLUMNS} FROM requests WHERE (?1 IS NULL OR prompt = ?1) AND (?2 IS NULL OR version = ?2)"
    return [_read(row) for row in db.execute(f"{asked} ORDER BY id", (name, version))]


def _read(row: Sequence[Any]) -> LoggedRequest:
    values = dict(zip(_COLUMNS.split(", "), row, strict=True))
    try:
        values["request"] = json.loads(values["request"])
    except (ValueError, TypeError, RecursionError) as problem:
        raise RegistryError(f"request {row[0]} of the log can't be read ({problem}): the file is damaged") from None
    return LoggedRequest(**values)


def log_table(requests: Iterable[LoggedRequest]) -> str:
    """Return requests added up by version of a prompt and model, as lines of aligned text."""
    groups: dict[tuple[str, str], list[LoggedRequest]] = {}
    for one in requests:
        prompt = "no prompt named" if one.prompt is None else f"{one.prompt} {one.version}"
        groups.setdefault((clean(prompt), clean(one.model)), []).append(one)
    rows = [["prompt", "model", "requests", "answered", "tokens in", "tokens out", "dollars"]]
    for (prompt, model), those in groups.items():
        prices = [one.cost for one in those if one.cost is not None]
        dollars = f"{sum(prices):.4f}" if len(prices) == len(those) else "not known"
        counts = (len(those), sum(one.status == "answered" for one in those))
        tokens = (sum(one.input_tokens for one in those), sum(one.output_tokens for one in those))
        rows.append([prompt, model, *map(str, counts), *(f"{number:,}" for number in tokens), dollars])
    return "\n".join(aligned(rows))
