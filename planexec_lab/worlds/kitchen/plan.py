"""The head chef's plan: fourteen tickets, 170 minutes of work, and a tart that waits until the roast leaves the oven."""

from __future__ import annotations

import json
from typing import Any

GOAL = "Cook a three-course dinner for eight"

_STEPS: list[tuple[int, str, dict[str, Any], list[int], str]] = [
    (1, "chop", {"what": "leeks"}, [], "Chop the leeks"),
    (2, "chop", {"what": "potatoes"}, [], "Chop the potatoes"),
    (3, "chop", {"what": "carrots"}, [], "Chop the carrots"),
    (4, "chop", {"what": "apples"}, [], "Chop the apples"),
    (5, "mix", {"what": ["flour", "butter", "eggs"]}, [], "Mix the dough"),
    (6, "simmer", {"what": ["leeks", "stock"]}, [1], "Simmer the soup"),
    (7, "roast", {"what": ["chicken", "potatoes", "carrots"]}, [2, 3], "Roast the chicken"),
    (8, "plate", {"course": "starter"}, [6], "Plate the soup"),
    (9, "plate", {"course": "main"}, [7], "Plate the roast; the oven is free"),
    (10, "bake", {"what": ["dough", "apples"]}, [4, 5, 9], "Bake the tart"),
    (11, "plate", {"course": "dessert"}, [10], "Plate the tart"),
    (12, "serve", {"course": "starter"}, [8], "Serve the starter"),
    (13, "serve", {"course": "main"}, [9, 12], "Serve the main course"),
    (14, "serve", {"course": "dessert"}, [11, 13], "Serve the dessert"),
]

PLAN = json.dumps(
    {
        "goal": GOAL,
        "steps": [
            {"id": id, "action": action, "params": params, "depends_on": depends_on, "description": description}
            for id, action, params, depends_on, description in _STEPS
        ],
    },
    indent=2,
)
