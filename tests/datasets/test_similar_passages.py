"""Unjudged passages that resemble a relevant one are found, at the border of each threshold."""

from typing import Any

import pytest

import retrieval_metrics as rm
from lint_cases import CORPUS, QUERIES, VAULT, lint, list_serious
from words_apart import evidence, text


class TestUnjudged:
    def test_a_copy_of_a_relevant_passage_becomes_its_alternative(self) -> None:
        corpus = CORPUS | {"copy": VAULT.upper()}
        result = lint(corpus=corpus)
        assert list_serious(result) == [("unjudged_duplicate", "q1")]
        repaired: Any = result.fixed()
        assert repaired.qrels["q1"] == [{"vault": 1.0, "copy": 1.0}]
        assert rm.evaluate({"q1": repaired.qrels["q1"]}, {"q1": ["copy"]}, "recall").means["recall"] == 1
        assert list_serious(repaired.lint(corpus)) == []

    def test_a_passage_that_holds_much_of_a_relevant_one_probably_answers_too(self) -> None:
        corpus = CORPUS | {
            "older": f"The handbook of last year put it in this way. {VAULT[:100]} Much has changed since."
        }
        (finding,) = lint(corpus=corpus).named("possible_answer")
        assert (finding.query, finding.evidence["document"], finding.fix) == ("q1", "older", None)

    def test_what_is_judged_is_not_reported_whatever_its_grade(self) -> None:
        assert list_serious(lint(qrels={"q1": {"vault": 1, "copy": 0}}, corpus=CORPUS | {"copy": VAULT})) == []

    def test_passages_that_overlap_in_their_source_are_not_copies(self) -> None:
        chunks = [
            rm.Retrieved(f"c{start}", VAULT[start : start + 150], source="rules", start=start) for start in (0, 20)
        ]
        result = rm.EvaluationSet({"q1": QUERIES["q1"]}, {"q1": ["c0"]}).lint(chunks)
        assert list_serious(result) == []

    def test_the_text_of_a_span_elsewhere(self) -> None:
        corpus = CORPUS | {"older": f"It was said: {VAULT[:80]} and so on"}
        (finding,) = lint(qrels={"q1": [rm.Span("vault", 0, 80)]}, corpus=corpus).named("possible_answer")
        assert finding.evidence["document"] == "older"


class TestRewordedCopies:
    def test_a_copy_with_a_quarter_of_its_words_changed(self) -> None:
        words = VAULT.split()
        words[::4] = ["moreover"] * len(words[::4])
        result = lint(corpus=CORPUS | {"copy": " ".join(words)})
        (finding,) = result.named("possible_answer")
        assert (finding.query, finding.evidence["document"], finding.evidence["like"]) == ("q1", "copy", "vault")
        assert finding.evidence["share"] == 22 / 23  # of its words, moreover alone is not in the original

    def test_other_passages_are_none(self) -> None:
        assert lint().named("possible_answer") == []


class TestThresholds:
    def compare(self, relevant: str, unjudged: str) -> list[tuple[str, float]]:
        result = rm.EvaluationSet({"q1": "Who opens it now?"}, {"q1": ["a"]}).lint({"a": relevant, "b": unjudged})
        findings = [*result.named("unjudged_duplicate"), *result.named("possible_answer")]
        return [(finding.name, finding.evidence["share"]) for finding in findings]

    @pytest.mark.parametrize(
        ("shared", "expected"),
        [
            (4, []),
            (5, [("possible_answer", 0.5)]),
            (7, [("possible_answer", 0.7)]),
            (8, [("unjudged_duplicate", 0.8)]),
        ],
    )
    def test_half_of_the_runs_of_four_words_resemble_and_80_percent_are_a_copy(
        self, shared: int, expected: list[tuple[str, float]]
    ) -> None:
        # 13 words have 10 runs of 4.
        n_common = shared + 3
        assert self.compare(text(slice(13)), text(slice(n_common), slice(100, 113 - n_common))) == expected

    def test_passages_of_fewer_than_four_runs_resemble_none(self) -> None:
        assert self.compare(text(slice(7)), text(slice(7), slice(100, 110))) == [("unjudged_duplicate", 1.0)]
        assert self.compare(text(slice(6)), text(slice(6), slice(100, 110))) == []
        assert self.compare(text(slice(7), slice(100, 110)), text(slice(6))) == []

    @pytest.mark.parametrize(
        ("size", "n_common", "expected"),
        [
            (20, 13, [("possible_answer", 0.65)]),
            (20, 12, []),
            (12, 12, [("possible_answer", 1.0)]),  # never more than possible: the order differs
            (11, 11, []),  # so few words are shared by chance
        ],
    )
    def test_65_percent_of_twelve_or_more_rare_words(
        self, size: int, n_common: int, expected: list[tuple[str, float]]
    ) -> None:
        reordered = text(slice(n_common - 1, None, -1), slice(100, 100 + size - n_common))
        assert self.compare(text(slice(size)), reordered) == expected

    @pytest.mark.parametrize(("length", "expected"), [(40, ["b"]), (39, [])])
    def test_a_span_of_forty_characters_is_looked_for_elsewhere(self, length: int, expected: list[str]) -> None:
        source = text(slice(20))
        corpus = {"a": source, "b": f"As they say: {source[:40]} and so on"}
        answers = evidence("possible_answer", {"q1": "Who opens it?"}, {"q1": [rm.Span("a", 0, length)]}, corpus)
        assert [answer["document"] for answer in answers] == expected
