"""A plugin for nbval's pytest: its kernels talk over files.

A TCP port is chosen while it is free, and another process may have it before the kernel binds it; the kernel dies then.
"""

from __future__ import annotations

import functools
import os
from typing import Any

import nbval.kernel

if os.name == "posix":
    kernels: Any = nbval.kernel
    kernels.KernelManager = functools.partial(kernels.KernelManager, transport="ipc")
