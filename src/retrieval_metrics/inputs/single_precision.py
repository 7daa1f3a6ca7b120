"""Scores in 32 bits, as trec_eval compares them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.inputs.retrieved_run import RetrievedRun
from retrieval_metrics.inputs.run import Run, StreamedRun

if TYPE_CHECKING:
    from retrieval_metrics.inputs.batch import Batch
    from retrieval_metrics.inputs.shapes import RunMapping


def in_single_precision(run: RunMapping | Run) -> RunMapping | Run:
    """Return a run whose scores are equal where their nearest numbers of 32 bits are.

    Rounding keeps the order and can only make scores equal, so a ranking in which it makes none equal stays as it is,
    and so does one without scores.

    Example:
        >>> run = in_single_precision({"q": {"a": 0.12345678, "b": 0.12345679}, "r": {"a": 1.5, "b": 0.1}})
        >>> run["q"]["a"] == run["q"]["b"], run["r"]
        (True, {'a': 1.5, 'b': 0.1})
    """
    if isinstance(run, StreamedRun):
        return run.changed(_rounded)
    if isinstance(run, Run):
        batches = [_rounded(batch) for batch in run.batches()]
        same = all(new is old for new, old in zip(batches, run.batches(), strict=True))
        return run if same else Run(batches)
    changed = {
        query: _single(ranking)
        for query, ranking in run.items()
        if isinstance(ranking, Mapping) and _gains_ties(ranking)
    }
    if not changed:
        return run
    rankings: dict[Any, Any] = {**run, **changed}
    return (
        RetrievedRun(rankings, run.errors, run.seconds, calls=run.calls) if isinstance(run, RetrievedRun) else rankings
    )


def _rounded(batch: Batch) -> Batch:
    if batch.scores is None:
        return batch
    single = batch.scores.astype(np.float32)
    return batch if bool((single == batch.scores).all()) else batch._replace(scores=single.astype(np.float64))


def _gains_ties(ranking: Mapping[Any, Any]) -> bool:
    try:
        scores = np.fromiter(ranking.values(), np.float64, len(ranking))
    except (TypeError, ValueError, OverflowError):
        return False  # refused later, with the document that has no number
    scores.sort()
    with np.errstate(over="ignore"):  # a number beyond 32 bits is infinite there
        single = scores.astype(np.float32)
    return bool(((single[1:] == single[:-1]) & (scores[1:] != scores[:-1])).any())


def _single(ranking: Mapping[Any, Any]) -> dict[Any, float]:
    largest = float(np.finfo(np.float32).max)
    scores = np.clip(np.fromiter(ranking.values(), np.float64, len(ranking)), -largest, largest)
    return dict(zip(ranking, scores.astype(np.float32).tolist(), strict=True))
