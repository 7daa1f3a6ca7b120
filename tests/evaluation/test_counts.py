"""What the data have of queries, repeats and ties is counted, and said in words."""

import math

import pytest

import retrieval_metrics as rm


class TestCounts:
    @pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
    def test_a_query_whose_retriever_failed_is_not_told_twice(self) -> None:
        run = rm.RetrievedRun({"q1": ["a"], "q2": [], "q3": []}, {"q3": TimeoutError("slow")})
        result = rm.evaluate({"q1": ["a"], "q2": ["a"], "q3": ["a"]}, run, ["map"])
        assert (result.counts["missing"], result.counts["failed"]) == (2, 1)  # a failure retrieves nothing
        lines = str(result).splitlines()
        assert "1 with nothing retrieved, scored 0" in lines
        assert "1 for which the retriever failed, scored 0" in lines

    def test_a_query_that_is_not_judged_is_left_out_and_counted(self) -> None:
        result = rm.evaluate({"q1": ["a"]}, {"q1": ["a"], "q9": ["a"]}, ["map"])
        assert list(result.per_query["map"]) == ["q1"]
        assert result.counts["unjudged_queries"] == 1
        assert "1 in the run but not judged, left out" in str(result)

    def test_a_query_without_a_relevant_document_is_undefined_and_leaves_the_mean(self) -> None:
        result = rm.evaluate({"q1": ["a"], "q2": {"a": 0}, "q3": []}, {"q1": ["a"], "q2": ["a"], "q3": ["a"]}, ["map"])
        assert math.isnan(result.per_query["map"]["q2"])
        assert result.means["map"] == 1
        assert (result.counts["no_relevant"], result.counts["scored"], result.n["map"]) == (2, 1, 1)
        assert "2 without a relevant document, undefined and out of the means" in str(result)

    def test_ties_of_judged_documents_are_counted(self) -> None:
        result = rm.evaluate(
            {"q": ["a"], "p": ["a"]}, {"q": {"a": 1.0, "b": 1.0}, "p": {"a": 2.0, "x": 1.0, "y": 1.0}}, ["mrr"]
        )
        assert result.per_query["mrr"] == {"q": 0.5, "p": 1}
        assert result.counts["ties"] == 1
        assert "1 in which a judged document ties with another" in str(result)

    def test_no_judged_document_anywhere_is_warned_of(self) -> None:
        with pytest.warns(rm.RetrievalWarning, match=r"none of the retrieved documents is judged .*'doc-1'.*'doc-1#"):
            rm.evaluate({"q": ["doc-1"]}, {"q": ["doc-1#chunk-4"]}, ["map"])
        with pytest.warns(rm.RetrievalWarning, match="none of the retrieved documents is judged"):
            rm.evaluate({"q": ["doc-1"]}, {"q": ["doc-1#chunk-4"]}, ["map"], unjudged="condensed")

    def test_where_nothing_came_back_no_ids_are_doubted(self) -> None:
        with pytest.warns(rm.RetrievalWarning) as caught:
            rm.evaluate({"q": ["doc-1"]}, {"q": []}, ["map"])
        assert [str(one.message) for one in caught] == [
            "nothing was retrieved for 1 of 1 judged queries, for example 'q'; they score 0"
        ]
