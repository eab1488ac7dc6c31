"""The shells of this machine, and a script file that writes down its arguments and its input, byte for byte."""

import os
import re
import shutil
from pathlib import Path

import pytest
import yaml

from planexec_lab import gantz
from planexec_lite.tools import Tool

NEEDS_A_SHELL = pytest.mark.skipif(os.name != "posix", reason="a manifest's scripts need a POSIX shell")
SHELLS = [name for name in ("dash", "bash", "busybox", "ksh", "mksh") if shutil.which(name)] or ["sh"]
NOTE = """\
#!/bin/sh
printf '%s\\n' "$#" >> "$WRITTEN"
for each in "$@"; do printf '%s\\0' "$each" >> "$WRITTEN"; done
cat >> "$WRITTEN"
"""


def as_sh(name: str, folder: Path) -> str:
    """The path of a shell under the name sh, by which it follows POSIX."""
    link = folder / f"as_{name}" / "sh"
    if not link.exists():
        link.parent.mkdir(parents=True)
        link.symlink_to(shutil.which(name) or "/bin/sh")
    return str(link)


def written(*arguments: str, read: bytes = b"") -> bytes:
    """What `note` writes down when it is given these arguments and reads this."""
    return f"{len(arguments)}\n".encode() + b"".join(one.encode() + b"\0" for one in arguments) + read


def with_note(script: str) -> str:
    """The script with the path of the script file `note`."""
    return re.sub(r"(?<![\w./-])note(?![\w./-])", "../bin/note.sh", script)


class Desk:
    """A folder with a manifest of one tool, and the script file `note` beside it."""

    def __init__(self, folder: Path) -> None:
        self.work, self.written = folder / "work", folder / "written"
        (folder / "bin").mkdir(parents=True)
        (folder / "bin" / "empty").touch()
        self.work.mkdir()
        for name, text in {"note.sh": NOTE, "evil.sh": "#!/bin/sh\ntouch CANARY\n"}.items():
            (folder / "bin" / name).write_text(text, encoding="utf-8")
            (folder / "bin" / name).chmod(0o755)
        self.env = {"PATH": os.environ["PATH"], "WRITTEN": str(self.written), "HOME": str(self.work)}

    def tool(self, script: str | dict[str, object], parameter: str = "x", **more: object) -> Tool:
        """The tool that has this script and one parameter. Raises `ManifestError` where the script is refused."""
        one = {"name": parameter, "required": True} | more
        runs = {"shell": with_note(script)} if isinstance(script, str) else script
        data = {"tools": [{"name": "act", "description": "Act", "parameters": [one], "script": runs}]}
        manifest = self.work / "gantz.yaml"
        manifest.write_text(yaml.safe_dump(data), encoding="utf-8")
        return gantz.load(manifest, env=self.env)["act"]

    def does(self, script: str | dict[str, object], value: str, parameter: str = "x") -> bytes:
        """Call a tool that allows every value, and return what was written down; it must change nothing else."""
        tool = self.tool(script, parameter, allow=["dash", "empty"])
        self.written.unlink(missing_ok=True)
        before = sorted(self.work.iterdir())
        assert tool.call({parameter: value})["stderr"] == "", (script, value)
        assert sorted(self.work.iterdir()) == before, (script, value)
        return self.written.read_bytes()
