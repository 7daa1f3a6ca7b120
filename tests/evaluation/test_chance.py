"""Is a system better than its own rankings, assigned to other queries?"""

import itertools
from typing import Any

import numpy as np
import pytest

import retrieval_metrics as rm
from retrieval_metrics.evaluation import chance as chance_module
from retrieval_metrics.evaluation.chance import find_chance_if_not_better
from retrieval_metrics.evaluation.evaluation_wording import format_chance
from retrieval_metrics.metrics.base.metric import Metric


def popular(n: int, seed: int = 0) -> dict[str, list[str]]:
    """Judgments of which most need one of three documents."""
    random = np.random.default_rng(seed)
    documents = random.choice(20, n, p=[0.25, 0.2, 0.15, *[0.4 / 17] * 17])
    return {f"q{number}": [f"d{document}"] for number, document in enumerate(documents)}


def noisy(qrels: dict[str, list[str]], seed: int) -> dict[str, list[str]]:
    """Rankings of popular documents in random order, which ignore the query."""
    random = np.random.default_rng(seed)
    return {query: [f"d{document}" for document in random.permutation(6)[:4]] for query in qrels}


def test_the_mean_of_all_pairs_and_p_are_those_of_all_permutations() -> None:
    qrels = {"a": ["x"], "b": ["y"], "c": ["x", "z"], "d": ["w"], "e": ["z"]}
    run = {"a": ["x", "y"], "b": ["z", "y"], "c": ["z"], "d": ["x"], "e": ["y", "z", "x"]}
    values = np.empty((5, 5))
    for (row, query), (column, other) in itertools.product(enumerate(qrels), enumerate(run)):
        ranks = [rank for rank, document in enumerate(run[other], start=1) if document in qrels[query]]
        values[row, column] = 1 / ranks[0] if ranks else 0
    means = [values[range(5), order].mean() for order in itertools.permutations(range(5))]
    chance = rm.evaluate(qrels, run, "mrr").chance("mrr")
    assert chance.mean == pytest.approx(values.diagonal().mean())
    assert chance.chance_mean == pytest.approx(values.mean())
    assert chance.p == pytest.approx(np.mean(np.array(means) >= values.diagonal().mean() - 1e-12), abs=0.02)
    assert chance.n == 5


def test_a_system_that_ignores_the_query_is_caught() -> None:
    qrels = popular(60)
    constant = rm.evaluate(qrels, dict.fromkeys(qrels, ("d0", "d1", "d2")), "recall@3")
    assert constant.means["recall@3"] > 0.5
    assert constant.chance("recall@3").p == 1
    caught = [not rm.evaluate(qrels, noisy(qrels, seed), "mrr").chance("mrr").is_better for seed in range(12)]
    assert sum(caught) >= 10


def test_a_system_that_reads_the_query_is_better() -> None:
    qrels = popular(60)
    run = {query: ["d0", *documents] for query, documents in qrels.items()}
    chance = rm.evaluate(qrels, run, "mrr").chance("mrr")
    assert chance.is_better
    assert chance.chance_mean < chance.mean
    assert str(chance) == format_chance(chance)
    assert find_chance_if_not_better(rm.evaluate(qrels, run, "mrr").scores, Metric("mrr")) is None


def test_of_a_metric_of_which_less_is_better_less_is_better() -> None:
    qrels = {f"q{number}": {f"d{number}": 1, f"bad{number}": -1} for number in range(12)}
    careful = {query: [document for document, grade in judged.items() if grade > 0] for query, judged in qrels.items()}
    careless = {query: [document for document, grade in judged.items() if grade < 0] for query, judged in qrels.items()}
    assert rm.evaluate(qrels, careless, "leak@1").chance("leak@1").p == 1
    assert rm.evaluate(qrels, careful, "leak@1").chance("leak@1").p == 1  # no ranking leaks for any query


def test_passages_are_dealt_too() -> None:
    texts = [f"Section {number} explains the number {number} in full." for number in range(12)]
    qrels: Any = {f"q{number}": [rm.Quote(f"explains the number {number} in")] for number in range(12)}
    run = {f"q{number}": [rm.Retrieved(f"c{number}", texts[number])] for number in range(12)}
    chance = rm.evaluate(qrels, run, "recall@1").chance("recall@1")
    assert chance.mean == 1
    assert chance.chance_mean == pytest.approx(1 / 12)
    assert chance.is_better


def test_many_queries_are_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chance_module, "MAX_QUERIES", 25)
    qrels = popular(400)
    chance = rm.evaluate(qrels, {query: [*documents] for query, documents in qrels.items()}, "mrr").chance("mrr")
    assert (chance.n, chance.mean, chance.is_better) == (25, 1, True)


def test_queries_without_a_value_are_left_out() -> None:
    qrels: Any = {**popular(12), "none": {"d1": 0}}
    run = {query: ["d1"] for query in qrels}
    assert rm.evaluate(qrels, run, "mrr").chance("mrr").n == 12
    with pytest.raises(ValueError, match="mrr is defined for no query"):
        rm.evaluate({"none": {"d1": 0}}, run, "mrr").chance("mrr")
    with pytest.raises(ValueError, match="chance needs a metric computed from rankings"):
        rm.evaluate(qrels, run, "judged@1").chance("judged@1")


def test_a_report_and_a_lint_say_so(tmp_path: Any) -> None:
    qrels = popular(60)
    constant = dict.fromkeys(qrels, ("d0", "d1", "d2"))
    result = rm.evaluate(qrels, constant, "mrr")
    result.report(tmp_path / "report.html")
    assert "is not significantly better than chance" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert find_chance_if_not_better(rm.evaluate(popular(9), constant, "mrr").scores, Metric("mrr")) is None
    questions = rm.EvaluationSet({query: f"question {query}" for query in qrels}, qrels)
    found = [finding for finding in questions.lint(runs=constant) if finding.name == "ignores_query"]
    assert [finding.evidence["p"] for finding in found] == [1]
