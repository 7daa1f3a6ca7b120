"""What a notebook shows of an evaluation."""

import pytest

import retrieval_metrics as rm
from long_passages import JUDGED, run


@pytest.fixture(scope="module")
def comparison() -> rm.Comparison:
    runs = {f"system {number}": run(number + 2) for number in range(6)}
    return rm.compare(JUDGED, runs, ["mrr@10", "hit_rate@5", "ndcg@10", "recall@10"])


def test_an_evaluation_shows_its_means_in_words_and_its_worst_queries(comparison: rm.Comparison) -> None:
    shown = comparison.evaluations["system 0"]._repr_html_()
    assert "1 / rank of the first relevant document" in shown
    assert shown.count("<details>") == 1 + 5
    assert "not retrieved" in shown
    assert "&lt;b&gt;a passage&lt;/b&gt;" in shown
    assert "<b>" not in shown
    assert "<caption" not in shown


def test_an_evaluation_without_its_run_shows_its_means() -> None:
    evaluation = rm.evaluate({"q": ["d"]}, {"q": ["x", "d"]}, "mrr")
    merged = rm.merge([evaluation.totals()])
    assert "0.500" in merged._repr_html_()
    assert "meaning" in merged._repr_html_()
