"""From YAML, or from Python dicts of the same form, to scenes. All problems of a script are reported together with
their places, one per line:

    deploy.yaml:14: unknown field 'sayz' in when; did you mean 'says'?
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Any

from mock_llm.types import Fault, Usage, parse_fault

from .errors import ScriptError
from .fields import (
    Check,
    Place,
    anything,
    construct,
    count,
    fields,
    flag,
    function,
    number,
    patterns,
    several,
    text,
    texts,
)
from .replies import Reply, ToolUse, unreadable
from .scenes import Scene, When, check_unseen
from .yaml_lines import read_yaml

Source = Scene | Mapping[str, Any] | str | os.PathLike[str]


def read_scenes(sources: Iterable[Source] | Source) -> tuple[Scene, ...]:
    """Return scenes from files, dicts and `Scene` objects, in order.

    Args:
        sources: one or several paths or scenes.

    Raises:
        ScriptError: every problem found, one per line.
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
            problems.append(f"{scene.source}: the name {scene.name!r} is already used by the scene at {other.source}")
        first[scene.name] = scene
    if problems:
        raise ScriptError("\n".join(problems))
    return tuple(scenes)


def read_scene(form: Mapping[str, Any], source: str) -> Scene:
    """Return a scene from a dict.

    Args:
        form: the scene as in YAML.
        source: where it was written, for errors.

    Raises:
        ScriptError: every problem found, one per line.
    """
    problems: list[str] = []
    scenes = _scene(form, Place(source, {}, problems))
    if problems:
        raise ScriptError("\n".join(problems))
    return scenes[0]


def _listed(sources: Iterable[Source] | Source) -> Iterable[Source]:
    return [sources] if isinstance(sources, str | os.PathLike | Scene | Mapping) else sources


def _file(path: FilePath, problems: list[str]) -> list[Scene]:
    try:
        data, lines = read_yaml(path.read_text(encoding="utf-8"))
    except ValueError as error:  # no YAML, or no text
        problems.append(f"{path.name}:{getattr(error, 'line', 1)}: {error}")
        return []
    top = Place(path.name, lines, problems)
    given = fields(data, {"scenes": anything, "unseen": anything}, top, "a script")
    construct(check_unseen, {"word": given.get("unseen", "refuse")}, top.at("unseen"))
    if "scenes" not in given:
        top.report("a script needs a field 'scenes', a list of scenes")
    entries = given.get("scenes", [])
    if not isinstance(entries, list):
        top.at("scenes").report("scenes is a list: begin each scene with '- name: …'")
        entries = []
    scenes = [scene for n, entry in enumerate(entries) for scene in _scene(entry, top.at("scenes").at(n))]
    return scenes if given.get("unseen") != "accept" else [replace(scene, unseen="accept") for scene in scenes]


def _scene(data: Any, place: Place) -> list[Scene]:
    # A value with invalid fields is not built, because its own checks would report the same problem again.
    before = len(place.problems)
    given = fields(data, {"name": text, "when": _when, "reply": _reply}, place, "a scene")
    if isinstance(data, Mapping):
        for needed in ("name", "reply"):
            if needed not in data:
                place.report(f"a scene needs a field {needed!r}")
    if len(place.problems) > before:
        return []
    scene = construct(Scene, given | {"source": str(place)}, place)
    return [] if scene is None else [scene]


def _when(value: Any, place: Place) -> When | None:
    before = len(place.problems)
    known: dict[str, Check] = dict.fromkeys(
        ("system", "user", "says", "last", "never", "tools", "image", "called"), texts
    )
    known |= {"find": patterns, "format": text, "turn": count, "counter": text}
    given = fields(value, known, place, "when")
    return construct(When, given, place) if len(place.problems) == before else None


def _reply(value: Any, place: Place) -> Reply | None:
    before = len(place.problems)
    if isinstance(value, str):
        place.report(f"a reply has fields; for text write {place.name}: {{text: {value}}}")
        return None
    known: dict[str, Check] = {"text": words, "json": template, "refusal": words, "python": function}
    known |= {"reasoning": words, "items": several(template)}
    known |= {"calls": several(_use), "choices": several(_reply), "fault": _fault, "faults": several(_fault)}
    known |= {"latency": number, "usage": _usage, "finish_reason": text, "broken": flag}
    given = fields(value, known, place, "reply")
    return construct(Reply, given, place) if len(place.problems) == before else None


def template(value: Any, place: Place) -> Any:
    """Check that every `{{…}}` in a value can be filled; the others are reported."""
    if isinstance(value, str):
        for wrong in unreadable(value):
            place.report(
                f"{{{{{wrong}}}}} can't be filled: write {{{{name}}}} or {{{{name|json}}}} for what find captured; "
                "what must be computed is a Python function"
            )
    elif isinstance(value, Mapping):
        for name, part in value.items():
            template(part, place.at(name))
    elif isinstance(value, list):
        for n, part in enumerate(value):
            template(part, place.at(n))
    return value


def words(value: Any, place: Place) -> Any:
    """Check that a value is a string and a template that can be filled."""
    return template(text(value, place), place)


def _use(value: Any, place: Place) -> ToolUse | None:
    if isinstance(value, ToolUse):
        return value
    given = fields(value, {"tool": text, "arguments": template}, place, "a call")
    return construct(ToolUse, given, place, needed=("tool",))


def _fault(value: Any, place: Place) -> Fault | None:
    if isinstance(value, (str, Fault)):
        return construct(parse_fault, {"given": value}, place)
    numbers: dict[str, Check] = dict.fromkeys(("retry_after", "retry_after_ms", "seconds"), number)
    known: dict[str, Check] = {"kind": text, "status": count, **numbers, "message": text, "code": text, "after": count}
    before = len(place.problems)
    given = fields(value, known, place, "a fault")
    return construct(parse_fault, {"given": given}, place) if len(place.problems) == before else None


def _usage(value: Any, place: Place) -> Usage:
    return Usage(**fields(value, dict.fromkeys(("input", "output", "cached", "reasoning"), count), place, "usage"))
