"""Weak, passing and strong answers to some cards, each of 60 to 90 spoken seconds."""

from __future__ import annotations

import json
from pathlib import Path

FILE = Path(__file__).with_name("samples.json")


def answers(id: str) -> dict[str, str]:
    """Return the sample answers of a card as "weak", "passing" and "strong". Raises `KeyError` for a card without samples."""
    samples: dict[str, dict[str, str]] = json.loads(FILE.read_text(encoding="utf-8"))
    return samples[id]
