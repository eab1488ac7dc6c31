"""Every test of the scripted model runs with the network cut."""

from __future__ import annotations

import socket
from typing import Any, NoReturn

import pytest


@pytest.fixture(autouse=True)
def network_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise AssertionError("the scripted model reached for the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket.socket, "connect_ex", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
