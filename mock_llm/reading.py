"""From YAML, or from Python dicts of the same shape, to scenes: every fault is named with its place.

All faults of a script are reported at once, one a line:

    deploy.yaml:14: unknown field 'sayz' in when; did you mean 'says'?
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path as FilePath
from typing import Any

from .exchange import Usage
from .lines import Lines, Path, YamlError, read_yaml
from .script import Reply, Scene, ScriptError, When

Source = Scene | Mapping[str, Any] | str | os.PathLike[str]


@dataclass(frozen=True)
class Place:
    """Where a value stands in a script, so that a complaint can say it."""

    file: str
    lines: Lines
    problems: list[str]
    path: Path = ()

    def at(self, key: str | int) -> Place:
        """The place of a part of this value."""
        return replace(self, path=(*self.path, key))

    def __str__(self) -> str:
        if self.lines:
            known = next(path for n in range(len(self.path), -1, -1) if (path := self.path[:n]) in self.lines)
            return f"{self.file}:{self.lines[known]}"
        return self.file + "".join(f"[{k}]" if isinstance(k, int) else f".{k}" for k in self.path)

    @property
    def name(self) -> str:
        """The field's own name: `says`, or `says[0]` for an item of it."""
        *_, last = (n for n, key in enumerate(self.path) if isinstance(key, str))
        return str(self.path[last]) + "".join(f"[{n}]" for n in self.path[last + 1 :])

    def complain(self, problem: str) -> None:
        """Note a fault of the value that stands here."""
        self.problems.append(f"{self}: {problem}")


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
    for index, source in enumerate(_several(sources)):
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


def _several(sources: Iterable[Source] | Source) -> Iterable[Source]:
    return [sources] if isinstance(sources, str | os.PathLike | Scene | Mapping) else sources


def _file(path: FilePath, problems: list[str]) -> list[Scene]:
    try:
        data, lines = read_yaml(path.read_text(encoding="utf-8"))
    except YamlError as error:
        problems.append(f"{path.name}:{error.line}: {error}")
        return []
    top = Place(path.name, lines, problems)
    given = _fields(data, {"scenes": _anything}, top, "a script")
    if "scenes" not in given:
        top.complain("a script needs a field 'scenes', a list of scenes")
    entries = given.get("scenes", [])
    if not isinstance(entries, list):
        top.at("scenes").complain("scenes is a list: begin each scene with '- name: …'")
        entries = []
    return [scene for n, entry in enumerate(entries) for scene in _scene(entry, top.at("scenes").at(n))]


def _scene(data: Any, place: Place) -> list[Scene]:
    before = len(place.problems)
    given = _fields(data, {"name": _text, "when": _when, "reply": _reply}, place, "a scene")
    if isinstance(data, Mapping):
        for needed in ("name", "reply"):
            if needed not in data:
                place.complain(f"a scene needs a field {needed!r}")
    if len(place.problems) > before:
        return []
    return _made(Scene, given | {"source": str(place)}, place)


def _when(value: Any, place: Place) -> When | None:
    before = len(place.problems)
    checks: dict[str, Check] = dict.fromkeys(("system", "says", "last", "never", "tools"), _texts)
    given = _fields(value, {"role": _text, **checks, "find": _patterns, "format": _text}, place, "when")
    return next(iter(_made(When, given, place)), None) if len(place.problems) == before else None


def _reply(value: Any, place: Place) -> Reply | None:
    before = len(place.problems)
    known = {"text": _text, "json": _anything, "refusal": _text, "python": _function, "latency": _number}
    known |= {"usage": _usage, "finish_reason": _text, "broken": _flag}
    given = _fields(value, known, place, "reply")
    return next(iter(_made(Reply, given, place)), None) if len(place.problems) == before else None


def _usage(value: Any, place: Place) -> Usage:
    return Usage(**_fields(value, dict.fromkeys(("input", "output"), _count), place, "usage"))


Check = Callable[[Any, Place], Any]


def _made(kind: type[Any], given: dict[str, Any], place: Place) -> list[Any]:
    """The value, or a complaint about what it finds wrong with itself."""
    try:
        return [kind(**given)]
    except ScriptError as error:
        place.complain(str(error))
        return []


def _fields(value: Any, known: Mapping[str, Check], place: Place, what: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        place.complain(f"{what} has fields ({', '.join(known)}), but this is {value!r}")
        return {}
    for name in value:
        if name not in known:
            near = difflib.get_close_matches(str(name), known, 1)
            mend = f"did you mean {near[0]!r}?" if near else f"{what} has {', '.join(known)}"
            place.at(str(name)).complain(f"unknown field {name!r} in {what}; {mend}")
    return {name: check(value[name], place.at(name)) for name, check in known.items() if name in value}


def _expect(kinds: Any, what: str) -> Check:
    def check(value: Any, place: Place) -> Any:
        if not isinstance(value, kinds) or (isinstance(value, bool) and kinds is not bool):
            quoted = (
                f"; put it in quotes: {str(value)!r}"
                if what == "a text" and not isinstance(value, (dict, list))
                else ""
            )
            place.complain(f"{place.name} must be {what}, not {value!r}{quoted}")
        return value

    return check


_text = _expect(str, "a text")
_number = _expect((int, float), "a number")
_count = _expect(int, "a whole number")
_flag = _expect(bool, "true or false")


def _anything(value: Any, place: Place) -> Any:
    return value


def _function(value: Any, place: Place) -> Any:
    if not callable(value):
        place.complain(
            "python is a function of the request, so the scene must be written in Python; use text, json or find"
        )
    return value


def _texts(value: Any, place: Place) -> tuple[str, ...]:
    if isinstance(value, (list, tuple)):
        if not value:
            place.complain(f"{place.name} is empty: leave it out")
        return tuple(_text(item, place.at(n)) for n, item in enumerate(value))
    return (_text(value, place),)


def _patterns(value: Any, place: Place) -> dict[str, str]:
    return _fields(value, dict.fromkeys(value, _text) if isinstance(value, Mapping) else {}, place, "find")
