"""Judged metadata and sources that differ from those of results only in the type of a value are found."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from pathlib import PurePosixPath
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import pytest

import retrieval_metrics as rm
from data_warning_kinds import evaluate_silently, find_kinds, find_origin
from retrieval_metrics.matching import value_types
from retrieval_metrics.matching.near_misses import find_type_mismatches
from retrieval_metrics.matching.value_types import TypeMismatch, are_equal_as_text

OTHER_JUDGMENTS: Any = {"other": [rm.Metadata(value="same")]}
OTHER_RANKINGS: Any = {"other": [rm.Retrieved("z", metadata={"value": "same"})]}
ID = UUID(int=7)
MIDNIGHT = datetime(2024, 1, 31)  # noqa: DTZ001 (as loaders return it)


class Kind(Enum):
    GUIDE = "guide"


# One judged value and the retrieved one.
PAIRS: list[tuple[Any, Any]] = [
    ("3", 3),
    ("3.0", 3),
    ("007", 7),
    ("0.1", 0.1),
    (Decimal("0.1"), 0.1),
    ("true", True),
    ("False", False),
    ("2024-01-31", date(2024, 1, 31)),
    ("2024-01-31", MIDNIGHT),
    (date(2024, 1, 31), MIDNIGHT),
    ("2024-01-31T00:00:00Z", MIDNIGHT.replace(tzinfo=UTC)),
    (str(ID), ID),
    ("guide", Kind.GUIDE),
    ("guide", b"guide"),
    ("3", np.int64(3)),
]
# Values that are equal already, or different in whatever type they are written.
OTHER_PAIRS: list[tuple[Any, Any]] = [
    (3, 3.0),
    (np.str_("a"), "a"),
    ("3", "3.0"),
    ("3", 4),
    ("3", 3.5),
    ("None", None),
    ("nan", float("nan")),
    ("1", True),
    ("a.md", PurePosixPath("docs/a.md")),
    ("docs/a.md", PurePosixPath("docs/a.md")),
    ("1.10", 1.1),
    # Values of a number or a date that have no text, and those whose comparison has no answer.
    ("2024-01-31", pd.NaT),
    ("3", Decimal("sNaN")),
    ("9" * 5_000, 3),
    ("3", Decimal("1E+5000")),
    ("3", pd.NA),
    (pd.NA, "3"),
    ("3", np.array([3, 4])),
    ("guide", {"guide"}),
    (("a", "b"), ["b", "a"]),
]


def find_mismatches(judgment: Any, item: rm.Retrieved) -> Sequence[TypeMismatch]:
    qrels = {"q": [judgment], **OTHER_JUDGMENTS}
    run = {"q": [rm.Retrieved("x"), item], **OTHER_RANKINGS}
    origin = find_origin(qrels, run)
    return find_type_mismatches(origin.judged, origin.run)


@pytest.mark.parametrize("is_swapped", [False, True])
@pytest.mark.parametrize(("judged", "retrieved"), PAIRS)
def test_a_value_of_another_type_is_found_and_the_corrected_judgment_matches(
    judged: Any, retrieved: Any, is_swapped: bool
) -> None:
    if is_swapped:
        judged, retrieved = retrieved, judged
    item = rm.Retrieved("a", metadata={"value": retrieved, "kind": "page"})
    judgment = rm.Metadata(value=judged, kind="page")
    (mismatch,) = find_mismatches(judgment, item)
    assert (mismatch.query, mismatch.name) == ("q", "value")
    assert (mismatch.judged_value, mismatch.retrieved_value) == (judged, retrieved)
    assert not judgment.matches(item)
    if isinstance(retrieved, (Enum, bytes, np.generic)):
        assert mismatch.corrected is None
        assert judgment.matches(replace(item, metadata={"value": judged, "kind": "page"}))
    else:
        assert isinstance(mismatch.corrected, rm.Metadata)
        assert mismatch.corrected.matches(item)


@pytest.mark.parametrize(("judged", "retrieved"), OTHER_PAIRS)
def test_equal_and_different_values_are_not_found(judged: Any, retrieved: Any) -> None:
    item = rm.Retrieved("a", metadata={"value": retrieved})
    assert not find_mismatches(rm.Metadata(value=judged), item)
    assert not find_mismatches(~rm.Metadata(value=judged), item)
    assert not find_mismatches(
        rm.Metadata(value="3", kind="page"), rm.Retrieved("a", metadata={"value": 3, "kind": "table"})
    )


def test_values_that_cannot_be_compared_or_written_as_text_match_nothing() -> None:
    too_long = 10**5_000
    assert not are_equal_as_text("3", too_long)
    assert not are_equal_as_text("9" * 5_000, too_long)
    for value in (pd.NA, pd.NaT, np.array([3, 4]), Decimal("sNaN")):
        item = rm.Retrieved("a", metadata={"page": value})
        assert not rm.Metadata(page=3).matches(item)
        assert (~rm.Metadata(page=3)).matches(item)
        other_query: Any = {"other": [rm.Metadata(page="3")]}
        assert find_kinds(other_query, {"other": [item]}) == ["no_common_ids"]


def test_lists_and_tuples_and_the_sources_of_spans_are_compared_too() -> None:
    (mismatch,) = find_mismatches(rm.Metadata(tags=("a", "b")), rm.Retrieved("a", metadata={"tags": ["a", "b"]}))
    assert mismatch.corrected is None
    chunk = rm.Retrieved("a", "text", 7, 0)  # type: ignore[arg-type]
    (mismatch,) = find_mismatches(rm.Span("7", 0, 4), chunk)
    assert (mismatch.name, mismatch.corrected) == ("source", None)
    number_span = rm.Span(7, 0, 4)  # type: ignore[arg-type]
    (mismatch,) = find_mismatches(number_span, replace(chunk, source="7"))
    assert mismatch.corrected == rm.Span("7", 0, 4)
    copy = rm.Retrieved("b", metadata={"page": 3})
    assert find_mismatches(rm.Metadata(page="3"), rm.Retrieved("a", copies=(copy,)))


def test_a_negated_judgment_matches_what_has_the_value_with_another_type() -> None:
    item = rm.Retrieved("a", metadata={"tenant": 5})
    (mismatch,) = find_mismatches(~rm.Metadata(tenant="5"), item)
    assert mismatch.is_negated
    assert mismatch.corrected == ~rm.Metadata(tenant=5)
    assert not find_mismatches(~rm.Metadata(tenant=5), item)
    assert not find_mismatches(~rm.Metadata(tenant="6"), item)


def test_what_was_found_is_not_looked_at() -> None:
    items = [rm.Retrieved("a", metadata={"page": 3}), rm.Retrieved("b", metadata={"page": "3"})]
    qrels = {"q": [rm.Metadata(page="3")]}
    assert find_kinds(qrels, {"q": items}) == []
    assert find_kinds(qrels, {"q": items[:1]}) == ["no_common_ids"]
    assert find_kinds(qrels | OTHER_JUDGMENTS, {"q": items[:1], **OTHER_RANKINGS}) == ["value_types"]


def test_many_queries_are_sampled_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(value_types, "MAX_SAMPLED_QUERIES", 3)
    n_queries = 9
    qrels = {f"q{number}": [rm.Metadata(page=str(number))] for number in range(n_queries)}
    for affected, n_expected in (([0, 1, 4], 3), ([1], 0)):
        run = {}
        for number in range(n_queries):
            page = number if number in affected else -1
            run[f"q{number}"] = [rm.Retrieved("a", metadata={"page": page})]
        origin = find_origin(qrels, run)
        assert len(find_type_mismatches(origin.judged, origin.run)) == n_expected


def test_numbers_stay_and_a_comparison_that_depends_on_it_concludes_nothing() -> None:
    qrels: Any = {f"q{number}": [rm.Metadata(page=str(number))] for number in range(20)}
    runs: Any = {"text": {}, "mixed": {}}
    for number in range(20):
        runs["text"][f"q{number}"] = [rm.Retrieved("a", metadata={"page": str(number)})]
        page = number if number % 2 else str(number)
        runs["mixed"][f"q{number}"] = [rm.Retrieved("a", metadata={"page": page})]
    evaluations = {name: evaluate_silently(qrels, run) for name, run in runs.items()}
    assert [evaluation.means["mrr"] for evaluation in evaluations.values()] == [1.0, 0.5]
    comparison = rm.compare(evaluations)
    (conclusion,) = comparison.conclusions
    assert (conclusion.kind, conclusion.details.obstacle) == ("not_comparable", "near_misses")
    assert comparison.conclusions.caveats


def test_types_are_compared_in_both_directions() -> None:
    assert are_equal_as_text(3, "3")
    assert not are_equal_as_text("3", "3")
