"""Writes scenes as YAML that `loading.py` can read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

import yaml

from mock_llm.types import Fault

from .errors import ScriptError
from .scenes import Scene
from .yaml_lines import TAG

BREAKS = re.compile("[\x85\u2028\u2029]")


class _Dumper(yaml.SafeDumper):
    """A SafeDumper that writes a repeated value again each time."""

    def ignore_aliases(self, data: Any) -> bool:
        """Write no anchors, because people read the file."""
        return True


def _text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    # YAML treats three rare characters as line ends and would read them back as other ones, so they are escaped.
    style = '"' if BREAKS.search(text) else None
    return dumper.represent_scalar(f"{TAG}str", text, style=style)


_Dumper.add_representer(str, _text)


def as_yaml(form: Any) -> str:
    """Return a JSON value as YAML, from which `read_yaml` reads the same value."""
    return str(yaml.dump(form, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100))


def write_yaml(scenes: Iterable[Scene]) -> str:
    """Return these scenes as a YAML script.

    Raises:
        ScriptError: a scene replies with a Python function.
    """
    scenes = list(scenes)
    form: dict[str, Any] = {"unseen": "accept"} if any(scene.unseen == "accept" for scene in scenes) else {}
    form["scenes"] = [_scene(scene) for scene in scenes]
    return as_yaml(form)


def _scene(scene: Scene) -> dict[str, Any]:
    if any(reply.python is not None for reply in (scene.reply, *scene.reply.choices)):
        raise ScriptError(f"{scene} replies by a python function, and YAML has none; use text, json or find")
    when = _plain(scene.when)
    return {"name": scene.name} | ({"when": when} if when else {}) | {"reply": _plain(scene.reply)}


def _given(value: Any) -> dict[str, Any]:
    """Return the fields that differ from their defaults, in order."""
    differing = {}
    for field in fields(value):
        given = getattr(value, field.name)
        default = field.default if field.default_factory is MISSING else field.default_factory()
        if given is not default and (type(given) is not type(default) or given != default):
            differing[field.name] = given
    return differing


def _plain(value: Any) -> Any:
    """Return a part of a scene in its YAML form; JSON values stay unchanged."""
    if isinstance(value, Fault):
        details = _given(value)
        return details if len(details) > 1 else value.kind
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if is_dataclass(value):
        return {name: _plain(given) for name, given in _given(value).items()}
    return value
