"""The failed queries of the retrieval and their durations, as far as an evaluation has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrieval_metrics.inputs.retrieved_run import RetrievedRun
from retrieval_metrics.results.counts import failed_queries

if TYPE_CHECKING:
    from retrieval_metrics.aliases import QueryId
    from retrieval_metrics.results.scores import Scores


def errors_of(scores: Scores) -> dict[QueryId, Exception]:
    """Return the exception of each query whose retriever failed; none if the run has no exceptions or is not kept."""
    return {} if scores.origin is None else failed_queries(scores.origin.judged, scores.origin.run)


def seconds_of(scores: Scores) -> dict[QueryId, float]:
    """Return how long the retriever took for each query; nothing if the run does not say or is not kept."""
    run = None if scores.origin is None else scores.origin.run
    return dict(run.seconds) if isinstance(run, RetrievedRun) else {}
