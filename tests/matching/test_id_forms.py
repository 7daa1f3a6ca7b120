"""Ids of one collection have the same form, however long their words and numbers are."""

import pytest

from retrieval_metrics.matching.id_forms import describe_form


@pytest.mark.parametrize(
    ("first", "second", "is_same"),
    [
        ("page5.md", "introduction1234.md", True),
        ("7", "1300", True),
        ("Zürich 1", "Ōsaka 99", True),
        ("10", "100", True),
        ("page5.md", "page5", False),
        ("page5", "PAGE5", False),
        ("page5", "Page5", False),
        ("7", "007", False),
        ("7", "0", True),
        ("7", "7.0", False),
        ("d7", "d7#1", False),
    ],
)
def test_words_and_numbers_are_not_told_from_others_of_their_kind(first: str, second: str, *, is_same: bool) -> None:
    assert (describe_form(first) == describe_form(second)) is is_same
