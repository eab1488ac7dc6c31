"""The messages that a test's widgets send to the front end, and their bytes."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from comm import DummyComm


@contextmanager
def messages() -> Iterator[list[str]]:
    """The list that receives each message of the widgets, as JSON."""
    sent: list[str] = []

    def publish(self: DummyComm, msg_type: str, data: Any = None, **keys: Any) -> None:
        sent.append(json.dumps({"comm_id": self.comm_id, "data": data}, ensure_ascii=False))

    with patch.object(DummyComm, "publish_msg", publish):
        yield sent


def weight(sent: list[str]) -> int:
    return sum(len(message.encode()) for message in sent)
