"""What a notebook shows: the answer, and the worst queries with their texts, in little space."""

import sys

import pytest

import retrieval_metrics as rm

N = 150
QRELS = {f"q{at}": [f"needed {at}"] for at in range(N)}
TEXT = "<b>a passage</b> of some length that says what was looked for, " * 20


def run(every: int) -> dict[str, list[rm.Retrieved]]:
    return {
        query: [rm.Retrieved(f"other {at}-{part}", TEXT) for part in range(9)]
        + ([rm.Retrieved(f"needed {at}", TEXT)] if at % every else [])
        for at, query in enumerate(QRELS)
    }


@pytest.fixture(scope="module")
def comparison() -> rm.Comparison:
    runs = {f"system {at}": run(at + 2) for at in range(6)}
    return rm.compare(QRELS, runs, ["mrr@10", "hit_rate@5", "ndcg@10", "recall@10"])


def test_an_evaluation_shows_its_means_in_words_and_its_worst_queries(comparison: rm.Comparison) -> None:
    shown = comparison.evaluations["system 0"]._repr_html_()
    assert "1 / rank of the first relevant result" in shown
    assert shown.count("<details>") == 1 + 5
    assert "never retrieved" in shown
    assert "&lt;b&gt;a passage&lt;/b&gt;" in shown
    assert "<b>" not in shown
    assert "<caption" not in shown


def test_a_comparison_shows_its_answer_first(comparison: rm.Comparison) -> None:
    shown = comparison._repr_html_()
    assert shown.index("In mrr@10, the best mean: system 5") < shown.index("<table>")
    assert "means and differences" in shown
    assert "system 5 - system 4" in shown or "system 1 - system 0" in shown


def test_what_a_notebook_shows_is_small_and_needs_no_plot(
    comparison: rm.Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    evaluation = comparison.evaluations["system 0"]
    audit = rm.audit(QRELS, run(2), ["mrr@10", "ndcg@10"])
    for result in (comparison, evaluation, evaluation.explain("q0"), evaluation.worst("mrr@10"), audit):
        assert 200 < len(result._repr_html_()) < 200_000
        assert "<script" not in result._repr_html_()


def test_an_evaluation_without_its_run_shows_its_means() -> None:
    whole = rm.evaluate({"q": ["d"]}, {"q": ["x", "d"]}, "mrr")
    merged = rm.merge([whole.totals()])
    assert "0.500" in merged._repr_html_()
    assert "what it says" in merged._repr_html_()
