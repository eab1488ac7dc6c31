"""The manifest ``gantz.yaml``: tools as shell commands with parameters.

The format is that of "The Planner-Executor pattern explained"::

    tools:
      - name: run_migration
        description: Execute a migration file
        parameters:
          - name: file
            type: string
            required: true
        script:
          shell: psql mydb < {{file}}

A parameter can also have a ``description`` and a ``default``. An unknown key is an error, because ignoring it could change the
meaning.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from planexec_lab.gantz.script import ManifestError, Script, prepare
from planexec_lite.tools import suggest

Kind = Literal["string", "integer", "number", "boolean"]
_MOST = 1_000_000  # bytes of a manifest


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Parameter(_Part):
    """A parameter: `name`, `type`, whether it is required, and its default."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_-]*$")]
    type: Kind = "string"
    required: bool = False
    description: str = ""
    default: str | int | float | bool | None = None

    @model_validator(mode="after")
    def _default_fits(self) -> Parameter:
        kinds: dict[Kind, Any] = {"string": str, "integer": int, "number": (int, float), "boolean": bool}
        fits = isinstance(self.default, kinds[self.type]) and isinstance(self.default, bool) == (self.type == "boolean")
        if self.default is not None and not fits:
            raise ValueError(f"the default {self.default!r} is no {self.type}")
        if self.default is not None and self.required:
            raise ValueError("a required parameter has no default")
        return self

    @property
    def schema_of_value(self) -> dict[str, Any]:
        """The JSON schema of a value."""
        told = {"description": self.description} if self.description else {}
        return {"type": self.type, **told, **({} if self.default is None else {"default": self.default})}


class Shell(_Part):
    """A tool's shell script."""

    shell: Annotated[str, Field(min_length=1)]


class ManifestTool(_Part):
    """One tool of a manifest."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
    description: str
    parameters: tuple[Parameter, ...] = Field(default=(), strict=False)
    script: Shell

    @property
    def schema_of_arguments(self) -> dict[str, Any]:
        """The JSON schema of the arguments: an object, closed."""
        properties = {one.name: one.schema_of_value for one in self.parameters}
        needed = [one.name for one in self.parameters if one.required]
        return {"type": "object", "properties": properties, "required": needed, "additionalProperties": False}

    @property
    def runnable(self) -> Script:
        """The script with a reference for each parameter. Raises `ManifestError` where a value could become code."""
        optional = [one.name for one in self.parameters if not one.required and one.default is None]
        return prepare(self.script.shell, [one.name for one in self.parameters], optional)


class Manifest(_Part):
    """The tools of a manifest, and its own name and description, if it has them."""

    tools: Annotated[tuple[ManifestTool, ...], Field(min_length=1, strict=False)]
    name: str = ""
    description: str = ""
    version: str = ""


def read(path: Path | str) -> Manifest:
    """Read a manifest, and try every script of it: what can't be made safe is refused before anything runs.

    Raises `ManifestError` with every problem, and the place of each.
    """
    path = Path(path)
    try:
        content = path.read_bytes()
        text = content.decode()
    except (OSError, UnicodeDecodeError) as error:
        raise ManifestError(f"{path.name} can't be read: {error}") from None
    if len(content) > _MOST:
        raise ManifestError(f"{path.name} is longer than {_MOST:,} bytes; a manifest is a list of a few tools")
    return parsed(text, path.name)


def parsed(text: str, name: str = "the manifest") -> Manifest:
    """Read the text of a manifest; as `read` does."""
    import yaml

    class Loader(yaml.SafeLoader):
        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
            keys: set[str] = set()
            for key, _ in node.value:
                if str(key.value) in keys:
                    raise yaml.YAMLError(
                        f"the key {key.value!r} occurs twice in a mapping, line {key.start_mark.line + 1}"
                    )
                keys.add(str(key.value))
            return super().construct_mapping(node, deep)

    try:
        data = yaml.load(text, Loader)
    except (yaml.YAMLError, RecursionError, ValueError, LookupError, AttributeError, TypeError) as error:
        raise ManifestError(f"{name} is not valid YAML: {error}") from None
    if not isinstance(data, Mapping):
        raise ManifestError(f"{name} has no tools; it begins with tools: and a list of them")
    try:
        manifest = Manifest.model_validate(data)
    except ValidationError as error:
        errors = error.errors(include_url=False)
        # a list without its invalid tools is too short
        first = [one for one in errors if one["type"] != "too_short"] or errors
        raise ManifestError(_told(name, [_problem(one, data) for one in first])) from None
    problems = []
    for place, tool in enumerate(manifest.tools):
        if tool.name in [other.name for other in manifest.tools[:place]]:
            problems.append(f"tool {tool.name!r}: another tool is called so; give one of them another name")
        names = [one.name for one in tool.parameters]
        if len(set(names)) < len(names):
            problems.append(f"tool {tool.name!r}: two parameters have the same name")
        try:
            _ = tool.runnable
        except ManifestError as error:
            problems.append(f"tool {tool.name!r}: {error}")
    if problems:
        raise ManifestError(_told(name, problems))
    return manifest


def _told(name: str, problems: list[str]) -> str:
    return f"{name}: {problems[0]}" if len(problems) == 1 else "\n- ".join([f"{name}:", *problems])


_KEYS = (*Manifest.model_fields, *ManifestTool.model_fields, *Parameter.model_fields, *Shell.model_fields)


def _problem(error: Any, data: Mapping[Any, Any]) -> str:
    """pydantic's errors with the tool's name instead of its number."""
    where = list(error["loc"])
    told = ""
    if len(where) > 1 and where[0] == "tools" and isinstance(where[1], int):
        tool = data["tools"][where[1]]
        named = tool.get("name") if isinstance(tool, Mapping) else None
        told = f"tool {named!r}: " if isinstance(named, str) else f"tool number {where[1] + 1}: "
        where = where[2:]
    place = ".".join(map(str, where))
    if error["type"] == "extra_forbidden":
        return f"{told}the key {place!r} is not read{suggest(str(where[-1]), _KEYS)}; leave it out"
    if error["type"] == "missing":
        return f"{told}the key {place!r} is missing"
    return f"{told}{place + ': ' if place else ''}{error['msg'].removeprefix('Value error, ')}"
