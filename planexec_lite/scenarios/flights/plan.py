"""The goal, and a plan for a traveller who has no surprises; what it books can be taken back."""

from __future__ import annotations

import json

GOAL = "Book me a flight to Lisbon for the weekend"

_FLIGHT = "{step_2_result[0].flight}"
PLAN = json.dumps(
    {
        "goal": GOAL,
        "steps": [
            {"id": 1, "tool": "ask_traveller", "params": {"question": "On which day do you want to fly?"}},
            {"id": 2, "tool": "search_flights", "params": {"day": "Friday", "not_before": "00:00"}, "depends_on": [1]},
            {
                "id": 3,
                "tool": "ask_traveller",
                "params": {"question": f"Is flight {_FLIGHT} all right?"},
                "depends_on": [2],
            },
            {
                "id": 4,
                "tool": "hold_seat",
                "params": {"flight": _FLIGHT, "seat": "any"},
                "depends_on": [2, 3],
                "undo": {"tool": "release_hold", "params": {"hold": "{step_4_result.hold}"}},
            },
            {
                "id": 5,
                "tool": "book",
                "params": {"hold": "{step_4_result.hold}"},
                "depends_on": [4],
                "undo": {"tool": "cancel_booking", "params": {"booking": "{step_5_result.booking}"}},
            },
        ],
    },
    indent=2,
)
