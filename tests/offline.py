"""A fixture for the folders of tests whose hosts know a network: a `conftest.py` that imports it closes theirs."""

import socket
from collections.abc import Iterator
from typing import Any, NoReturn

import pytest


@pytest.fixture(autouse=True)
def network_attempts(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """No test may reach a network: whoever tries fails, also in a thread that swallows its errors."""
    attempts: list[Any] = []

    def refuse(*args: Any, **_: Any) -> NoReturn:
        attempts.append(args)
        raise AssertionError(f"a test reached for the network: {args}")

    for name in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    yield attempts
    assert not attempts
