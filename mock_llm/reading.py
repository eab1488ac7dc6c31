"""From YAML, or from Python dicts of the same shape, to scenes: every fault is named with its place.

All faults of a script are reported at once, one a line:

    deploy.yaml:14: unknown field 'sayz' in when; did you mean 'says'?
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path as FilePath
from typing import Any

from .exchange import Usage
from .faults import Fault, fault
from .fields import Check, Place, anything, count, fields, flag, function, made, number, patterns, several, text, texts
from .lines import YamlError, read_yaml
from .script import Reply, Scene, ScriptError, ToolUse, When

Source = Scene | Mapping[str, Any] | str | os.PathLike[str]


def read_scenes(sources: Iterable[Source] | Source) -> tuple[Scene, ...]:
    """Scenes from files, from dicts and from `Scene` objects, in order.

    Args:
        sources: one path or several, and/or scenes.

    Raises:
        ScriptError: every fault found, one a line.
        OSError: a file can't be read.
    """
    problems: list[str] = []
    scenes: list[Scene] = []
    for index, source in enumerate(_listed(sources)):
        if isinstance(source, Scene):
            scenes.append(source)
        elif isinstance(source, Mapping):
            scenes += _scene(source, Place("scenes", {}, problems, (index,)))
        else:
            scenes += _file(FilePath(source), problems)
    first: dict[str, Scene] = {}
    for scene in scenes:
        if other := first.get(scene.name):
            problems.append(f"{scene.source}: a second scene is named {scene.name!r}; the first is {other.source}")
        first[scene.name] = scene
    if problems:
        raise ScriptError("\n".join(problems))
    return tuple(scenes)


def _listed(sources: Iterable[Source] | Source) -> Iterable[Source]:
    return [sources] if isinstance(sources, str | os.PathLike | Scene | Mapping) else sources


def _file(path: FilePath, problems: list[str]) -> list[Scene]:
    try:
        data, lines = read_yaml(path.read_text(encoding="utf-8"))
    except YamlError as error:
        problems.append(f"{path.name}:{error.line}: {error}")
        return []
    top = Place(path.name, lines, problems)
    given = fields(data, {"scenes": anything}, top, "a script")
    if "scenes" not in given:
        top.complain("a script needs a field 'scenes', a list of scenes")
    entries = given.get("scenes", [])
    if not isinstance(entries, list):
        top.at("scenes").complain("scenes is a list: begin each scene with '- name: …'")
        entries = []
    return [scene for n, entry in enumerate(entries) for scene in _scene(entry, top.at("scenes").at(n))]


def _scene(data: Any, place: Place) -> list[Scene]:
    before = len(place.problems)
    given = fields(data, {"name": text, "when": _when, "reply": _reply}, place, "a scene")
    if isinstance(data, Mapping):
        for needed in ("name", "reply"):
            if needed not in data:
                place.complain(f"a scene needs a field {needed!r}")
    if len(place.problems) > before:
        return []
    scene = made(Scene, given | {"source": str(place)}, place)
    return [] if scene is None else [scene]


def _when(value: Any, place: Place) -> When | None:
    before = len(place.problems)
    known: dict[str, Check] = dict.fromkeys(("system", "says", "last", "never", "tools", "called"), texts)
    known |= {"role": text, "find": patterns, "format": text, "turn": count, "counter": text}
    given = fields(value, known, place, "when")
    return made(When, given, place) if len(place.problems) == before else None


def _reply(value: Any, place: Place) -> Reply | None:
    before = len(place.problems)
    known: dict[str, Check] = {"text": text, "json": anything, "refusal": text, "python": function}
    known |= {"calls": several(_use), "choices": several(_reply), "fault": _fault, "faults": several(_fault)}
    known |= {"latency": number, "usage": _usage, "finish_reason": text, "broken": flag, "spoil": text}
    given = fields(value, known, place, "reply")
    return made(Reply, given, place) if len(place.problems) == before else None


def _use(value: Any, place: Place) -> ToolUse | None:
    if isinstance(value, ToolUse):
        return value
    given = fields(value, {"tool": text, "arguments": anything}, place, "a call")
    return made(ToolUse, given, place, needed=("tool",))


def _fault(value: Any, place: Place) -> Fault | None:
    if isinstance(value, (str, Fault)):
        return made(fault, {"given": value}, place)
    numbers: dict[str, Check] = dict.fromkeys(("retry_after", "retry_after_ms", "seconds"), number)
    known: dict[str, Check] = {"kind": text, "status": count, **numbers, "message": text, "code": text, "after": count}
    before = len(place.problems)
    given = fields(value, known, place, "a fault")
    return made(fault, {"given": given}, place) if len(place.problems) == before else None


def _usage(value: Any, place: Place) -> Usage:
    return Usage(**fields(value, dict.fromkeys(("input", "output"), count), place, "usage"))
