"""Rules in words, and what they apply to in the smallest example."""

import pytest

from rule_cases import audit_with

NAMES = ["ndcg@3", "ndcg", "map@5", "map", "mrr@10", "precision@5", "recall@2", "f1@3", "hit_rate@1", "bpref"]


class TestExamples:
    def test_the_metric_that_differs_most_is_shown(self) -> None:
        # The reciprocal rank is 1 instead of 1/2, the hit rate 1 instead of 0.
        audit = audit_with({"q": ["a"]}, {"q": {"a": 1.0, "b": 1.0}}, ["mrr", "hit_rate@1"], ties="input")
        assert (
            "mine: equal scores stay in the order given (mrr in 1, hit_rate@1 in 1 of 1); e.g. hit_rate@1 of 'q': "
            "1.0000 vs 0.0000 (document 'a' has the same score as 1 other)"
        ) in str(audit)

    def test_the_metric_that_falls_most_is_shown(self) -> None:
        audit = audit_with({"q": ["b"]}, {"q": {"a": 1.0, "b": 1.0}}, ["mrr", "hit_rate@1"], ties="input")
        assert "e.g. hit_rate@1 of 'q': 0.0000 vs 1.0000" in str(audit)

    def test_the_example_has_the_fewest_retrieved_and_judged_documents(self) -> None:
        qrels = {"2 + 4": ["a", "b", "c", "d"], "3 + 2": ["a", "b"], "5 + 1": ["a"]}
        run = {"2 + 4": ["a", "a"], "3 + 2": ["a", "a", "x"], "5 + 1": ["a", "a", "x", "y", "z"]}
        (difference,) = audit_with(qrels, run, "map", duplicates="count").differences
        assert difference.queries == tuple(qrels)
        assert (difference.example, difference.value, difference.reference) == (
            "3 + 2",
            (1 / 1 + 2 / 2) / 2,
            (1 / 1) / 2,
        )

    @pytest.mark.parametrize(("grades", "shown"), [(5, "grades 5, 4, 3, 2, 1"), (6, "grades 6, 5, 4, 3, 2, ...")])
    def test_five_grades_are_shown(self, grades: int, shown: str) -> None:
        qrels = {"p": {"a": 9}, "q": {f"d{grade}": grade for grade in range(1, grades + 1)}}
        (difference,) = audit_with(
            qrels, {"q": ["d1", "d2"]}, "ndcg", parameters={"ndcg": {"gain": "exponential"}}
        ).differences
        assert (difference.example, difference.detail) == ("q", shown)

    def test_documents_and_groups_are_counted(self) -> None:
        qrels = {"p": [["a"]], "q": [["a", "b"], ["c"]]}
        (difference,) = audit_with(qrels, {"p": ["a"], "q": ["a", "b"]}, "recall", groups="flatten").differences
        assert (difference.value, difference.reference, difference.detail) == (2 / 3, 1 / 2, "3 documents in 2 groups")

    def test_of_repeated_documents_a_relevant_one_is_named(self) -> None:
        (difference,) = audit_with(
            {"q": {"z": 0, "a": 1}}, {"q": ["z", "z", "a", "a", "a"]}, "map", duplicates="count"
        ).differences
        assert difference.detail == "document 'a' is retrieved 3 times"
        refused = audit_with({"q": {"z": 0, "a": 1}}, {"q": ["z", "z", "a"]}, "map", duplicates="error")
        assert refused.differences[0].detail == "document 'z' is retrieved twice"
        assert refused.refused == {"standard": 0, "mine": 1}
        (unjudged,) = audit_with({"q": ["a"]}, {"q": ["x", "x", "x", "a"]}, "map", duplicates="error").differences
        assert unjudged.detail == "2 of its ranks hold duplicates"

    def test_of_tied_documents_the_one_with_the_highest_grade_is_named(self) -> None:
        run = {"q": {"a": 1.0, "b": 1.0, "x": 1.0, "c": 2.0}}
        (difference,) = audit_with({"q": {"a": 1, "b": 2}}, run, "ndcg", ties="expected").differences
        assert difference.detail == "document 'b' has the same score as 2 others"

    def test_rules_that_make_the_difference_only_together_are_one_explanation(self) -> None:
        # Ordered as given, "a" is first: one of two groups. With flat groups it is one of three documents.
        qrels = {"q": [["a", "d"], ["c"]]}
        run = {"q": {"a": 1.0, "x": 1.0}}
        (difference,) = audit_with(qrels, run, "recall@1", ties="input", groups="flatten").differences
        assert (difference.rules, difference.value, difference.reference) == (
            ("ties=input", "groups=flatten"),
            1 / 3,
            0,
        )
        assert difference.detail == "document 'a' has the same score as 1 other; 3 documents in 2 groups"
        assert ", and " in difference.meaning
