"""Every test of the scripted model runs with the network cut; those that serve on loopback say LOOPBACK = True."""

import socket
from typing import Any, NoReturn

import pytest


@pytest.fixture(autouse=True)
def network_cut(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if getattr(request.module, "LOOPBACK", False):
        return

    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise AssertionError("the scripted model reached for the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket.socket, "connect_ex", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
