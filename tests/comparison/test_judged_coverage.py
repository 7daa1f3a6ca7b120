"""A system that is judged much less than another is named."""

from math import nan

import pytest

from retrieval_metrics.comparison.judged_coverage import JudgedCoverage


@pytest.mark.parametrize(
    ("shares", "least_judged"),
    [
        ({"a": 0.9, "b": 0.5}, "b"),
        ({"a": 0.5, "b": 0.45}, None),
        ({"a": 0.9, "b": nan, "c": 0.3}, "c"),
        ({"a": nan, "b": nan}, None),
        ({"a": 0.2, "b": nan}, None),
    ],
)
def test_the_least_judged_system_is_named_only_if_the_gap_is_large(
    shares: dict[str, float], least_judged: str | None
) -> None:
    assert JudgedCoverage(10, shares, has_nonrelevant=True).least_judged == least_judged


def test_where_only_relevant_documents_are_judged_a_gap_says_nothing() -> None:
    shares = {"a": 0.9, "b": 0.5}
    assert JudgedCoverage(10, shares, has_nonrelevant=True).is_unbalanced
    assert not JudgedCoverage(10, shares, has_nonrelevant=False).is_unbalanced
