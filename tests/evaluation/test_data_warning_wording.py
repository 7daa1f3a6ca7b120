"""The warnings about data that are probably wrong are what the golden file holds."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import get_args

import retrieval_metrics as rm
from golden_texts import check_golden_texts
from retrieval_metrics.evaluation import data_warning_wording as wording
from retrieval_metrics.evaluation.data_warnings import (
    DataWarning,
    NearMissReport,
    TypeMismatchReport,
    UnlocatedItems,
    WarningKind,
)
from retrieval_metrics.evaluation.empty_rankings import EmptyRankings, Treatment
from retrieval_metrics.evaluation.hidden_calls import HiddenCalls
from retrieval_metrics.evaluation.id_mismatch import (
    IdMismatch,
    IdRemedy,
    IdWithin,
    JudgedPath,
    MatchedAttribute,
    OtherQuery,
    PieceMismatch,
    SpellingDifference,
)
from retrieval_metrics.evaluation.near_miss_remedy import IdChange
from retrieval_metrics.evaluation.near_queries import NearQuery
from retrieval_metrics.evaluation.shared_file_names import SharedFileName
from retrieval_metrics.evaluation.swapped_arguments import SwappedArguments
from retrieval_metrics.evaluation.unused_exclusion import UnusedExclusion
from retrieval_metrics.inputs.items import QueryTexts
from retrieval_metrics.matching.judged_columns import Unlocated
from retrieval_metrics.matching.near_misses import NearMiss
from retrieval_metrics.matching.value_types import TypeMismatch

GOLDEN = Path(__file__).parent / "golden" / "data_warning_wording.txt"

REMEDIES: list[IdRemedy | None] = [
    None,
    OtherQuery("b"),
    MatchedAttribute("a", "metadata:file"),
    SpellingDifference("A ", "a ", "case", IdChange(expression="id.casefold()")),
    JudgedPath("a.md", "docs/a.md", "id"),
    JudgedPath("a.md", "docs/a.md", "source"),
    IdWithin("a#3", "id.partition('#')[0]", is_attribute=False),
    IdWithin("a#3", "item.id.partition('#')[0]", is_attribute=True),
    SpellingDifference("uuid-1", "n1", "same_text", IdChange(is_by_text=True)),
]
UNUSED_EXCLUSIONS = [
    UnusedExclusion("spelling", "q1", "q1", "Q1", "case", is_own_id=True),
    UnusedExclusion("spelling", "q1", "d1", "d1\u200b", "invisible_characters"),
    UnusedExclusion("type", "7", "7", 7, is_own_id=True),
    UnusedExclusion("attribute", "q1", "a.md", "c1", attribute="source"),
    UnusedExclusion("attribute", "q1", "c1", "a.md", attribute="id", match=""),
    UnusedExclusion("no_value", "q1", "a.md", match="metadata:fiel"),
    UnusedExclusion("not_in_corpus", "q1", "e1"),
]
TIMEOUT = TimeoutError("slow")
ID_CHANGES = [
    IdChange(is_read_as_number=True),
    IdChange(characters=("U+200B (ZERO WIDTH SPACE)",)),
    IdChange("run", "id.rpartition('/')[2]", "filename"),
    IdChange("judgments"),
    IdChange("judgments", match="source", is_by_whole_path=True),
    IdChange("run", "id.partition('#')[0]"),
]
BY_TEXT = IdChange(is_by_text=True)


def make_empty_rankings(
    n_empty: int,
    failures: Mapping[str | int, Exception],
    *,
    is_every_query_expected: bool = True,
    treatment: Treatment | None = "zero",
    query_texts: QueryTexts | None = None,
) -> EmptyRankings:
    return EmptyRankings(
        n_empty=n_empty,
        n_expected=3,
        is_every_query_expected=is_every_query_expected,
        is_whole_run=False,
        first_query="q1",
        treatment=treatment,
        failures=failures,
        query_texts=query_texts or {},
    )


EMPTY_RANKINGS = [
    make_empty_rankings(2, {}, treatment="zero_if_higher_is_better"),
    make_empty_rankings(1, {"q1": TIMEOUT}, treatment="zero_if_higher_is_better"),
    make_empty_rankings(2, {"q1": TIMEOUT, "q2": TIMEOUT}, treatment="excluded"),
    make_empty_rankings(2, {"q1": TIMEOUT}, treatment=None),
    make_empty_rankings(1, {}, is_every_query_expected=False),
    make_empty_rankings(2, {}),
    make_empty_rankings(2, {}, treatment="skipped"),
    make_empty_rankings(1, {}, treatment="skipped"),
    make_empty_rankings(1, {"q1": TIMEOUT}),
    make_empty_rankings(2, {"q2": TIMEOUT}, treatment="skipped"),
    make_empty_rankings(2, {"q2": TIMEOUT}),
    make_empty_rankings(2, {"q1": TIMEOUT, "q2": TIMEOUT}),
    make_empty_rankings(2, {"q2": TIMEOUT}, query_texts={"q1": "Who opens the vault?", "q2": "When is payday?"}),
]


def make_near_misses(change: IdChange) -> NearMissReport:
    example = NearMiss(0, "q1", "Caf\u00e9", "Cafe\u0301", "unicode_form")
    return NearMissReport(7, 9, {"unicode_form": 5, "blanks": 2}, example, change)


def make_texts() -> dict[str, list[str]]:
    mismatches = [wording.format_id_mismatch(IdMismatch(["d0", "d1", "d2", "d3"], ["x"], each)) for each in REMEDIES]
    first = Unlocated("q", "c1", "no offsets")
    located = [
        UnlocatedItems(first, Counter({"no offsets": 2, "another source": 1}), is_nothing_judged=False),
        UnlocatedItems(first, Counter({"unchecked": 1, "wrong length": 1}), is_nothing_judged=True),
        UnlocatedItems(first, Counter({"not in the source": 1}), is_nothing_judged=True),
    ]
    other_kinds = [kind for kind in get_args(WarningKind) if kind != "unused_exclusion"]
    warnings = [DataWarning(kind, "only numbers") for kind in other_kinds]
    hidden = HiddenCalls(rm.Metric("recall", 2), 2, n_queries=1, n_with_calls=3, first_query="q1")
    return {
        "near misses": [wording.format_near_misses(make_near_misses(change)) for change in ID_CHANGES],
        "excluded relevant": [
            wording.format_excluded_relevant([("q1", "d1")]),
            wording.format_excluded_relevant([("q1", "d1"), ("q2", "d2")]),
        ],
        "unused exclusion": list(map(wording.format_unused_exclusion, UNUSED_EXCLUSIONS)),
        "without examples": [
            *map(wording.format_without_examples, warnings),
            *(wording.format_unused_exclusion(unused.without_example()) for unused in UNUSED_EXCLUSIONS),
        ],
        "near queries": [
            wording.format_near_queries([NearQuery("007", "7", "leading_zeros")], 1),
            wording.format_near_queries([NearQuery("q 1", "q\u00a01", "blanks"), NearQuery("b", "B", "case")], 3),
        ],
        "values of another type": [
            wording.format_type_mismatches(
                TypeMismatchReport(2, 3, TypeMismatch("q1", rm.Metadata(page="3"), "page", "3", 3, rm.Metadata(page=3)))
            ),
            wording.format_type_mismatches(
                TypeMismatchReport(
                    1,
                    0,
                    TypeMismatch("q1", ~rm.Metadata(tenant="5"), "tenant", "5", 5, ~rm.Metadata(tenant=5)),
                    {"q1": "Who opens the vault?"},
                )
            ),
            wording.format_type_mismatches(
                TypeMismatchReport(1, 1, TypeMismatch("q1", rm.Span("a.md", 0, 4), "source", "a.md", b"a.md", None))
            ),
        ],
        "rebuilt index": [
            wording.format_near_misses(
                NearMissReport(2, 3, {"same_text": 2}, NearMiss(0, "q1", "n1", "uuid-1", "same_text"), BY_TEXT)
            ),
            wording.format_rebuilt_index([]),
            wording.format_rebuilt_index(["bm25", "dense"]),
        ],
        "values of match=": [
            wording.format_shared_file_name(SharedFileName("README.md", 3, 1, "source")),
            wording.format_shared_file_name(SharedFileName("README.md", 2, 4, "metadata:file_path")),
            wording.format_without_match_value(1, 30, "source"),
            wording.format_without_match_value(2, 30, "metadata:page"),
            wording.format_without_match_value(1200, 3000, ""),
            wording.format_without_match_value(2, 30, "metadata:meta.file", "document_comparison_field='meta.file'"),
        ],
        "swapped arguments": [
            wording.format_swapped_arguments(SwappedArguments("q0", "x", 12.25, 2.0)),
            wording.format_swapped_arguments(SwappedArguments("q0", "x", 0.5, None)),
        ],
        "distances": [wording.format_distances()],
        "ids that do not match": [
            *mismatches,
            wording.format_id_mismatch(IdMismatch(["a"], [], None)),
            wording.format_id_mismatch(PieceMismatch([rm.Quote("a closure")])),
        ],
        "empty rankings": list(map(wording.format_empty_rankings, EMPTY_RANKINGS)),
        "line ends": [
            wording.format_line_ends([rm.Span("book", 3, 9)]),
            wording.format_line_ends([rm.Span("book", 3, 9), rm.Span("book", 20, 30)]),
        ],
        "unlocated": list(map(wording.format_unlocated_items, located)),
        "hidden calls": [wording.format_hidden_calls(hidden)],
        "of a system": [
            wording.format_system_warning("old", "the warning"),
            wording.format_system_warning("", "the warning"),
            wording.format_undecidable("old", "the warning"),
        ],
    }


def test_texts_are_the_golden_ones() -> None:
    check_golden_texts(GOLDEN, make_texts())
