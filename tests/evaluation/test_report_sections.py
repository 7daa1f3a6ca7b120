"""The sections that reports of evaluations and of comparisons share."""

from typing import Any

import pytest

import retrieval_metrics as rm
from reported import QRELS
from retrieval_metrics.evaluation.evaluation_wording import format_unjudged
from retrieval_metrics.evaluation.query_report import QueryData, ReportOptions
from retrieval_metrics.evaluation.report_sections import cutoff_chart, outcomes_table, unjudged_sentences

JUDGED = {query: {"d": 1, "x": 0} for query in QRELS}
RANKINGS: dict[str, Any] = {"a": ("d", "y"), "b": ("y", "z", "d", "x"), "judged": ("d", "x")}
RUNS = {name: dict.fromkeys(QRELS, ranking) for name, ranking in RANKINGS.items()}


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
@pytest.mark.parametrize("unjudged", [None, "condensed"])
def test_one_sentence_tells_how_much_is_unjudged_and_what_became_of_it(unjudged: Any) -> None:
    systems = {name: rm.evaluate(JUDGED, run, "mrr@2", unjudged=unjudged).scores for name, run in RUNS.items()}
    (sentence,) = unjudged_sentences(systems)
    assert sentence == format_unjudged({"a": 0.5, "b": 1.0}, 2, is_condensed=unjudged is not None)
    (sentence,) = unjudged_sentences({"": systems["a"]})
    assert sentence == format_unjudged({"": 0.5}, 2, is_condensed=unjudged is not None)
    assert unjudged_sentences({"judged": systems["judged"]}) == []


def test_of_pieces_no_result_is_unjudged() -> None:
    run = {"q": [rm.Retrieved("a", "the first words"), rm.Retrieved("b", "others")]}
    scores = rm.evaluate({"q": [rm.Quote("first words")]}, run, "mrr@2").scores
    assert unjudged_sentences({"": scores}) == []


def test_outcomes_are_counted_by_system_most_frequent_first() -> None:
    run = {query: ["x", "d"] for query in QRELS} | {"q0": ["x"], "q1": ["x"], "q2": ["d"]}
    scores = rm.evaluate(QRELS, run, "recall@1").scores
    options = ReportOptions(queries={}, corpus={}, labels={})
    data = QueryData({"": scores}, scores.metrics, scores.metrics[0], ("", ""), options)
    table = outcomes_table(data, "number")
    assert table.header == ["relevant documents", "number"]
    assert table.rows == [["found", "1"], ["below cutoff", "9"], ["not retrieved", "2"]]


def test_what_has_no_room_is_neither_found_nor_missing() -> None:
    scores = rm.evaluate({"q": ["a", "b", "c"]}, {"q": ["a", "b", "c"]}, "recall@2").scores
    data = QueryData(
        {"": scores}, scores.metrics, scores.metrics[0], ("", ""), ReportOptions(queries={}, corpus={}, labels={})
    )
    assert outcomes_table(data).rows == [["found", "2"], ["cutoff full", "1"]]


def test_a_metric_without_a_cutoff_has_no_chart_over_it() -> None:
    scores = rm.evaluate(QRELS, RUNS["a"], ["r_precision", "ndcg"]).scores
    without, with_cutoff = scores.metrics
    assert cutoff_chart({"": scores}, without) == ""
    assert "<svg" in cutoff_chart({"": scores}, with_cutoff)
