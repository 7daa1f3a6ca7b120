"""What the values would be if near misses counted as found equals the values of a run with the judged ids."""

from typing import Any

import pytest

import retrieval_metrics as rm
from data_warning_kinds import evaluate_silently
from retrieval_metrics.evaluation.near_miss_effect import mean_with_near_misses, measure_near_miss_effect
from run_shapes import in_columns, with_scores

QRELS: Any = {f"q{number}": [f"d{number}"] for number in range(5)}
METRICS = [rm.Metric("mrr"), rm.Metric("recall", 2)]
RUN: Any = {f"q{number}": ["x", f"d{number}#1", f"d{number}#2"] for number in range(4)} | {"q4": ["d4"]}
ITEMS: Any = {}
for _query, _ids in RUN.items():
    ITEMS[_query] = [rm.Retrieved("c", source=document) for document in _ids]


@pytest.mark.parametrize(
    ("run", "options"),
    [
        (RUN, {}),
        (with_scores(RUN), {}),
        (in_columns(RUN), {}),
        (ITEMS, {"match": "source"}),
        (ITEMS, {"match": rm.Matching(by="source", deduplicate=True)}),
        ({**RUN, "q0": []} | {"q0": ["x", "d0#1"]}, {}),
    ],
)
def test_it_equals_a_run_with_the_judged_ids(run: Any, options: Any) -> None:
    scores = evaluate_silently(QRELS, run, METRICS, **options).scores
    changes = measure_near_miss_effect(scores, METRICS)
    assert changes == {
        METRICS[0]: dict.fromkeys(["q0", "q1", "q2", "q3"], 0.5),
        METRICS[1]: dict.fromkeys(["q0", "q1", "q2", "q3"], 1.0),
    }
    assert mean_with_near_misses(scores, METRICS[0]) == pytest.approx((4 * 0.5 + 1) / 5)


def test_without_near_misses_nothing_changes() -> None:
    scores = evaluate_silently(QRELS, {"q0": ["d0"]}, METRICS).scores
    assert measure_near_miss_effect(scores, METRICS) == {}
    assert mean_with_near_misses(scores, METRICS[0]) == 0.2
    given = rm.Evaluation.from_scores({"latency": {"q0": 1.0}}).scores
    assert measure_near_miss_effect(given, given.metrics) == {}
