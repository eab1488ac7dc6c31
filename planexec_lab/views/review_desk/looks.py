"""How the desk looks, and the smallest pieces of its HTML: text without hidden characters, full calls, problems, lists.

Colours come from the notebook's theme. Meaning is carried by a word in dark ink on a light pill, which reads
the same on light and dark themes.

ipywidgets sets no ARIA attribute, so the style sheet brings a handler that sets them on its page: fields take the
direction of what is typed, a field with a problem is invalid and described by the note below it, and one region, the same
for as long as the desk is there, is read out when it changes and takes the focus when no button is left. If a page
forbids the handler, the words are still there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path
from typing import Any

from planexec_lab.views.drawing import theme
from planexec_lab.views.drawing.theme import LOOKS, PLANNER, Look
from planexec_lab.views.drawing.visible import call, parts, visible
from planexec_lab.views.review_desk import marks
from planexec_lab.views.review_desk.draft import Draft, Row
from planexec_lab.views.review_desk.marks import Risk
from planexec_lite.core.questions import Verb
from planexec_lite.plan import Problem
from planexec_lite.tools import Effects

GRAVE, GRAVER = LOOKS["undone"], LOOKS["failed"]
RISKS: dict[Risk, tuple[Look, str]] = {  # what a step might do, and what becomes of it afterwards
    "destructive": (Look("‼", "might delete or overwrite", GRAVER.ink, theme.WHITE), "can't be undone"),
    "once": (Look("!", "runs at most once", GRAVER.fill, GRAVER.ink), "can't be undone"),
    "unknown": (Look("!", "declares no effects", GRAVE.fill, GRAVE.ink), "no undo"),
    "open": (Look("!", "changes something", GRAVE.fill, GRAVE.ink), "no undo"),
}
EFFECTS: dict[Effects, tuple[str, str]] = {  # of one step, of several steps
    "none": ("only reads", "only read"), "idempotent": ("may be repeated", "may be repeated"),
    "unknown": ("declares no effects", "declare no effects"), "once": ("runs at most once", "run at most once"),
}  # fmt: skip
CHOSEN = Look("?", "a model chooses the calls", LOOKS["judging"].fill, LOOKS["judging"].ink)
DECIDED: dict[Verb, Look] = {
    "approve": LOOKS["done"], "done": LOOKS["done"], "not done": LOOKS["skipped"], "reject": LOOKS["failed"],
    "roll back": LOOKS["undone"],
}  # fmt: skip
CHANGED = PLANNER  # the look of a decision that asks for another plan
_HERE = Path(__file__).parent
_CSS, _HANDLER = ((_HERE / name).read_text(encoding="utf-8") for name in ("desk.css", "desk.js"))
STYLE = f'<style>\n{_CSS}</style>\n<style onload="{escape(" ".join(_HANDLER.split()))}">.pxl-desk {{}}</style>'


SHORT = 160  # the most characters of a call on one line
_GAP = re.compile(r"(\n(?:[ \t]*\n){4,})")


def seen(text: object) -> str:
    """A text in HTML, with everything in it seen: a code stands out, and says what Unicode calls its character."""
    return "".join(
        f'<span class="pxl-hidden" title="{escape(name)}">{escape(part)}</span>' if name else escape(part)
        for part, name in parts(str(text))
    )


def isolated(text: object) -> str:
    """A text in HTML whose direction is its own, so that it turns nothing around it."""
    return f'<span dir="auto">{seen(text)}</span>'


def unseen(text: str) -> str:
    """The characters of a text that a field can't show, in HTML; "" if it can show all."""
    hidden = dict.fromkeys((code, name) for code, name in parts(text) if name and code != r"\n")
    codes = ", ".join(f'<span class="pxl-hidden">{escape(code)}</span> {escape(name)}' for code, name in hidden)
    return f"<p>not to be seen in the field, or not what it looks like: {codes}</p>" if hidden else ""


def call_in_full(tool: str | None, params: Mapping[str, Any]) -> str:
    """A call: on one line if it is short and simple, else on several lines, an argument on each."""
    line = call(tool, dict(params))
    texts = {name: _text(value) for name, value in params.items()}
    if len(line) <= SHORT and not any(name for text in texts.values() for _, name in parts(text)):
        return f'<code dir="auto">{escape(line)}</code>'
    rows = "".join(
        f'<dt><code>{seen(name)}</code></dt><dd><div class="pxl-text" dir="auto">{_lines(text)}</div></dd>'
        for name, text in texts.items()
    )
    return f'<code dir="auto">{seen(tool)}</code><dl class="pxl-arguments">{rows}</dl>'


def meta(words: str) -> str:
    """Words of the desk's own, smaller than those of the plan."""
    return f'<span class="pxl-meta">{escape(words)}</span>'


def pill(look: Look) -> str:
    """A symbol and a word on a light ground."""
    colours = f"background:{look.fill};color:{look.ink};border-color:{look.ink}"
    return f'<span class="pxl-pill" style="{colours}">{escape(str(look))}</span>'


def warning(draft: Draft, row: Row) -> Look | None:
    """How the step is marked if it has no undo. The rollback of a plan might make up for it."""
    risk = marks.risk(row, draft.toolbox)
    if risk is None:
        return None
    look, fate = RISKS[risk]
    return look._replace(word=f"{look.word}, {'no undo of its own' if draft.received.rollback else fate}")


def problems(listed: Iterable[Problem], hints: bool = True) -> str:
    """Problems, one on each line."""
    words = (pill(LOOKS["failed"]._replace(word=_sentence(problem, hints))) for problem in listed)
    return "".join(f'<p class="pxl-problem">{one}</p>' for one in words)


def bullets(title: str, lines: Iterable[str]) -> str:
    """A list under a title, all of it; nothing where there is nothing to list."""
    items = "".join(f'<li dir="auto">{escape(line)}</li>' for line in lines)
    return paragraphs([title] if title else []) + f"<ul>{items}</ul>" if items else ""


def paragraphs(sentences: Iterable[str]) -> str:
    """Each sentence in a paragraph."""
    return "".join(f'<p dir="auto">{escape(sentence)}</p>' for sentence in sentences)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _lines(text: str) -> str:
    """The lines of a text; many empty ones in a row are counted, and blanks at its end are seen."""
    body = text.rstrip(" ")
    html = [
        f'\n<span class="pxl-hidden">{part.count(chr(10)) - 1} empty lines</span>\n'
        if number % 2
        else "\n".join(map(seen, part.split("\n")))
        for number, part in enumerate(_GAP.split(body))
    ]
    blanks = f'<span class="pxl-hidden" title="blanks">␣×{len(text) - len(body)}</span>' if text != body else ""
    return "".join(html) + blanks


def _sentence(problem: Problem, hints: bool) -> str:
    useful = hints and problem.hint and not problem.code.endswith("_parameter")  # there the message says it all
    return visible(problem.message + (f" — {problem.hint}" if useful else ""))
