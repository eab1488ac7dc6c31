"""A plugin for nbval's pytest: its kernels talk over files.

A TCP port is chosen while it is free, and another process may have it before the kernel binds it; the kernel dies then.
The files are named in full: a kernel starts in the folder of its notebook, and the test elsewhere.
"""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbval.kernel

if os.name == "posix":
    kernels: Any = nbval.kernel
    plain = kernels.KernelManager
    folders: list[TemporaryDirectory[str]] = []

    def over_files(**options: Any) -> Any:
        folders.append(TemporaryDirectory())
        return plain(**options, transport="ipc", ip=str(Path(folders[-1].name) / "kernel"))

    kernels.KernelManager = over_files
