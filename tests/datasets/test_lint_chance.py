"""Runs whose rankings answer other questions as well as their own."""

from typing import Any

from retrieval_metrics import EvaluationSet


def test_only_the_run_that_ignores_the_questions_is_found() -> None:
    judgments = {f"q{number}": ["popular" if number % 2 else f"d{number}"] for number in range(20)}
    questions = EvaluationSet({query: f"What does {query} say of it?" for query in judgments}, judgments)
    runs: Any = {"constant": dict.fromkeys(judgments, ("popular", "other")), "perfect": judgments}
    findings = [finding for finding in questions.lint(runs=runs) if finding.name == "ignores_query"]
    assert [finding.evidence["run"] for finding in findings] == ["constant"]
    assert findings[0].evidence["mean"] == findings[0].evidence["chance_mean"] == 0.5
    assert findings[0].severity == "warning"
