"""What a notebook shows of an evaluation."""

from pathlib import Path

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


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
def test_a_warning_that_is_in_the_print_is_not_repeated_above_the_table(tmp_path: Path) -> None:
    qrels = {f"q{number}": [f"d{number}"] for number in range(8)}
    run = {query: [f"{query}.txt", *relevant] for query, relevant in qrels.items()}
    evaluation = rm.evaluate(qrels, run, "mrr", exclude={query: [query] for query in qrels})
    evaluation.report(tmp_path / "report.html")
    evaluation.save(tmp_path / "numbers.json", rankings=False)
    loaded = rm.load(tmp_path / "numbers.json")
    pages = [str(evaluation), evaluation._repr_html_(), (tmp_path / "report.html").read_text(), loaded._repr_html_()]
    for page in pages:
        assert page.count("exclude= removed no documents") == 1
