"""What is missing, repeated, unjudged, tied or undefined in the data is counted."""

import math

import pytest

import retrieval_metrics as rm


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
