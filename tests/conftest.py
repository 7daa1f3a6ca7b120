import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# Hosts that report home are told not to before anything imports them.
os.environ.update(
    RAGAS_DO_NOT_TRACK="true",
    RAY_USAGE_STATS_ENABLED="0",
    RAY_ENABLE_UV_RUN_RUNTIME_ENV="0",  # else every start of Ray builds the environment again
    LANGSMITH_TRACING="false",
    LANGSMITH_TRACING_V2="false",  # older names of the same switch, which a shell may have set
    LANGCHAIN_TRACING_V2="false",
    ANONYMIZED_TELEMETRY="false",
)

from retrieval_metrics.definition.define import defined_metrics, forget_metric

settings.register_profile("suite", deadline=None)
settings.load_profile("suite")


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
