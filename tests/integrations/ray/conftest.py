"""One Ray for all tests of this folder; without Ray there is nothing to test here."""

from collections.abc import Iterator
from importlib.util import find_spec

import pytest

if find_spec("ray"):
    import ray

    from ray_hosts import start_small

    @pytest.fixture(scope="session", autouse=True)
    def started() -> None:
        start_small()

    @pytest.fixture(scope="session", autouse=True)
    def ended() -> Iterator[None]:
        yield
        ray.shutdown()

else:
    collect_ignore_glob = ["test_*.py"]
