"""Data sets of gold plans in any format of `formats`: a JSON list of rows, or JSON lines.

`formats.read` reads a row. A row with `gold` or several `golds` has its gold plans there, each in any format, and its `goal`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from planexec_lab import formats
from planexec_lab.grade.answers import Answered, ListedTool
from planexec_lite.plan import Plan, PlanError
from planexec_lite.tools import Toolbox, suggest

WORLDS = ("arithmetic", "deploy", "kitchen", "migration", "refactor", "research", "support")
_GOALS = ("goal", "user_request", "input", "query", "question", "instruction", "task")


@dataclass(frozen=True, slots=True)
class GoldRow:
    """A row of a data set: what a planner is asked, and the plans that are known to be good."""

    name: str
    goal: str
    golds: tuple[Plan, ...]


class _Listed(BaseModel):
    name: str
    description: str = ""
    parameters: dict[str, Any] | None = None


def gold_rows(path: Path) -> tuple[list[GoldRow], list[tuple[str, str]]]:
    """Return the rows of a data set that have a valid gold plan, and the others as (name, reason).

    Raises `ValueError` for a file that holds no rows, or none with a valid gold plan.
    """
    rows, without, names = [], [], set()
    for place, row in enumerate(_rows(path), 1):
        name, fields = _name(row, place), row if isinstance(row, Mapping) else {}
        name = f"row {place}" if name in names else name
        names.add(name)
        sources = fields["golds"] if isinstance(fields.get("golds"), list) else [fields.get("gold", row)]
        try:
            golds = tuple(formats.read(source) for source in sources)
            if not golds:
                raise ValueError("golds is empty; give one gold plan at least")
            if problems := [problem for gold in golds for problem in gold.problems()]:
                raise PlanError(problems)
        except ValueError as error:
            without.append((name, _short(error)))
            continue
        goals = [golds[0].goal, *(fields.get(word) for word in _GOALS)]
        rows.append(GoldRow(name, next((goal for goal in goals if isinstance(goal, str) and goal), ""), golds))
    if not rows:
        raise ValueError(
            f"{path} has no row with a valid gold plan; the first says: {without[0][1]}. Write rows as "
            '{"goal": "…", "gold": {"steps": […]}}, or with several plans in "golds"'
        )
    return rows, without


def written(path: Path, rows: Sequence[GoldRow]) -> list[Answered]:
    """Return the plan in `path` for each row of a data set, in the order of `rows`.

    Rows are matched by id or, without ids, by their place in the file. A row can have its plan in `plan`, as `as_row` writes
    it. An unreadable plan is None, with the reason. Raises `ValueError` if a row has no plan or two plans.
    """
    plans: dict[str, Answered] = {}
    for place, row in enumerate(_rows(path), 1):
        name, fields = _name(row, place), row if isinstance(row, Mapping) else {}
        if name in plans:
            raise ValueError(f"{path} has two plans for row {name}; keep one")
        try:
            if "plan" in fields and fields["plan"] is None:
                plans[name] = Answered(None, str(fields.get("why", "")))
            else:
                plans[name] = Answered(
                    formats.read(fields.get("plan", row)).changed()
                )  # a remark is no fault of the plan
        except PlanError as error:
            plans[name] = Answered(None, _short(error))
    if lacking := [row.name for row in rows if row.name not in plans]:
        raise ValueError(f"{path} has no plan for row {', '.join(lacking[:5])}{' …' if len(lacking) > 5 else ''}")
    return [plans[row.name] for row in rows]


def as_row(row: GoldRow, answer: Answered) -> str:
    """Return an answer as a line that `written` reads."""
    plan = None if answer.plan is None else json.loads(answer.plan.to_json())
    return json.dumps({"id": row.name, "plan": plan, "why": answer.why, "errors": answer.errors}, ensure_ascii=False)


def tools_in(name: str) -> Toolbox:
    """Return the tools of a list, by its file, or of a world by its name.

    A list is JSON: ``[{"name": …, "description": …, "parameters": the JSON schema of an object}]``. Raises `ValueError` where
    there is neither.
    """
    path = Path(name)
    if path.is_file():
        try:
            listed = TypeAdapter(list[_Listed]).validate_json(path.read_text("utf-8"))
        except ValidationError as error:
            shape = '[{"name": …, "description": …, "parameters": {"type": "object", …}}]'
            raise ValueError(f"{path} is no list of tools: {error.errors()[0]['msg']}; write {shape}") from None
        return Toolbox(ListedTool(one.name, one.description, one.parameters) for one in listed)
    if name not in WORLDS:
        raise ValueError(f"{name} is no file, and no world{suggest(name, WORLDS)}; the worlds are {', '.join(WORLDS)}")
    world: Any = import_module(f"planexec_lab.worlds.{name}")
    tools: Toolbox = world.TOOLS if hasattr(world, "TOOLS") else world.World().tools
    return tools


def tools_of(rows: Sequence[GoldRow]) -> Toolbox:
    """Return the names of the tools that the gold plans call; their arguments are unknown."""
    names = dict.fromkeys(step.tool for row in rows for gold in row.golds for step in gold.steps if step.tool)
    return Toolbox(ListedTool(name, "") for name in sorted(names))


def _rows(path: Path) -> list[Any]:
    text = path.read_text("utf-8")
    try:
        data = json.loads(text)
        rows = data if isinstance(data, list) else [data]
    except ValueError:
        rows = []
        for number, line in enumerate(text.splitlines(), 1):
            try:
                rows += [json.loads(line)] if line.strip() else []
            except ValueError as error:
                raise ValueError(
                    f"{path}, line {number}: this is not JSON ({error}); write a list of rows, or a row a line"
                ) from None
    if not rows:
        raise ValueError(f"{path} holds no rows")
    return rows


def _name(row: Any, place: int) -> str:
    id = row.get("id") if isinstance(row, Mapping) else None
    return str(id) if isinstance(id, str | int) else f"row {place}"


def _short(error: ValueError) -> str:
    words = (
        "; ".join(f"{one.message} [{one.code}]" for one in error.problems[:2])
        if isinstance(error, PlanError)
        else str(error)
    )
    return words if len(words) <= 200 else f"{words[:197]} …"
