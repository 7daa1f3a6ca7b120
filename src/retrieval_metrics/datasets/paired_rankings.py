"""Pair the rankings of two runs of the same queries, query by query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from retrieval_metrics._internal.validation import common_id_type, require_same_id_type
from retrieval_metrics._internal.warn import warn
from retrieval_metrics.comparison.distinct_ranking import make_distinct_ranking
from retrieval_metrics.evaluation.data_warnings import distances_note
from retrieval_metrics.inputs.input_hints import wrong_argument_hint
from retrieval_metrics.matching.ranking_order import TIES_BY_ID, OrderedRankings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from retrieval_metrics._internal.plain_types import DocumentId, QueryId
    from retrieval_metrics.comparison.distinct_ranking import DistinctRanking
    from retrieval_metrics.inputs.match_key import Key
    from retrieval_metrics.matching.matching_options import Matching


# How many queries an error names as examples.
N_EXAMPLES = 3


class PairedRankings(NamedTuple):
    """The rankings of one query before and after a change."""

    before: DistinctRanking
    after: DistinctRanking

    def has_changed_first(self, depth: int) -> bool:
        """Return whether the first `depth` documents are not the same in the same order."""
        return list(self.before.documents[:depth]) != list(self.after.documents[:depth])

    def count_changed_first(self, depth: int) -> int:
        """Return how many documents entered or left the first `depth`."""
        return len(set(self.before.documents[:depth]) ^ set(self.after.documents[:depth]))


def pair_rankings(before: Any, after: Any, match: str | Key | Matching) -> dict[QueryId, PairedRankings]:
    """Return both rankings of each query of the first run."""
    _require_rankings(before, "before")
    _require_rankings(after, "after")
    query_type_before = common_id_type(set(map(type, before)), "query IDs of before")
    query_type_after = common_id_type(set(map(type, after)), "query IDs of after")
    require_same_id_type(query_type_before, "query IDs before", query_type_after, "those after")
    if not any(query in after for query in before):
        raise ValueError(
            f"no query is in both runs: before has {list(before)[:N_EXAMPLES]!r}, "
            f"after has {list(after)[:N_EXAMPLES]!r}"
        )
    _warn_about_distances(before, "before")
    _warn_about_distances(after, "after")
    rankings_before = OrderedRankings(before, match, TIES_BY_ID)
    rankings_after = OrderedRankings(after, match, TIES_BY_ID)
    distinct_before = _read_rankings(rankings_before, before)
    distinct_after = _read_rankings(rankings_after, before)
    pairs = {}
    for query in before:
        pairs[query] = PairedRankings(distinct_before[query], distinct_after[query])
    _warn_without_common_documents(_all_documents(distinct_before), _all_documents(distinct_after))
    return pairs


def _require_rankings(run: Any, name: str) -> None:
    if not hasattr(run, "items"):
        raise TypeError(
            f"{name} must map query IDs to rankings, as in {{'q1': ['d7', 'd1']}}, got "
            f"{type(run).__name__}{wrong_argument_hint(run, 'run')}"
        )
    if not run:
        raise ValueError(f"{name} holds no query")


def _warn_about_distances(run: Any, name: str) -> None:
    note = distances_note(None, run)
    if note:
        warn(f"{name}: {note}")


def _read_rankings(rankings: OrderedRankings, queries: Iterable[Any]) -> dict[QueryId, DistinctRanking]:
    return {query: make_distinct_ranking(rankings, ranking, query) for query, ranking in rankings.iterate(queries)}


def _all_documents(rankings: Mapping[QueryId, DistinctRanking]) -> set[DocumentId]:
    documents: set[DocumentId] = set()
    for ranking in rankings.values():
        documents.update(ranking.documents)
    return documents


def _warn_without_common_documents(before: set[DocumentId], after: set[DocumentId]) -> None:
    if not before or not after or before & after:
        return
    type_before = common_id_type(set(map(type, before)), "document IDs")
    type_after = common_id_type(set(map(type, after)), "document IDs")
    require_same_id_type(type_before, "document IDs before", type_after, "those after")
    warn(
        f"no document is in both runs, which hold, for example, {next(iter(before))!r} and {next(iter(after))!r}. If "
        "IDs are new after a change, say what makes two items the same: match='source', or match='metadata:<name>'"
    )
