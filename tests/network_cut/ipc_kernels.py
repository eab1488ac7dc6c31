"""The kernels that this process starts talk over files; a plugin for nbval's pytest, or imported.

A TCP port is chosen while it is free, and another process may have it before the kernel binds it; the kernel dies then.
The files are named in full: a kernel starts in the folder of its notebook, and the test elsewhere.
"""

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from jupyter_client.manager import KernelManager

if os.name == "posix":
    begun: Any = KernelManager.__init__
    folders: list[TemporaryDirectory[str]] = []

    def over_files(self: KernelManager, *arguments: Any, **options: Any) -> None:
        folders.append(TemporaryDirectory())
        begun(self, *arguments, **{"transport": "ipc", "ip": str(Path(folders[-1].name) / "kernel")} | options)

    KernelManager.__init__ = over_files  # type: ignore[method-assign]
