"""How the desk looks: one style sheet, and the pieces of HTML in it. Colours come from the notebook's theme.

What carries meaning is a word on a light pill with dark ink, so that it reads the same on light and dark themes.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from planexec_lite.plan import Problem
from planexec_lite.references import find
from planexec_lite.views import theme
from planexec_lite.views.review_desk.draft import Draft, Row
from planexec_lite.views.review_desk.marks import dangerous, effects
from planexec_lite.views.theme import CHANGES, LOOKS, Look
from planexec_lite.views.words import clean, count, fit_columns, listed

DANGER = Look("!", "happens once, can't be undone", LOOKS["failed"].fill, LOOKS["failed"].ink)
EFFECTS = {"none": "changes nothing", "idempotent": "may be repeated", "once": "happens once"}
TEXT = "var(--jp-ui-font-color1, inherit)"
HAIR = "var(--jp-border-color2, #9995)"
MOST = 8  # lines of a list; a problem stands at its step too
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
.pxl-desk .pxl-pill {{border: 1px solid; border-radius: {theme.RADIUS}px; padding: 0 7px; font-size: 12px; display: inline-block}}
.pxl-desk .pxl-form {{padding: 8px 4px 4px 36px; gap: 4px}}
.pxl-desk .pxl-form .widget-label, .pxl-desk .pxl-end .widget-label {{text-align: left; color: {TEXT}}}
.pxl-desk ::placeholder {{color: {TEXT} !important; opacity: 0.72 !important}}
.pxl-desk .pxl-verbs {{padding: 2px 4px 4px 34px}}
.pxl-desk .pxl-note {{padding-left: 118px}}
.pxl-desk .pxl-note p {{font-size: 12px}}
.pxl-desk .pxl-end {{padding-top: 10px; gap: 8px}}
.pxl-desk .pxl-buttons {{flex-wrap: wrap; gap: 6px}}
.pxl-desk button {{width: auto; padding: 0 12px; margin: 2px; border-radius: 4px; border: 1px solid transparent}}
.pxl-desk button.pxl-quiet {{background: none; border-color: {HAIR}}}
.pxl-desk button.pxl-main {{background: #00517F; color: #FFFFFF}}
.pxl-desk button:focus-visible, .pxl-desk input:focus-visible,
.pxl-desk textarea:focus-visible {{outline: 2px solid #56B4E9; outline-offset: 1px}}
</style>"""


def pill(look: Look) -> str:
    """A symbol and a word on a light ground."""
    colours = f"background:{look.fill};color:{look.ink};border-color:{look.ink}"
    return f'<span class="pxl-pill" style="{colours}">{escape(str(look))}</span>'


def problems(found: Sequence[Problem], hints: bool = True) -> str:
    """Problems, a line each, in words."""
    failed = LOOKS["failed"]
    return "".join(f"<p>{pill(failed._replace(word=_said(problem, hints)))}</p>" for problem in found)


def step(draft: Draft, row: Row, found: Sequence[Problem], closed: bool) -> str:
    """A step in two lines: what it is for and its call, what it waits for, what it does to the world."""
    came = next((one for one in draft.received.steps if one.id == row.id), None)
    changed = (
        CHANGES["added"]
        if came is None
        else CHANGES["changed"]
        if repr(came.model_dump()) != repr(dict(row.step))
        else None
    )
    marks = [pill(look) for look in (changed, DANGER if dangerous(row, draft.toolbox) else None) if look]
    name = escape(clean(row.step["description"])) or "<i>no description</i>"
    first = f"<div>{' '.join([name, *marks])}</div>"
    second = f'<div><code>{escape(call(row))}</code> <span class="pxl-meta">{escape(about(draft, row))}</span></div>'
    below = problems(found, hints=False) if closed else ""
    return f'<div class="pxl-step"><b>{escape(row.id)}</b><div>{first}{second}{below}</div></div>'


def call(row: Row, side: str = "") -> str:
    """The call of a step, or of its undo, as a person writes it."""
    one = row.call("undo" if side else "")
    if one["tool"] is None:
        return "the executor chooses the tool"
    arguments = (f"{name}={_value(value)}" for name, value in one["params"].items())
    return fit_columns(clean(f"{one['tool']}({', '.join(arguments)})"), 160)


def about(draft: Draft, row: Row) -> str:
    """What a step waits for, how its result is checked, what it does to the world and how that is taken back."""
    waits = f"after {listed(row.step['depends_on'])}" if row.step["depends_on"] else "starts at once"
    said = [waits, EFFECTS[effects(row, draft.toolbox)]]
    said += [f"undo: {call(row, 'undo')}"] if row.step["undo"] else []
    said += [f"done when {clean(row.step['success_criteria'])}"] if row.step["success_criteria"] else []
    said += ["asks before it starts"] if row.step["gate"] else []
    return " · ".join(said)


def head(draft: Draft, since: Sequence[str]) -> str:
    """The goal, what is dangerous, what is done already, and what the planner changed since the last round."""
    risky = [row.id for row in draft.rows if dangerous(row, draft.toolbox)]
    said = [count(len(draft.rows), "step")]
    said += [f"{'step' if len(risky) == 1 else 'steps'} {listed(risky)} can't be undone"] if risky else []
    said += [f"done already: {listed(draft.done)}"] if draft.done else []
    goal = escape(clean(draft.received.goal) or "A plan to review")
    return f"<h3>{goal}</h3><p>{escape('; '.join(said))}</p>" + bullets("Changed since the last plan:", since)


def stand(draft: Draft, commented: bool, odd_grant: bool) -> str:
    """How the draft stands, in a sentence that a screen reader reads out when it changes; and its problems."""
    steps = count(len(draft.rows), "step")
    if draft.problems:
        said = f"{steps}, {count(len(draft.problems), 'problem')}: the plan can't be approved yet."
        places = (
            ("plan" if one.step is None else f"step {one.step}") + f": {clean(one.message)}" for one in draft.problems
        )
        return f'<div role="status">{bullets(said, list(places))}</div>'
    if odd_grant:
        return '<div role="status"><p>“Later plans” takes a number of steps, or nothing: the plan can\'t be approved yet.</p></div>'
    fit = f"{steps}, fit to run, {'edited by you' if draft.edited else 'as the planner wrote it'}."
    more = "" if commented else " Reject and Ask for changes want a comment."
    return f'<div role="status"><p>{fit}{more}</p></div>'


def closed(said: str, comment: str) -> str:
    """What stands on a desk where nothing can be changed any more."""
    more = f" {escape(clean(comment))}" if comment.strip() else ""
    return f'<div role="status"><p><strong>{escape(said)}</strong>{more}</p></div>'


def bullets(title: str, lines: Sequence[str]) -> str:
    """A short list under a title; nothing where there is nothing to list."""
    more = [f"and {len(lines) - MOST} more"] if len(lines) > MOST else []
    items = "".join(f"<li>{escape(line)}</li>" for line in [*lines[:MOST], *more])
    return f"<p>{escape(title)}</p><ul>{items}</ul>" if lines else ""


def _said(problem: Problem, hints: bool) -> str:
    useful = hints and problem.hint and not problem.code.endswith("_parameter")  # there the message says it all
    return clean(problem.message + (f" — {problem.hint}" if useful else ""))


def _value(value: object) -> str:
    found = list(find(value))
    return str(found[0]) if isinstance(value, str) and found and value == str(found[0]) else repr(value)
