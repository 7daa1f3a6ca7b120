"""A set of too few questions, or from too few documents, is named."""

from typing import Any

import pytest

import retrieval_metrics as rm
from lint_cases import QRELS, QUERIES, SUBJECTS


class TestHowManyQuestions:
    def test_how_many_questions_a_difference_needs(self) -> None:
        (finding,) = rm.EvaluationSet(QUERIES, QRELS).lint(difference=0.3).named("too_few_questions")
        assert finding.evidence["needed"] == rm.plan(0.3, "ndcg@10").range  # one source of what is usual
        assert (finding.query, finding.evidence["questions"]) == (None, 3)

    def test_two_runs_show_how_much_questions_vary(self) -> None:
        runs = {
            "one": {f"q{number}": ["d"] if number % 4 else ["x", "d"] for number in range(40)},
            "other": {f"q{number}": ["d"] for number in range(40)},
        }
        set_of_40 = rm.EvaluationSet({query: f"question number {query}" for query in runs["one"]}, runs["other"])
        assert not set_of_40.lint(runs=runs, metric="mrr", difference=0.5).named("too_few_questions")
        (finding,) = set_of_40.lint(runs=runs, metric="mrr", difference=0.05).named("too_few_questions")
        # A quarter of the questions lose a half: s^2 = (0.25 * 0.75 * 0.5^2) * 40 / 39.
        assert finding.evidence["spread"] == pytest.approx((0.25 * 0.75 * 0.25 * 40 / 39) ** 0.5)

    @pytest.mark.parametrize("difference", [0, -0.1, 2.0, float("nan")])
    def test_a_difference_that_no_metric_can_have(self, difference: float) -> None:
        with pytest.raises(ValueError, match="difference must be"):
            rm.EvaluationSet(QUERIES, QRELS).lint(difference=difference)

    def test_questions_from_few_documents(self) -> None:
        rows = [
            {
                "id": f"q{number}",
                "query": f"Question about {word} number {number}?",
                "relevant": ["d"],
                "source": "only.md",
            }
            for number, word in enumerate(SUBJECTS)
        ]
        (finding,) = rm.EvaluationSet.from_dataset(rows).lint().named("few_sources")
        assert finding.evidence == {"sources": {"only.md": 11}, "effective": 1.0}

    def test_documents_known_from_the_corpus_alone_are_those_that_are_judged(self) -> None:
        rows = [{"query": f"Question about {word}?", "relevant": ["a.md"]} for word in SUBJECTS]
        corpus = [rm.Retrieved(f"c{number}", word, source="x/a.md") for number, word in enumerate(SUBJECTS)]
        questions = rm.EvaluationSet.from_dataset(rows)
        (finding,) = questions.lint(corpus, match="filename").named("few_sources")
        assert finding.evidence["sources"] == {"a.md": 11}
        assert "name the document of each as its source" in finding.message
        run: Any = {query: [corpus[0]] for query in questions.queries}
        assert rm.evaluate(questions, run, "mrr", match="filename").scores.clusters is None


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
