"""Results that are evaluated already, checked as they are."""

from typing import Any

import pytest

import retrieval_metrics as rm
from pytest_retrieval_metrics import RetrievalCheck

QRELS = {f"q{number}": [f"d{number}"] for number in range(12)}
RUN = {query: ["x", *relevant] for query, relevant in QRELS.items()}
FAITHFULNESS = dict.fromkeys(QRELS, 0.9)


def evaluation() -> rm.Evaluation:
    return rm.evaluate(QRELS, RUN, ["mrr", "recall@5"]).with_scores({"faithfulness": FAITHFULNESS}, bounds=(0, 1))


def test_an_evaluation_is_checked_in_the_metrics_of_the_check(check: RetrievalCheck) -> None:
    result = check(evaluation(), at_least={"mrr": 0.4, "faithfulness": 0.8})
    assert list(map(str, result.evaluation.metrics)) == ["mrr", "faithfulness"]
    assert {verdict.outcome for verdict in result.verdicts} == {"passed"}
    with pytest.raises(pytest.fail.Exception, match=r"faithfulness below floor: 0\.900 < 0\.95"):
        check(evaluation(), at_least={"faithfulness": 0.95}, name="high")


def test_what_rankings_give_is_computed(check: RetrievalCheck) -> None:
    result = check(evaluation(), at_least={"ndcg@10": 0.5, "faithfulness": 0.8})
    assert result.evaluation.means == {"ndcg@10": pytest.approx(0.6309, abs=1e-4), "faithfulness": pytest.approx(0.9)}


def test_a_metric_that_the_result_does_not_have_is_named(check: RetrievalCheck) -> None:
    with pytest.raises(
        pytest.fail.Exception, match="no metric 'toxicity'; it has mrr, recall@5, faithfulness"
    ) as caught:
        check(evaluation(), at_least={"toxicity": 0.5})
    assert caught.value.pytrace is False
    values = rm.Evaluation.from_scores({"faithfulness": FAITHFULNESS}, bounds=(0, 1))
    with pytest.raises(pytest.fail.Exception, match="no mrr, and no rankings to compute it from; it has faithfulness"):
        check(values, at_least={"mrr": 0.5}, name="values")


def test_how_to_evaluate_is_said_where_it_is_evaluated(check: RetrievalCheck) -> None:
    options: list[dict[str, Any]] = [{"match": "source"}, {"rules": "trec_eval"}, {"clusters": None}, {"documents": {}}]
    for option in options:
        with pytest.raises(TypeError, match=f"{next(iter(option))}= says how a run is evaluated"):
            check(evaluation(), at_least={"mrr": 0.4}, **option)
    with pytest.raises(TypeError, match="queries= and rounds= are for a retriever"):
        check(evaluation(), at_least={"mrr": 0.4}, rounds=3)


def test_queries_of_a_result_have_floors(check: RetrievalCheck) -> None:
    values = rm.Evaluation.from_scores({"faithfulness": {**FAITHFULNESS, "q3": 0.1}}, bounds=(0, 1))
    with pytest.raises(pytest.fail.Exception, match="q3"):
        check(values, at_least_per_query={"faithfulness": 0.5}, at_least={"faithfulness": 0.5})
    with pytest.raises(ValueError, match="no judged query 'q33'"):
        check(values, at_least_per_query={"faithfulness": {"q33": 0.5}}, at_least={"faithfulness": 0.5}, name="other")


def test_results_that_keep_their_evaluation_are_checked_by_it(check: RetrievalCheck) -> None:
    class HostResult:
        scores = ()
        evaluation = evaluation()

    assert check(HostResult(), at_least={"mrr": 0.4}).evaluation.means["mrr"] == 0.5
