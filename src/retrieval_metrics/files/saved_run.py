"""Encode runs for saved files, which hold each text of an item once, and decode them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from retrieval_metrics.files.saved_format import Lines, Section
from retrieval_metrics.inputs.json_codec import encode_id
from retrieval_metrics.inputs.ranking_codec import decode_error, decode_ranking, encode_error, encode_ranking
from retrieval_metrics.inputs.retrieved_run import RetrievedRun
from retrieval_metrics.inputs.run import Run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.inputs.items import RunMapping


def encode_run(run: RunMapping | Run, texts: dict[str, int]) -> Section:
    """Return a run as JSON values, and add its texts to the numbered texts of the file; see `encode_ranking`."""
    if not isinstance(run, Mapping):
        hint = "; save the result itself with its method save" if hasattr(run, "save") else ""
        raise TypeError(f"run must map each query to its ranking, got {type(run).__name__}{hint}")
    section = Section(rankings=_encode_rankings(run, texts))
    if not isinstance(run, RetrievedRun):
        return section
    section["failed"] = Lines({"query": encode_id(query), **encode_error(error)} for query, error in run.errors.items())
    section["seconds"] = Lines([encode_id(query), float(seconds)] for query, seconds in run.seconds.items())
    if run.calls:
        section["calls"] = Lines([encode_id(query), list(calls)] for query, calls in run.calls.items())
    if run.stages:
        stages = Section()
        for name, stage in run.stages.items():
            # The last stage is the run itself, so its rankings are not written twice.
            stages[name] = None if stage is run else _encode_rankings(stage, texts)
        section["stages"] = stages
        if run.takes_documents:
            section["takes_documents"] = dict(run.takes_documents)
    return section


def _encode_rankings(run: Mapping[Any, Any], texts: dict[str, int]) -> Lines:
    rankings = run.rankings() if isinstance(run, Run) else run.items()
    return Lines({"query": encode_id(query), **encode_ranking(ranking, query, texts)} for query, ranking in rankings)


def decode_run(section: Mapping[str, Any], texts: list[str]) -> dict[Any, Any]:
    """Return the run that `encode_run` encoded."""
    run = _decode_rankings(section["rankings"], texts)
    if "failed" not in section:
        return run
    errors = {entry["query"]: decode_error(entry) for entry in section["failed"]}
    stages = {}
    for name, rankings in section.get("stages", {}).items():
        stages[name] = run if rankings is None else _decode_rankings(rankings, texts)
    return RetrievedRun(
        run,
        errors,
        dict(section["seconds"]),
        calls=dict(section.get("calls", ())),
        stages=stages,
        takes_documents=section.get("takes_documents"),
    )


def _decode_rankings(entries: Sequence[Mapping[str, Any]], texts: list[str]) -> dict[Any, Any]:
    return {entry["query"]: decode_ranking(entry, texts) for entry in entries}
