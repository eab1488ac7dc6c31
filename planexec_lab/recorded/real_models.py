"""Facts about real models: small tables, counted from published runs or read in papers.

`facts("airline_runs")` gives one. `tables/about.json` says for each table what it is, who published it, and what it can't
show. `tests/recorded/recount` counts the tables again from their sources.
"""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path

from planexec_lab.views.drawing.text_fitting import wrapped

Value = int | float | str
TABLES = Path(__file__).with_name("tables")


@dataclass(frozen=True)
class Facts:
    """A table of facts, and all that a reader needs to judge it. Printing it shows everything except the rows.

    Attributes:
        what: what was measured, with models and numbers.
        published: when the source was published.
        source: a repository at a commit, or papers.
        licence: of the source. The table itself has only numbers and labels.
        made: counted or copied, and how.
        cannot_show: the limits of the table.
        rows: a dict from column to number or text for each row.
    """

    what: str
    published: str
    source: str
    licence: str
    made: str
    cannot_show: str
    rows: tuple[dict[str, Value], ...]

    def __str__(self) -> str:
        lines = [
            f"{self.what}. Published: {self.published}",
            f"Source: {self.source} ({self.licence}); {self.made}",
            f"Limits: {self.cannot_show}",
        ]
        return "\n".join(wrapped(line) for line in lines)


def facts(name: str) -> Facts:
    """Return a table by its name. Raises `KeyError`, with all names, if there is no such table."""
    about = json.loads((TABLES / "about.json").read_text("utf-8"))
    if name not in about:
        raise KeyError(f"no table {name!r}; the tables are {', '.join(about)}")
    with (TABLES / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        rows = [{column: _value(text) for column, text in row.items()} for row in csv.DictReader(file)]
    return Facts(**about[name], rows=tuple(rows))


def _value(text: str) -> Value:
    """Read a cell: a whole number, another number, or the text itself."""
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text
