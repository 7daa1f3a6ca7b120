"""Matching options are made from a name, from a function, or from the options themselves."""

from operator import attrgetter
from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.matching.matching_options import as_matching


def test_options_are_kept_as_they_are() -> None:
    matching = rm.Matching(by="source", deduplicate=True)
    assert as_matching(matching) is matching


def test_a_name_stands_for_the_options_with_it() -> None:
    assert as_matching("source") == rm.Matching(by="source")


def test_the_key_reads_what_ids_are_compared_with() -> None:
    item = rm.Retrieved("d1", source="handbook")
    assert as_matching("id").key(item) == "d1"
    assert as_matching("source").key(item) == "handbook"
    assert as_matching(attrgetter("source")).key(item) == "handbook"


@pytest.mark.parametrize(
    "options",
    [{"by": "colour"}, {"min_quote_length": 0}, {"min_common_words": 0}, {"min_coverage": 1.1}, {"min_overlap": -0.1}],
    ids=str,
)
def test_an_invalid_option_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  (each option has its own message)
        rm.Matching(**options)
