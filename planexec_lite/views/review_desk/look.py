"""How the desk looks: one style sheet, and the smallest pieces of HTML. Colours come from the notebook's theme.

What carries meaning is a word on a light pill with dark ink, so that it reads the same on light and dark themes.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from planexec_lite.plan import Problem
from planexec_lite.views.drawing import theme
from planexec_lite.views.drawing.theme import LOOKS, Look
from planexec_lite.views.drawing.visible import visible
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
TEXT = "var(--jp-ui-font-color1, inherit)"
HAIR = "var(--jp-border-color2, #9995)"
WANTED = " Reject and Ask for changes want a comment."
MOST = 8  # problems of a list; each stands at its step too
RING = "var(--jp-ui-font-color1, #00517F)"  # as text, it stands out from what is behind it in every theme
CODE = "var(--jp-code-font-family, monospace)"
STYLE = f"""<style>
.pxl-desk {{max-width: 800px; color: {TEXT}; font-size: 13px; line-height: 1.45; overflow: visible}}
.pxl-desk .jupyter-widgets {{overflow: visible}}
.pxl-desk .widget-html-content, .pxl-desk .jupyter-widget-html-content {{line-height: 1.45; font-size: 13px; color: {TEXT}}}
.pxl-desk h3 {{margin: 0; font-size: {theme.TITLE}px; line-height: 1.4; color: {TEXT}}}
.pxl-desk p, .pxl-desk ul {{margin: 0; color: {TEXT}}}
.pxl-desk ul {{padding-left: 18px}}
.pxl-desk .pxl-steps {{border-top: 1px solid {HAIR}; overflow-x: hidden}}
.pxl-desk .pxl-row {{border-bottom: 1px solid {HAIR}; padding: 6px 0; flex-shrink: 0}}
.pxl-desk .pxl-step {{display: grid; grid-template-columns: minmax(28px, max-content) 1fr; column-gap: 8px}}
.pxl-desk .pxl-step b, .pxl-desk .pxl-step div {{overflow-wrap: anywhere; color: {TEXT}}}
.pxl-desk .pxl-step code, .pxl-desk .pxl-value input, .pxl-desk .pxl-value textarea {{
  font-family: {CODE}; font-size: 12px; background: none; color: {TEXT}}}
.pxl-desk .pxl-step code {{padding: 0; margin-right: 10px}}
.pxl-desk .pxl-meta {{font-size: 12px}}
.pxl-desk [dir=auto] {{unicode-bidi: isolate; white-space: pre-wrap}}
.pxl-desk input, .pxl-desk textarea {{unicode-bidi: plaintext; text-align: start}}
.pxl-desk .pxl-hidden {{background: {LOOKS["judging"].fill}; color: {LOOKS["judging"].ink}; border-radius: 3px; padding: 0 3px;
  font-family: {CODE}; font-size: 11px; white-space: normal}}
.pxl-desk .pxl-arguments {{margin: 2px 0 4px; display: block}}
.pxl-desk .pxl-arguments dt, .pxl-desk .pxl-arguments dd {{
  margin: 0; float: none; width: auto; display: block; font-weight: normal; color: {TEXT}}}
.pxl-desk .pxl-text {{font-family: {CODE}; font-size: 12px; white-space: pre-wrap; overflow-wrap: anywhere;
  border-inline-start: 2px solid {HAIR}; padding-inline-start: 8px}}
.pxl-desk code {{overflow-wrap: anywhere}}
.pxl-desk .pxl-scrolls {{max-height: 220px; overflow-y: auto}}
.pxl-desk .pxl-size {{font-size: 12px}}
.pxl-desk .pxl-pill {{border: 1px solid; border-radius: {theme.RADIUS}px; padding: 0 7px; font-size: 12px; display: inline-block}}
.pxl-desk .pxl-form {{padding: 8px 4px 4px 36px; gap: 4px}}
.pxl-desk .pxl-form .widget-label, .pxl-desk .pxl-end .widget-label {{text-align: left; color: {TEXT}}}
.pxl-desk ::placeholder {{color: {TEXT} !important; opacity: 0.72 !important}}
.pxl-desk .pxl-verbs {{padding: 2px 4px 4px 34px}}
.pxl-desk .pxl-note {{padding-left: 118px}}
.pxl-desk .pxl-note p {{font-size: 12px}}
.pxl-desk .pxl-beside {{padding: 8px 0; gap: 6px; overflow: visible}}
.pxl-desk .pxl-picture {{overflow-x: auto; margin: 0}}
.pxl-desk .pxl-picture img {{min-width: 560px}}
.pxl-desk ol {{margin: 0; padding-left: 22px; color: {TEXT}}}
.pxl-desk .pxl-sure {{border-left: 3px solid {GRAVER.ink}; padding-left: 10px; gap: 6px}}
.pxl-desk .pxl-end {{padding-top: 10px; gap: 8px}}
.pxl-desk .pxl-buttons {{flex-wrap: wrap; gap: 6px}}
.pxl-desk button {{width: auto; padding: 0 12px; margin: 2px; border-radius: 4px; border: 1px solid transparent}}
.pxl-desk button.pxl-quiet {{background: none; border-color: {HAIR}}}
.pxl-desk button.pxl-main {{background: #00517F; color: #FFFFFF}}
.pxl-desk :focus {{outline-color: {RING} !important}}
.pxl-desk button:focus-visible, .pxl-desk input:focus-visible,
.pxl-desk textarea:focus-visible, .pxl-desk [tabindex]:focus-visible {{outline: 2px solid {RING} !important;
  outline-offset: 2px !important}}
@media (max-width: 600px) {{
  .pxl-desk .pxl-form, .pxl-desk .pxl-verbs {{padding-left: 0; padding-right: 0}}
  .pxl-desk .pxl-note {{padding-left: 0}}
  .pxl-desk .pxl-form .widget-inline-hbox, .pxl-desk .pxl-end .widget-inline-hbox {{
    flex-direction: column; align-items: stretch; height: auto}}
}}
</style>"""


def pill(look: Look) -> str:
    """A symbol and a word on a light ground."""
    colours = f"background:{look.fill};color:{look.ink};border-color:{look.ink}"
    return f'<span class="pxl-pill" style="{colours}">{escape(str(look))}</span>'


def problems(listed: Sequence[Problem], hints: bool = True) -> str:
    """Problems, a line each, in words."""
    failed = LOOKS["failed"]
    words = (pill(failed._replace(word=_sentence(problem, hints))) for problem in listed)
    return "".join(f'<p class="pxl-problem">{one}</p>' for one in words)


def bullets(title: str, lines: Sequence[str], most: int = MOST) -> str:
    """A short list under a title; nothing where there is nothing to list."""
    more = [f"and {len(lines) - most} more"] if len(lines) > most else []
    items = "".join(f'<li dir="auto">{escape(line)}</li>' for line in [*lines[:most], *more])
    return f"<p>{escape(title)}</p><ul>{items}</ul>" if lines else ""


def _sentence(problem: Problem, hints: bool) -> str:
    useful = hints and problem.hint and not problem.code.endswith("_parameter")  # there the message says it all
    return visible(problem.message + (f" — {problem.hint}" if useful else ""))
