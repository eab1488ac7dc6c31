"""What the widgets of a test send to the front end: the messages, and their bytes."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from comm import DummyComm


@contextmanager
def messages() -> Iterator[list[str]]:
    """The list into which what widgets send goes, as JSON, message by message."""
    sent: list[str] = []

    def publish(self: DummyComm, msg_type: str, data: Any = None, **keys: Any) -> None:
        sent.append(json.dumps({"comm_id": self.comm_id, "data": data}, ensure_ascii=False))

    with patch.object(DummyComm, "publish_msg", publish):
        yield sent


def weight(sent: list[str]) -> int:
    return sum(len(message.encode()) for message in sent)
