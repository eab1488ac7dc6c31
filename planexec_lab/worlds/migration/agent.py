"""The agent of the article as a function: what it did and saw so far in, a thought and an action out."""

import ast
import re
from typing import Any

from planexec_lab.worlds.migration.plan import REACT_ORDER

_SEEN = re.compile(r"^Action: (\w+)\nObservation: (.*)$", re.MULTILINE)


def agent(text: str) -> tuple[str, str, Any]:
    """Read a transcript, and return a thought, the name of a tool, and its parameters.

    The next action depends on the observations: it stops if the schema is right already, runs the script that it read about,
    and reports losses. The action "answer" ends the work; its parameters are the answer as text.
    """
    seen = {action: ast.literal_eval(shown) for action, shown in _SEEN.findall(text)}
    if "read_schema" in seen and seen["read_schema"]["now"] == seen["read_schema"]["wanted"]:
        return _answer("The database has the new schema already.")
    for step in REACT_ORDER:
        if step["action"] not in seen:
            written = {"file": seen["write_migration"]["file"]} if "file" in step["params"] else {}
            return step["description"], step["action"], step["params"] | written
    faults = "; ".join(seen["verify_integrity"]["faults"])
    untested = f", and I did not test it first: {faults}" if faults else ""
    return _answer(f"The new schema is in production{untested}.")


def _answer(words: str) -> tuple[str, str, Any]:
    return words, "answer", words
