"""The manifest ``gantz.yaml``: tools as scripts and commands with parameters.

The format is that of the program gantz::

    tools:
      - name: run_migration
        description: Execute a migration file
        parameters:
          - name: file
            type: string
            required: true
        script:
          shell: psql mydb < {{file}}

`Script` lists the other keys. Texts are read as written, without YAML's types: a default of ``010`` is no 8. An
unknown key is an error, because ignoring it could change the meaning.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from planexec_lab.gantz import script as scripts
from planexec_lab.gantz.script import ManifestError
from planexec_lab.lines import line_of
from planexec_lite.tools import suggest

_MOST = 1_000_000  # characters of a manifest
_DEEPEST = 20  # levels of lists and mappings
_NOTHING = ("", "~", "null", "Null", "NULL")


def _seconds(text: Any) -> Any:
    """Read a duration such as "1m30s"; a number is in seconds."""
    if not isinstance(text, str):
        return text
    units = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "": 1}
    if not re.fullmatch(r"(?:\d+(?:\.\d+)?(?:ms|[smh]))+|\d+(?:\.\d+)?", text):
        raise ValueError(f"{text!r} is no duration; write it as 30s or 1m30s")
    return sum(float(number) * units[unit] for number, unit in re.findall(r"([\d.]+)([a-z]*)", text)) or None


_KINDS: dict[str, Any] = {"integer": int, "number": int | float, "boolean": bool, "array": list, "object": dict}
Seconds = Annotated[float | None, BeforeValidator(_seconds)]
Fixed = Annotated[str, Field(pattern=r"^(?:[^{]|\{[^{])*\{?$")]  # without placeholders


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Parameter(_Part):
    """A parameter: `name`, `type`, whether it is required, and its default, a text as gantz has it.

    As an argument, a value that is empty or begins with ``-`` is refused, except where `allow` names it.
    """

    name: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_-]*$")]
    type: Literal["string", "integer", "number", "boolean", "array", "object"] = "string"
    required: bool = False
    description: str = ""
    default: Any = None
    enum: list[str] | None = None
    allow: tuple[Literal["dash", "empty"], ...] = ()

    @field_validator("default")
    @classmethod
    def _of_type(cls, default: Any, info: ValidationInfo) -> Any:
        """Return the default as a value of the type."""
        kind = info.data.get("type", "string")
        if "${" in str(default):
            raise ValueError("a variable in a default is not read; write its value")
        if default is None or kind == "string":
            return TypeAdapter(str | None).validate_python(default)
        try:
            text = default if isinstance(default, str) else json.dumps(default)
            if kind == "boolean":
                text = text.lower()  # gantz reads True as well
            return TypeAdapter(_KINDS[kind]).validate_json(text, strict=True)
        except ValueError:
            raise ValueError(f"the default {str(default)[:40]!r} is no {kind}") from None

    @property
    def schema_of_value(self) -> dict[str, Any]:
        """The JSON schema of a value."""
        return {"type": self.type, **self.model_dump(include={"description", "default", "enum"}, exclude_defaults=True)}


class Script(_Part):
    """A tool's program: `shell`, or a `command` with `args`, without a shell."""

    shell: str = ""
    command: Fixed = ""
    args: tuple[str, ...] = ()
    working_dir: Fixed = ""
    timeout: Seconds = None

    @model_validator(mode="after")
    def _one_of_both(self) -> Script:
        if bool(self.shell) == bool(self.command) or (self.shell and self.args):
            raise ValueError("it needs one of the keys shell and command; args belong to command")
        return self


class ManifestTool(_Part):
    """One tool of a manifest."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
    description: str = ""
    parameters: Annotated[tuple[Parameter, ...], Field(max_length=500)] = ()
    script: Script
    environment: dict[Annotated[str, Field(pattern=r"^[A-Za-z_]\w*$")], Fixed] = {}

    @property
    def schema_of_arguments(self) -> dict[str, Any]:
        """The JSON schema of the arguments: an object, closed."""
        properties = {one.name: one.schema_of_value for one in self.parameters}
        needed = [one.name for one in self.parameters if one.required]
        return {"type": "object", "properties": properties, "required": needed, "additionalProperties": False}

    @property
    def runnable(self) -> scripts.Script:
        """The script with a reference for each parameter. Raises `ManifestError` where a value could become code."""
        names = [one.name for one in self.parameters]
        if len(set(map(scripts.variable_of, names))) < len(names):
            raise ManifestError("two parameters have the same name, or the same variable GANTZ_ARG_…")
        optional = [one.name for one in self.parameters if not one.required and one.default is None]
        words = self.script.shell or (self.script.command, *self.script.args)
        return scripts.prepare(words, names, optional, self.name)


class Manifest(_Part):
    """The tools of a manifest, and its own name and description, if it has them."""

    tools: Annotated[tuple[ManifestTool, ...], Field(min_length=1)]
    name: str = ""
    description: str = ""
    version: str = ""
    server: dict[str, str] = {}


def read(path: Path | str) -> Manifest:
    """Read a manifest, and try every script of it: what can't be made safe is refused before anything runs.

    Raises `ManifestError` with every problem, and the place of each.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ManifestError(f"{path.name} can't be read: {error}") from None
    if len(text) > _MOST:
        raise ManifestError(f"{path.name} is longer than {_MOST:,} characters; a manifest is a list of a few tools")
    return parsed(text, path.name)


def parsed(text: str, name: str = "the manifest") -> Manifest:
    """Read the text of a manifest, as `read` does."""
    import yaml

    try:
        depth = 0
        for event in yaml.parse(text, yaml.BaseLoader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if isinstance(event, yaml.AliasEvent) or depth > _DEEPEST:
                raise _unread("an alias, such as *name, or nested too deep; write its text", event)
        root = yaml.compose(text, yaml.BaseLoader)
        data = _content(root) if root else None
    except (yaml.YAMLError, ValueError) as error:
        raise ManifestError(f"{name} is not valid YAML: {error}") from None
    if not isinstance(data, Mapping):
        raise ManifestError(f"{name} has no tools; it begins with tools: and a list of them")
    try:
        manifest = Manifest.model_validate(data)
    except ValidationError as error:
        errors = error.errors(include_url=False)
        # a list without its invalid tools is too short
        first = [one for one in errors if one["type"] != "too_short"] or errors
        raise ManifestError(_told(name, [_problem(one, root) for one in first])) from None
    problems = []
    for place, tool in enumerate(manifest.tools):
        begins = f"tool {tool.name!r}, line {line_of(root, ('tools', place))}: "
        if tool.name in [other.name for other in manifest.tools[:place]]:
            problems.append(f"{begins}another tool is called so; give one of them another name")
        try:
            _ = tool.runnable
        except ManifestError as error:
            problems.append(f"{begins}{error}")
    if problems:
        raise ManifestError(_told(name, problems))
    return manifest


def _content(node: Any) -> Any:
    """The contents of a node: texts as they are written, without the keys that have no value."""
    if node.id == "scalar":
        return node.value
    if node.id == "sequence":
        return [_content(one) for one in node.value]
    content: dict[str, Any] = {}
    for key, value in node.value:
        if str(key.value) in content:
            raise _unread(f"the key {key.value!r} occurs twice in a mapping", key)
        content[str(key.value)] = _content(value)
        if value.id == "scalar" and not value.style and value.value in _NOTHING:
            content[str(key.value)] = None
    return {key: value for key, value in content.items() if value is not None}


def _unread(why: str, where: Any) -> ValueError:
    return ValueError(f"{why}, line {where.start_mark.line + 1}")


def _told(name: str, problems: list[str]) -> str:
    return f"{name}: {problems[0]}" if len(problems) == 1 else "\n- ".join([f"{name}:", *problems])


_KEYS = [key for part in (Manifest, ManifestTool, Parameter, Script) for key in part.model_fields]


def _problem(error: Any, root: Any) -> str:
    """A problem that pydantic found, with its line and the keys that lead there."""
    message = error["msg"].removeprefix("Value error, ")
    if error["loc"][-1] == "http":
        message = "requests are not read; write a function with @tool that sends it, or a script file"
    elif error["type"] == "extra_forbidden":
        message = f"this key is not read{suggest(str(error['loc'][-1]), _KEYS)}; leave it out"
    place = ".".join(map(str, error["loc"]))
    return f"line {line_of(root, error['loc'])}: {place}: {message}"
