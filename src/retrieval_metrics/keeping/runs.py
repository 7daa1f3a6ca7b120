"""Runs as JSON: ids best first, ids with scores, or items with their texts, each text once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retrieval_metrics.inputs.ranking_entries import error_of, of_error, of_id, of_ranking, ranking_of
from retrieval_metrics.inputs.retrieved_run import RetrievedRun
from retrieval_metrics.inputs.run import Run
from retrieval_metrics.keeping.document import Lines

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics.inputs.shapes import RunMapping


class Texts:
    """The texts of a file, each once, because the same chunk is retrieved for many queries."""

    def __init__(self) -> None:
        self._at: dict[str, int] = {}

    def place(self, text: str) -> int:
        """Return the position of a text in the table, adding it if it is new."""
        return self._at.setdefault(text, len(self._at))

    def table(self) -> Lines:
        """Return the texts in the order of their positions."""
        return Lines(self._at)


def of_run(run: RunMapping | Run, texts: Texts) -> dict[str, Any]:
    """Return a run as JSON holds it.

    Raises:
        TypeError: If a ranking has another type.
        ValueError: If JSON cannot hold something, such as the metadata of an item.
    """
    rankings = run.rankings() if isinstance(run, Run) else run.items()
    said: dict[str, Any] = {
        "rankings": Lines({"query": of_id(query), **of_ranking(ranking, query, texts)} for query, ranking in rankings)
    }
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
