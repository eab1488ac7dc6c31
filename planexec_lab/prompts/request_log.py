"""The request log: what was asked of a model under which version of a prompt, and what came of it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from planexec_lab.views.drawing.text_fitting import aligned, clean

Outcome = Literal["answered", "cut off", "failed", "no answer"]


@dataclass(frozen=True, slots=True)
class LoggedRequest:
    """One request to a model on the wire; a client's retry is another request.

    Args:
        id: its number in the file.
        at: the time of sending.
        prompt: the name of the prompt, or None.
        version: its version.
        model: its name.
        status: "answered"; "cut off": the answer is incomplete; "failed": an error came instead, or in the middle; "no answer":
            it is still awaited, or its process died.
        input_tokens: the endpoint's count.
        output_tokens: the endpoint's count.
        cost: in US dollars; None for a model without a price (`prices`).
        error: "" or the kind of the error, such as "HTTP 429"; its words can contain a key.
    """

    id: int
    at: str
    prompt: str | None
    version: int | None
    model: str
    status: Outcome
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    error: str = ""


@dataclass(slots=True)
class Reply:
    """The outcome of a request."""

    status: Outcome = "answered"
    input_tokens: int = 0
    output_tokens: int = 0
    error: str = ""


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
