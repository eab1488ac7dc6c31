"""The public names and what their docstrings say, for the reference."""

from __future__ import annotations

import importlib
import inspect
import re
from dataclasses import dataclass
from types import ModuleType
from typing import Any

MODULES = {  # module -> what a lesson writes before its names
    "planexec_lite": "",
    "planexec_lab": "",
    "planexec_lab.views": "views.",
    "planexec_lab.formats": "formats.",
    "planexec_lab.grade": "",
    "planexec_lab.mcp": "mcp.",
    "planexec_lab.prompts": "prompts.",
    "planexec_lab.recorded": "recorded.",
    "planexec_lab.spans": "spans.",
    "planexec_lite.events": "",
    "planexec_lab.gantz": "gantz.",
    "planexec_lite.roles.planners": "",
    "planexec_lite.roles.telling": "",
    "exercises": "",
    "exercises.puzzles": "",
    "exercises.hunts.listings": "",
    "mock_llm": "",
}
LONGEST = 100  # characters of a signature


@dataclass(frozen=True)
class Part:
    """A method or property of a class."""

    shown: str
    text: str


@dataclass(frozen=True)
class Name:
    """A public name: where it is, how a lesson calls it, its signature, its docstring as Markdown, its methods."""

    module: str
    name: str
    called: str
    shown: str
    text: str
    parts: tuple[Part, ...]

    @property
    def anchor(self) -> str:
        return f"{self.module}.{self.name}"


def public_names() -> list[Name]:
    """The names of each module's `__all__`, each once."""
    found: dict[str, Name] = {}
    for path, before in MODULES.items():
        module = importlib.import_module(path)
        for name in getattr(module, "__all__", []):
            value = getattr(module, name)
            if not isinstance(value, ModuleType) and before + name not in found:
                found[before + name] = _name(path, name, before + name, value)
    return list(found.values())


def _name(module: str, name: str, called: str, value: Any) -> Name:
    if not (inspect.isclass(value) or inspect.isroutine(value)):
        return Name(module, name, called, called, f"`{re.sub(' +', ' ', str(value))[:300]}`", ())
    parts = _parts(value) if inspect.isclass(value) else ()
    return Name(module, name, called, called + _signature(value), markdown(inspect.getdoc(value) or ""), parts)


def _parts(cls: type) -> tuple[Part, ...]:
    found = []
    for name, value in list(vars(cls).items()):  # a deferred pydantic model adds names when its signature is read
        target = (
            value.fget if isinstance(value, property) else getattr(value, "__func__", getattr(value, "func", value))
        )
        if name[0] != "_" and inspect.isroutine(target) and (text := inspect.getdoc(target)):
            is_value = isinstance(value, property) or not inspect.isroutine(getattr(cls, name, value))
            found.append(Part(name if is_value else name + _signature(target), markdown(text)))
    return tuple(found)


def _signature(value: Any) -> str:
    try:
        written = re.sub(r"planexec_l(?:ite|ab)\.[\w.]+\.(\w+)|'", r"\1", str(inspect.signature(value)))
    except (TypeError, ValueError):
        return "(…)"
    written = re.sub(r"\(self(, )?", "(", written)
    return (
        written
        if len(written) <= LONGEST
        else f"({', '.join(inspect.signature(value).parameters)})".replace("(self, ", "(")
    )


def markdown(doc: str) -> str:
    """A docstring as Markdown: its sections become lists."""
    lines, inside = [], False
    for line in doc.splitlines():
        if re.fullmatch(r"(Args|Returns|Raises|Yields|Attributes):", line):
            inside = True
            lines += ["", f"**{line[:-1]}**", ""]
        elif inside and re.match(r" {4}\S", line):
            name, colon, text = line.strip().partition(": ")
            lines.append(f"- `{name}`: {text}" if colon and " " not in name else f"- {line.strip()}")
        elif inside and line.startswith(" "):
            lines.append(f"  {line.strip()}")
        else:
            inside = inside and not line.strip()
            lines.append(line)
    return "\n".join(lines)
