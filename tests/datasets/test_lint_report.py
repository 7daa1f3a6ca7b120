"""The findings of a lint are counted, shown in rows and fixed where that is safe."""

import copy
from typing import Any

import pandas as pd
import pytest

import retrieval_metrics as rm
from lint_cases import CORPUS, QRELS, QUERIES, VAULT, find_queries, lint
from retrieval_metrics.datasets.lint_report import COLUMNS, FINDING_KINDS


class TestResult:
    def test_a_row_per_finding(self) -> None:
        result = lint(qrels={"q1": ["valut"]})
        frame = result.to_pandas()
        assert isinstance(frame, pd.DataFrame)
        assert tuple(frame.columns) == COLUMNS
        assert len(frame) == len(result)
        assert frame["name"][0] == "unknown_document"
        assert frame["severity"][0] == "error"
        assert frame["query"][0] == "q1"

    def test_printing_shows_the_counts_the_first_findings_and_the_repairs(self) -> None:
        result = lint({"q4": QUERIES["q1"]}, {"q1": ["vault"], "q4": ["vault"]})
        for shown in (str(result), result._repr_html_(), result.to_markdown()):
            assert "duplicate_question" in shown
            assert "4 questions" in shown
            assert ".fixed()" in shown

    def test_nothing_found_prints_as_well(self) -> None:
        result = rm.types.Lint(rm.EvaluationSet(QUERIES, QRELS), [])
        assert len(result) == 0
        assert str(result).startswith("3 questions, 0 findings")

    def test_a_name_that_does_not_exist_is_an_error(self) -> None:
        with pytest.raises(ValueError, match="unknown finding 'typo'"):
            lint().named("typo")

    def test_what_is_given_is_not_changed(self) -> None:
        questions = rm.EvaluationSet(
            QUERIES | {"q4": QUERIES["q1"]}, QRELS | {"q4": ["vault"], "q2": {"coffee": 1, "tea": 0}}
        )
        before = copy.deepcopy((questions.queries, questions.qrels))
        repaired: Any = questions.lint(CORPUS | {"copy": VAULT}).fixed()
        assert (questions.queries, questions.qrels) == before
        assert isinstance(repaired, rm.EvaluationSet)
        judged: Any = repaired.qrels
        assert judged["q3"] == QRELS["q3"]
        assert len(repaired.changes) == 3
        assert questions.changes == ()

    def test_judgments_in_columns_are_linted_and_repaired_as_well(self) -> None:
        qrels = rm.Qrels(QRELS | {"q2": {"coffee": 2, "tea": 0}})
        result = rm.EvaluationSet(QUERIES, qrels).lint(CORPUS)  # type: ignore[arg-type]  # what read_qrels returns
        assert find_queries(result, "unknown_document") == ["q2"]
        assert result.fixed().qrels == {"q1": {"vault": 1}, "q2": {"coffee": 2}, "q3": {"travel": 1}}

    def test_every_name_has_a_meaning_in_the_order_of_severity(self) -> None:
        severities = [kind.severity for kind in FINDING_KINDS.values()]
        assert severities == sorted(severities, key=("error", "warning", "note").index)
