"""A call in HTML, whole: on one line where it is short and plain, else an argument a line, each as it is written."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from html import escape
from typing import Any

from planexec_lite.views.drawing.visible import call, parts, visible
from planexec_lite.views.drawing.wording import count

SHORT = 160  # characters of a call that stands on one line
TALL, LONG = 12, 1200  # lines and characters of an argument; a longer one scrolls in a box that says so
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
    """What a text holds that a field does not show, in HTML; "" where a field shows all of it."""
    hidden = dict.fromkeys((code, name) for code, name in parts(text) if name and code != r"\n")
    codes = ", ".join(f'<span class="pxl-hidden">{escape(code)}</span> {escape(name)}' for code, name in hidden)
    return f"<p>not to be seen in the field, or not what it looks like: {codes}</p>" if hidden else ""


def in_html(tool: str | None, params: Mapping[str, Any], where: str) -> str:
    """A call in HTML; `where` says whose it is, such as "step 3"."""
    line = call(tool, dict(params))
    if len(line) <= SHORT and not any(_needs_room(value) for value in params.values()):
        return f'<code dir="auto">{escape(line)}</code>'
    rows = "".join(
        f"<dt><code>{seen(name)}</code></dt><dd>{_argument(value, f'{visible(name)} of {where}')}</dd>"
        for name, value in params.items()
    )
    return f'<code dir="auto">{seen(tool)}</code><dl class="pxl-arguments">{rows}</dl>'


def _needs_room(value: Any) -> bool:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return len(text) > SHORT or any(name for _, name in parts(text))


def _argument(value: Any, what: str) -> str:
    """An argument as it is written, line by line; of a long one its size is said, and the box that it scrolls in has a name."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    html = _lines(text)
    tall = text.count("\n") + 1
    if tall <= TALL and len(text) <= LONG:
        return f'<div class="pxl-text" dir="auto">{html}</div>'
    size = f"{len(text):,} characters" + (f" in {count(tall, 'line')}" if tall > 1 else "")
    box = f'<div class="pxl-text pxl-scrolls" dir="auto" role="group" tabindex="0" aria-label="{escape(what)}">{html}</div>'
    return f'{box}<div class="pxl-size">All of it stands in this box, which scrolls: {size}.</div>'


def _lines(text: str) -> str:
    """The lines of a text; many empty ones in a row are counted, and blanks at its end are seen."""
    body = text.rstrip(" ")
    html = [
        f'\n<span class="pxl-hidden">{part.count(chr(10)) - 1} empty lines</span>\n'
        if gap
        else "\n".join(map(seen, part.split("\n")))
        for gap, part in ((number % 2, part) for number, part in enumerate(_GAP.split(body)))
    ]
    blanks = f'<span class="pxl-hidden" title="blanks">␣×{len(text) - len(body)}</span>' if text != body else ""
    return "".join(html) + blanks
