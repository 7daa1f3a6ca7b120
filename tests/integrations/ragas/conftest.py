"""No test of this folder may reach a network, and each says so by failing if it tries."""

import socket
from importlib.util import find_spec
from typing import Any, NoReturn

import pytest

collect_ignore_glob = [] if find_spec("ragas") else ["test_*.py"]


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **_: Any) -> NoReturn:
        raise AssertionError(f"a test reached for the network: {args[1:]}")

    for name in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **_: refuse(None, *args))


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
