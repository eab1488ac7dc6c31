"""Two hundred tools of twenty services, and requests with the tool that each of them means; `catalogue.yaml` has them."""

from pathlib import Path

import yaml

from planexec_lite.tools import Tool

_DATA: dict[str, dict[str, str]] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))
REQUESTS = _DATA["requests"]
"""Requests in the words of the catalogue, and the tool that each means."""
OTHER_WORDS = _DATA["other_words"]
"""The same kind of request from people who don't know the catalogue."""


def tools() -> list[Tool]:
    """The tools, service by service."""
    return [_tool(service, verb, things) for service, things in _DATA["services"].items() for verb in _DATA["verbs"]]


def _tool(service: str, verb: str, things: str) -> Tool:
    def call(query: str, limit: int = 10) -> str:
        return f"{service}: {query} ({limit})"

    words = _DATA["verbs"][verb].replace("{things}", f"{things} in {service}")
    arguments = "query: a text or an id\n        limit: the most results"
    call.__name__ = f"{service}_{verb}_{things}"
    call.__doc__ = f"{words}\n\n    Args:\n        {arguments}\n    "
    return Tool(call, effects="none" if verb in ("list", "get", "search", "export") else "unknown")
