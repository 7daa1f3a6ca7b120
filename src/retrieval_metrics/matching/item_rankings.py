"""Join judgments and rankings of items, which carry texts, positions and metadata besides ids."""

from __future__ import annotations

from collections.abc import Mapping
from operator import countOf
from reprlib import repr as shortened
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from retrieval_metrics.inputs.items import Retrieved
from retrieval_metrics.inputs.pieces import Metadata, Quote, Span, Text
from retrieval_metrics.inputs.ranking_checks import as_list, is_missing_id
from retrieval_metrics.matching.budget import Lengths
from retrieval_metrics.matching.covered_characters import CoveredCharacters
from retrieval_metrics.matching.exact_ids import MissingId, judge_by_id
from retrieval_metrics.matching.id_rule import IdRule
from retrieval_metrics.matching.judged_columns import Duplicates
from retrieval_metrics.matching.judged_run import JudgedRun
from retrieval_metrics.matching.metadata_rule import MetadataRule
from retrieval_metrics.matching.piece_hits import PieceHits
from retrieval_metrics.matching.quote_rule import QuoteRule
from retrieval_metrics.matching.ranking_order import TIES_AS_GIVEN
from retrieval_metrics.matching.span_offsets import SpanLocator
from retrieval_metrics.matching.span_rule import SpanRule
from retrieval_metrics.matching.text_rule import TextRule

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from retrieval_metrics._internal.plain_types import QueryId
    from retrieval_metrics.inputs.items import RunMapping
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.matching.matching_options import Matching

    ItemsByQuery = dict[QueryId, Sequence[Retrieved]]


# Values of items that hold several, none of which is the one to compare.
COLLECTIONS = frozenset({list, dict, set, np.ndarray})


class PieceRule(Protocol):
    """A rule that decides which items satisfy one kind of piece."""

    def find(self, query: int, ranking: Sequence[tuple[int, Retrieved]], hits: PieceHits) -> None:
        """Record which items of a ranking satisfy which pieces of a query.

        Args:
            query: The position of the query.
            ranking: The items with their ranks, without those that repeat an earlier one; the copies of an item follow
                it at its rank.
            hits: What to record in.
        """


def judge_items(qrels: Qrels, run: RunMapping, matching: Matching, calls: Mapping[QueryId, Sequence[int]]) -> JudgedRun:
    """Find the items that satisfy the judgments of every query."""
    rankings = _read_items(qrels, run, matching)
    needs_ids = qrels.document_kind is not None or not qrels.has_pieces
    ids: dict[Any, list[Any]] = {}
    if needs_ids or matching.deduplicate:
        ids = _read_ids(rankings, matching)
    if matching.deduplicate:
        calls = {query: _keep_first(ids[query], numbers) for query, numbers in calls.items() if query in ids}
        rankings = {query: _keep_first(ids[query], items) for query, items in rankings.items()}
        ids = {query: list(dict.fromkeys(item_ids)) for query, item_ids in ids.items()}
    lengths = Lengths(qrels.queries, rankings, matching.count_tokens, calls)
    if not qrels.has_pieces and not (matching.by == "id" and _contain_judged_ids(qrels, rankings)):
        judged = judge_by_id(qrels, ids, TIES_AS_GIVEN, lengths)  # items are listed in rank order
    else:
        judged = _judge_pieces(qrels, rankings, matching, lengths)
    if needs_ids:
        for item_ids in ids.values():
            judged.without_match_value += countOf(map(type, item_ids), MissingId)
    return judged


def _read_items(qrels: Qrels, run: RunMapping, matching: Matching) -> ItemsByQuery:
    """Return the items of every judged query that is in the run; raise if a ranking holds anything else."""
    rankings: ItemsByQuery = {}
    ranking_by_query: Mapping[Any, Any] = run
    for query in qrels.queries:
        if query not in ranking_by_query:
            continue
        ranking = ranking_by_query[query]
        if isinstance(ranking, Mapping):
            if ranking:
                raise TypeError(
                    f"the ranking of query {query!r} maps IDs to scores, but {_reason_for_items(qrels, matching)}; "
                    "pass a list of Retrieved(id, text=..., source=...), best first"
                )
            ranking = []
        items = as_list(ranking, query)
        if not set(map(type, items)) <= {Retrieved}:  # one look at all, and rarely one at each
            _require_items(items, query, _reason_for_items(qrels, matching))
        rankings[query] = items
    return rankings


def _require_items(elements: Sequence[Any], query: QueryId, reason: str) -> None:
    for element in elements:
        if not isinstance(element, Retrieved):
            raise TypeError(
                f"the ranking of query {query!r} holds {shortened(element)}, but {reason}; pass "
                "Retrieved(id, text=..., source=...) for every item"
            )


def _reason_for_items(qrels: Qrels, matching: Matching) -> str:
    """Return why every item must be a Retrieved, as the rest of a sentence."""
    if qrels.has_pieces:
        return "the judgments need texts, sources or metadata"
    if matching.by != "id":
        return "match= needs texts, sources or metadata"
    return "match=Matching(...), or another item that is a Retrieved, requires every item to be one"


def _read_ids(rankings: ItemsByQuery, matching: Matching) -> dict[Any, list[Any]]:
    """Return the id of every item under the matching; an item without one gets an id that equals nothing."""
    key = matching.key
    ids: dict[Any, list[Any]] = {}
    queries_without_id = []
    has_any_id = False
    for query, items in rankings.items():
        item_ids: list[Any] = list(map(key, items))
        if matching.by != "id":
            _require_single_values(item_ids, query, matching)
            # A blank source or value of a function names nothing.
            item_ids = ["" if isinstance(item_id, str) and item_id.isspace() else item_id for item_id in item_ids]
        n_missing = 0
        if None in item_ids or "" in item_ids:  # rarely, and one look at all takes less time than one at each
            n_missing = sum(map(is_missing_id, item_ids))
        has_any_id = has_any_id or n_missing < len(item_ids)
        if n_missing:
            queries_without_id.append(query)
            item_ids = [MissingId() if is_missing_id(item_id) else item_id for item_id in item_ids]
        ids[query] = item_ids
    if not queries_without_id:
        return ids
    if matching.by == "id":
        raise ValueError(
            f"an item in the ranking of query {queries_without_id[0]!r} has no ID; match by 'source' or "
            "'metadata:<name>' or a callable, or judge by Quote, Text or Span"
        )
    if not has_any_id:
        first_item = _find_first_item(rankings.values())
        raise ValueError(f"no retrieved item has a value for match={str(matching)!r}; the first is {first_item!r}")
    return ids


def _require_single_values(values: Sequence[Any], query: QueryId, matching: Matching) -> None:
    """Raise if a value that is compared with judged ids holds several."""
    if COLLECTIONS.isdisjoint(map(type, values)):
        return
    for value in values:
        if type(value) in COLLECTIONS:
            raise TypeError(
                f"match={str(matching)!r} gives {shortened(value)} ({type(value).__name__}) for an item of query "
                f"{query!r}; a value must be text or a whole number, so pass a function that chooses one"
            )


def _find_first_item(rankings: Iterable[Sequence[Retrieved]]) -> Retrieved | None:
    for items in rankings:
        if items:
            return items[0]
    return None


def _keep_first(ids: Sequence[Any], values: Sequence[Any]) -> list[Any]:
    """Return the value at the first rank of each id."""
    value_by_id = dict(zip(reversed(ids), reversed(values), strict=True))
    return [value_by_id[item_id] for item_id in dict.fromkeys(ids)]


def _judge_pieces(qrels: Qrels, rankings: ItemsByQuery, matching: Matching, lengths: Lengths) -> JudgedRun:
    hits = PieceHits(qrels)
    locator = SpanLocator(matching.sources)
    judged_types = set(map(type, qrels.documents))
    retrieved_sources = _find_sources(rankings) if Span in judged_types else set()
    span_rule = SpanRule(qrels, matching, hits, locator, retrieved_sources)
    rules: list[PieceRule] = []
    if Span in judged_types:
        rules.append(span_rule)
    if Quote in judged_types:
        rules.append(QuoteRule(qrels, matching))
    if Text in judged_types:
        rules.append(TextRule(qrels, matching, hits))
    if Metadata in judged_types:
        rules.append(MetadataRule(qrels))
    if qrels.document_kind is not None:
        rules.append(IdRule(qrels, matching))
    n_retrieved = np.zeros(len(qrels), dtype=np.int64)
    duplicate_queries: list[int] = []
    duplicate_ranks: list[int] = []
    for position, query in enumerate(qrels.queries):
        items = rankings.get(query, ())
        n_retrieved[position] = len(items)
        distinct = _list_distinct(items)
        if len(distinct) < len(items):
            distinct_ranks = {rank for rank, _ in distinct}
            repeated_ranks = [rank for rank in range(1, len(items) + 1) if rank not in distinct_ranks]
            duplicate_queries += [position] * len(repeated_ranks)
            duplicate_ranks += repeated_ranks
        passages = _with_copies(distinct)
        for rule in rules:
            rule.find(position, passages, hits)
    return JudgedRun(
        qrels,
        hits.items(),
        n_retrieved,
        Duplicates(
            np.array(duplicate_queries, dtype=np.int64),
            np.array(duplicate_ranks, dtype=np.int64),
            np.full(len(duplicate_ranks), -1, dtype=np.int64),
        ),
        piece_ranks=hits.ranks(),
        new_coverage=hits.find_new_coverage(),
        covered=None if np.isnan(hits.size).all() else CoveredCharacters(hits, rankings, locator),
        lengths=lengths,
        unlocated=span_rule.unlocated,
        line_ending_spans=span_rule.line_ending_spans,
        invalid_offsets=locator.invalid_offsets,
        ambiguous_locations=locator.ambiguous_locations,
    )


def _contain_judged_ids(qrels: Qrels, rankings: ItemsByQuery) -> bool:
    """Return whether an item contains a judged chunk, so that one rank can hold several judged ids."""
    for position, query in enumerate(qrels.queries):
        contained: set[Any] = set()
        for item in rankings.get(query, ()):
            if item.contains:
                contained.update(item.contains)
        if contained and not contained.isdisjoint(qrels.documents[qrels.bounds[position] : qrels.bounds[position + 1]]):
            return True
    return False


def _find_sources(rankings: ItemsByQuery) -> set[str | None]:
    """Return the sources that the items name."""
    sources: set[str | None] = set()
    for items in rankings.values():
        for item in items:
            sources.update(copy.source for copy in (item, *item.copies))
    return sources


def _list_distinct(items: Sequence[Retrieved]) -> list[tuple[int, Retrieved]]:
    """Return the items with their ranks, leaving out those that repeat the id, text and start of an earlier one."""
    seen: set[Any] = set()
    distinct = []
    for rank, item in enumerate(items, start=1):
        # Another passage under the same id, such as a highlight, is kept, because it can hold a piece.
        passage = item.id, item.text, item.start
        if item.id is None or passage not in seen:
            seen.add(passage)
            distinct.append((rank, item))
    return distinct


def _with_copies(ranking: list[tuple[int, Retrieved]]) -> list[tuple[int, Retrieved]]:
    """Return the items with their ranks, each followed by its copies."""
    if not any(item.copies for _, item in ranking):
        return ranking
    passages = []
    for rank, item in ranking:
        passages.append((rank, item))
        passages.extend((rank, copy) for copy in item.copies)
    return passages
