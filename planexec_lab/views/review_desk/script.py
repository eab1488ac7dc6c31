"""The scripted twin: it presses and fills in the very controls that a person would, called by the same names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from planexec_lite.tools import suggest

Gesture = str | tuple[str, str]
_OF_STEP = re.compile(r"(?P<field>[\w.-]+): .*|Remove (?P<removed>[\w.-]+)")


class ScriptError(ValueError):
    """An impossible gesture: the control does not exist, or it is disabled now."""


def play(desk: Any, gestures: Sequence[Gesture]) -> None:
    """Make one gesture after the other until there is a decision.

    Args:
        desk: the `Review` to play on, in an unattended run.
        gestures: a string clicks the button of that name, such as ``"Remove 8"`` or ``"Approve"``; a pair fills in the
            field of that name, as in ``("3: tag", "v2.3.2")``. The form of a step opens by itself.

    Raises `ScriptError` for an impossible gesture, and if there is no decision after the last gesture.
    """
    for gesture in gestures:
        if desk.decided:
            raise ScriptError(f"{_shown(gesture)}: the plan is decided about already; drop this gesture")
        name, text = (gesture, None) if isinstance(gesture, str) else gesture
        control = _control(desk, name)
        if text is None:
            if not hasattr(control, "click"):
                raise ScriptError(f"{_shown(gesture)}: this is a field; write ({name!r}, 'what to fill in')")
            control.click()
        else:
            if hasattr(control, "click"):
                raise ScriptError(f"{_shown(gesture)}: this is a button; write its name alone")
            control.value = text
    if not desk.decided:
        raise ScriptError("the script ended without a decision; end it with 'Approve', 'Reject' or 'Ask for changes'")


def _control(desk: Any, name: str) -> Any:
    """The control of this name; the form that it is in is opened first, as a person would."""
    place = _OF_STEP.fullmatch(name)
    opens = f"Edit {place['field'] or place['removed']}" if place else ""
    if name not in desk.controls and opens in desk.controls:
        desk.controls[opens].click()
    if name not in desk.controls:
        raise ScriptError(
            f"there is no control {name!r}{suggest(name, desk.controls)}; there are: {', '.join(desk.controls)}"
        )
    control = desk.controls[name]
    if control.disabled:
        why = desk.missing.get(name, "the desk is closed")
        raise ScriptError(f"{name!r} can't be pressed right now: {why}")
    return control


def _shown(gesture: Gesture) -> str:
    return repr(gesture) if isinstance(gesture, str) else f"({gesture[0]!r}, {gesture[1]!r})"
