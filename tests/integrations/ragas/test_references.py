"""Judgments that are passed to a metric, by the text of the query."""

import math
from typing import Any

import pytest
from ragas import EvaluationDataset, evaluate

import retrieval_metrics as rm
from ragas_retrieval_metrics import MRR, NDCG, Recall, RetrievalMetric

pytestmark = pytest.mark.filterwarnings("ignore:a?evaluate\\(\\) is deprecated:DeprecationWarning")


RANKING = ["d1", "d3", "d7", "d2", "d9"]


def value(metric: RetrievalMetric, retrieved: Any, reference: Any, **fields: Any) -> float:
    result = metric.score(retrieved_context_ids=retrieved, reference_context_ids=reference, **fields)
    score: float = result.value
    return score


def test_grades_and_groups_for_all_rows_through_evaluate() -> None:
    qrels = {"graded": {"d7": 3, "d1": 1}, "grouped": [["d1", "d2"], ["x"]]}
    rows = [{"user_input": query, "retrieved_context_ids": RANKING} for query in qrels]
    dataset = EvaluationDataset.from_list(rows)
    ndcg = NDCG(10, qrels=qrels)  # type: ignore[arg-type]  # queries with judgments of two kinds
    recall = Recall(qrels=qrels)  # type: ignore[arg-type]  # as above
    result: Any = evaluate(dataset, [ndcg, recall], show_progress=False)
    expected = rm.evaluate(qrels, dict.fromkeys(qrels, RANKING), ["ndcg@10", "recall"])  # type: ignore[arg-type]  # as above
    assert result[ndcg.name] == list(expected.per_query["ndcg@10"].values())
    assert result[recall.name] == [1.0, 0.5]


def test_qrels_win_over_the_columns() -> None:
    assert value(MRR(qrels={"q": ["d3"]}), RANKING, ["d1"], user_input="q") == 1 / 2


def test_qrels_come_in_every_form_and_are_not_changed_later() -> None:
    qrels = {"what is a cell?": {"d3": 2}}
    questions = rm.EvaluationSet.from_dataset([{"id": "q1", "query": "what is a cell?", "relevant": {"d3": 2}}])
    for given_as in (qrels, rm.Qrels(qrels), questions):
        metric = MRR(qrels=given_as)
        assert value(metric, RANKING, None, user_input="what is a cell?") == 1 / 2
    metric = MRR(qrels=qrels)
    qrels["what is a cell?"] = {"d9": 1}
    assert value(metric, RANKING, None, user_input="what is a cell?") == 1 / 2


def test_two_questions_with_one_text_and_different_answers_are_refused() -> None:
    rows = [{"id": "a", "query": "same", "relevant": ["d1"]}, {"id": "b", "query": "same", "relevant": ["d2"]}]
    with pytest.raises(ValueError, match="two queries with different judgments have the same text 'same'"):
        MRR(qrels=rm.EvaluationSet.from_dataset(rows))


def test_a_query_the_qrels_do_not_know_is_unjudged_and_said_so() -> None:
    metric = MRR(qrels={"q1": ["d1"]})
    with pytest.warns(rm.RetrievalWarning, match=r"has no user_input 'what\?'.* begin with 'q1'"):
        assert math.isnan(value(metric, RANKING, None, user_input="what?"))
    with pytest.raises(ValueError, match="qrels= is keyed by user_input, which this row does not have"):
        value(metric, RANKING, None)


def test_the_scale_is_that_of_all_judgments() -> None:
    qrels = {"q1": {"d1": 1}, "q2": {"d1": 4}}
    expected = rm.evaluate(qrels, {"q1": ["d1"], "q2": ["d1"]}, ["err@10", "rbp"]).per_query
    for name in ("err@10", "rbp"):
        metric = RetrievalMetric(name, qrels=qrels)
        for query in qrels:
            assert value(metric, ["d1"], None, user_input=query) == expected[name][query]


def test_what_is_compared_with_qrels_is_what_they_hold() -> None:
    row: dict[str, Any] = {"user_input": "q", "retrieved_contexts": ["one", "two"], "retrieved_context_ids": ["a", "b"]}
    assert MRR(qrels={"q": ["b"]}).score(**row).value == 0.5
    assert MRR(qrels={"q": [rm.Text("one")]}).score(**row).value == 1.0
    with pytest.raises(ValueError, match="no retrieved_context_ids, which by='auto' compares with its judgments"):
        NDCG(qrels={"q": ["b"]}).score(**{**row, "retrieved_context_ids": None})
