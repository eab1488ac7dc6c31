"""How the desk looks and what a screen reader gets: a style sheet, a handler on the page, and the words on the pills.

Colours come from the notebook's theme. What carries meaning is a word on a light pill with dark ink, so that it reads the
same on light and dark themes.

ipywidgets sets no ARIA attribute, so the style sheet brings a handler that sets them on its page: fields take the
direction of what is typed, a field with a problem is invalid and described by the note below it, and one region, the same
for as long as the desk is there, is read out when it changes and takes the focus when no button is left. Without the
handler, where a page forbids it, the words are there all the same.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

from planexec_lite.views.drawing import theme
from planexec_lite.views.drawing.theme import LOOKS, Look
from planexec_lite.views.review_desk.marks import Risk

GRAVE, GRAVER = LOOKS["undone"], LOOKS["failed"]
RISKS: dict[Risk, Look] = {
    "destructive": Look("‼", "may delete or overwrite, can't be undone", GRAVER.ink, theme.WHITE),
    "once": Look("!", "runs at most once, can't be undone", GRAVER.fill, GRAVER.ink),
    "unknown": Look("!", "effects not declared, no undo", GRAVE.fill, GRAVE.ink),
    "open": Look("!", "changes something, no undo", GRAVE.fill, GRAVE.ink),
}
EFFECTS = {
    "none": "only reads",
    "idempotent": "may be repeated",
    "unknown": "effects not declared",
    "once": "runs at most once",
}
CHOSEN = Look("?", "a model chooses the calls", LOOKS["judging"].fill, LOOKS["judging"].ink)
_HERE = Path(__file__).parent
_CSS, _HANDLER = ((_HERE / name).read_text(encoding="utf-8") for name in ("desk.css", "desk.js"))
STYLE = f'<style>\n{_CSS}</style>\n<style onload="{escape(" ".join(_HANDLER.split()))}">.pxl-desk {{}}</style>'
