import logging
from collections.abc import Iterator

import pytest
import ray
from ray.data import DataContext

from ray_retrieval_metrics import start


@pytest.fixture(autouse=True)
def started() -> None:
    """One Ray for all tests, within this machine."""
    if not ray.is_initialized():
        start(num_cpus=2, logging_level="error", log_to_driver=False)
        DataContext.get_current().enable_progress_bars = False
        logging.getLogger("ray.data").setLevel(logging.ERROR)


@pytest.fixture(scope="session", autouse=True)
def ended() -> Iterator[None]:
    yield
    ray.shutdown()
