"""A default test that takes long fails; one of another tier, or the first that imports a package, does not."""

from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

CONFTEST = """
import cpu_limit
import pytest

cpu_limit.LIMIT = 0.1

@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    return (yield from cpu_limit.watch(item))
"""
TESTS = """
import sys
import time
import types

import hypothesis
import pytest

hypothesis.settings.register_profile("suite")
hypothesis.settings.load_profile("suite")


def work():
    started = time.process_time()
    while time.process_time() - started < 1:
        sum(range(1000))


def test_short():
    pass


def test_long():
    work()


@pytest.mark.thorough
def test_of_another_tier():
    work()


def test_that_imports_much():
    work()
    sys.modules.update({f"of_a_host_{number}": types.ModuleType("x") for number in range(30)})


def test_that_fails():
    work()
    raise ValueError
"""


@pytest.mark.thorough
def test_only_a_long_default_test_that_passes_fails(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(TESTS)
    pytester.makeini("[pytest]\nmarkers = thorough: takes long\n")
    result = pytester.runpytest_subprocess("-p", "no:xdist", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=3, failed=2)
    result.stdout.re_match_lines_random([r".*it takes .* s of CPU; mark it `thorough`", ".*ValueError.*"])
