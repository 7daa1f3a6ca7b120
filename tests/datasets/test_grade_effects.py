"""How much the grade of a document could change a difference between systems."""

import pytest

import retrieval_metrics as rm
from vault_runs import QUERIES, QUESTIONS, RUNS


def test_effects_need_two_systems_and_a_metric_whose_change_is_bounded() -> None:
    with pytest.raises(ValueError, match="needs two systems"):
        rm.pool(QUESTIONS, RUNS["bm25"], metric="mrr")
    with pytest.raises(ValueError, match="the change in map cannot be bounded without judgments"):
        rm.pool(QUERIES, RUNS, metric="map")


def test_without_judgments_an_effect_is_what_the_place_of_a_document_is_worth() -> None:
    runs = {"one": {"q1": ["a", "b"]}, "other": {"q1": ["b", "c"]}}
    effects = {item.document: item.effect for item in rm.pool({"q1": "what?"}, runs, metric="mrr")}
    assert effects == {"a": 1.0, "b": 0.5, "c": 0.5}  # 1/1 - 0; 1/1 - 1/2; 1/2 - 0


def test_without_judgments_a_document_below_the_cutoff_has_no_effect() -> None:
    runs = {"one": {"q1": ["a", "b", "c"]}, "other": {"q1": ["a", "c", "b"]}}
    effects = {item.document: item.effect for item in rm.pool({"q1": "what?"}, runs, metric="recall@2")}
    # The third place is beyond the cutoff, so b and c count in one run alone.
    assert effects == {"a": 0.0, "b": 1.0, "c": 1.0}
