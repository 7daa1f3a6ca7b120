"""A record about two systems is found by its metric in any spelling, and by its systems."""

import pytest

import retrieval_metrics as rm
from ranked_systems import METRICS, drawn
from retrieval_metrics.comparison.pair_selection import require_one_pair, select_pairs
from retrieval_metrics.types import Difference


@pytest.fixture(scope="module")
def differences() -> tuple[Difference, ...]:
    return rm.compare(*drawn(10, 2, "abc"), METRICS).differences


def test_none_stands_for_any_system(differences: tuple[Difference, ...]) -> None:
    assert len(select_pairs(differences, "mrr", None, None)) == 3
    assert [difference.pair for difference in select_pairs(differences, "mrr", "c", None)] == [("c", "a"), ("c", "b")]
    assert [difference.pair for difference in select_pairs(differences, "mrr", None, "a")] == [("b", "a"), ("c", "a")]
    assert select_pairs(differences, "RR", "c", "a") == []


def test_the_metric_is_found_in_any_spelling(differences: tuple[Difference, ...]) -> None:
    difference = require_one_pair(differences, "differences", "RR", "c", "a")
    assert (difference.metric, difference.pair) == ("mrr", ("c", "a"))


def test_several_records_and_none_are_refused(differences: tuple[Difference, ...]) -> None:
    with pytest.raises(KeyError, match="3 differences match metric 'mrr'; available: b - a, c - a, c - b"):
        require_one_pair(differences, "differences", "mrr", None, None)
    with pytest.raises(KeyError, match="0 differences match metric 'map', system 'b', baseline 'a'; available: "):
        require_one_pair(differences, "differences", "map", "b", "a")
