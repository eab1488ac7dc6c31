"""The answers that the source notebooks hold, run in this process under the checker's guard."""

import json
import linecache
import re
import warnings
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from exercises.checker import book
from exercises.checker.book import Cell
from exercises.checker.guard import Ended, guarded

VERB = re.compile(r"^(?:check|hint|solution|progress)\(.*\).*$", re.M)
SAYS = re.compile(r"^# says: (.+)$", re.M)
SAME = re.compile(r"^# same: (.+)$", re.M)
ANSWERS = {"answer", "wrong-answer", "alternative", "equivalent"}
SECONDS = 20.0  # for cells of ours, on a busy machine


@dataclass
class Answers:
    """The cells of an exercise in its source, by kind, and the cells before its answer."""

    id: str
    answer: str = ""
    wrong: list[str] = field(default_factory=list)
    alternatives: list[str] = field(default_factory=list)
    equivalents: list[str] = field(default_factory=list)
    before: list[str] = field(default_factory=list)
    printed: dict[str, str] = field(default_factory=dict)  # the stored message of each wrong answer and alternative

    def namespace(self) -> dict[str, Any]:
        return dict(_before(tuple(self.before)))


def run_cell(source: str, namespace: dict[str, Any], name: str = "cell", seconds: float = SECONDS) -> Ended:
    """Run a cell without its calls of the checker; what it raises is in `error`."""
    text = VERB.sub("", source)
    file = f"<{name} {abs(hash(text)):x}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        code = compile(text, file, "exec")
    return guarded(lambda: exec(code, namespace), seconds, ())


@cache
def _before(cells: tuple[str, ...]) -> dict[str, Any]:
    namespace = dict(_before(cells[:-1])) if cells else {"__name__": "__main__"}
    if cells:
        ended = run_cell(cells[-1], namespace)
        assert ended.error is None, f"{type(ended.error).__name__}: {ended.error} in\n{cells[-1]}"
    return namespace


def exercise_of(cell: Cell) -> str:
    return next((tag for tag in cell.tags if re.fullmatch(r"\w+\.\w+", tag)), "")


@cache
def of_lesson(lesson: str) -> dict[str, Answers]:
    by_id = {facts.id: Answers(facts.id) for facts in book.facts(lesson)}
    before: list[str] = []
    raw = json.loads(book.source_of(lesson).read_text(encoding="utf-8"))["cells"]
    for cell, stored in zip(book.cells(book.source_of(lesson)), raw, strict=True):
        if cell.kind != "code":
            continue
        here = by_id.get(exercise_of(cell))
        if not here:
            if not ANSWERS & set(cell.tags):
                before.append(cell.source)
        elif "answer" in cell.tags:
            here.answer, here.before = cell.source, list(before)
            before.append(book.solved(cell.source))
        else:
            texts = ["".join(output.get("text", "")) for output in stored["outputs"]]
            here.printed[cell.source] = "".join(texts).rstrip("\n")
            kind = next(kind for kind in ("wrong-answer", "alternative", "equivalent") if kind in cell.tags)
            {"wrong-answer": here.wrong, "alternative": here.alternatives, "equivalent": here.equivalents}[kind].append(
                cell.source
            )
    return by_id


ALL = [answers for lesson in book.lessons() for answers in of_lesson(lesson).values()]
