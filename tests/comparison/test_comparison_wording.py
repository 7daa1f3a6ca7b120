"""The notes about a comparison as a whole."""

from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from golden_texts import check_golden_texts
from ranked_systems import same_ranking, systems
from retrieval_metrics.comparison.comparison_wording import (
    format_judged_shares,
    judged_coverage_note,
    judged_notes,
    largest_changes_note,
    selection_bias_notes,
)
from retrieval_metrics.comparison.judged_coverage import JudgedCoverage
from retrieval_metrics.comparison.selection_bias import SelectionBias

GOLDEN = Path(__file__).parent / "golden" / "comparison_wording.txt"
MANY_BIASES = [SelectionBias(f"m{number}", "a", 5, 0.8, 0.7) for number in range(6)]


def compare_judged(second: list[str], **options: Any) -> rm.Comparison:
    qrels = {f"q{number}": {"d": 1, "e": 0} for number in range(8)}
    runs = {"first": same_ranking(qrels, "d", "e"), "second": dict.fromkeys(qrels, second)}
    return rm.compare(qrels, runs, "mrr@2", **options)


def make_texts() -> dict[str, list[str]]:
    unequal = compare_judged(["x", "d"])
    changes = rm.compare(*systems({"a": [2, 1, 1, 4, 1], "b": [1, 4, 1, 5, 2]}), "mrr").difference("mrr")
    texts = {"q0": "What does a library card cost for somebody who lives in another town?", "q1": "q1"}
    return {
        "judged, with bounds": judged_notes(compare_judged(["x", "d"], unjudged="bounds")),
        "unequal coverage": [judged_coverage_note(unequal)],
        "unequal coverage with bounds": [judged_coverage_note(compare_judged(["x", "d"], unjudged="bounds"))],
        "condensed": [judged_coverage_note(compare_judged(["x", "d"], unjudged="condensed"))],
        "condensed, judged alike": [judged_coverage_note(compare_judged(["d", "e"], unjudged="condensed"))],
        "shares": [format_judged_shares(JudgedCoverage(10, {"a": 0.995, "b": float("nan")}, has_nonrelevant=True))],
        "selection bias": selection_bias_notes([SelectionBias("mrr", "a", 6, 0.8, 0.7)]),
        "selection bias of many metrics": selection_bias_notes(MANY_BIASES),
        "largest changes": [largest_changes_note(changes, {}), largest_changes_note(changes, texts)],
    }


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
def test_the_notes_are_those_of_the_golden_file() -> None:
    check_golden_texts(GOLDEN, make_texts())


def test_no_change_has_no_note() -> None:
    same = rm.compare(*systems({"a": [1, 2], "b": [1, 2]}), "mrr")
    assert largest_changes_note(same.difference("mrr"), {}) == ""


def test_equal_coverage_has_no_note() -> None:
    assert judged_coverage_note(compare_judged(["d", "e"])) == ""


def test_a_bias_is_noted_only_if_less_is_expected_than_was_observed() -> None:
    lower = SelectionBias("mrr", "a", 6, 0.8, 0.7)
    higher = SelectionBias("mrr", "a", 6, 0.8, 0.9)
    invisible = SelectionBias("mrr", "a", 6, 0.8, 0.79999)
    assert selection_bias_notes([higher, invisible]) == []
    assert selection_bias_notes([lower, higher]) == selection_bias_notes([lower])
    assert selection_bias_notes([higher._replace(sign=-1)]) != []
