"""What pages say about the exercises: their numbers, minutes, the core path, course plans, and common wrong ideas.

All is made from the sources, so no number is typed: `python -m exercises.authors.generate` writes it.
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
    """How many exercises and minutes there are, in a sentence."""
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
    """The wrong answers of the core path, in the words of their cells, and a question to ask back."""
    lines = [
        "# Common wrong ideas",
        "",
        "What learners get wrong in the exercises of the core path, and a question to ask back. The first lines are from",
        "the wrong answers that each check is tested with.",
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
    """A page with the tables and numbers of today."""
    counted = COUNT.sub(lambda link: f"[{len(book.facts(link[1]))}]", text)
    return MARKED.sub(lambda _: table(), PLAN.sub(plan, counted))


def summary() -> str:
    """The content of `exercises.json`."""
    return json.dumps(book.summary(), indent=1, ensure_ascii=False) + "\n"


def pages() -> dict[Path, str]:
    """The pages that have such numbers, and what they must say."""
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
