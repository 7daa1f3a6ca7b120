"""Questions that repeat another are found, exactly or nearly, and whether they are judged alike."""

from typing import Any

import pytest

from lint_cases import QRELS, QUERIES, find_queries, lint
from words_apart import evidence


class TestRepeats:
    def test_the_same_question_twice_is_taken_out_if_it_is_judged_alike(self) -> None:
        result = lint({"q4": "who is allowed to  unlock the strong room after hours"}, {"q4": ["vault"]})
        assert find_queries(result, "duplicate_question") == ["q4"]
        assert find_queries(result, "conflicting_judgments") == []
        repaired = result.fixed()
        assert repaired.queries == QUERIES
        assert repaired.qrels == QRELS
        assert "q4" in repaired.changes[0]

    def test_the_same_question_judged_otherwise_stays_and_contradicts(self) -> None:
        result = lint({"q4": QUERIES["q1"]}, {"q4": ["coffee"]})
        assert find_queries(result, "conflicting_judgments") == ["q4"]
        assert "q4" in result.fixed().queries

    def test_a_document_that_is_relevant_once_and_not_the_other_time_contradicts(self) -> None:
        result = lint({"q4": QUERIES["q1"]}, {"q1": {"vault": 2}, "q4": {"vault": 0, "travel": 1}})
        (finding,) = result.named("conflicting_judgments")
        assert finding.evidence["opposed"] == ["vault"]

    @pytest.mark.parametrize(
        "text",
        [
            "Please tell me: who is allowed to unlock the strong room after hours?",
            "Who is alowed to unlock the strong room after hours?",
            "After hours, who is allowed to unlock the strong room?",
        ],
    )
    def test_nearly_the_same_question(self, text: str) -> None:
        assert find_queries(lint({"q4": text}, {"q4": ["vault"]}), "near_duplicate_question") == ["q4"]

    @pytest.mark.parametrize(
        ("first", "second"),
        [
            ("What was the revenue of Acme in 2018?", "What was the revenue of Acme in 2019?"),
            ("What is the capital of Peru?", "What is the capital of Chile?"),
            ("Which problems are solved by direct methods?", "Which problems are solved by indirect methods?"),
            ("Which drinks may be taken into the vault?", "Which drinks may not be taken into the vault?"),
            ("When was the old bridge rebuilt?", "Why was the old bridge rebuilt?"),
        ],
    )
    def test_questions_that_differ_where_it_matters(self, first: str, second: str) -> None:
        result = lint({"q1": first, "q2": second})
        assert find_queries(result, "near_duplicate_question") == find_queries(result, "conflicting_judgments") == []


METALS = ["copper", "silver", "bronze", "nickel", "cobalt", "carbon", "radium", "helium", "sodium", "barium"]


class TestNearlyTheSameQuestion:
    def shares(self, first: str, second: str, *, shared: bool) -> list[float]:
        queries = {"q1": first, "q2": second}
        qrels = {"q1": ["a"], "q2": ["a" if shared else "b"]}
        return [finding["share"] for finding in evidence("near_duplicate_question", queries, qrels)]

    @pytest.mark.parametrize(
        ("first", "second", "alone", "shared"),
        [
            (4, 5, [0.8], [0.8]),
            (3, 4, [], [0.75]),  # less than 80% is enough only with a relevant document in common
            (7, 10, [], [0.7]),
            (9, 13, [], []),  # 69%
        ],
    )
    def test_has_80_percent_of_the_content_words_or_70_with_a_relevant_document_in_common(
        self, first: int, second: int, alone: list[float], shared: list[float]
    ) -> None:
        metals = [*METALS, "gallium", "argon", "xenon"]
        first_question = " ".join(metals[:first])
        second_question = " ".join(metals[:second])
        assert self.shares(first_question, second_question, shared=False) == alone
        assert self.shares(first_question, second_question, shared=True) == shared

    def test_contradicts_the_other_only_from_80_percent_on(self) -> None:
        def contradictions(first: int, second: int) -> list[Any]:
            queries = {"q1": " ".join(METALS[:first]), "q2": " ".join(METALS[:second])}
            qrels = {"q1": {"a": 1, "b": 1, "c": 0}, "q2": {"a": 1, "c": 1}}
            return [finding["opposed"] for finding in evidence("conflicting_judgments", queries, qrels)]

        assert contradictions(4, 5) == [["c"]]
        assert contradictions(3, 4) == []

    @pytest.mark.parametrize(("letters", "shares"), [(14, [5 / 7]), (15, [])])
    def test_has_half_of_the_trigrams_of_the_one_with_fewer(self, letters: int, shares: list[float]) -> None:
        # The short words have 2 + 4 * 3 = 14 trigrams, and a word of n letters has n.
        animals = "ox elk yak emu gnu"
        first = "bcdfghjklmnpqrtvw"[:letters]
        second = "qzxwvtrqpnmlkjhgfdcb"[:letters]
        assert self.shares(f"{animals} {first}", f"{animals} {second}", shared=True) == shares

    @pytest.mark.parametrize(
        ("word", "other", "shares"),
        [
            ("yarn", "yarm", [1.0]),  # 2 * 3 equal letters of 8
            ("plum", "pluck", []),  # 2 * 3 of 9
            ("emu", "emo", []),  # so short words differ by a letter
        ],
    )
    def test_may_have_a_typo_in_a_word_of_four_letters(self, word: str, other: str, shares: list[float]) -> None:
        begun = " ".join(METALS[:4])
        assert self.shares(f"{begun} {word}", f"{begun} {other}", shared=False) == shares
