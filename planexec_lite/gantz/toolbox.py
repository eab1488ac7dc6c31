"""A toolbox from a manifest: each tool runs its script, with its arguments as values and never as part of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from planexec_lite.gantz.manifest import ManifestError, ManifestTool, read
from planexec_lite.gantz.quoting import Script
from planexec_lite.gantz.running import Done, Runner, environment, run
from planexec_lite.tools import Effects, Tool, Toolbox, ToolError, suggest

TIMEOUT, MOST = 60.0, 20_000
LONGEST = 100_000
"""The most bytes of one value: the system has a bound of its own, a little higher, and says less about it."""


def load(
    path: Path | str,
    *,
    effects: Mapping[str, Effects] | None = None,
    destructive: Collection[str] | None = None,
    latency: Mapping[str, float] | None = None,
    env: Mapping[str, str] | None = None,
    folder: Path | str | None = None,
    timeout: float = TIMEOUT,
    most: int = MOST,
    runner: Runner = run,
) -> Toolbox:
    """Return the tools of a manifest.

    A call gives ``{"exit_code": 0, "stdout": …, "stderr": …}``; a script that ends with another code fails, and so does
    one that takes too long.

    Args:
        path: the manifest, ``gantz.yaml``.
        effects: what a repeat of each tool would do. A manifest can't say it, so of a tool that is not named here the
            worst is thought: "once".
        destructive: the tools that may delete or overwrite something. None: each may, but for those without effects.
        latency: seconds that a call takes in simulation, by tool.
        env: variables that the scripts see, beside `running.PASSED_ON`; a password belongs here, and into no manifest.
        folder: where the scripts run; by default the manifest's own folder.
        timeout: seconds after which a script is ended, with all that it has started.
        most: the most bytes that are kept of what a script writes, to each of its two outputs.
        runner: what runs a script; by default the shell does (`running.run`).

    Raises `ManifestError` for what can't be read or made safe, and for a tool in `effects`, `destructive` or `latency`
    that the manifest does not have.
    """
    path = Path(path)
    manifest = read(path)
    names = [tool.name for tool in manifest.tools]
    for name in (*(effects or {}), *(destructive or ()), *(latency or {})):
        if name not in names:
            raise ManifestError(f"{path.name} has no tool {name!r}{suggest(name, names)}; it has: {', '.join(names)}")
    where = path.parent.resolve() if folder is None else Path(folder).resolve()
    tools = []
    for tool in manifest.tools:
        does = (effects or {}).get(tool.name, "once")
        harm = does != "none" if destructive is None else tool.name in destructive
        call = ShellCall(tool, tool.runnable, where, dict(env or {}), timeout, most, runner)
        tools.append(
            Tool.from_schema(
                call,
                tool.schema_of_arguments,
                name=tool.name,
                description=tool.description,
                pin=tool.runnable.text,
                effects=does,
                destructive=harm,
                latency=(latency or {}).get(tool.name, 0.0),
            )
        )
    return Toolbox(tools)


class ShellCall:
    """Calls one tool of a manifest. It holds nothing that can't be sent to another process."""

    def __init__(
        self,
        tool: ManifestTool,
        script: Script,
        folder: Path,
        env: dict[str, str],
        timeout: float,
        most: int,
        runner: Runner = run,
    ) -> None:
        self.tool, self.script, self.folder = tool, script, folder
        self.env, self.timeout, self.most, self.runner = env, timeout, most, runner

    def __call__(self, /, **arguments: Any) -> Done:
        """Run the script with these arguments.

        Raises `ToolError` for a value that no program can be given, before anything runs; `RuntimeError` where the script
        ends with another code than 0; `TimeoutError` where it takes too long.
        """
        values = {one.name: one.default for one in self.tool.parameters if one.default is not None} | arguments
        variables = {self.script.variables[name]: self._text(name, value) for name, value in values.items()}
        done = self.runner(
            self.script.text, environment(self.env) | variables, self.folder, timeout=self.timeout, most=self.most
        )
        if done["exit_code"] != 0:
            code = done["exit_code"]
            how = f"was ended by signal {-code}" if code < 0 else f"ended with code {code}"
            wrote = (done["stderr"].strip() or done["stdout"].strip()).replace("\x00", "\\x00")
            raise RuntimeError(f"{self.tool.name} {how}{': ' + wrote if wrote else ', and wrote nothing'}")
        return done

    def _text(self, name: str, value: Any) -> str:
        """A value as the shell is given it."""
        text = ("false", "true")[value] if isinstance(value, bool) else str(value)
        where = f"{self.tool.name}: parameter {name!r}"
        try:
            length = len(text.encode())
        except UnicodeEncodeError:
            raise ToolError(
                f"{where} holds half a character (a lone surrogate), which no program can be given"
            ) from None
        if "\x00" in text:
            raise ToolError(f"{where} holds a NUL character, which no program can be given")
        if length > LONGEST:
            raise ToolError(f"{where} has {length:,} bytes; at most {LONGEST:,} are passed on. Give the name of a file")
        if name in self.script.leading and text.startswith("-"):
            mend = f"in the manifest write -- before {{{{{name}}}}}, or join it to what it belongs to: --name={{{{{name}}}}}"
            raise ToolError(f"{where} begins with -, and a program may take it for an option; {mend}")
        if name in self.script.files and text.startswith(("/dev/tcp/", "/dev/udp/")):
            raise ToolError(f"{where} is no file: some shells open a connection for it")
        return text
