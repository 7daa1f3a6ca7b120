"""What a notebook shows of a comparison."""

import sys

import pytest

import retrieval_metrics as rm
from long_passages import JUDGED, run


@pytest.fixture(scope="module")
def comparison_of_passages() -> rm.Comparison:
    runs = {f"system {number}": run(number + 2) for number in range(6)}
    return rm.compare(JUDGED, runs, ["mrr@10", "hit_rate@5", "ndcg@10", "recall@10"])


def test_a_comparison_shows_its_answer_first(comparison_of_passages: rm.Comparison) -> None:
    shown = comparison_of_passages._repr_html_()
    assert shown.index("system 5 is better than ") < shown.index("<table>")
    assert "means and differences" in shown
    worst = comparison_of_passages.evaluations["system 5"].worst("ndcg@10")
    assert str(worst.queries[0]) in shown[shown.rindex("system 5") :]
    assert "system 5 - system 4" in shown or "system 1 - system 0" in shown


def test_what_a_notebook_shows_is_small_and_needs_no_plot(
    comparison_of_passages: rm.Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    evaluation = comparison_of_passages.evaluations["system 0"]
    audit = rm.audit(JUDGED, run(2), ["mrr@10", "ndcg@10"])
    for result in (comparison_of_passages, evaluation, evaluation.explain("q0"), evaluation.worst("mrr@10"), audit):
        assert 200 < len(result._repr_html_()) < 200_000
        assert "<script" not in result._repr_html_()
