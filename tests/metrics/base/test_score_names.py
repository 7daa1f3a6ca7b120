"""The names under which hosts keep scores: every choice that is not the usual one is part of it."""

from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.metrics.base.score_names import scored_name

USUAL = {"match": "id", "max_grade": None, "rules": "standard"}


def count_words(text: str) -> int:
    return len(text.split())


@pytest.mark.parametrize(
    ("chosen", "name"),
    [
        ({}, "mrr"),
        ({"match": "id", "max_grade": None}, "mrr"),
        ({"max_grade": 4, "rules": "trec_eval"}, "mrr-max_grade-4-rules-trec_eval"),
        ({"match": count_words}, "mrr-match-count_words"),
        ({"match": "metadata:a/b"}, "mrr-match-metadata:a_b"),
        ({"match": rm.Matching()}, "mrr"),
        ({"match": rm.Matching(deduplicate=True)}, "mrr-match-id deduplicate True"),
        ({"match": rm.Matching(sources={"s": "a text"})}, "mrr-match-id sources"),
    ],
)
def test_unusual_choices_are_named(chosen: dict[str, Any], name: str) -> None:
    assert scored_name("mrr", chosen, USUAL) == name


def test_a_prefix_replaces_them() -> None:
    assert scored_name("mrr", {"max_grade": 4}, USUAL, prefix="reranked ") == "reranked mrr"
    with pytest.raises(TypeError, match=r"prefix must be a text, got 3 \(int\)"):
        scored_name("mrr", {}, USUAL, prefix=3)  # type: ignore[arg-type]  # what a user may do
