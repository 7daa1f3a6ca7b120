"""What is missing, repeated, unjudged, tied or undefined in the data is counted."""

import math
from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.metrics.base.registry import DEFINITIONS


class TestCounts:
    @pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
    def test_a_query_whose_retriever_failed_is_missing_too(self) -> None:
        run = rm.RetrievedRun({"q1": ["a"], "q2": [], "q3": []}, {"q3": TimeoutError("slow")})
        result = rm.evaluate({"q1": ["a"], "q2": ["a"], "q3": ["a"]}, run, ["map"])
        assert (result.counts["missing"], result.counts["failed"]) == (2, 1)  # a failure retrieves nothing

    def test_a_query_that_is_not_judged_is_left_out_and_counted(self) -> None:
        result = rm.evaluate({"q1": ["a"]}, {"q1": ["a"], "q9": ["a"]}, ["map"])
        assert list(result.per_query["map"]) == ["q1"]
        assert result.counts["unjudged_queries"] == 1

    def test_a_query_without_a_relevant_document_is_undefined_and_leaves_the_mean(self) -> None:
        result = rm.evaluate({"q1": ["a"], "q2": {"a": 0}, "q3": []}, {"q1": ["a"], "q2": ["a"], "q3": ["a"]}, ["map"])
        assert math.isnan(result.per_query["map"]["q2"])
        assert result.means["map"] == 1
        assert (result.counts["no_relevant"], result.counts["scored"], result.n["map"]) == (2, 1, 1)

    def test_ties_of_judged_documents_are_counted(self) -> None:
        result = rm.evaluate(
            {"q": ["a"], "p": ["a"]}, {"q": {"a": 1.0, "b": 1.0}, "p": {"a": 2.0, "x": 1.0, "y": 1.0}}, ["mrr"]
        )
        assert result.per_query["mrr"] == {"q": 0.5, "p": 1}
        assert result.counts["ties"] == 1

    def test_documents_that_take_a_place_twice_are_counted(self) -> None:
        result = rm.evaluate({"q": ["a"], "p": ["a"]}, {"q": ["a", "a", "x", "x"], "p": ["a"]}, ["map"])
        assert result.counts["duplicates"] == 2

    def test_a_slice_counts_its_own_queries(self) -> None:
        run = {"q1": ["a", "a"], "q2": ["a"], "unjudged": ["a"]}
        result = rm.evaluate({"q1": ["a"], "q2": {"a": 0}}, run, ["map"])
        slices = result.group_by({"q1": "first", "q2": "second"})
        assert slices["first"].counts["duplicates"] == 1
        assert slices["second"].counts["no_relevant"] == 1
        assert [evaluation.counts["unjudged_queries"] for evaluation in slices.values()] == [0, 0]
        assert result.counts["unjudged_queries"] == 1


@pytest.mark.parametrize("empty", [None, "", "  "])
@pytest.mark.parametrize("match", ["source", "filename", "metadata:page", lambda item: item.source])
def test_results_without_a_value_to_match_are_counted_and_warned_of(empty: str | None, match: Any) -> None:
    first = rm.Retrieved("n1", source=empty, metadata={"page": empty})
    run: Any = {"q": [first, rm.Retrieved("n2", source="a.md", metadata={"page": "a.md"})], "p": [first]}
    with pytest.warns(rm.RetrievalWarning, match="2 of 3 results have no "):
        evaluation = rm.evaluate({"q": ["a.md"], "p": ["b.md"]}, run, "mrr", match=match)
    assert (evaluation.counts["without_match_value"], evaluation.means["mrr"]) == (2, 0.25)
    assert rm.evaluate({"q": ["n2"], "p": ["n1"]}, run, "mrr").counts["without_match_value"] == 0


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
def test_a_comparison_says_which_system_lacks_sources() -> None:
    qrels: Any = {f"q{number}": ["a.md"] for number in range(8)}
    complete: Any = {query: [rm.Retrieved("n1", source="a.md")] for query in qrels}
    lacking = complete | {"q0": [rm.Retrieved("n1")]}
    comparison = rm.compare(qrels, {"complete": complete, "lacking": lacking}, "mrr", match="source")
    assert comparison.summary[0].startswith("lacking: 1 of 8 results has no source")


def test_the_longest_ranking_is_that_of_a_judged_query_also_of_merged_evaluations() -> None:
    short = rm.evaluate({"q1": ["a"]}, {"q1": ["a", "b"], "unjudged": ["a"] * 9}, "recall@10")
    long = rm.evaluate({"q2": ["a"]}, {"q2": ["a", "b", "c"]}, "recall@10")
    assert (short.counts["longest_ranking"], long.counts["longest_ranking"]) == (2, 3)
    assert rm.merge([short, long]).counts["longest_ranking"] == 3
    assert rm.merge([short.totals(), long.totals()]).counts["longest_ranking"] == 3
    assert "no ranking has more than 2 results, so recall@10 equals recall@2; retrieve 10 or more" in str(short)
    assert rm.Evaluation.from_scores({"latency": {"q1": 1.0}}).counts["longest_ranking"] == 0


def test_a_metric_that_only_cuts_the_ranking_has_the_value_of_the_longest_ranking() -> None:
    qrels = {"q1": {"a": 2, "b": 1, "c": 1, "d": 1, "e": -1, "x": 0}, "q2": {"a": 1}, "q3": {"b": 3}}
    run = {"q1": ["x", "e", "b", "y"], "q2": ["z", "a"], "q3": []}
    names = [name for name, definition in DEFINITIONS.items() if definition.only_cuts_ranking]
    names = [name for name in names if not DEFINITIONS[name].needs_places]
    assert "recall" in names
    with pytest.warns(rm.RetrievalWarning):
        result = rm.evaluate(qrels, run, [f"{name}@{k}" for name in names for k in (4, 10)])
    for name in names:
        assert result.means[f"{name}@10"] == result.means[f"{name}@4"]
