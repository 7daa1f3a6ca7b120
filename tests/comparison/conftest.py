"""One comparison for reports and figures."""

import pytest

import retrieval_metrics as rm
from reported import QRELS, RUNS


@pytest.fixture(scope="session")
def comparison() -> rm.Comparison:
    return rm.compare(QRELS, RUNS, ["mrr@10", "recall@2", "hit_rate@1"])


@pytest.fixture
def evaluation(comparison: rm.Comparison) -> rm.Evaluation:
    return comparison.evaluations["old"]
