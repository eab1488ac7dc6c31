"""How a lesson reads: lines that fit into a window, minutes that are honest, and no answer before its question."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
import pytest

from tests.guards.books import APPENDIX, LESSONS, ROOT, ci_program, name_of

COLUMNS = 92  # beyond, a line runs off a window of 1280 px beside the list of files
SHORTEST, LONGEST = 20, 45  # minutes for a lesson with its guesses and its task, without its cards and exercises
minutes = ci_program("minutes")
each_lesson = pytest.mark.parametrize("path", LESSONS, ids=name_of)
each_page = pytest.mark.parametrize("path", [*LESSONS, *APPENDIX], ids=name_of)


def cells(path: Path) -> list[Any]:
    found: list[Any] = nbformat.read(path, 4).cells
    return found


def printed(cell: Any) -> list[str]:
    """The lines that a cell prints, or shows where there is no figure."""
    texts = [output.get("text", "") for output in cell.outputs]
    shown = [output.get("data", {}) for output in cell.outputs]
    texts += [data["text/plain"] for data in shown if "text/plain" in data and "text/html" not in data]
    return [line for text in texts for line in text.splitlines()]


def asks(cell: Any) -> bool:
    return cell.cell_type == "code" and cell.source.startswith("guess = ")


def compared(cell: Any) -> list[str]:
    if cell.cell_type != "code":
        return []
    calls = [node for node in ast.walk(ast.parse(cell.source)) if isinstance(node, ast.Call)]
    return [ast.literal_eval(call.args[0]) for call in calls if ast.unparse(call.func) == "compare"]


@pytest.mark.parametrize("path", [*LESSONS, ROOT / "exercises" / "night_before.ipynb"], ids=name_of)
def test_lines_fit_the_window_and_no_sentence_begins_as_a_list_would(path: Path) -> None:
    code = [(number, cell) for number, cell in enumerate(cells(path)) if cell.cell_type == "code"]
    lines = [(number, line) for number, cell in code for line in [*cell.source.splitlines(), *printed(cell)]]
    assert [found for found in lines if len(found[1]) > COLUMNS] == []
    texts = [(number, cell.source) for number, cell in enumerate(cells(path)) if cell.cell_type == "markdown"]
    assert [number for number, text in texts if re.search(r"^(?!1[.)])\d+[.)] ", text, re.M)] == []


@each_lesson
def test_the_minutes_are_honest(path: Path) -> None:
    book = cells(path)
    stated = re.search(r"(\d+) minutes", book[0].source)
    assert stated is not None
    needed = minutes.needed(book)
    assert SHORTEST <= needed <= LONGEST + 0.5
    assert needed - 0.5 <= int(stated[1]) <= needed + 3, "run `python .ci/minutes.py`"


def test_a_guess_and_a_task_take_time_and_cards_do_not() -> None:
    def code(source: str, text: str = "") -> dict[str, Any]:
        return {"cell_type": "code", "source": source, "outputs": [{"text": text}]}

    cards = code("from exercises.interview import show", "word " * 2000)
    book = [{"cell_type": "markdown", "source": "word " * 130}, code("guess = ..."), code("1", "word " * 200), cards]
    assert minutes.needed(book) == pytest.approx(1 + 3 * 7 / 60 + 40 / 60 + 1)
    task = code("attempt(function, [])")
    assert minutes.needed([*book[:3], task]) == pytest.approx(minutes.needed(book) + 5)
    assert minutes.needed([*book[:3], code("from exercises import attempt")]) == pytest.approx(minutes.needed(book))


@each_page
def test_each_guess_is_open_and_its_folded_answer_tells_nothing(path: Path) -> None:
    book, waits, example = cells(path), None, ""
    for number, cell in enumerate(book):
        if asks(cell):
            assert waits is None, f"cell {waits} asks, and nothing compares it"
            assert cell.source.split("#")[0].strip() == "guess = ..."
            waits, example = number, ", ".join(re.findall('"([^"]+)"', cell.source))
        if compared(cell):
            assert waits is not None, f"cell {number} compares what nobody asked for"
            assert cell.metadata.get("jupyter", {}).get("outputs_hidden") is True, f"cell {number} shows the answer"
            assert "No guess.\nIt was:" in "\n".join(printed(cell))
            assert f"It was: {example}" not in printed(cell), f"cell {waits} gives the answer as its example"
            waits = None
    assert waits is None
    for number, cell in enumerate(cells(path)):
        if cell.cell_type == "code" and cell.metadata.get("jupyter", {}).get("outputs_hidden"):
            assert cell.outputs[0].output_type == "stream", f"cell {number} begins with a figure or a value"
            first, *_ = [line for line in printed(cell) if line]
            for outcome in re.findall(r"^It was: (.*)", "\n".join(printed(cell)), re.M):
                assert not re.search(rf"(?<!\w){re.escape(outcome)}(?!\w)", first), f"cell {number}: {first}"


@each_page
def test_predictions_are_numbered_and_labelled(path: Path) -> None:
    book, page = cells(path), path.name.partition("_")[0]
    ids = [id for cell in book for id in compared(cell)]
    assert ids == [f"{page}.{number}" for number in range(1, len(ids) + 1)]
    assert ids or path in APPENDIX
    for number in [number for number, cell in enumerate(book) if asks(cell)]:
        *_, text = [cell.source for cell in book[:number] if cell.cell_type == "markdown"]
        assert "**Guess.**" in text, f"cell {number} asks, and the text before does not say so"


@each_page
def test_a_heading_begins_its_cell_and_a_diagram_is_a_picture(path: Path) -> None:
    texts = [(number, cell.source) for number, cell in enumerate(cells(path)) if cell.cell_type == "markdown"]
    bare = [(number, re.sub(r"```.*?```", "", text, flags=re.S)) for number, text in texts]
    assert [number for number, text in bare if re.search(r"\n#{1,6} ", text)] == []
    assert [number for number, text in texts if re.search("[─━═▶◀▼]", text)] == []


PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("exercises/**/*.md"), *ROOT.glob("exercises/*.ipynb")])
MOST = 2.0  # sentences with a habit per 1,000 words


@pytest.mark.parametrize("path", [*LESSONS, *APPENDIX, *PAGES], ids=name_of)
def test_a_text_keeps_to_plain_english(path: Path) -> None:
    counted = count(path)
    assert counted.rate <= MOST or len(counted.sentences) <= 2, "\n".join(counted.sentences)


HABITS = {
    "a clause instead of a noun as the subject": r"(?<![^.:;!?\n] )\b(?:What|Who|Where|Whoever|Whatever)\b [^.!?]{8,}[.!]",
    "whoever, whatever": r"\b(?:who|what|where|which|whom)(?:ever|soever)\b",
    "nobody, somebody": r"\b(?:no|some)body\b",
    "things that stand": r"\b(?:stands?|stood|standing)\b(?! (?:for|out|in for)\b)",
    "mend, dear, shall, beside, in words": r"\b(?:mend(?:s|ed|ing)?|dear(?:er|est)?|shall|beside|in words)\b",
    "circle for cycle": r"\bcircles?\b",
    "under way, for ever, as it is": r"\b(?:under way|for ever|as it (?:is|stands)|as they (?:are|stand))\b",
    "so many, so much": r"\bso (?:many|much|often|long|few)\b(?! (?:that|as|time)\b)",
    "may for might": r"\bmay (?:be|have|not|do|run|fail|come|go|use|start|call|change|differ)\b",
    "must not": r"\bmust not\b",
    "taken back, given up, goes on": r"\b(?:tak(?:e|es|en) back|given up|go(?:es|ne)? on|went on)\b",
    "told, said, heard out": r"\b(?:(?:is|are|was|were) (?:told|said)|heard out|can't be told)\b",
    "of its own": r"\bof (?:its|their|one's|your|our) own\b",
    "is none, nothing follows": r"\b(?:is|are|was|were) none\b|\bnothing (?:follows|can) ",
    "a test that is red": r"\b(?:is|are|turns?|goes) red\b",
}
_PATTERNS = [
    re.compile(pattern, re.M | (0 if name.startswith("a clause") else re.I)) for name, pattern in HABITS.items()
]


class Count(NamedTuple):
    words: int
    sentences: list[str]

    @property
    def rate(self) -> float:
        return 1000 * len(self.sentences) / max(self.words, 1)


def prose(path: Path) -> str:
    """The prose of a notebook or a Markdown file, without code and addresses."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "markdown"]
        text = "\n\n".join("".join(cell["source"]) for cell in cells)
    text = re.sub(r"```.*?```", " ", text, flags=re.S)
    text = re.sub(r"`[^`\n]*`", "X", text)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    return re.sub(r"^[ \t]*(?:[#>|*-]|\d+\.)+[ \t]*", "", text, flags=re.M)


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text; a cell of a table and a heading count as sentences."""
    for piece in re.split(r"(?<=[.!?])\s+|\n\s*\n|\|", text):
        if len(piece.split()) > 2:
            yield " ".join(piece.split())


def count(path: Path) -> Count:
    every = list(sentences(prose(path)))
    return Count(
        sum(len(one.split()) for one in every), [one for one in every if any(rule.search(one) for rule in _PATTERNS)]
    )


@each_page
def test_the_bug_hunts_that_a_page_names_exist(path: Path) -> None:
    known = {program.stem for program in (ROOT / "exercises" / "hunts").glob("*.py")}
    for cell in cells(path):
        _, _, after = cell.source.partition("hunts.ipynb)")
        assert {*re.findall(r"`(\w+)`", after.partition("\n\n")[0])} <= known
