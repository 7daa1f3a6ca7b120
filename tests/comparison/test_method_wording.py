"""What is said of how differences were tested, and of the columns of a comparison."""

from pathlib import Path

import pytest

import retrieval_metrics as rm
from golden_texts import check_golden_texts
from ranked_systems import systems
from retrieval_metrics.comparison.method_wording import (
    EFFECT_SIZE_MEANING,
    GLOSSARY,
    MDE_MEANING,
    design_effect_notes,
    method_notes,
)

GOLDEN = Path(__file__).parent / "golden" / "method_wording.txt"


def compare_pair() -> rm.Comparison:
    return rm.compare(*systems({"a": [2, 1, 1, 4, 1, 2, 1, 3], "b": [1, 4, 1, 5, 2, 1, 2, 2]}), "mrr")


def compare_clusters() -> rm.Comparison:
    qrels, runs = systems({"a": [2, 1, 1, 4, 1, 2, 1, 3], "b": [1, 4, 1, 5, 2, 1, 2, 2]})
    clusters = {query: f"source {number // 2}" for number, query in enumerate(qrels)}
    return rm.compare(qrels, runs, ["mrr", "hit_rate@1"], clusters=clusters, margin=0.1)


def make_texts() -> dict[str, list[str]]:
    many = rm.compare(*systems({"a": [2] * 8, "b": [1, 3] * 4, "c": [4] * 8}), "mrr", margin=0.1)
    return {
        "columns": [MDE_MEANING, EFFECT_SIZE_MEANING, *(f"{column}: {text}" for column, text in GLOSSARY.items())],
        "method": method_notes(compare_pair()),
        "method with clusters and a margin": method_notes(compare_clusters()),
        "method of many pairs": method_notes(many, has_conclusions=False),
        "design effect": design_effect_notes(compare_clusters()),
    }


@pytest.mark.filterwarnings("ignore:.*only 4 clusters:retrieval_metrics.RetrievalWarning")
def test_the_notes_are_those_of_the_golden_file() -> None:
    check_golden_texts(GOLDEN, make_texts())


def test_without_clusters_there_is_no_design_effect() -> None:
    assert design_effect_notes(compare_pair()) == []
