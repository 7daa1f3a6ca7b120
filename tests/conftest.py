import gc
import os
import re
import shutil
import sys
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

# What is set here is read by imports, in this process and in all that a test starts.
if sys.dont_write_bytecode:  # else hundreds of processes would compile all they import, half of the time of the suite
    sys.dont_write_bytecode = False
    sys.pycache_prefix = str(Path(__file__).parent.parent / ".pytest_cache" / "bytecode")
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
os.environ["OPENBLAS_NUM_THREADS"] = "1"  # threads that wait for each other cost as much again as the products
# Hosts that report home are told not to.
os.environ.update(
    HAYSTACK_TELEMETRY_ENABLED="False",
    RAGAS_DO_NOT_TRACK="true",
    RAY_USAGE_STATS_ENABLED="0",
    RAY_ENABLE_UV_RUN_RUNTIME_ENV="0",  # else every start of Ray builds the environment again
    LANGSMITH_TRACING="false",
    LANGSMITH_TRACING_V2="false",  # older names of the same switch, which a shell may have set
    LANGCHAIN_TRACING_V2="false",
    ANONYMIZED_TELEMETRY="false",
    MLFLOW_DISABLE_TELEMETRY="true",
    LOGFIRE_SEND_TO_LOGFIRE="false",
    MLFLOW_ENABLE_ASYNC_TRACE_LOGGING="false",  # else who reads a trace waits up to a second until it is written
)

from hypothesis import settings

import cpu_limit
import quick
from browsing import Browser
from retrieval_metrics.metrics.base.user_metrics import defined_metrics, forget_metric

# What a contribution is held to must not depend on luck: the same examples every time. New ones are drawn with
# `--hypothesis-profile=fresh`, every night by the scheduled workflow.
settings.register_profile("suite", deadline=None, derandomize=True)
settings.register_profile("thorough", deadline=None, derandomize=True)  # of `generated.often`, three times as many
settings.register_profile("fresh", deadline=None, print_blob=True)
settings.register_profile("quick", deadline=None, derandomize=True, max_examples=10)
settings.load_profile("suite")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="run the tests that belong to the changed files, no host")
    parser.addoption("--changed", action="append", metavar="FILE", help="with --quick: this file, not what git says")
    parser.addoption("--depth", type=int, metavar="N", help="with --quick: at most N imports away from a change")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("quick"):
        quick.start(config)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep what is imported out of the collector's way: it stays, and looking through it takes a fifth of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups, and pytest the markers
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:  # starting Ray takes half a minute, and making MLflow's tables seconds, so one worker does it
        if host := re.search(r"\b(ray|mlflow)\b", item.nodeid.lower()):
            item.add_marker(pytest.mark.xdist_group(host[1]))
        is_page_of_ray = item.path.name == "test_pages.py" and re.search(r"test_the_page_runs.*\bray\b", item.name)
        if "integrations/ray/" in item.nodeid.partition("::")[0] or is_page_of_ray:
            item.add_marker(pytest.mark.ray)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    return (yield from cpu_limit.watch(item))


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """A test leaves no metric of its own behind."""
    before = set(defined_metrics())
    yield
    for metric in set(defined_metrics()) - before:
        forget_metric(metric.name)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    folder = os.environ.get("RETRIEVAL_METRICS_DATA")
    if not folder:
        pytest.skip("RETRIEVAL_METRICS_DATA names no folder with the public test collections")
    return Path(folder)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    programs = shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")
    if not all(programs):
        pytest.skip("chromium and chromedriver are not installed")
    started = Browser(*map(str, programs))
    yield started
    started.close()
