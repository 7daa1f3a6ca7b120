"""One evaluation for reports and figures."""

import pytest

import retrieval_metrics as rm
from reported import QRELS, RUNS


@pytest.fixture(scope="session")
def evaluation() -> rm.Evaluation:
    return rm.evaluate(QRELS, RUNS["old"], ["mrr@10", "recall@2", "hit_rate@1"])
