"""The memory of Dask's workers as a store of `elsewhere.tickets.Handles`."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any

_PREFIX = "planexec-"


class DaskMemory(MutableMapping[str, bytes]):
    """The memory of Dask's workers: a result stays on the worker that made it, and goes directly to the one that needs it.

    If its worker dies, the result is lost.
    """

    def __getitem__(self, name: str) -> bytes:
        data: bytes = _client().get_dataset(_PREFIX + name).result()
        return data

    def __setitem__(self, name: str, data: bytes) -> None:
        if name not in self:
            _client().publish_dataset(**{_PREFIX + name: _client().scatter(data)})

    def __delitem__(self, name: str) -> None:
        _client().unpublish_dataset(_PREFIX + name)

    def __iter__(self) -> Iterator[str]:
        return (name.removeprefix(_PREFIX) for name in _client().list_datasets() if name.startswith(_PREFIX))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _client() -> Any:
    from distributed import get_client

    return get_client()  # in a worker its own, in the driver the latest
