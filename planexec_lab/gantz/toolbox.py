"""A toolbox from a manifest: each tool runs its script, with its arguments as values and never as part of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from planexec_lab.gantz.manifest import ManifestTool, read
from planexec_lab.gantz.running import Done, environment, run
from planexec_lab.gantz.script import ManifestError, Script
from planexec_lite.tools import Effects, Tool, Toolbox, ToolError, suggest

LONGEST = 100_000
"""The most bytes of a value. The system's bound is a little higher, and its message is less helpful."""


def load(
    path: Path | str,
    *,
    effects: Mapping[str, Effects] | None = None,
    destructive: Collection[str] | None = None,
    latency: Mapping[str, float] | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float = 60.0,
    runner: Callable[[str, Mapping[str, str], Path, float], Done] = run,
) -> Toolbox:
    """Return the tools of a manifest.

    A call returns ``{"exit_code": 0, "stdout": …, "stderr": …}``. The call fails where the script ends with another code, or
    takes too long. Scripts run in the manifest's own folder.

    Args:
        path: the manifest, ``gantz.yaml``.
        effects: what a repeat of each tool would do. A manifest can't say it, so a tool that is not named here is "once".
        destructive: the tools that can delete or overwrite something. None: all but those without effects.
        latency: seconds that a call takes in simulation, by tool.
        env: variables that the scripts see, in addition to `running.PASSED_ON`; a password belongs here, not in a manifest.
        timeout: seconds after which a script is ended, with all that it started.
        runner: what runs a script; by default the shell (`running.run`).

    Raises `ManifestError` for what can't be read or made safe, and for a tool in `effects`, `destructive` or `latency`
    that the manifest does not have.
    """
    path = Path(path)
    manifest = read(path)
    names = [tool.name for tool in manifest.tools]
    for name in (*(effects or {}), *(destructive or ()), *(latency or {})):
        if name not in names:
            raise ManifestError(f"{path.name} has no tool {name!r}{suggest(name, names)}; it has: {', '.join(names)}")
    tools = []
    for tool in manifest.tools:
        does = (effects or {}).get(tool.name, "once")
        script = tool.runnable
        tools.append(
            Tool.from_schema(
                ShellCall(tool, script, path.parent.resolve(), dict(env or {}), timeout, runner),
                tool.schema_of_arguments,
                name=tool.name,
                description=tool.description,
                pin=script.text,
                effects=does,
                destructive=does != "none" if destructive is None else tool.name in destructive,
                latency=(latency or {}).get(tool.name, 0.0),
            )
        )
    return Toolbox(tools)


@dataclass(frozen=True)
class ShellCall:
    """Calls one tool of a manifest. It can be sent to another process."""

    tool: ManifestTool
    script: Script
    folder: Path
    env: dict[str, str]
    timeout: float
    runner: Callable[[str, Mapping[str, str], Path, float], Done]

    def __call__(self, /, **arguments: Any) -> Done:
        """Run the script with these arguments.

        Raises `ToolError` for a value that no program can be given, before anything runs; `RuntimeError` where the script
        ends with another code than 0; `TimeoutError` where it takes too long.
        """
        values = {one.name: one.default for one in self.tool.parameters if one.default is not None} | arguments
        variables = {self.script.variables[name]: self._text(name, value) for name, value in values.items()}
        done = self.runner(self.script.text, environment(self.env) | variables, self.folder, self.timeout)
        if (code := done["exit_code"]) != 0:
            how = f"was ended by signal {-code}" if code < 0 else f"ended with code {code}"
            wrote = (done["stderr"].strip() or done["stdout"].strip()).replace("\x00", "\\x00")
            raise RuntimeError(f"{self.tool.name} {how}{': ' + wrote if wrote else ', and wrote nothing'}")
        return done

    def _text(self, name: str, value: Any) -> str:
        """Return a value as the shell is given it."""
        try:
            text = ("false", "true")[value] if isinstance(value, bool) else str(value)
        except ValueError as error:  # an integer of more than 4,300 digits
            raise ToolError(f"{self.tool.name}: parameter {name!r} can't be written: {error}") from None
        length = len(text.encode(errors="replace"))
        problem = None
        if "\x00" in text:
            problem = "contains a NUL character, which no program can be given"
        elif any("\ud800" <= character <= "\udfff" for character in text):
            problem = "contains half a character (a lone surrogate), which no program can be given"
        elif length > LONGEST:
            problem = f"has {length:,} bytes; at most {LONGEST:,} are passed on. Give the name of a file"
        elif name in self.script.leading and text.startswith("-"):
            fix = f"give a file as ./-name, or write --name={{{{{name}}}}} in the manifest"
            problem = f"begins with -, and a program might take it for an option; {fix}"
        elif name in self.script.inside and ".." in text.split("/"):
            problem = "leads out of its folder with .."
        elif text.startswith(("/dev/tcp/", "/dev/udp/")):
            problem = "is not a file: some shells open a connection for it"
        if problem:
            raise ToolError(f"{self.tool.name}: parameter {name!r} {problem}")
        return text
