"""The generated parts of pages: numbers and minutes of the exercises, the core path, course plans, common wrong ideas.

`python -m exercises.authors.generate` computes them from the sources and writes them into the pages.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from exercises.checker import book, record
from exercises.checker.exercise import find

MARKED = re.compile(
    r"(?<=<!-- the exercises, by `make exercises` -->\n).*?(?=<!-- end -->)", re.S
)
PLAN = re.compile(
    r"^(?P<start>\| \d+ \| (?P<lessons>[\d, ]+) \| (?P<which>none|core|all) \| )\S+ \| \S+ \|$",
    re.M,
)
COUNT = re.compile(r"\[\d+\](?=\(exercises/(\d\d)_\w+\.ipynb\))")


def table() -> str:
    """The exercises of each lesson as Markdown, with their sum."""
    lines = ["| exercises | number | minutes | on the core path |", "|---|---|---|---|"]
    for lesson in book.lessons():
        name, facts = book.notebook(lesson), book.facts(lesson)
        title = f"{lesson} · {name[3:-6].replace('_', ' ')}"
        core = ", ".join(one.id for one in facts if one.core)
        minutes = sum(one.minutes for one in facts)
        lines.append(f"| [{title}]({name}) | {len(facts)} | {minutes} | {core} |")
    return "\n".join([*lines, "", total(), ""])


def total() -> str:
    """Return a sentence with the numbers of exercises and minutes."""
    facts = record.exercises()
    core = [one for one in facts if one.core]
    spent, short = (sum(one.minutes for one in some) for some in (facts, core))
    return (
        f"All {len(facts)} exercises take {spent} minutes. "
        f"The {len(core)} on the core path take {short} minutes."
    )


def plan(row: re.Match[str]) -> str:
    """A row of a course plan, with the minutes of its lessons and exercises."""
    lessons = row["lessons"].split(", ")
    facts = [one for lesson in lessons for one in book.facts(lesson)]
    chosen = [
        one
        for one in facts
        if row["which"] == "all" or (one.core and row["which"] == "core")
    ]
    spent = sum(map(minutes_of, lessons)), sum(one.minutes for one in chosen)
    return f"{row['start']}{spent[0]} | {spent[1]} |"


def minutes_of(lesson: str) -> int:
    """The minutes that a lesson states."""
    (path,) = (book.HERE.parent / "notebooks").glob(f"{lesson}_*.ipynb")
    (stated,) = re.findall(r"(\d+) minutes", book.cells(path)[0].source)[:1]
    return int(stated)


def wrong_ideas() -> str:
    """Return the page of common wrong ideas: up to four wrong answers for each core exercise, and a question to ask back."""
    lines = [
        "# Common wrong ideas",
        "",
        "For each exercise of the core path: up to four wrong answers that its check is tested with, and a question to",
        "ask back. Each item describes the code of a wrong answer.",
    ]
    for one in record.exercises():
        if not one.core:
            continue
        cells = book.cells(book.source_of(one.id[:2]))
        wrong = [
            cell.source for cell in cells if {"wrong-answer", one.id} <= set(cell.tags)
        ]
        ideas = [source.splitlines()[0].removeprefix("# ") for source in wrong]
        lines += [
            "",
            f"## {one.id} · {one.title}",
            "",
            *(f"- {idea}" for idea in ideas[:4]),
        ]
        lines += ["", f"Ask: {find(one.id).hints[-1]}"]
    return "\n".join([*lines, ""])


def shown(text: str) -> str:
    """Return the page with current tables and numbers."""
    counted = COUNT.sub(lambda link: f"[{len(book.facts(link[1]))}]", text)
    return MARKED.sub(lambda _: table(), PLAN.sub(plan, counted))


def summary() -> str:
    """The content of `exercises.json`."""
    return json.dumps(book.summary(), indent=1, ensure_ascii=False) + "\n"


def pages() -> dict[Path, str]:
    """Return the pages with such numbers, each with its new text."""
    folders = (book.HERE, book.HERE.parent, book.HERE / "teachers")
    texts = {
        each / "README.md": (each / "README.md").read_text(encoding="utf-8")
        for each in folders
    }
    return {page: shown(text) for page, text in texts.items()} | {
        book.HERE / "teachers" / "wrong_ideas.md": wrong_ideas()
    }


def write() -> None:
    """Write `exercises.json`, and the numbers into the pages."""
    book.FILE.write_text(summary(), encoding="utf-8", newline="\n")
    book.stored.cache_clear()
    for page, text in pages().items():
        page.write_text(text, encoding="utf-8", newline="\n")
