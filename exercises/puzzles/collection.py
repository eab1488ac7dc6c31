"""The puzzles of `puzzles.yaml`; a rule is named as in `rules`, with its arguments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from exercises.puzzles import rules
from exercises.puzzles.attempt import Puzzle, Rule


def _rule(named: str | dict[str, dict[str, Any]]) -> Rule:
    """Return a rule by its name, or make one: `{within: {seconds: 70}}`."""
    if isinstance(named, str):
        rule: Rule = getattr(rules, named)
        return rule
    ((name, arguments),) = named.items()
    made: Rule = getattr(rules, name)(**arguments)
    return made


PUZZLES = tuple(
    Puzzle(**one | {"rules": tuple(map(_rule, one["rules"]))})
    for one in yaml.safe_load(Path(__file__).with_name("puzzles.yaml").read_text(encoding="utf-8"))
)
