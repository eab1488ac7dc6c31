"""A plan under review and its tools, for the tests of the desk."""

from typing import Any, Literal

from planexec_lab.views.review_desk.draft import Draft
from planexec_lab.views.review_desk.questions import Sheet
from planexec_lab.views.review_desk.widget import Review
from planexec_lite import Plan, Toolbox, tool


@tool(effects="none")
def look_up(city: str, days: int = 7, units: Literal["metric", "imperial"] = "metric") -> str:
    """Look up the weather.

    Args:
        city: the name of the city
        days: how many days
        units: in which units
    """
    return f"{city} {days} {units}"


@tool(effects="idempotent")
def pack(things: list[str], heavy: bool) -> str:
    """Pack things."""
    return f"{len(things)} {heavy}"


@tool(effects="once")
def book(hotel: str) -> str:
    """Book a room."""
    return hotel


@tool(effects="idempotent")
def cancel(hotel: str) -> str:
    """Cancel the room."""
    return hotel


TOOLS = Toolbox([look_up, pack, book, cancel])
STEPS: list[dict[str, Any]] = [
    {"id": 1, "tool": "look_up", "params": {"city": "Lima"}, "description": "See the weather"},
    {"id": 2, "tool": "pack", "params": {"things": ["hat"], "heavy": False}, "depends_on": [1]},
    {
        "id": 3, "tool": "book", "params": {"hotel": "Sol, {step_1_result}"}, "depends_on": [1],
        "description": "Book", "success_criteria": "the room is ours",
    },
]  # fmt: skip
PLAN = Plan.parse({"goal": "Go to Lima", "steps": STEPS})


def desk(plan: Plan = PLAN, tools: Toolbox = TOOLS, by: str = "reviewer", script: Any = None, **more: Any) -> Review:
    """A desk for a plan; `more` are fields of its draft."""
    sheet = Sheet.of_plan(plan, tools)
    sheet.draft = Draft.of(plan, tools, **more)
    return Review(sheet, script, by)


def fill(shown: Review, name: str, value: Any) -> None:
    shown.controls[name].value = value


def press(shown: Review, *names: str) -> None:
    """Press buttons of the desk; one that is dark can't be pressed. Asked once more whether to approve, say yes."""
    for name in names:
        button = shown.controls[name]
        assert not button.disabled, f"{name} is dark: {shown.draft.problems}"
        button.click()
        if name == "Approve" and "Yes, approve" in shown.controls:
            shown.controls["Yes, approve"].click()
