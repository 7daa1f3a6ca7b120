"""Find the ranks of the judged documents of many short rankings with scores at once.

`ids.IdFinder` looks at one query after another, which takes longer than everything else where the rankings are short,
as those of retrieval for answers are. Here a few passes in C read all of them; the ranks are the same.
"""

from __future__ import annotations

from itertools import chain, compress, repeat
from operator import countOf, sub
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retrieval_metrics.inputs.single_precision import round_column

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics._internal.plain_types import FloatArray, IntArray
    from retrieval_metrics.inputs.qrels import Qrels

# With fewer queries, one after another is faster.
MIN_QUERIES = 32
# Every score is compared with that of each judged document of its query, so a long ranking is sorted instead.
MAX_LENGTH = 64
MAX_COMPARED_SCORES = 4_000_000
# Numbers that are compared as the nearest floats: integers beyond 2**53, and smaller ones, which floats hold exactly.
_PLAIN_TYPES = {int, float, np.float64}
_LARGEST_FLOAT = float(np.finfo(np.float64).max)


class ShortRanks(NamedTuple):
    """Where the judged documents of all queries are ranked.

    Attributes:
        position: The position in `Qrels.documents` of each that was retrieved, ascending.
        n_above: How many documents have a larger score.
        n_equal: How many have its score, itself included.
        score: Its score, in 32 bits if asked for.
        n_retrieved: Shape (queries,), how many documents were retrieved for each query.
    """

    position: IntArray
    n_above: IntArray
    n_equal: IntArray
    score: FloatArray
    n_retrieved: IntArray


def list_short_rankings(qrels: Qrels, run: Mapping[Any, Any]) -> list[dict[Any, Any]] | None:
    """Return the scored ranking of each judged query, an empty one for those not in the run; None if some is not short.

    Also None if the queries are few, or a ranking is anything but a dict.
    """
    if len(qrels.queries) < MIN_QUERIES:
        return None
    rankings: list[Any] = list(map(run.get, qrels.queries, repeat(_NOT_IN_RUN)))
    if set(map(type, rankings)) != {dict} or max(map(len, rankings)) > MAX_LENGTH:
        return None
    return rankings


_NOT_IN_RUN: dict[Any, Any] = {}


def find_in_short_rankings(
    qrels: Qrels, rankings: Sequence[dict[Any, Any]], *, single_precision: bool
) -> ShortRanks | None:
    """Return the ranks of the judged documents; None if a score is no plain finite number, or there are too many.

    Args:
        qrels: The judgments, by id.
        rankings: The ranking of each query, of `list_short_rankings`.
        single_precision: Whether scores are compared in 32 bits.
    """
    scores = list(chain.from_iterable(map(dict.values, rankings)))
    # Counting one type takes less time than collecting all of them.
    if countOf(map(type, scores), float) < len(scores) and not set(map(type, scores)) <= _PLAIN_TYPES:
        return None
    try:
        values = np.fromiter(scores, np.float64, len(scores))
    except OverflowError:
        return None
    is_finite = values.min(initial=0) >= -_LARGEST_FLOAT and values.max(initial=0) <= _LARGEST_FLOAT
    if not is_finite:  # nor is NaN, which is in no range
        return None
    if single_precision:
        values = round_column(values)
    documents = qrels.documents
    bounds = qrels.bounds
    n_judged = map(sub, bounds[1:], bounds)
    rankings_of_documents = chain.from_iterable(map(repeat, rankings, n_judged))
    positions = list(compress(range(len(documents)), map(dict.__contains__, rankings_of_documents, documents)))
    position = np.array(positions, dtype=np.int64)
    query = qrels.document_query[position]
    sizes = list(map(len, rankings))
    table = _as_table(values, sizes)
    if len(position) * table.shape[1] > MAX_COMPARED_SCORES:
        return None
    found_scores = [rankings[owner][documents[place]] for owner, place in zip(query.tolist(), positions, strict=True)]
    score = np.fromiter(found_scores, np.float64, len(found_scores))
    if single_precision:
        score = round_column(score)
    others = table[query]
    column = score[:, np.newaxis]
    n_above = (others > column).sum(axis=1)
    n_equal = (others == column).sum(axis=1)
    return ShortRanks(position, n_above, n_equal, score, np.array(sizes))


def _as_table(values: FloatArray, sizes: list[int]) -> FloatArray:
    """Return the scores of each query as a row; shorter rows end with NaN, which no score equals or is below."""
    length = max(sizes)
    if min(sizes) == length:
        return values.reshape(len(sizes), length)
    table = np.full((len(sizes), length), np.nan)
    table[np.arange(length) < np.array(sizes)[:, np.newaxis]] = values
    return table
