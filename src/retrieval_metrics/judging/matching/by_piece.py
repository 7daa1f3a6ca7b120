"""Join judgments and rankings of items that carry texts, positions and metadata."""

from __future__ import annotations

from collections.abc import Mapping
from reprlib import repr as shortened
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from retrieval_metrics.checks import ROWS_OF_ITEMS, argument, in_python
from retrieval_metrics.inputs.items import Metadata, Quote, Retrieved, Span, Text
from retrieval_metrics.inputs.run import as_list
from retrieval_metrics.judging.by_id import NoId, judge_by_id
from retrieval_metrics.judging.judged_rows import Repeats
from retrieval_metrics.judging.judged_run import JudgedRun
from retrieval_metrics.judging.matching.budget import Lengths
from retrieval_metrics.judging.matching.covered import CoveredCharacters
from retrieval_metrics.judging.matching.keys import IdRule, MetadataRule
from retrieval_metrics.judging.matching.piece_hits import PieceHits
from retrieval_metrics.judging.matching.places import Locator
from retrieval_metrics.judging.matching.quotes import QuoteRule
from retrieval_metrics.judging.matching.spans import SpanRule
from retrieval_metrics.judging.matching.texts import TextRule
from retrieval_metrics.judging.ranking_order import AS_GIVEN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.checks import QueryId
    from retrieval_metrics.inputs.items import RunMapping
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.judging.matching.matching import Matching

    ItemsOfQueries = dict[QueryId, Sequence[Retrieved]]


class Rule(Protocol):
    """Decides which items satisfy one kind of piece."""

    def find(self, query: int, ranking: Sequence[tuple[int, Retrieved]], hits: PieceHits) -> None:
        """Look for the pieces of a query in its ranking: the items with their ranks, each id once."""


def judge_items(qrels: Qrels, run: RunMapping, matching: Matching, calls: Mapping[QueryId, Sequence[int]]) -> JudgedRun:
    """Find what satisfies the judgments of every query in its ranking.

    Args:
        qrels: The judgments.
        run: Per query a list of `Retrieved`, best first. Queries without judgments are ignored.
        matching: What is compared with what, and how strictly.
        calls: The number of the call that found each item, for the searches of an agent.

    Raises:
        TypeError: If a ranking holds anything else, or the ids of the run and the judgments are of different types.
        ValueError: If no item has the value to match by, or a quote is too short.
    """
    rankings = _read(qrels, run)
    keys = _keys(rankings, matching, needed=qrels.document_kind is not None or not qrels.has_pieces)
    if matching.collapse:
        calls = {query: _firsts(keys[query], found) for query, found in calls.items() if query in keys}
        rankings = {query: _firsts(keys[query], items) for query, items in rankings.items()}
        keys = {query: list(dict.fromkeys(each)) for query, each in keys.items()}
    lengths = Lengths(qrels.queries, rankings, matching.tokens, calls)
    if not qrels.has_pieces:
        return judge_by_id(qrels, keys, AS_GIVEN, lengths)  # items are listed in rank order
    return _judge_pieces(qrels, rankings, matching, lengths)


def _read(qrels: Qrels, run: RunMapping) -> ItemsOfQueries:
    rankings: ItemsOfQueries = {}
    given: Mapping[Any, Any] = run
    for query in qrels.queries:
        if query not in given:
            continue
        ranking = given[query]
        if isinstance(ranking, Mapping):
            if ranking:
                raise TypeError(
                    f"the ranking of query {query!r} maps ids to scores, but the judgments or {argument('match')} need "
                    "more than ids; "
                    + in_python("pass a list of Retrieved(id, text=..., source=...), best first", ROWS_OF_ITEMS)
                )
            ranking = []
        items = as_list(ranking, query)
        for item in items:
            if not isinstance(item, Retrieved):
                raise TypeError(
                    f"the ranking of query {query!r} holds {shortened(item)}, but the judgments, {argument('match')} "
                    "or the other rankings need more than ids; "
                    + in_python("pass Retrieved(id, text=..., source=...) for every item", ROWS_OF_ITEMS)
                )
        rankings[query] = items
    return rankings


def _keys(rankings: ItemsOfQueries, matching: Matching, *, needed: bool) -> dict[Any, list[Any]]:
    """Return the id of every item under the matching; an item without one gets an id that equals nothing."""
    if not (needed or matching.collapse):
        return {}
    key = matching.key
    keys: dict[Any, list[Any]] = {
        query: [NoId() if (found := key(item)) is None else found for item in items]
        for query, items in rankings.items()
    }
    without = [query for query, found in keys.items() if any(isinstance(one, NoId) for one in found)]
    if without and matching.by == "id":
        raise ValueError(
            f"an item in the ranking of query {without[0]!r} has no id; match by 'source' or "
            f"'metadata:<name>'{in_python(' or a callable')}, or judge by Quote, Text or Span"
        )
    if without and all(isinstance(one, NoId) for found in keys.values() for one in found):
        first = next(item for items in rankings.values() for item in items)
        raise ValueError(
            f"no retrieved item has a value for {argument('match', str(matching))}; the first is {first!r}"
        )
    return keys


def _firsts(keys: Sequence[Any], values: Sequence[Any]) -> list[Any]:
    """Return the value at the first rank of each id."""
    first = dict(zip(reversed(keys), reversed(values), strict=True))
    return [first[key] for key in dict.fromkeys(keys)]


def _judge_pieces(qrels: Qrels, rankings: ItemsOfQueries, matching: Matching, lengths: Lengths) -> JudgedRun:
    hits, locator = PieceHits(qrels), Locator(matching.sources)
    kinds = set(map(type, qrels.documents))
    named = {item.source for items in rankings.values() for item in items} if Span in kinds else set()
    spans = SpanRule(qrels, matching, hits, locator, named)
    rules: list[Rule] = [spans] if Span in kinds else []
    if Quote in kinds:
        rules.append(QuoteRule(qrels, matching))
    if Text in kinds:
        rules.append(TextRule(qrels, matching, hits))
    if Metadata in kinds:
        rules.append(MetadataRule(qrels))
    if qrels.document_kind is not None:
        rules.append(IdRule(qrels, matching))
    n_retrieved = np.zeros(len(qrels), dtype=np.int64)
    repeated: list[tuple[int, int, int]] = []
    for index, query in enumerate(qrels.queries):
        items = rankings.get(query, ())
        distinct = _distinct(items)
        n_retrieved[index] = len(items)
        first = {rank for rank, _ in distinct}
        repeated.extend((index, rank, -1) for rank in range(1, len(items) + 1) if rank not in first)
        for rule in rules:
            rule.find(index, distinct, hits)
    return JudgedRun(
        qrels,
        hits.items(),
        n_retrieved,
        Repeats(*np.array(repeated, dtype=np.int64).reshape(-1, 3).T),
        places=hits.ranks(),
        additions=hits.additions(),
        covered=None if np.isnan(hits.size).all() else CoveredCharacters(hits, rankings, locator),
        lengths=lengths,
        unplaced=spans.unplaced,
        doubtful=spans.doubtful,
        misplaced=locator.misplaced,
        ambiguous=locator.ambiguous,
    )


def _distinct(items: Sequence[Retrieved]) -> list[tuple[int, Retrieved]]:
    """Return the items with their ranks, leaving out those whose id appears earlier in the ranking."""
    seen: set[Any] = set()
    distinct = []
    for rank, item in enumerate(items, start=1):
        if item.id is None or item.id not in seen:
            seen.add(item.id)
            distinct.append((rank, item))
    return distinct
