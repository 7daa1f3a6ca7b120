"""Compute the rank-biased overlap of two rankings of a query, which needs no judgments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics._internal.plain_types import DocumentId, FloatArray
    from retrieval_metrics.comparison.distinct_ranking import DistinctRanking


# The persistence of rank-biased overlap: the first ten ranks have 86% of the weight.
RBO_PERSISTENCE = 0.9


def rank_biased_overlap(first: DistinctRanking, second: DistinctRanking, p: float = RBO_PERSISTENCE) -> float:
    """Return the rank-biased overlap, extrapolated beyond the shorter ranking and beyond both.

    With ties, agreement at depth d is the cosine of the shares of the documents in the first d, so a ranking agrees
    with itself (Webber, Moffat, Zobel 2010, equation 32; Corsi, Urbano 2024, the variant b). Extrapolated agreement is
    at most 1.

    Example:
        >>> from retrieval_metrics.comparison.distinct_ranking import DistinctRanking
        >>> first, second = DistinctRanking("ab", np.array([2.0, 1.0])), DistinctRanking("ba", np.array([2.0, 1.0]))
        >>> round(rank_biased_overlap(first, second, 0.5), 6)  # half for the first rank, 1 for all others
        0.5
    """
    short = first
    long = second
    if len(first.documents) > len(second.documents):
        short = second
        long = first
    n_short = len(short.documents)
    n_long = len(long.documents)
    if not n_short:
        return float(not n_long)
    depth = np.arange(1, n_long + 1, dtype=np.float64)
    products = _share_products(short, long)
    products.short[n_short:] = depth[n_short:]  # what was not retrieved has no ties
    last_agreement = products.common[n_short - 1] / np.sqrt(products.short[n_short - 1] * products.long[n_short - 1])
    products.common[n_short:] += last_agreement * (depth[n_short:] - n_short)
    # Documents that were not retrieved count as untied, so beside ties of the longer ranking they can exceed agreement.
    agreement = np.minimum(products.common / np.sqrt(products.short * products.long), 1.0)
    return min(1.0, float((1 - p) / p * (agreement * p**depth).sum() + agreement[-1] * p**n_long))


@dataclass(frozen=True, slots=True)
class _ShareProducts:
    """At each depth, the product of the shares of two rankings, and that of each with itself."""

    common: FloatArray
    short: FloatArray
    long: FloatArray


def _share_products(short: DistinctRanking, long: DistinctRanking) -> _ShareProducts:
    n_short = len(short.documents)
    n_long = len(long.documents)
    if not (_has_ties(short.scores) or _has_ties(long.scores)):
        rank_in_short = {document: rank for rank, document in enumerate(short.documents)}
        common_from = []
        for rank, document in enumerate(long.documents):
            if document in rank_in_short:
                common_from.append(max(rank, rank_in_short[document]))
        depth = np.arange(1, n_long + 1, dtype=np.float64)
        common = np.bincount(common_from, minlength=n_long).cumsum().astype(np.float64)
        return _ShareProducts(common, depth.copy(), depth)
    documents = dict.fromkeys([*short.documents, *long.documents])
    row_by_document = {document: row for row, document in enumerate(documents)}
    shares_in_short = _shares(short, row_by_document, n_long)
    shares_in_long = _shares(long, row_by_document, n_long)
    squares_of_short = np.zeros(n_long)
    squares_of_short[:n_short] = (shares_in_short[:, :n_short] ** 2).sum(axis=0)
    common = (shares_in_short * shares_in_long).sum(axis=0)
    return _ShareProducts(common, squares_of_short, (shares_in_long**2).sum(axis=0))


def _has_ties(scores: FloatArray) -> bool:
    return bool((scores[1:] == scores[:-1]).any())


def _shares(ranking: DistinctRanking, row_by_document: Mapping[DocumentId, int], n_depths: int) -> FloatArray:
    """Return the share of each document's ties that is among the first d, shape (documents of both, depths)."""
    scores = ranking.scores
    tie_start = np.searchsorted(-scores, -scores, "left")
    tie_end = np.searchsorted(-scores, -scores, "right")
    rows = [row_by_document[document] for document in ranking.documents]
    reached = np.minimum(np.arange(1, n_depths + 1), len(rows))  # beyond its end a ranking holds what it held
    shares = np.zeros((len(row_by_document), n_depths))
    shares[rows] = np.clip((reached - tie_start[:, None]) / (tie_end - tie_start)[:, None], 0, 1)
    return shares
