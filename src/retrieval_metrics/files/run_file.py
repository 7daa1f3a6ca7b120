"""Runs as saved files, and back: ids best first, ids with scores, or items with their texts, each text once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retrieval_metrics.files.saved_format import Lines, Section
from retrieval_metrics.inputs.json_codec import encode_id
from retrieval_metrics.inputs.ranking_codec import decode_error, decode_ranking, encode_error, encode_ranking
from retrieval_metrics.inputs.retrieved_run import RetrievedRun
from retrieval_metrics.inputs.run import Run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics.inputs.items import RunMapping


# Runs as JSON: ids best first, ids with scores, or items with their texts, each text once.


def encode_run(run: RunMapping | Run, texts: dict[str, int]) -> Section:
    """Return a run as JSON holds it, and add its texts to those of the file; see `encode_ranking`."""
    said = Section(rankings=_of_rankings(run, texts))
    if isinstance(run, RetrievedRun):
        said["failed"] = Lines(
            {"query": encode_id(query), **encode_error(error)} for query, error in run.errors.items()
        )
        said["seconds"] = Lines([encode_id(query), float(seconds)] for query, seconds in run.seconds.items())
        if run.calls:
            said["calls"] = Lines([encode_id(query), list(calls)] for query, calls in run.calls.items())
        if run.stages:  # the last one is the run itself
            said["steps"] = Section(
                {name: None if step is run else _of_rankings(step, texts) for name, step in run.stages.items()}
            )
    return said


def _of_rankings(run: Mapping[Any, Any], texts: dict[str, int]) -> Lines:
    rankings = run.rankings() if isinstance(run, Run) else run.items()
    return Lines({"query": encode_id(query), **encode_ranking(ranking, query, texts)} for query, ranking in rankings)


def decode_run(said: Mapping[str, Any], texts: list[str]) -> dict[Any, Any]:
    """Return the run that `of_run` was given, in memory."""
    run = _rankings_of(said["rankings"], texts)
    if "failed" not in said:
        return run
    errors = {entry["query"]: decode_error(entry) for entry in said["failed"]}
    held = said.get("steps", {}).items()
    steps = {name: run if rankings is None else _rankings_of(rankings, texts) for name, rankings in held}
    return RetrievedRun(run, errors, dict(said["seconds"]), calls=dict(said.get("calls", ())), stages=steps)


def _rankings_of(entries: Sequence[Mapping[str, Any]], texts: list[str]) -> dict[Any, Any]:
    return {entry["query"]: decode_ranking(entry, texts) for entry in entries}
