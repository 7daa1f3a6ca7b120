"""Mean, smallest and largest value of a metric over all orders of documents with equal scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.definition.definition import OverOrders
from retrieval_metrics.judging.judged_run import Items
from retrieval_metrics.scoring.ties.enumerated import enumerated
from retrieval_metrics.scoring.ties.extremes import best_and_worst

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics.checks import IntArray
    from retrieval_metrics.definition.metric import Metric
    from retrieval_metrics.judging.judged_run import JudgedRun


def over_orders(judged: JudgedRun, queries: IntArray, metric: Metric, parameters: Mapping[str, Any]) -> OverOrders:
    """Return a metric over all orders of equal scores, in closed form if it has one.

    The closed forms are those of McSherry and Najork, Computing information retrieval performance measures efficiently
    in the presence of tied scores (2008), extended to graded gains, ERR, bpref and alpha-NDCG.

    Args:
        judged: The judged run.
        queries: The queries with ties; the values of all others are meaningless.
        metric: The metric.
        parameters: Its parameters.

    Raises:
        ValueError: If there is no closed form and there are too many orders to try.
    """
    definition, judged = metric.definition, _with_ties_joined(judged)
    if definition.mean_over_orders is not None and (judged.qrels.is_flat or definition.by_document):
        cut = judged.cutoff(metric.k)
        # Scored rankings have no item lengths; a budget of calls differs by query, and has no closed form.
        if cut is None or isinstance(cut, int):
            found = definition.mean_over_orders(judged, k=cut, **parameters)
            if isinstance(found, OverOrders):
                return found
            if found is not None:
                # What says how much is judged is best with everything judged first.
                first = (
                    judged.items.grade > 0 if definition.says_how_good else np.ones(len(judged.items.rank), np.bool_)
                )
                best, worst = (definition.score(run, k=cut, **parameters) for run in best_and_worst(judged, first))
                return OverOrders(found, worst, best)
    return enumerated(judged, queries, metric, parameters)


def _with_ties_joined(judged: JudgedRun) -> JudgedRun:
    """Return the judged run with all documents of a tie at its first rank."""
    items, in_qrels = judged.items, np.argsort(judged.items.document)
    document, tied, first = (column[in_qrels] for column in (items.document, items.tied, items.tied_from))
    return judged.with_items(Items.ordered(judged.qrels, document, first, tied, first))
