"""Handles: big results stay with the workers (lesson 14). The board and the journal have a small handle instead.

A step that uses the result reads it from a store where the step runs. The store is any mapping that the workers share: a `Folder`,
``fsspec.get_mapper("s3://…")``, or the memory of Dask's workers (``elsewhere/dask_memory.py``).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import uuid4

from planexec_lite.capabilities.stepping import Executor, effects_of, perform
from planexec_lite.plan import Step
from planexec_lite.tools import ToolError, references


@dataclass
class Handles:
    """An executor that gives the loop a handle for each big result: its hash, its size and its beginning.

    The hash depends on the result alone, so equal calls have equal keys. The loop can't look into a handle. So the result of a
    step with an undo stays on the board, an at-most-once step can use a big result, but not a part of it, and an undo can't use
    one at all. The plan's answer can't name a part either: use `value`.

    Args:
        executor: carries out the steps.
        store: of a run and its resumed runs; ``closing`` frees it.
        above: longer results, in bytes of JSON, become handles.
    """

    executor: Executor
    store: MutableMapping[str, bytes]
    above: int = 10_000

    def __getattr__(self, name: str) -> Any:
        if name == "executor" or name.startswith("__"):  # while it is unpickled
            raise AttributeError(name)
        return getattr(self.executor, name)

    def execute(self, step: Step, inputs: Mapping[str, Any]) -> Any:
        """Return the result of `step`, or its handle. Raises `ToolError` for a lost result, before the step begins."""
        once = step.effects_with(effects_of(self.executor)) == "once"
        hidden = [named for named in references.find(step.params) if once and named.path]
        for named in [*hidden, *references.find(step.undo.params if step.undo else None)]:
            if is_handle(inputs.get(named.step)):
                raise ToolError(f"{named} is in a big result; add a step that returns only what step {step.id} needs")
        value = perform(self.executor, step, {id: self.value(result) for id, result in inputs.items()})
        data = json.dumps(value).encode()
        if is_handle(value) or (len(data) > self.above and step.undo is None):  # no tool can forge a handle
            name = sha256(data).hexdigest()
            self.store[name] = data
            return {"handle": name, "bytes": len(data), "begins": data[:60].decode()}
        return value

    def value(self, result: Any) -> Any:
        """Return a result; if it is a handle, the result that it stands for. Raises `ToolError` if that is lost."""
        if not is_handle(result):
            return result
        data = self.store.get(result["handle"], b"")
        if sha256(data).hexdigest() != result["handle"]:
            raise ToolError(f"the result that begins with {result['begins']} is lost: closed, or lost with its worker")
        return json.loads(data)

    def close(self) -> None:
        """Remove all results from the store. A run that is resumed still needs them."""
        for name in list(self.store):
            del self.store[name]


def is_handle(value: Any) -> bool:
    """Return whether a result is a handle."""
    return isinstance(value, Mapping) and value.keys() == {"handle", "bytes", "begins"}


class Folder(MutableMapping[str, bytes]):
    """A folder that the workers share. If it is missing, it is created, and only its owner can read it."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)

    def __getitem__(self, name: str) -> bytes:
        try:
            return (self.path / name).read_bytes()
        except FileNotFoundError:
            raise KeyError(name) from None

    def __setitem__(self, name: str, data: bytes) -> None:
        part = self.path / f"{uuid4().hex}.part"  # a reader never sees half a file
        part.write_bytes(data)
        part.replace(self.path / name)

    def __delitem__(self, name: str) -> None:
        (self.path / name).unlink()

    def __iter__(self) -> Iterator[str]:
        return (file.name for file in self.path.iterdir())

    def __len__(self) -> int:
        return sum(1 for _ in self)
