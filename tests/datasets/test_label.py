"""A label is checked when it is made."""

import math
from typing import Any

import pytest

import retrieval_metrics as rm

PLAIN: dict[str, Any] = {"query": "q", "document": "d", "grade": 1, "grader": "Ada"}


@pytest.mark.parametrize(
    ("entries", "error"),
    [
        ({"grade": math.nan}, "not finite"),
        ({"grade": "2"}, "must have a number"),
        ({"grade": True}, "must have a number"),
        ({"grader": " "}, "must have the name of its grader"),
        ({"kind": "robot"}, "'human' or 'model'"),
        ({"query": 1.5}, "must be str or int"),
        ({"reason": 3}, "text as its reason"),
        ({"quotes": "words"}, "a list of texts"),
        ({"quotes": None}, "a list of texts"),
        ({"quotes": (text for text in ["words", " "])}, "a list of texts"),
        ({"date": "yesterday"}, "written as 2026-05-31"),
    ],
)
def test_labels_are_checked(entries: dict[str, Any], error: str) -> None:
    with pytest.raises((TypeError, ValueError), match=error):
        rm.Label(**{**PLAIN, **entries})


def test_quotes_of_a_generator_are_kept() -> None:
    assert rm.Label(**PLAIN, quotes=(text for text in ["a", "b"])).quotes == ("a", "b")  # type: ignore[arg-type]


def test_one_person_stays_one_whatever_spaces_stand_around_the_name() -> None:
    labels = rm.Labels([rm.Label(query="q", document="d", grade=2, grader=name) for name in ("Ada", " Ada ")])
    assert labels.graders == ("Ada",)
