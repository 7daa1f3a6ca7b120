"""One Ray for all tests of this folder, within this machine; without Ray there is nothing to test here."""

import logging
from collections.abc import Iterator
from importlib.util import find_spec

import pytest

if find_spec("ray"):
    import ray
    from ray.data import DataContext

    from ray_retrieval_metrics import start

    @pytest.fixture(autouse=True)
    def started() -> None:
        if not ray.is_initialized():  # the examples of the READMEs may have ended it
            start(num_cpus=2, logging_level="error", log_to_driver=False)
            DataContext.get_current().enable_progress_bars = False
            logging.getLogger("ray.data").setLevel(logging.ERROR)

    @pytest.fixture(scope="session", autouse=True)
    def ended() -> Iterator[None]:
        yield
        ray.shutdown()

else:
    collect_ignore_glob = ["test_*.py"]
