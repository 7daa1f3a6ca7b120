"""No test of this folder may reach a network; and without Haystack there is nothing to test here."""

from importlib.util import find_spec
from typing import Any

import pytest

from offline import network_attempts as network_attempts  # noqa: PLC0414  (a fixture of this folder)

collect_ignore_glob = [] if find_spec("haystack") else ["test_*.py"]


@pytest.fixture
def bm25() -> Any:
    from haystack_hosts import make_bm25

    return make_bm25()
