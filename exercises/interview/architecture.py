"""The diagram of the tour: the parts of a planner-executor, and what passes between them."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from planexec_lab.views import Figure

TITLE = "The planner decides, the executor acts, and the board records every event"
CAPTION = (
    "Follow the arrows from the goal. The cycle at the bottom runs once per step; the arrow to the planner is a replan."
)
WIDTH, HEIGHT = 720, 372
BOX_WIDTH, BOX_HEIGHT = 168, 54
BOXES = {  # name: (left, top, second line)
    "Planner": (84, 62, "a model or a rule"),
    "Plan": (304, 62, "steps, as data"),
    "Check and approval": (524, 62, "a program, then a person"),
    "Board": (84, 182, "the status of each step"),
    "Executor": (304, 182, "carries out one step"),
    "Loop": (524, 182, "decides what starts next"),
    "Tools": (304, 272, "the only way to the world"),
}
ARROWS = [  # points, label, where the label is
    ([(54, 89), (84, 89)], "goal", (22, 93)),
    ([(252, 89), (304, 89)], "", (0, 0)),
    ([(472, 89), (524, 89)], "", (0, 0)),
    ([(608, 116), (608, 182)], "approved", (616, 153)),
    ([(524, 209), (472, 209)], "step", (486, 201)),
    ([(304, 209), (252, 209)], "result", (261, 201)),
    ([(168, 182), (168, 116)], "failed step", (176, 153)),
    ([(388, 236), (388, 272)], "call", (396, 258)),
    ([(168, 236), (168, 346), (608, 346), (608, 236)], "what is done, what may start", (312, 363)),
]


def architecture() -> Figure:
    """Return the diagram as a figure with a text form."""
    from planexec_lab.views import Figure

    text = "\n".join([TITLE, *(f"  {line}" for line in STEPS)])
    return Figure(TITLE, text, f"{TITLE}. {' '.join(STEPS)}", CAPTION, WIDTH, svg=_svg())


STEPS = [
    "goal -> Planner (a model or a rule) -> Plan (steps, as data)",
    "Plan -> Check and approval (a program, then a person) -> Loop",
    "Loop (decides what starts next) -> step -> Executor -> call -> Tools",
    "Executor -> result -> Board (the status of each step) -> Loop",
    "Board -> failed step -> Planner, which writes a new plan for the rest",
]


def _svg() -> str:
    from planexec_lab.views.drawing import theme

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
        f' font-family="{escape(theme.FONT)}" fill="{theme.TEXT}">',
        f'<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        f'<path d="M0 0L8 4L0 8Z" fill="{theme.LINE}"/></marker></defs>',
        f'<text x="{theme.MARGIN}" y="30" font-size="{theme.TITLE}" font-weight="bold">{TITLE}</text>',
    ]
    for points, label, (x, y) in ARROWS:
        path = "M" + "L".join(f"{a} {b}" for a, b in points)
        parts.append(f'<path d="{path}" fill="none" stroke="{theme.LINE}" stroke-width="1.5" marker-end="url(#tip)"/>')
        if label:
            parts.append(f'<text x="{x}" y="{y}" font-size="{theme.BODY}" fill="{theme.MUTED}">{label}</text>')
    for name, (left, top, line) in BOXES.items():
        fill = theme.PLANNER.fill if name in ("Planner", "Plan") else theme.WHITE
        middle = left + BOX_WIDTH // 2
        parts += [
            f'<rect x="{left}" y="{top}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="{theme.RADIUS}" fill="{fill}"'
            f' stroke="{theme.LINE}"/>',
            f'<text x="{middle}" y="{top + 23}" font-size="13" font-weight="bold" text-anchor="middle">{name}</text>',
            f'<text x="{middle}" y="{top + 41}" font-size="{theme.BODY}" text-anchor="middle">{line}</text>',
        ]
    return "\n".join([*parts, "</svg>"])
