import logging
from collections.abc import Iterator

import pytest
from ray.data import DataContext

from ray_retrieval_metrics import start


@pytest.fixture(scope="session", autouse=True)
def started() -> Iterator[None]:
    """One Ray for all tests, within this machine."""
    with start(num_cpus=2, logging_level="error", log_to_driver=False):
        DataContext.get_current().enable_progress_bars = False
        logging.getLogger("ray.data").setLevel(logging.ERROR)
        yield
