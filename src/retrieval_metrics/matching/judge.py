"""Decide which retrieved items satisfy which judgments, for every kind of judgments and rankings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from reprlib import repr as shortened
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from retrieval_metrics._internal.validation import (
    ROWS_OF_ITEMS,
    format_argument,
    is_forked_from_polars,
    python_or_cli_text,
    warn,
)
from retrieval_metrics.inputs.documents import source_text_by_name
from retrieval_metrics.inputs.items import Metadata, Quote, Retrieved, Span, Text
from retrieval_metrics.inputs.questions import Questions
from retrieval_metrics.inputs.ranking_checks import as_list
from retrieval_metrics.inputs.retrieved_run import RetrievedRun
from retrieval_metrics.inputs.run import Run
from retrieval_metrics.matching.budget import Lengths
from retrieval_metrics.matching.ids import MissingId, judge_by_id
from retrieval_metrics.matching.judged_run import Duplicates, JudgedRun
from retrieval_metrics.matching.piece_rules import (
    CoveredCharacters,
    IdRule,
    MetadataRule,
    QuoteRule,
    SpanRule,
    TextRule,
)
from retrieval_metrics.matching.ranking_order import TIES_AS_GIVEN
from retrieval_metrics.matching.span_offsets import PieceHits, SpanLocator
from retrieval_metrics.matching.vectorised_ids import judge_by_column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics._internal.validation import BoolArray, QueryId
    from retrieval_metrics.inputs.items import Key, RunMapping
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.matching.ranking_order import Matching, ScoreOrder

    ItemsOfQueries = dict[QueryId, Sequence[Retrieved]]


def judge(qrels: Qrels, run: RunMapping | Run, match: str | Key | Matching, order: ScoreOrder) -> JudgedRun:
    """Join judgments and rankings."""
    judged = _joined(qrels, run, match, order)
    judged.unanswered = _unanswered(judged, run)
    return judged


def _unanswered(judged: JudgedRun, run: Any) -> BoolArray | None:
    """Return which queries the retriever failed for or the run does not hold; None if there are none."""
    queries = judged.qrels.queries
    absent = [at for at in np.flatnonzero(judged.n_retrieved == 0).tolist() if queries[at] not in run]
    errors = run.errors if isinstance(run, RetrievedRun) else {}
    found = np.zeros(len(queries), dtype=np.bool_)
    found[[*absent, *(at for query in errors if (at := judged.qrels.place.get(query)) is not None)]] = True
    return found if found.any() else None


def _joined(qrels: Qrels, run: RunMapping | Run, match: str | Key | Matching, order: ScoreOrder) -> JudgedRun:
    if isinstance(run, Run):
        if match != "id" or qrels.has_pieces:
            raise TypeError(
                python_or_cli_text("a Run in columns", "the run")
                + " holds only ids, which can only be matched by id; "
                + python_or_cli_text("pass lists of Retrieved per query", ROWS_OF_ITEMS)
            )
        if order.ties != "input" and not order.single_precision and not is_forked_from_polars():
            return judge_by_column(qrels, run)
        return judge_by_id(qrels, run.as_dict(), order)
    first = _first_ranking(run)
    if match == "id" and not qrels.has_pieces and not _holds_items(first):
        calls = call_numbers(run)
        lengths = Lengths(qrels.queries, {}, None, calls) if calls or first is None else None
        return judge_by_id(qrels, run, order, lengths)
    # Imported here because evaluating ids never needs it.
    from retrieval_metrics.matching.ranking_order import as_matching  # noqa: PLC0415

    return judge_items(qrels, run, as_matching(match), call_numbers(run))


def call_numbers(run: RunMapping | Run) -> Mapping[QueryId, Sequence[int]]:
    """Return which call of an agent found each item of a run, as far as the run knows."""
    return run.calls if isinstance(run, RetrievedRun) else {}


def _first_ranking(run: RunMapping) -> Any:
    """Return the first ranking that is not empty; None if nothing was retrieved."""
    return next((one for one in run.values() if not isinstance(one, (list, tuple, dict)) or one), None)


def _holds_items(ranking: Any) -> bool:
    """Return whether a ranking holds items rather than ids."""
    return isinstance(ranking, (list, tuple)) and isinstance(ranking[0], Retrieved)


# Join judgments and rankings of items that carry texts, positions and metadata.


class PieceRule(Protocol):
    """Decides which items satisfy one kind of piece."""

    def find(self, query: int, ranking: Sequence[tuple[int, Retrieved]], hits: PieceHits) -> None:
        """Look for the pieces of a query in its ranking: the items with their ranks, each id once."""


def judge_items(qrels: Qrels, run: RunMapping, matching: Matching, calls: Mapping[QueryId, Sequence[int]]) -> JudgedRun:
    """Find what satisfies the judgments of every query in its ranking."""
    rankings = _read(qrels, run)
    keys = _keys(rankings, matching, needed=qrels.document_kind is not None or not qrels.has_pieces)
    if matching.deduplicate:
        calls = {query: _firsts(keys[query], found) for query, found in calls.items() if query in keys}
        rankings = {query: _firsts(keys[query], items) for query, items in rankings.items()}
        keys = {query: list(dict.fromkeys(each)) for query, each in keys.items()}
    lengths = Lengths(qrels.queries, rankings, matching.count_tokens, calls)
    if not qrels.has_pieces:
        return judge_by_id(qrels, keys, TIES_AS_GIVEN, lengths)  # items are listed in rank order
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
                    f"the ranking of query {query!r} maps ids to scores, but the judgments or {format_argument('match')} need "
                    "more than ids; "
                    + python_or_cli_text(
                        "pass a list of Retrieved(id, text=..., source=...), best first", ROWS_OF_ITEMS
                    )
                )
            ranking = []
        items = as_list(ranking, query)
        for item in items:
            if not isinstance(item, Retrieved):
                raise TypeError(
                    f"the ranking of query {query!r} holds {shortened(item)}, but the judgments, {format_argument('match')} "
                    "or the other rankings need more than ids; "
                    + python_or_cli_text("pass Retrieved(id, text=..., source=...) for every item", ROWS_OF_ITEMS)
                )
        rankings[query] = items
    return rankings


def _keys(rankings: ItemsOfQueries, matching: Matching, *, needed: bool) -> dict[Any, list[Any]]:
    """Return the id of every item under the matching; an item without one gets an id that equals nothing."""
    if not (needed or matching.deduplicate):
        return {}
    key = matching.key
    keys: dict[Any, list[Any]] = {
        query: [MissingId() if (found := key(item)) is None else found for item in items]
        for query, items in rankings.items()
    }
    without = [query for query, found in keys.items() if any(isinstance(one, MissingId) for one in found)]
    if without and matching.by == "id":
        raise ValueError(
            f"an item in the ranking of query {without[0]!r} has no id; match by 'source' or "
            f"'metadata:<name>'{python_or_cli_text(' or a callable')}, or judge by Quote, Text or Span"
        )
    if without and all(isinstance(one, MissingId) for found in keys.values() for one in found):
        first = next(item for items in rankings.values() for item in items)
        raise ValueError(
            f"no retrieved item has a value for {format_argument('match', str(matching))}; the first is {first!r}"
        )
    return keys


def _firsts(keys: Sequence[Any], values: Sequence[Any]) -> list[Any]:
    """Return the value at the first rank of each id."""
    first = dict(zip(reversed(keys), reversed(values), strict=True))
    return [first[key] for key in dict.fromkeys(keys)]


def _judge_pieces(qrels: Qrels, rankings: ItemsOfQueries, matching: Matching, lengths: Lengths) -> JudgedRun:
    hits, locator = PieceHits(qrels), SpanLocator(matching.sources)
    kinds = set(map(type, qrels.documents))
    named = {item.source for items in rankings.values() for item in items} if Span in kinds else set()
    spans = SpanRule(qrels, matching, hits, locator, named)
    rules: list[PieceRule] = [spans] if Span in kinds else []
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
        Duplicates(*np.array(repeated, dtype=np.int64).reshape(-1, 3).T),
        piece_ranks=hits.ranks(),
        new_coverage=hits.find_new_coverage(),
        covered=None if np.isnan(hits.size).all() else CoveredCharacters(hits, rankings, locator),
        lengths=lengths,
        unlocated=spans.unplaced,
        line_ending_spans=spans.doubtful,
        invalid_offsets=locator.invalid_offsets,
        ambiguous_locations=locator.ambiguous_locations,
    )


def _distinct(items: Sequence[Retrieved]) -> list[tuple[int, Retrieved]]:
    """Return the items with their ranks, leaving out those whose id and text appear earlier in the ranking."""
    seen: set[Any] = set()
    distinct = []
    for rank, item in enumerate(items, start=1):
        same = item.id, item.text, item.start  # another passage under an id, such as a highlight, can hold a piece
        if item.id is None or same not in seen:
            seen.add(same)
            distinct.append((rank, item))
    return distinct


# Spans are looked for in the texts of their sources, which are passed as documents or kept with the questions.


def sources_of_spans(truth: Qrels) -> set[str]:
    """Return the names of the documents in which spans are judged."""
    return {piece.source for piece in truth.documents if isinstance(piece, Span)} if truth.has_pieces else set()


def with_source_texts(
    match: str | Key | Matching, documents: Any, truth: Qrels, questions: Any = None
) -> str | Key | Matching:
    """Return how items are matched, with the texts of the sources if spans are judged."""
    if documents is None and not truth.has_pieces:
        return match
    judged = sources_of_spans(truth)
    if documents is None and not judged:
        return match
    # Imported here because evaluating ids never needs it.
    from retrieval_metrics.matching.ranking_order import Matching, as_matching  # noqa: PLC0415

    has_texts = isinstance(match, Matching) and match.sources is not None
    kept = questions.sources if isinstance(questions, Questions) else None
    if documents is None:
        if kept is None or not kept.texts or has_texts:
            return match
        return replace(as_matching(match), sources=kept.texts)
    if has_texts:
        raise ValueError("pass the source texts as documents= or as Matching(sources=...), not as both")
    texts = source_text_by_name(documents, judged)
    if kept is not None and (changed := [name for name in kept.find_changed(texts) if name in judged]):
        warn(
            f"the text of {len(changed)} sources is not the one that was judged, for example of {changed[0]!r}, so "
            f"spans in it may mean other words; {python_or_cli_text('questions.lint(documents)', 'lint')} says which",
        )
    return replace(as_matching(match), sources=texts) if judged else match
