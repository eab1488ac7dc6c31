"""Traces of other frameworks' agents, recorded in real runs on the scripted model in November 2026.

An agent with a single tool is asked about two orders; one of them does not exist. The model waits 0.4 s before each answer, the
tool 0.2 s. Names of the machine were removed: versions, settings, file paths. openai-agents 0.24.0 and LangGraph 1.2.24 make traces
with the same events. ``tests/spans/test_others.py`` records them again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, get_args

from planexec_lite.tools import suggest

Framework = Literal["openai-agents", "langgraph"]


def sample(framework: Framework) -> str:
    """Return a trace as a framework exported it, for `read`: the objects of openai-agents, or LangGraph's OTLP JSON.

    Raises `ValueError` for another framework.
    """
    if framework not in get_args(Framework):
        near = suggest(str(framework), get_args(Framework))
        raise ValueError(f"there is no sample of {framework!r}{near}; one of {', '.join(get_args(Framework))}")
    return place(framework).read_text(encoding="utf-8")


def place(framework: str) -> Path:
    """The file that holds the sample of a framework."""
    return Path(__file__).with_name(f"sample_{framework.replace('-', '_')}.json")
