"""A toolbox from a manifest: each tool runs its script, with its arguments as values and never as part of it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from planexec_lab.gantz.manifest import ManifestTool, Parameter, read
from planexec_lab.gantz.running import Done, environment, run
from planexec_lab.gantz.script import PARAMETER, ManifestError, Script
from planexec_lab.json_schema import tool_from_schema
from planexec_lite.tools import Effects, Toolbox, ToolError, suggest

LONGEST = 100_000
"""The most bytes of a value. The system's bound is a little higher, and its message is less helpful."""
# a file of /proc shows the environment, and some shells open a connection for /dev/tcp
_SYSTEM = re.compile(r"/+(?:(?:dev|proc)(?:/|\Z)|\Z)")


def load(
    path: Path | str,
    *,
    effects: Mapping[str, Effects] | None = None,
    destructive: Collection[str] | None = None,
    latency: Mapping[str, float] | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float = 60.0,
    runner: Callable[..., Done] = run,
) -> Toolbox:
    """Return the tools of a manifest.

    A call returns ``{"exit_code": 0, "stdout": …, "stderr": …}``. It fails where the script ends with another code, or takes too
    long. Scripts run in the manifest's own folder, or in ``working_dir``.

    Args:
        path: the manifest, ``gantz.yaml``.
        effects: what a repeat of each tool would do. A manifest can't say it, so a tool that is not named here is "unknown".
        destructive: the tools that can delete or overwrite something. None: all but those without effects.
        latency: seconds that a call takes in simulation, by tool.
        env: variables that the scripts see, in addition to `running.PASSED_ON`; a password belongs here, not in a manifest.
            ``${NAME}`` in a manifest is one of all these.
        timeout: seconds after which a call is ended, with all that it started, where the manifest names no other.
        runner: what runs a script; by default the shell (`running.run`).

    Raises `ManifestError` for what can't be read or made safe, for a variable that is not set, and for a tool in `effects`,
    `destructive` or `latency` that the manifest does not have.
    """
    path = Path(path)
    manifest = read(path)
    names = [tool.name for tool in manifest.tools]
    for name in (*(effects or {}), *(destructive or ()), *(latency or {})):
        if name not in names:
            raise ManifestError(f"{path.name} has no tool {name!r}{suggest(name, names)}; it has: {', '.join(names)}")
    tools, variables = [], environment(env or {})
    for tool in manifest.tools:
        does = (effects or {}).get(tool.name, "unknown")
        try:
            tool = _expanded(tool, variables)
            script = tool.runnable
        except (ManifestError, ValidationError) as error:
            raise ManifestError(f"{path.name}: tool {tool.name!r}: {error}") from None
        folder = path.parent.resolve() / tool.script.working_dir
        tools.append(
            tool_from_schema(
                ManifestCall(tool, script, folder, variables, tool.script.timeout or timeout, runner),
                tool.schema_of_arguments,
                name=tool.name,
                description=tool.description,
                pin=tool.model_dump_json(exclude={"environment"}),
                effects=does,
                not_done=(ToolError,),
                destructive=does != "none" if destructive is None else tool.name in destructive,
                latency=(latency or {}).get(tool.name, 0.0),
            )
        )
    return Toolbox(tools)


def _expanded(tool: ManifestTool, variables: Mapping[str, str]) -> ManifestTool:
    """Return the tool with the values of ``$NAME`` and ``${NAME}``; in a shell script they are left to the shell."""

    def filled(part: Any) -> Any:
        if isinstance(part, Mapping):
            return {key: value if key == "shell" else filled(value) for key, value in part.items()}
        if isinstance(part, tuple):
            return tuple(map(filled, part))
        return re.sub(r"\$(?:\{(\w+)\}|([A-Za-z_]\w*))", value, part) if isinstance(part, str) else part

    def value(reference: re.Match[str]) -> str:
        name = reference[1] or reference[2]
        if name not in variables:
            raise ManifestError(f"the variable {name} is not set; give it by env={{{name!r}: …}} or --env {name}")
        return variables[name]

    data = tool.model_dump()
    return ManifestTool.model_validate(data | {key: filled(data[key]) for key in ("script", "environment")})


@dataclass(frozen=True)
class ManifestCall:
    """Calls one tool of a manifest. It can be sent to another process."""

    tool: ManifestTool
    script: Script
    folder: Path
    env: dict[str, str]
    timeout: float
    runner: Callable[..., Done]

    def __call__(self, /, **arguments: Any) -> Done:
        """Run the script with these arguments.

        Raises `ToolError` for a value that can't be passed on safely, before anything runs; `RuntimeError` where the script
        ends with another code than 0; `TimeoutError` where it takes too long.
        """
        parameters = self.tool.parameters
        values = {one.name: one.default for one in parameters if one.default is not None} | arguments
        texts = {name: self._text(name, value) for name, value in values.items()}

        def filled(template: str) -> str:
            return re.sub(PARAMETER, lambda one: texts.get(one[1], ""), template)

        used = re.findall(PARAMETER, " ".join(self.script.checked))
        for one in parameters:
            if one.name in used and values.get(one.name) != one.default:
                self._check_value(one, texts[one.name])
        for word in self.script.checked:
            self._check_word(word, filled(word))
        variables = self.env | self.tool.environment | {self.script.variables[name]: texts[name] for name in texts}
        script = self.script.text if self.script.text is not None else tuple(map(filled, self.script.arguments))
        done = self.runner(script, variables, self.folder, self.timeout)
        if (code := done["exit_code"]) != 0:
            how = f"was ended by signal {-code}" if code < 0 else f"ended with code {code}"
            wrote = (done["stderr"].strip() or done["stdout"].strip()).replace("\x00", "\\x00")
            raise RuntimeError(f"{self.tool.name} {how}{': ' + wrote if wrote else ', and wrote nothing'}")
        return done

    def _text(self, name: str, value: Any) -> str:
        """Return a value as a program is given it; a list or an object is its JSON."""
        problem = ""
        try:
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            length = len(text.encode())
            if length > LONGEST:
                problem = f"it has {length:,} bytes, and at most {LONGEST:,} are passed on; give the name of a file"
            if "\x00" in text:
                problem = "it contains a NUL character"
        except (ValueError, RecursionError) as error:
            problem = str(error)
        if problem:
            raise ToolError(f"{self.tool.name}: parameter {name!r} can't be passed on: {problem}")
        return text

    def _check_value(self, parameter: Parameter, text: str) -> None:
        """Raise `ToolError` for an argument that a program could miss, or take for an option."""
        problem = ""
        if not text and "empty" not in parameter.allow:
            problem = "is empty; if an empty one is right, the manifest says `allow: [empty]` for this parameter"
        if text.startswith("-") and "dash" not in parameter.allow:
            problem = "begins with -, as options do; give a file as ./-name, or write `allow: [dash]` in the manifest"
        if problem:
            raise ToolError(f"{self.tool.name}: parameter {parameter.name!r} {problem}")

    def _check_word(self, word: str, text: str) -> None:
        """Raise `ToolError` for a finished word that names a file of the system, or leaves the folder that `word` names."""
        path = os.path.realpath(self.folder / text)
        if _SYSTEM.match(path):
            raise ToolError(f"{self.tool.name}: {text!r} is a device, a process, or the root of all files")
        folder, slash, _ = word.partition("{{")[0].rpartition("/")
        if slash and not path.startswith(os.path.realpath(self.folder / (folder + slash)).rstrip("/") + "/"):
            raise ToolError(f"{self.tool.name}: {text!r} leads out of {folder + slash}, or names that folder itself")
