"""Each threshold of a lint, at the border itself and one step beside it."""

from typing import Any

import pytest

import retrieval_metrics as rm
from words_apart import evidence, text

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
            (3, 4, [], [0.75]),  # less than 80 % is enough only with a relevant document in common
            (7, 10, [], [0.7]),
            (9, 13, [], []),  # 69 %
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
            return [finding["opposed"] for finding in evidence("contradicting_judgments", queries, qrels)]

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


class TestSingleQuestions:
    @pytest.mark.parametrize(
        ("question", "short"),
        [("opens vault", True), ("who opens vault", False), ("who is it", True), ("who is vault", False)],
    )
    def test_three_words_and_one_content_word_are_enough(self, question: str, short: bool) -> None:  # noqa: FBT001
        assert bool(evidence("short_question", {"q1": question}, {"q1": ["a"]})) is short

    @pytest.mark.parametrize(
        ("question", "answer", "expected"),
        [
            # 13 of 20 words in a row are 65 %.
            (text(slice(13), slice(100, 107)), text(slice(30)), [(13, 0.65)]),
            (text(slice(13), slice(100, 108)), text(slice(30)), []),
            # Without a run: 95 % of the content words, ...
            (text(slice(18, None, -1), slice(100, 101)), text(slice(30)), [(1, 0.95)]),
            (text(slice(17, None, -1), slice(100, 101)), text(slice(30)), []),
            # ... which are six or more, ...
            (text(slice(5, None, -1)), text(slice(30)), [(1, 1.0)]),
            (text(slice(4, None, -1)), text(slice(30)), []),
            # ... in a sentence of at most 60 words.
            (text(slice(5, None, -1)), f"{text(slice(10))} {'and ' * 50}", [(1, 1.0)]),
            (text(slice(5, None, -1)), f"{text(slice(10))} {'and ' * 51}", []),
        ],
    )
    def test_an_echo(self, question: str, answer: str, expected: list[tuple[int, float]]) -> None:
        echoes = evidence("echo", {"q1": question}, {"q1": ["a"]}, {"a": answer})
        assert [(echo["longest_run"], echo["share"]) for echo in echoes] == expected


class TestWholeSet:
    @pytest.mark.parametrize(
        ("sources", "effective"),
        [
            ("a" * 9, []),  # too few questions to say so
            ("a" * 10, [1.0]),
            ("abcdefghi" * 2, [9.0]),
            ("abcdefghij", []),  # ten of equal share, exactly
            ("abcdefghijk", []),
            ("aaabbbbbbb", [100 / 58]),  # 1 / (0.3^2 + 0.7^2)
        ],
    )
    def test_ten_questions_from_fewer_than_ten_documents(self, sources: str, effective: list[float]) -> None:
        rows = [
            {"id": f"q{number}", "query": f"Question number {number}?", "relevant": ["d"], "source": source}
            for number, source in enumerate(sources)
        ]
        findings = rm.EvaluationSet.from_dataset(rows).lint().named("few_sources")
        assert [finding.evidence["effective"] for finding in findings] == pytest.approx(effective)
