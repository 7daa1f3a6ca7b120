"""A bare value in place of a list of judgments is refused, with how to make a list of it."""

from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.inputs.bare_values import MAX_SHOWN_CHARACTERS, require_no_bare_value, show_text


@pytest.mark.parametrize(
    ("judgments", "advice"),
    [
        ("d1", r"write a list: \['d1'\]"),
        ("d1; d2", r"split\(';'\)"),
        ("d1,d2", r"split\(','\)"),
        ('["d1"]', "json.loads"),
        (b"d1", r"write a list: \[b'd1'.decode\(\)\]"),
        (rm.Quote("so it is"), "bare Quote"),
    ],
)
def test_the_advice_for_a_bare_value_fits_it(judgments: Any, advice: str) -> None:
    with pytest.raises(TypeError, match=advice):
        require_no_bare_value(judgments, "query 'q'")
    with pytest.raises(TypeError, match=advice):
        rm.EvaluationSet({"q": "why?"}, {"q": judgments})


def test_long_texts_are_cut() -> None:
    assert show_text("d1") == "'d1'"
    assert len(show_text("d" * 500)) == MAX_SHOWN_CHARACTERS + len("''...")
