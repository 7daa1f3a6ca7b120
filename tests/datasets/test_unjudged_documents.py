"""Unjudged documents that every run ranks high are found."""

from typing import Any

import retrieval_metrics as rm


class TestWhatEveryRunRanksAtTheTop:
    QUESTIONS = rm.EvaluationSet({"q1": "Who may open the vault?"}, {"q1": ["d7"]})

    def find_documents(self, **runs: Any) -> list[Any]:
        return [finding.evidence["documents"] for finding in self.QUESTIONS.lint(runs=runs).named("unjudged_at_top")]

    def test_an_unjudged_document_is_reported_if_they_all_agree(self) -> None:
        assert self.find_documents(a={"q1": ["d1", "d7"]}, b={"q1": {"d7": 3.0, "d1": 2.0, "d2": 1.0}}) == [["d1"]]
        items = [rm.Retrieved("d9", "one"), rm.Retrieved("d1", "two"), rm.Retrieved("d7", "three")]
        assert self.find_documents(a={"q1": items}, b={"q1": ["d1"]}) == [["d1"]]

    def test_one_that_a_run_ranks_lower_or_one_run_alone_says_nothing(self) -> None:
        assert self.find_documents(a={"q1": ["d1", "d7"]}, b={"q1": ["d7", "d2", "d3", "d1"]}) == []
        assert self.find_documents(a={"q1": ["d1", "d7"]}) == []
        alone = self.QUESTIONS.lint(runs={"a": {"q1": ["d1", "d7"]}})
        assert any("unjudged documents at the top of all runs" in note for note in alone.skipped)

    def test_judged_as_not_relevant_is_judged(self) -> None:
        questions = rm.EvaluationSet({"q1": "Who may open the vault?"}, {"q1": {"d7": 1, "d1": 0}})
        runs = {"a": {"q1": ["d1", "d7"]}, "b": {"q1": ["d1", "d7"]}}
        assert not questions.lint(runs=runs).named("unjudged_at_top")


class TestLastRank:
    def test_the_third_rank_is_at_the_top_and_the_fourth_is_not(self) -> None:
        questions = rm.EvaluationSet({"q1": "Who may open the vault?"}, {"q1": ["d7"]})
        runs = {"a": {"q1": ["d7", "d2", "d1", "d4"]}, "b": {"q1": ["d1", "d5", "d7", "d2"]}}
        assert [finding.evidence["documents"] for finding in questions.lint(runs=runs).named("unjudged_at_top")] == [
            ["d1"]
        ]
