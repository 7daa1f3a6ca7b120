"""Decide which retrieved items satisfy which judgments, for every kind of judgments and rankings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retrieval_metrics.checks import ROWS_OF_ITEMS, forked_from_polars, in_python
from retrieval_metrics.inputs.items import Retrieved
from retrieval_metrics.inputs.run import RetrievedRun, Run, columns_in_single_precision
from retrieval_metrics.judging.by_column import judge_by_column
from retrieval_metrics.judging.by_id import judge_by_id
from retrieval_metrics.judging.matching.budget import Lengths

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics.checks import QueryId
    from retrieval_metrics.inputs.items import RunMapping
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.judging.judged_run import JudgedRun
    from retrieval_metrics.judging.matching.matching import Key, Matching
    from retrieval_metrics.judging.ranking_order import RankOrder


def judge(qrels: Qrels, run: RunMapping | Run, match: str | Key | Matching, order: RankOrder) -> JudgedRun:
    """Join judgments and rankings.

    Args:
        qrels: The judgments: ids, or pieces such as quotes and spans.
        run: Per query a ranking: ids, best first, ids with scores, or a list of `Retrieved`, best first. Or a `Run`.
        match: What an id of the judgments is compared with, or a `Matching` with more options.
        order: How scored documents are put in order. If equal scores keep theirs, a `Run` is read query by query.

    Raises:
        TypeError: If a ranking has another type, or lacks what the judgments need.
        ValueError: If `match` is unknown, or a score is not finite.
    """
    if isinstance(run, Run):
        if match != "id" or qrels.has_pieces:
            raise TypeError(
                in_python("a Run in columns", "the run")
                + " holds only ids, which can only be matched by id; "
                + in_python("pass lists of Retrieved per query", ROWS_OF_ITEMS)
            )
        if order.ties != "input" and not forked_from_polars():
            return judge_by_column(qrels, columns_in_single_precision(run) if order.single_precision else run)
        return judge_by_id(qrels, run.as_dict(), order)
    first = _first_ranking(run)
    if match == "id" and not qrels.has_pieces and not _holds_items(first):
        calls = calls_of(run)
        lengths = Lengths(qrels.queries, {}, None, calls) if calls or first is None else None
        return judge_by_id(qrels, run, order, lengths)
    # Imported here because evaluating ids never needs it.
    from retrieval_metrics.judging.matching.by_piece import judge_items  # noqa: PLC0415
    from retrieval_metrics.judging.matching.matching import as_matching  # noqa: PLC0415

    return judge_items(qrels, run, as_matching(match), calls_of(run))


def calls_of(run: RunMapping | Run) -> Mapping[QueryId, Sequence[int]]:
    """Return which call of an agent found each item of a run, as far as the run knows."""
    return run.calls if isinstance(run, RetrievedRun) else {}


def _first_ranking(run: RunMapping) -> Any:
    """Return the first ranking that is not empty; None if nothing was retrieved."""
    return next((one for one in run.values() if not isinstance(one, (list, tuple, dict)) or one), None)


def _holds_items(ranking: Any) -> bool:
    """Return whether a ranking holds items rather than ids."""
    return isinstance(ranking, (list, tuple)) and isinstance(ranking[0], Retrieved)
