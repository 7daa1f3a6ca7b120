"""No test of this folder may reach a network: whoever tries fails, also in a thread that swallows its errors."""

import os
import socket
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any, NoReturn

import pytest

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"

collect_ignore_glob = [] if find_spec("ragas") else ["test_*.py"]


@pytest.fixture(autouse=True)
def network_attempts(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    attempts: list[Any] = []

    def refuse(*args: Any, **_: Any) -> NoReturn:
        attempts.append(args)
        raise AssertionError(f"a test reached for the network: {args}")

    for name in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    yield attempts
    assert not attempts


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
