"""Write what the suite observed to `planexec_lab/recorded/elsewhere.json`, which lesson 15 reads.

    python -m elsewhere.record [--replays] [--small]

With `--replays`, the five steps that are killed and resumed (`NAME/replay.py`) run again, five times each. With `--small`, the
small LangGraph program runs again. The table goes to the README of this folder.
"""

import json
import sys
from collections import Counter
from hashlib import sha256
from typing import Any

from elsewhere import features, small, suite
from planexec_lab.views.drawing import theme
from planexec_lab.views.drawing.svg_canvas import Box, Canvas

FILE = suite.ROOT / "planexec_lab/recorded/elsewhere.json"
README = suite.HERE / "README.md"
BEGIN, END = "<!-- the table, written by record.py -->", "<!-- the end of the table -->"
NAMES = {
    "kit": "this kit",
    "langgraph": "LangGraph",
    "agents_sdk": "Agents SDK",
    "pydantic_ai": "pydantic-ai",
    "llamaindex": "LlamaIndex",
    "adk": "Google ADK",
}


def digest(framework: str) -> str:
    """Return a hash of a framework's programs and of the code that they share."""
    files = sorted((*(suite.HERE / framework).glob("*"), *(suite.HERE / "common").glob("*.py")))
    return sha256(b"\0".join(file.read_bytes() for file in files if file.is_file())).hexdigest()[:16]


def version(framework: str) -> str:
    """Return the pinned version of a framework's first package."""
    first = {
        "langgraph": "langgraph==",
        "agents_sdk": "openai-agents",
        "pydantic_ai": "pydantic-ai",
        "llamaindex": "llama-index-w",
    }
    file = suite.HERE / framework / "requirements.txt"
    lines = file.read_text().splitlines() if file.exists() else []
    return next((line.split("==")[1] for line in lines if line.startswith(first.get(framework, "google-adk"))), "")


def replays() -> dict[str, dict[str, int]]:
    """Return, for each framework, how often step B2 had which result after the crash."""
    return {
        framework: dict(Counter(features.replay(framework)["results"]["B2"] for _ in range(5)))
        for framework in features.REPLAYS
    }


def timelines(frameworks: dict[str, Any]) -> dict[str, Any]:
    """Return a figure for a phone, as the arguments of `Figure`: for each framework, its build, its backup and its other steps."""
    wide, left, high, rows, seconds = 360, 92, 38, ["When the build runs"], 0.6  # pixels; and pixels a second
    canvas = Canvas()
    top, _ = canvas.heading(rows[0])
    for at in (0, 120, 240, 360):
        canvas.line(f"M{left + at * seconds:g} {top - 6:g}v{len(frameworks) * high:g}", ink=theme.HAIR, thick=1)
        canvas.text(left + at * seconds, top + 8 + len(frameworks) * high, f"{at} s", ink=theme.MUTED, anchor="middle")
    for name, one in frameworks.items():
        canvas.text(theme.MARGIN, top + 8, name)
        for tool, start, end in one["bars"]:
            build, backup = tool == "build_docker", tool == "backup_database"
            look = theme.LOOKS["running" if build else "waiting" if backup else "skipped"]
            box = Box(left + start * seconds, top + 13 * backup, max((end - start) * seconds, 2), 11, tool)
            canvas.box(box, fill=look.ink if build else look.fill, ink=look.ink)
        times = {tool: f"{start:.0f} to {end:.0f} s" for tool, start, end in one["bars"]}
        rows.append(
            f"{name}: build {times['build_docker']}, backup {times['backup_database']}, end {one['bars'][-1][2]:.0f} s"
        )
        top += high
    caption = "Above: tests, build (dark) and the later steps. Below: the backup."
    text = "\n  ".join(rows)
    svg = canvas.svg(wide, int(top + 18))
    return {"title": rows[0], "text": text, "alt": "; ".join(rows), "caption": caption, "width": wide, "svg": svg}


def short(cell: str) -> str:
    """Return a cell of the table in a few characters: ●, the number of our lines, with "m" if an obedient model would do, or no."""
    if cell == "by itself":
        return "●"
    lines = "".join(letter for letter in cell if letter.isdigit())
    return f"{lines}m" if lines and "obeys" in cell else lines or "no"


def table(recording: dict[str, Any]) -> str:
    """Return the table of all questions and frameworks as Markdown."""
    frameworks = recording["frameworks"]
    heads = [f"{name} {one['version']}".strip() for name, one in frameworks.items()]
    lines = ["| | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
    for check, question in recording["questions"].items():
        cells = [short(one["cells"][check]) for one in frameworks.values()]
        lines.append(f"| {question} | {' | '.join(cells)} |")
    return "\n".join(lines)


def readme(recording: dict[str, Any]) -> str:
    """Return the README with this table."""
    before, _, rest = README.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{table(recording)}\n\n{END}{after}"


def recorded() -> dict[str, Any]:
    """Return the recording."""
    return dict(json.loads(FILE.read_text(encoding="utf-8"))) if FILE.exists() else {}


def main(arguments: list[str]) -> None:
    """Write the recording."""
    frameworks: dict[str, Any] = {}
    for framework, name in NAMES.items():
        results = json.loads((suite.HERE / "results" / f"{framework}.json").read_text(encoding="utf-8"))
        frameworks[name] = {
            "version": version(framework),
            "cells": {check: results[check]["cell"] for check in (*suite.CHECKS, *features.TITLES)},
            "bars": results["_bars"],
            "counts": results["_calls"],
        }
    recording = {
        "questions": {name: check.title for name, check in suite.CHECKS.items()} | features.TITLES,
        "frameworks": frameworks,
        "timelines": timelines(frameworks),
        "B2": replays() if "--replays" in arguments else recorded()["B2"],
        "small": small.observed() if "--small" in arguments else recorded()["small"],
        "programs": {framework: digest(framework) for framework in (*NAMES, "dbos")},
    }
    README.write_text(readme(recording), encoding="utf-8")
    FILE.write_text(json.dumps(recording, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
