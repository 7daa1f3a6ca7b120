"""Find the ranks of the judged documents in many short lists of ids at once.

As with the scores of `short_rankings`, a few passes in C take less time than one query after another.
"""

from __future__ import annotations

from itertools import chain, compress, repeat
from operator import sub
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retrieval_metrics.matching.short_rankings import MAX_LENGTH

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics._internal.plain_types import IntArray
    from retrieval_metrics.inputs.qrels import Qrels

# With fewer queries, one after another is faster.
MIN_QUERIES = 4
_LIST_TYPES = {list, tuple}
# One of these is the type of all ids, or they are looked at one by one.
_ID_TYPES = ({str}, {int})


class ListRanks(NamedTuple):
    """Where the judged documents of all queries are ranked.

    Attributes:
        position: The position in `Qrels.documents` of each that was retrieved, ascending.
        rank: Its rank, from 1.
        n_retrieved: Shape (queries,), how many documents were retrieved for each query.
        id_types: The type of the retrieved ids, as a set.
    """

    position: IntArray
    rank: IntArray
    n_retrieved: IntArray
    id_types: set[type]


def find_in_short_lists(qrels: Qrels, run: Mapping[Any, Any]) -> ListRanks | None:
    """Return the ranks of the judged documents; None if a ranking is no short list of distinct ids, or queries are few.

    Args:
        qrels: The judgments, by id.
        run: The rankings.
    """
    if len(qrels.queries) < MIN_QUERIES:
        return None
    rankings: list[Any] = list(map(run.get, qrels.queries, repeat(())))
    if not set(map(type, rankings)) <= _LIST_TYPES:
        return None
    sizes = list(map(len, rankings))
    if max(sizes) > MAX_LENGTH:
        return None
    retrieved = list(chain.from_iterable(rankings))
    id_types = set(map(type, retrieved))
    if id_types not in _ID_TYPES or (id_types == {str} and not all(retrieved)):
        return None  # an empty id is refused with its query
    distinct = list(map(set, rankings))
    if list(map(len, distinct)) != sizes:
        return None
    position = np.array(_find_positions(qrels, distinct), dtype=np.int64)
    owners = qrels.document_query[position].tolist()
    documents = map(qrels.documents.__getitem__, position.tolist())
    n_above = [rankings[owner].index(document) for owner, document in zip(owners, documents, strict=True)]
    return ListRanks(position, np.array(n_above, dtype=np.int64) + 1, np.array(sizes), id_types)


def _find_positions(qrels: Qrels, distinct: Sequence[set[Any]]) -> list[int]:
    """Return the positions of the judged documents that are among the ids retrieved for their queries."""
    n_judged = map(sub, qrels.bounds[1:], qrels.bounds)
    ids_of_documents = chain.from_iterable(map(repeat, distinct, n_judged))
    is_retrieved = map(set.__contains__, ids_of_documents, qrels.documents)
    return list(compress(range(len(qrels.documents)), is_retrieved))
