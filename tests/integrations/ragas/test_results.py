"""Neither a NaN nor a dropped row can flatter a retriever."""

import math
from typing import Any

import pytest
from ragas.metrics import numeric_metric

import retrieval_metrics as rm
from ragas_retrieval_metrics import (
    MRR,
    Precision,
    to_evaluation,
)
from ragas_rows import EMPTY, RETRIEVED, UNJUDGED, WRONG_TYPE, evaluate_with_ragas

pytestmark = pytest.mark.filterwarnings("ignore:a?evaluate\\(\\) is deprecated:DeprecationWarning")


def test_a_metric_that_raised_scores_0_and_is_counted() -> None:
    result = evaluate_with_ragas([RETRIEVED, EMPTY, UNJUDGED, WRONG_TYPE], [MRR(), Precision(1)])
    assert math.isnan(result["mrr"][2])
    assert math.isnan(result["mrr"][3])
    assert repr(result) == "{'mrr': 0.5000, 'precision_at_1': 0.5000}"  # ragas: two of the four are not there
    with pytest.warns(rm.RetrievalWarning, match="1 of 4 rows failed or were dropped, for example 'wrong type'"):
        evaluation = to_evaluation(result)
    assert evaluation.means["mrr"] == pytest.approx(1 / 3)
    assert evaluation.n["mrr"] == 3
    present_issues = {key: number for key, number in evaluation.counts.items() if number}
    assert present_issues == {
        "queries": 4,
        "scored": 3,
        "missing": 2,
        "failed": 1,
        "no_relevant": 1,
        "longest_ranking": 1,
        "rankings": 2,
    }
    assert str(evaluation).splitlines()[3:] == [
        "4 queries",
        "1 query with no results, scored 0",
        "1 query on which the retriever failed, scored 0",
        "1 query without relevant documents: undefined, excluded from the means",
        "CIs from fewer than 4 queries are uninformative",
    ]


def test_two_runs_are_compared_and_kept(tmp_path: Any) -> None:
    rows = [
        {"user_input": f"q{number}", "retrieved_context_ids": ["x", "d1"], "reference_context_ids": ["d1"]}
        for number in range(30)
    ]
    better = [{**row, "retrieved_context_ids": ["d1", "x"]} for row in rows]
    first = to_evaluation(evaluate_with_ragas(rows, [MRR()]))
    second = to_evaluation(evaluate_with_ragas(better, [MRR()]))
    comparison = rm.compare({"first": first, "second": second})
    assert comparison.difference("mrr", "second", "first").mean == 0.5
    assert "second is better than first in mrr" in str(comparison)
    first.save(tmp_path / "first.json")
    again: Any = rm.load(tmp_path / "first.json")
    assert str(again.explain("q7")) == str(first.explain("q7"))


def test_only_metrics_of_retrieval_are_taken() -> None:
    result = evaluate_with_ragas([RETRIEVED], [MRR()])
    result.scores[0]["faithfulness"] = 0.9
    assert dict(to_evaluation(result).means) == {"mrr": 1.0, "faithfulness": 0.9}
    assert list(to_evaluation(result, scores=()).means) == ["mrr"]
    rows = [{"user_input": "q", "recall": 1.0, "mrr": 0.5, "response": "text"}]
    assert list(to_evaluation(rows, metrics=["recall", "mrr"]).means) == ["recall", "mrr"]
    for row_fields in (
        {},
        RETRIEVED,
    ):  # a metric of another package: the rows do not say that it is ours, or say that it is not
        with pytest.warns(rm.RetrievalWarning, match=r"not taken: recall, because .* pass metrics="):
            assert list(to_evaluation([{**row_fields, "recall": 0.25, "mrr": 1.0}]).means) == ["mrr"]
        with (
            pytest.warns(rm.RetrievalWarning, match="not taken: f1"),
            pytest.raises(ValueError, match="no column but f1 is named like a retrieval metric"),
        ):
            to_evaluation([{**row_fields, "f1": 0.25}])
    assert list(to_evaluation([RETRIEVED | {"recall": 1.0, "mrr": 1.0}]).means) == ["recall", "mrr"]
    with pytest.warns(rm.RetrievalWarning, match="not taken: f1, because"):
        columns = list(to_evaluation([RETRIEVED | {"recall": 1.0, "f1": 0.25, "mrr": 1.0}]).means)
    assert columns == ["recall", "mrr"]
    assert list(to_evaluation(rows, metrics=["mrr"]).means) == ["mrr"]
    with pytest.raises(ValueError, match="no column 'ndcg'; it has 'user_input', 'recall'"):
        to_evaluation(rows, metrics=["ndcg"])
    with pytest.raises(ValueError, match="no column of the result is named like a retrieval metric"):
        to_evaluation([{"user_input": "q", "faithfulness": 1.0}])
    with pytest.raises(ValueError, match="are the same metric; choose with metrics="):
        to_evaluation([{"mrr": 0.5, "mrr-by-texts": 0.7}])


def test_the_decorator_of_ragas_turns_errors_into_nothing_which_fails() -> None:
    @numeric_metric(name="mrr", allowed_values=(0.0, 1.0))
    def decorated(rank: int) -> float:
        return 1 / rank

    rows: list[dict[str, Any]] = [{"user_input": str(rank), "mrr": decorated.score(rank=rank)} for rank in (2, 0)]
    assert rows[1]["mrr"].value is None
    with pytest.warns(rm.RetrievalWarning, match="1 of 2 rows failed"):
        assert to_evaluation(rows).means["mrr"] == 0.25


def test_other_metrics_stand_beside_those_of_retrieval() -> None:
    rows = [RETRIEVED | {"mrr": 1.0, "faithfulness": 0.5, "id": 7}, EMPTY | {"mrr": 0.0, "faithfulness": math.nan}]
    assert list(to_evaluation(rows).means) == ["mrr"]
    with pytest.warns(rm.RetrievalWarning, match="faithfulness: 1 of 2 rows have no value"):
        evaluation = to_evaluation(rows, scores={"faithfulness": (0, 1)})
    assert (dict(evaluation.means), evaluation.n["faithfulness"]) == ({"mrr": 0.0 + 0.5, "faithfulness": 0.5}, 1)
    assert evaluation.intervals()["faithfulness"].low >= 0
    assert evaluation.explain("found").findings
    only = to_evaluation([{"user_input": "q", "faithfulness": 0.5}], scores=["faithfulness"])
    assert dict(only.means) == {"faithfulness": 0.5}
    with pytest.raises(ValueError, match="no column 'groundedness'"):
        to_evaluation(rows, scores=["groundedness"])
    with pytest.raises(TypeError, match="not a number"):
        to_evaluation([RETRIEVED | {"mrr": 1.0, "success": True}], scores=["success"])


@pytest.mark.filterwarnings("ignore:no retrieved document is judged:retrieval_metrics.RetrievalWarning")
def test_metrics_with_other_judgments_have_other_names_and_are_rebuilt_with_them() -> None:
    strict_qrels = {"found": ["d2"]}
    strict = MRR(qrels=strict_qrels)
    lenient = MRR(qrels={"found": ["d1", "d2"]})
    assert len({strict.name, lenient.name, MRR().name}) == 3
    assert strict.name == MRR(qrels={"found": ["d2"]}).name
    result = evaluate_with_ragas([RETRIEVED], [strict, lenient, MRR()])
    assert [result[metric.name] for metric in (strict, lenient, MRR())] == [[0.0], [1.0], [1.0]]
    assert dict(to_evaluation(result, metrics=[strict.name], qrels=strict_qrels).means) == {"mrr": 0.0}
    with pytest.raises(ValueError, match=r"several of the columns .* are the same metric"):
        to_evaluation(result)
    with pytest.raises(ValueError, match="is the name of a metric with judgments of its own; pass them: qrels="):
        MRR(name=strict.name)
    assert MRR(name=strict.name, qrels=strict_qrels).name == strict.name


def test_a_value_that_its_metric_cannot_have_is_refused() -> None:
    rows = [{"user_input": "a?", "mrr": 7.0}, {"user_input": "b?", "mrr": 1.0}]
    with pytest.raises(ValueError, match=r"mrr of query 'a\?' is 7, which is not in \[0, 1\]"):
        to_evaluation(rows, 2)


def test_comparing_results_of_ragas_names_the_conversion() -> None:
    results: Any = {"v1": evaluate_with_ragas([RETRIEVED], [MRR()]), "v2": evaluate_with_ragas([RETRIEVED], [MRR()])}
    with pytest.raises(TypeError, match=r"'v1' is an? EvaluationResult of Ragas.*to_evaluation\(result\)"):
        rm.compare(results)
    rm.compare({name: to_evaluation(result) for name, result in results.items()})
