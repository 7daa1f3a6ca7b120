"""Fail a default test that takes too much CPU time, so that the suite stays short: it belongs to the tier `thorough`.

A test may take a second. One that takes more than three fails: CPU time, unlike time, hardly depends on what else the
machine does, but a core that is shared computes more slowly, and the first test of a file fills caches for the others.
"""

import sys
import time
from collections.abc import Generator

import pytest
from hypothesis import settings

LIMIT = 3.0
"""Seconds of CPU, on a core on which `measure_slowness` returns 1."""

QUIET_SECONDS = 0.012
"""What the loop of `measure_slowness` takes on a core of its own."""

OTHER_TIERS = frozenset({"browser", "examples", "peers", "ray", "slow", "thorough"})

MAX_IMPORTED_MODULES = 20
"""More show that the test is the first that uses a package, which it pays for on behalf of all others."""


def watch(item: pytest.Item) -> Generator[None, object, object]:
    """Run a test, and fail it if it passed after more CPU time than a default test may take."""
    n_modules = len(sys.modules)
    started = time.process_time()
    result = yield
    seconds = time.process_time() - started
    is_first_user = len(sys.modules) - n_modules > MAX_IMPORTED_MODULES
    if seconds > LIMIT and is_limited(item) and not is_first_user:
        comparable_seconds = seconds / measure_slowness()
        if comparable_seconds > LIMIT:
            pytest.fail(f"it takes {comparable_seconds:.1f} s of CPU; mark it `thorough`, and leave a smaller sibling")
    return result


def is_limited(item: pytest.Item) -> bool:
    """Return whether a test is one of the default ones; pages of the documentation run whatever they show."""
    markers = {marker.name for marker in item.iter_markers()}
    is_page = item.path.name == "test_pages.py"
    return settings.get_current_profile_name() == "suite" and not markers & OTHER_TIERS and not is_page


def measure_slowness() -> float:
    """Return how many times as long as on a quiet core a loop takes now; at least 1."""
    slowest = QUIET_SECONDS
    for _ in range(3):
        started = time.process_time()
        sum(number * number for number in range(300_000))
        slowest = max(slowest, time.process_time() - started)
    return slowest / QUIET_SECONDS
