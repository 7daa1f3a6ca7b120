"""Runs as JSON: ids best first, ids with scores, or items with their texts, each text once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retrieval_metrics.inputs.entries import error_of, of_error, of_id, of_ranking, ranking_of
from retrieval_metrics.inputs.run import RetrievedRun, Run
from retrieval_metrics.keeping.document import Lines, Section

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics.inputs.items import RunMapping


def of_run(run: RunMapping | Run, texts: dict[str, int]) -> Section:
    """Return a run as JSON holds it, and add its texts to those of the file; see `of_ranking`.

    Raises:
        TypeError: If a ranking has another type.
        ValueError: If JSON cannot hold something, such as the metadata of an item.
    """
    rankings = run.rankings() if isinstance(run, Run) else run.items()
    said = Section(
        rankings=Lines({"query": of_id(query), **of_ranking(ranking, query, texts)} for query, ranking in rankings)
    )
    if isinstance(run, RetrievedRun):
        said["failed"] = Lines({"query": of_id(query), **of_error(error)} for query, error in run.errors.items())
        said["seconds"] = Lines([of_id(query), float(seconds)] for query, seconds in run.seconds.items())
        if run.calls:
            said["calls"] = Lines([of_id(query), list(calls)] for query, calls in run.calls.items())
    return said


def run_of(said: Mapping[str, Any], texts: list[str]) -> dict[Any, Any]:
    """Return the run that `of_run` was given, in memory.

    Raises:
        KeyError: If an entry lacks a key.
        ValueError: If an entry is malformed.
    """
    run = {entry["query"]: ranking_of(entry, texts) for entry in said["rankings"]}
    if "failed" not in said:
        return run
    errors = {entry["query"]: error_of(entry) for entry in said["failed"]}
    return RetrievedRun(run, errors, dict(said["seconds"]), calls=dict(said.get("calls", ())))
