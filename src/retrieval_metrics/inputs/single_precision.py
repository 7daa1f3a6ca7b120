"""Scores in 32 bits, as trec_eval compares them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate, chain, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.inputs.retrieved_run import RetrievedRun
from retrieval_metrics.inputs.run import Run, StreamedRun

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from retrieval_metrics.aliases import QueryId
    from retrieval_metrics.inputs.batch import Batch
    from retrieval_metrics.inputs.shapes import RunMapping

TOGETHER = 64
"""How many rankings are looked through at a time."""


def in_single_precision(run: RunMapping | Run) -> RunMapping | Run:
    """Return a run whose scores are equal where their nearest numbers of 32 bits are.

    Rounding keeps the order and can only make scores equal, so a ranking in which it makes none equal stays as it is,
    and so does one without scores.

    Example:
        >>> run = in_single_precision({"q": {"a": 0.12345678, "b": 0.123456781}, "r": {"a": 1.5, "b": 0.1}})
        >>> run["q"]["a"] == run["q"]["b"], run["r"]
        (True, {'a': 1.5, 'b': 0.1})
    """
    if isinstance(run, StreamedRun):
        return run.changed(_rounded)
    if isinstance(run, Run):
        batches = [_rounded(batch) for batch in run.batches()]
        same = all(new is old for new, old in zip(batches, run.batches(), strict=True))
        return run if same else Run(batches)
    changed = {query: _single(ranking) for query, ranking in _that_gain_ties(run)}
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


def _that_gain_ties(run: RunMapping) -> Iterator[tuple[QueryId, Mapping[Any, Any]]]:
    """Yield the queries, and their rankings, with scores that differ in 64 bits and not in 32."""
    scored = ((query, ranking) for query, ranking in run.items() if isinstance(ranking, Mapping) and ranking)
    while together := list(islice(scored, TOGETHER)):
        try:
            gaining = _gaining(together)
        except (TypeError, ValueError, OverflowError):
            gaining = [at for at, one in enumerate(together) if _gains_ties(one)]
        yield from (together[at] for at in gaining)


def _gains_ties(scored: tuple[QueryId, Mapping[Any, Any]]) -> bool:
    try:
        return bool(_gaining([scored]))
    except (TypeError, ValueError, OverflowError):
        return False  # refused later, with the document that has no number


def _gaining(scored: Sequence[tuple[QueryId, Mapping[Any, Any]]]) -> list[int]:
    """Return the places of the rankings that gain ties, found in one column of all their scores."""
    ends = list(accumulate(len(ranking) for _, ranking in scored))
    scores = np.fromiter(chain.from_iterable(ranking.values() for _, ranking in scored), np.float64, ends[-1])
    firsts = np.array([0, *ends[:-1]])
    rises = scores[1:] > scores[:-1]
    rises[firsts[1:] - 1] = False
    for at in set(np.searchsorted(ends, np.flatnonzero(rises), "right").tolist()):
        scores[firsts[at] : ends[at]].sort()
    with np.errstate(over="ignore"):  # a number beyond 32 bits is infinite there
        single = scores.astype(np.float32)
    ties = (single[1:] == single[:-1]) & (scores[1:] != scores[:-1])
    ties[firsts[1:] - 1] = False
    return sorted(set(np.searchsorted(ends, np.flatnonzero(ties), "right").tolist()))


def _single(ranking: Mapping[Any, Any]) -> dict[Any, float]:
    largest = float(np.finfo(np.float32).max)
    scores = np.clip(np.fromiter(ranking.values(), np.float64, len(ranking)), -largest, largest)
    return dict(zip(ranking, scores.astype(np.float32).tolist(), strict=True))
