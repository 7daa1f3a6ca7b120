"""Put the documents of a ranking in order, breaking ties of scores as the rules say."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from operator import gt
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from retrieval_metrics.inputs.items import Retrieved
from retrieval_metrics.inputs.run import Run
from retrieval_metrics.inputs.single_precision import round_scores

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from retrieval_metrics._internal.plain_types import DocumentId, QueryId
    from retrieval_metrics.inputs.match_key import Key
    from retrieval_metrics.matching.matching_options import Matching


class ScoreOrder(NamedTuple):
    """How scored documents are put in order: by score, descending.

    Attributes:
        ties: The order of documents with equal scores: by id as text, descending, as in trec_eval (`"docid"`); or as in
            the mapping (`"input"`). `"expected"`, for means over all orders, lists them by id, too.
        single_precision: Whether scores are equal if their nearest numbers of 32 bits are.
    """

    ties: Literal["docid", "input", "expected"]
    single_precision: bool = False


TIES_BY_ID = ScoreOrder("docid")
TIES_AS_GIVEN = ScoreOrder("input")


def rank_ids(scores: Mapping[Any, float], order: ScoreOrder) -> list[Any]:
    """Return the ids of a scored ranking, best first.

    Example:
        >>> scores = {"a": 1.0, "b": 2.0, "c": 1.0}
        >>> rank_ids(scores, TIES_BY_ID), rank_ids(scores, TIES_AS_GIVEN)
        (['b', 'c', 'a'], ['b', 'a', 'c'])
    """
    if order.single_precision:
        numbers = round_scores(scores.values()).tolist()
    else:
        # As floats, because integers of more than 53 bits tie if their nearest floats do, as in columns and files.
        numbers = list(map(float, scores.values()))
    if all(map(gt, numbers, islice(numbers, 1, None))):
        return list(scores)  # stored best first, as most runs are
    ids = list(scores)
    if order.ties == "input" or len(set(numbers)) == len(numbers):
        best_first = sorted(range(len(ids)), key=numbers.__getitem__, reverse=True)
        return [ids[position] for position in best_first]
    ranked = sorted(zip(numbers, map(str, ids), ids, strict=True), reverse=True)
    return [document_id for _, _, document_id in ranked]


class OrderedRankings:
    """The rankings of a run, read in rank order.

    Attributes:
        run: The evaluated run.
        matching: What the ids of the judgments were compared with.
        order: How scored documents are put in order.
    """

    def __init__(self, run: Mapping[Any, Any], match: str | Key | Matching, order: ScoreOrder) -> None:
        # Imported here because scoring and printing put nothing in order.
        from retrieval_metrics.matching.matching_options import as_matching

        self.run = run
        self.matching = as_matching(match)
        self.order = order

    def iterate(self, queries: Iterable[QueryId]) -> Iterator[tuple[QueryId, Any]]:
        """Yield the queries with their rankings, empty if there is none; a file is read once."""
        if not isinstance(self.run, Run):
            for query in queries:
                yield query, self.run.get(query, ())
            return
        missing = dict.fromkeys(queries)
        for query, ranking in self._iterate_all():
            if query in missing:
                del missing[query]
                yield query, ranking
        for query in missing:
            yield query, ()

    def _iterate_all(self) -> Iterator[tuple[QueryId, Any]]:
        if isinstance(self.run, Run):
            yield from self.run.rankings()
        else:
            yield from self.run.items()

    def ids(self, ranking: Any) -> list[DocumentId]:
        """Return the ids of a ranking in rank order."""
        if isinstance(ranking, Mapping):
            return rank_ids(ranking, self.order)
        first_item = next(iter(ranking), None)
        if isinstance(first_item, Retrieved):
            ids = [self._get_id(item) for item in ranking]
        else:
            ids = list(ranking)
        if self.matching.deduplicate:
            return list(dict.fromkeys(ids))
        return ids

    def first_items(self, ranking: Any, k: int) -> list[tuple[DocumentId, Any]]:
        """Return the first `k` ids of a ranking with their items, in rank order; None if it holds only ids."""
        ids = self.ids(ranking)[:k]
        if isinstance(ranking, Mapping):
            return [(document_id, None) for document_id in ids]
        if self.matching.deduplicate:
            item_by_id = self.items(ranking)
            return [(document_id, _item_or_none(item_by_id[document_id])) for document_id in ids]
        return [(document_id, _item_or_none(item)) for document_id, item in zip(ids, ranking, strict=False)]

    def texts(self) -> dict[DocumentId, str]:
        """Return the text of each id anywhere in the run, if its items have texts."""
        texts: dict[DocumentId, str] = {}
        for _, ranking in self._iterate_all():
            if isinstance(ranking, Mapping):
                return {}  # scored rankings hold no items, and all rankings of a run have one form
            for item in ranking:
                if not isinstance(item, Retrieved):
                    return texts
                if item.text is not None:
                    texts.setdefault(self._get_id(item), item.text)
        return texts

    def items(self, ranking: Any) -> dict[DocumentId, Any]:
        """Return the first item with each id; for a ranking of ids, the ids themselves."""
        if isinstance(ranking, Mapping):
            return {document_id: document_id for document_id in ranking}
        # Reversed, so that the first item with an id wins.
        return {self._get_id(item): item for item in reversed(ranking)}

    def _get_id(self, item: Any) -> Any:
        return self.matching.key(item) if isinstance(item, Retrieved) else item

    def find_occurring(self, documents: Iterable[DocumentId]) -> set[DocumentId]:
        """Return which of some ids occur in any ranking of the run."""
        missing = set(documents)
        occurring: set[DocumentId] = set()
        if not missing:
            return occurring
        for _, ranking in self._iterate_all():
            ids = ranking if isinstance(ranking, Mapping) else set(self.ids(ranking))
            # Look up the smaller collection in the larger one.
            if len(ids) < len(missing):
                in_ranking = missing.intersection(ids)
            else:
                in_ranking = {document_id for document_id in missing if document_id in ids}
            occurring |= in_ranking
            missing -= in_ranking
            if not missing:
                break
        return occurring


def _item_or_none(item: Any) -> Retrieved | None:
    return item if isinstance(item, Retrieved) else None
