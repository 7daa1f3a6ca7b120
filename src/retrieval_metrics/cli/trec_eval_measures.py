"""The measures that trec_eval 10.0 adds to those of version 9: rank-biased precision, and how much is unjudged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.pytrec_eval import MeasureValues

if TYPE_CHECKING:
    import retrieval_metrics as rm


# The probability, in rank-biased precision, that a user looks at the next document.
PERSISTENCE = 0.9


def _rank_weights(values: MeasureValues) -> rm.types.FloatArray:
    """Return the weight of each rank, multiplied one after the other as in trec_eval."""
    return np.cumprod(np.append(1.0, np.full(int(values.n_retrieved.max(initial=0)), PERSISTENCE)))


def rank_biased_precision(values: MeasureValues) -> rm.types.FloatArray:
    """Return rank-biased precision; grades above 1 are divided by the largest of the query."""
    qrels = values.judged.qrels
    hits = values.judged.hits()
    largest = np.ones(values.judged.n_queries)
    np.maximum.at(largest, qrels.document_query, qrels.document_grade)
    weight = _rank_weights(values)[hits.rank - 1]
    return (1 - PERSISTENCE) * values.judged.sum_by_query(hits.query, hits.grade / largest[hits.query] * weight)


def rank_biased_residual(values: MeasureValues) -> rm.types.FloatArray:
    """Return how much of rank-biased precision is unknown; 0 if every document retrieved is judged, or none is."""
    judged = values.judged
    is_judged = judged.items.grade >= 0
    query = judged.items.query[is_judged]
    weight = _rank_weights(values)[judged.items.rank[is_judged] - 1]
    is_fully_judged = judged.n_retrieved == judged.sum_by_query(query)
    return np.where(is_fully_judged, 0.0, 1 - (1 - PERSISTENCE) * judged.sum_by_query(query, weight))


def share_unjudged(values: MeasureValues, cutoff: float) -> rm.types.FloatArray:
    """Return how many of the first documents are not judged, over the cutoff."""
    items = values.judged.items
    is_judged = (items.grade >= 0) & (items.rank <= cutoff)
    n_judged = values.judged.sum_by_query(items.query[is_judged])
    return (np.minimum(values.n_retrieved, cutoff) - n_judged) / cutoff


class Version10Values(MeasureValues):
    """The values of the measures of trec_eval 9 and of those that version 10 adds."""

    def _column(self, measure: str, parameter: float | None) -> rm.types.FloatArray:
        if measure == "unj" and parameter is not None:
            return share_unjudged(self, parameter)
        if measure == "rbp":
            return rank_biased_precision(self)
        if measure == "rbp_resid":
            return rank_biased_residual(self)
        return super()._column(measure, parameter)
