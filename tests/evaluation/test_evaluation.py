"""The result: mappings that know aliases, exact means, text, HTML, Markdown, DataFrame."""

import math
import random
import sys
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

import retrieval_metrics as rm
from retrieval_metrics.evaluation.score_run import score_run
from retrieval_metrics.metrics.base.rules import STANDARD

QRELS = {"q1": {"a": 2, "b": 1}, "q2": ["c"]}
RUN = {"q1": ["b", "a"], "q2": ["x", "c"]}


@pytest.fixture
def result() -> rm.Evaluation:
    return rm.evaluate(QRELS, RUN, ["map", "ndcg@10", "precision(rel=2)@5"])


def test_results_are_found_under_every_spelling(result: rm.Evaluation) -> None:
    assert result.means["AP"] == result.means["map"] == result.means[rm.Metric("map")] == 0.75
    assert result.per_query["ndcg_cut_10"]["q2"] == 1 / math.log2(3)
    assert "nDCG@10" in result.means
    assert "ndcg@5" not in result.means
    assert 7 not in result.means  # type: ignore[comparison-overlap]  # the point of the line
    assert list(result.means) == ["map", "ndcg@10", "precision(rel=2)@5"]
    assert len(result.means) == 3


def test_a_metric_that_was_not_computed_is_named(result: rm.Evaluation) -> None:
    with pytest.raises(KeyError, match="mrr was not computed; computed metrics: map, ndcg@10"):
        result.means["mrr"]
    with pytest.raises(ValueError, match="did you mean mrr"):
        result.means["mmr"]


def test_means_do_not_depend_on_the_order_of_the_queries() -> None:
    rng = random.Random(1)
    queries = [f"q{number}" for number in range(500)]
    run = {}
    for query in queries:
        run[query] = [str(rng.randrange(9)) for _ in range(9)]
    shuffled = rng.sample(queries, len(queries))
    result = rm.evaluate(dict.fromkeys(queries, ("3",)), run, ["mrr", "ndcg"])
    reordered = rm.evaluate(dict.fromkeys(shuffled, ("3",)), run, ["mrr", "ndcg"])
    assert dict(result.means) == dict(reordered.means)


def test_the_text_is_an_aligned_table_with_notes(result: rm.Evaluation) -> None:
    assert str(result).splitlines() == [
        "metric               mean          95% CI  n",
        "map                 0.750  [0.123, 0.986]  2",
        f"ndcg@10             {result.means['ndcg@10']:.3f}  [0.156, 0.950]  2",
        "precision(rel=2)@5  0.200  [0.005, 0.200]  1",
        "2 queries",
        "no ranking has more than 2 results, so ndcg@10 and precision(rel=2)@5 cover only 2; retrieve 10 or more",
        "CIs from fewer than 4 queries are uninformative",
    ]


def test_the_repr_is_one_line(result: rm.Evaluation) -> None:
    assert repr(result).startswith("<Evaluation of 2 queries: map 0.750, ndcg@10 0.")


def test_markdown_and_html_hold_the_same_cells(result: rm.Evaluation) -> None:
    assert result.to_markdown().splitlines()[:3] == [
        "| metric | mean | 95% CI | n |",
        "| --- | ---: | ---: | ---: |",
        "| map | 0.750 | [0.123, 0.986] | 2 |",
    ]
    page = result._repr_html_()
    assert page.partition("</table>")[0].count("<tr>") == 4
    assert ">0.750</td>" in page
    assert "2 queries" in page


def test_html_escapes_what_is_written_into_it() -> None:
    rules = rm.Rules(name="<b>mine</b>")
    assert "&lt;b&gt;mine" in rm.evaluate(QRELS, RUN, "map", rules=rules)._repr_html_()


def test_the_residual_of_rbp_is_printed() -> None:
    result = rm.evaluate({"q": ["a"]}, {"q": ["a", "x"]}, "rbp(p=0.5)")
    assert result.residuals["rbp(p=0.5)"] == 0.5  # 1 - .5: only rank 1 is judged
    assert "rbp(p=0.5) residual 0.500" in str(result)


def test_a_dataframe_has_a_row_per_query_and_a_column_per_metric(result: rm.Evaluation) -> None:
    frame = result.to_pandas()
    assert frame.index.tolist() == ["q1", "q2"]
    assert frame.index.name == "query"
    assert frame["map"].tolist() == [1, 0.5]
    assert math.isnan(frame["precision(rel=2)@5"]["q2"])
    assert isinstance(frame, pd.DataFrame)


def test_without_pandas_the_error_holds_the_command(result: rm.Evaluation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"pip install 'retrieval-metrics\[pandas\]'"):
        result.to_pandas()


def test_values_cannot_be_written_to() -> None:
    result = rm.evaluate({"q": ["a"]}, {"q": ["a"]}, "mrr", ties="expected")
    assert {column for column, _ in result.scores.columns} == {"value", "lowest", "highest"}
    for array in (result.values, *result.scores.columns.values()):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.5
    assert result.means["mrr"] == 1


def test_the_largest_grade_of_the_whole_is_not_written_into_the_judgments_of_a_part() -> None:
    truth = rm.Qrels({"q": {"a": 2}})
    metric = rm.Metric.parse("rbp(p=0.5)")
    scores = score_run(truth, {"q": ["a"]}, [metric], STANDARD, scale=8.0)
    assert scores.per_query["rbp(p=0.5)"]["q"] == 0.5 * 2 / 8
    assert truth.largest_grade == 2


JUDGED: Any = {"q1": {"a": 1, "b": 2}, "q2": {"c": 1}, "q3": {"d": 0}}
RETRIEVED: Any = {"q1": ["x", "b"], "q2": ["c"], "q3": ["e"]}


def test_evaluations_with_the_same_numbers_are_equal_whatever_they_were_computed_from() -> None:
    result = rm.evaluate(JUDGED, RETRIEVED, ["mrr", "ndcg"])
    assert result == rm.evaluate(JUDGED, {**RETRIEVED, "q1": ["y", "b"]}, ["mrr", "ndcg"])
    assert len({result, rm.evaluate(JUDGED, RETRIEVED, ["mrr", "ndcg"])}) == 1
    assert result != "an evaluation"


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
@pytest.mark.parametrize(
    "other",
    [
        lambda: rm.evaluate(JUDGED, {**RETRIEVED, "q1": ["b"]}, ["mrr", "ndcg"]),
        lambda: rm.evaluate(JUDGED, RETRIEVED, ["mrr"]),
        lambda: rm.evaluate(JUDGED, RETRIEVED, ["ndcg", "mrr"]),
        lambda: rm.evaluate({**JUDGED, "q3": {"d": 1}}, RETRIEVED, ["mrr", "ndcg"]),
        lambda: rm.evaluate(JUDGED, RETRIEVED, ["mrr", "ndcg"], rules="trec_eval"),
        lambda: rm.evaluate(JUDGED, RETRIEVED, ["mrr", "ndcg"], clusters={"q1": 1, "q2": 1, "q3": 2}),
        lambda: rm.merge([rm.evaluate(JUDGED, RETRIEVED, ["mrr", "ndcg"], clusters=None).totals()]),
    ],
    ids=["values", "metrics", "their order", "what is undefined", "rules", "clusters", "totals"],
)
def test_evaluations_that_differ_in_anything_are_not_equal(other: Callable[[], rm.Evaluation]) -> None:
    assert rm.evaluate(JUDGED, RETRIEVED, ["mrr", "ndcg"]) != other()


def test_scores_of_others_with_other_bounds_are_not_equal() -> None:
    scores = {"faithfulness": {"q1": 0.5, "q2": 0.7}}
    assert rm.Evaluation.from_scores(scores, bounds=(0, 1)) == rm.Evaluation.from_scores(scores, bounds=(0, 1))
    assert rm.Evaluation.from_scores(scores, bounds=(0, 1)) != rm.Evaluation.from_scores(scores, bounds=(0, 2))


def test_only_the_record_of_an_evaluation_is_wrapped() -> None:
    with pytest.raises(TypeError, match=r"what evaluate\(qrels, run\) computed, got dict; .* Evaluation.from_scores"):
        rm.Evaluation({"mrr": {"q": 1.0}})  # type: ignore[arg-type]


def test_counts_that_are_changed_are_a_copy(result: rm.Evaluation) -> None:
    result.counts["missing"] += 5
    assert result.counts["missing"] == result.scores.counts["missing"]
