"""Join judgments and a run, choosing the way that suits the kind of judgments and rankings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics._internal.optional_packages import is_forked_from_polars
from retrieval_metrics.inputs.items import Retrieved
from retrieval_metrics.inputs.retrieved_run import RetrievedRun
from retrieval_metrics.inputs.run import Run
from retrieval_metrics.matching.exact_ids import judge_by_id

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics._internal.plain_types import BoolArray, QueryId
    from retrieval_metrics.inputs.items import RunMapping
    from retrieval_metrics.inputs.match_key import Key
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.matching.budget import Lengths
    from retrieval_metrics.matching.judged_run import JudgedRun
    from retrieval_metrics.matching.matching_options import Matching
    from retrieval_metrics.matching.ranking_order import ScoreOrder


def judge(qrels: Qrels, run: RunMapping | Run, match: str | Key | Matching, order: ScoreOrder) -> JudgedRun:
    """Find what the rankings of a run hold of the judgments of each query.

    Args:
        qrels: The judgments.
        run: The rankings.
        match: What the ids of the judgments are compared with.
        order: How scored documents are put in order.

    Raises:
        TypeError: If the rankings do not carry what the judgments or `match` need, or ids have different types.
        ValueError: If a score is not finite, or no item has a value to compare with ids.
    """
    judged = _join(qrels, run, match, order)
    judged.unanswered = _find_unanswered(judged, run)
    return judged


def _find_unanswered(judged: JudgedRun, run: RunMapping | Run) -> BoolArray | None:
    """Return which queries the retriever failed for or the run does not hold; None if there are none."""
    errors = run.errors if isinstance(run, RetrievedRun) else {}
    if not judged.without_results and not errors:
        return None
    queries = judged.qrels.queries
    is_unanswered = np.zeros(len(queries), dtype=np.bool_)
    for position in judged.without_results:
        if queries[position] not in run:
            is_unanswered[position] = True
    for query in errors:
        failed_position = judged.qrels.place.get(query)
        if failed_position is not None:
            is_unanswered[failed_position] = True
    return is_unanswered if is_unanswered.any() else None


def _join(qrels: Qrels, run: RunMapping | Run, match: str | Key | Matching, order: ScoreOrder) -> JudgedRun:
    if isinstance(run, Run):
        if match != "id" or qrels.has_pieces:
            raise TypeError(
                "a Run in columns holds only IDs, which can only be matched by ID; pass lists of Retrieved per query"
            )
        if order.ties != "input" and not order.single_precision and not is_forked_from_polars():
            # Imported here because only runs in columns need it.
            from retrieval_metrics.matching.vectorised_ids import judge_by_column

            return judge_by_column(qrels, run)
        return judge_by_id(qrels, run.as_dict(), order)
    first_ranking = _find_first_ranking(run)
    if match == "id" and not qrels.has_pieces and not _holds_items(first_ranking):
        return judge_by_id(qrels, run, order, _find_lengths(qrels, run, first_ranking))
    # Imported here because evaluating ids never needs it.
    from retrieval_metrics.matching.item_rankings import judge_items
    from retrieval_metrics.matching.matching_options import as_matching

    return judge_items(qrels, run, as_matching(match), call_numbers(run))


def _find_lengths(qrels: Qrels, run: RunMapping, first_ranking: Any) -> Lengths | None:
    """Return what ids alone tell of lengths: the calls that found them, or that nothing was found; else None."""
    calls = call_numbers(run)
    if not calls and first_ranking is not None:
        return None
    # Imported here because plain ids have no lengths.
    from retrieval_metrics.matching.budget import Lengths

    return Lengths(qrels.queries, {}, None, calls)


def call_numbers(run: RunMapping | Run) -> Mapping[QueryId, Sequence[int]]:
    """Return which call of an agent found each item of a run, as far as the run knows."""
    return run.calls if isinstance(run, RetrievedRun) else {}


def _find_first_ranking(run: RunMapping) -> Any:
    """Return the first ranking that is not empty; None if nothing was retrieved."""
    for ranking in run.values():
        if not isinstance(ranking, (list, tuple, dict)) or ranking:
            return ranking
    return None


def _holds_items(ranking: Any) -> bool:
    """Return whether a ranking holds items rather than ids."""
    return isinstance(ranking, (list, tuple)) and isinstance(ranking[0], Retrieved)
