"""No test of this folder may reach a network."""

from importlib.util import find_spec

import pytest

from offline import network_attempts as network_attempts  # noqa: PLC0414  (a fixture of this folder)

collect_ignore_glob = [] if find_spec("ragas") else ["test_*.py"]


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
