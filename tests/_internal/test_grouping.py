"""Pairs are grouped by their first value, in the order in which each occurs first."""

from retrieval_metrics._internal.grouping import group_pairs


def test_values_keep_their_order_and_names_that_of_their_first_occurrence() -> None:
    pairs = [("b", 1), ("a", 2), ("b", 3), ("a", 2)]
    grouped = group_pairs(pairs)
    assert list(grouped.items()) == [("b", [1, 3]), ("a", [2, 2])]


def test_no_pairs_are_no_groups() -> None:
    assert group_pairs([]) == {}
