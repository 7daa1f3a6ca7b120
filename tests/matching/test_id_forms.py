"""Ids of one collection have the same form, however long their words and numbers are."""

import pytest

from retrieval_metrics.matching.id_forms import describe_form


@pytest.mark.parametrize(
    ("first", "second", "is_same"),
    [
        ("page5.md", "introduction.md", True),
        ("how-to-pay", "lost-and-found-7", True),
        ("550e8400-e29b-41d4", "12345678-abcd-9999", True),
        ("7", "1300", True),
        ("10", "100", True),
        ("page5.md", "page5", False),
        ("page5", "PAGE5", False),
        ("page5", "Page5", False),
        ("page 5", "page_5", False),
        ("café5", "cafe5", False),
        ("7", "007", False),
        ("7", "0", True),
        ("7", "7.0", False),
        ("d7", "d7#1", False),
    ],
)
def test_only_case_zeros_and_marks_make_a_form(first: str, second: str, *, is_same: bool) -> None:
    assert (describe_form(first) == describe_form(second)) is is_same
