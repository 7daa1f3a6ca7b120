"""The findings of a lint are counted and shown in rows."""

import pandas as pd
import pytest

import retrieval_metrics as rm
from lint_cases import QRELS, QUERIES, lint
from retrieval_metrics.datasets.lint_report import COLUMNS, SEVERITY_BY_FINDING
from retrieval_metrics.datasets.lint_wording import FINDING_MEANINGS


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

    def test_every_name_has_a_meaning_in_the_order_of_severity(self) -> None:
        assert list(SEVERITY_BY_FINDING) == list(FINDING_MEANINGS)
        severities = list(SEVERITY_BY_FINDING.values())
        assert severities == sorted(severities, key=("error", "warning", "note").index)
