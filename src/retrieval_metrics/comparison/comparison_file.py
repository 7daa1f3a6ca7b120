"""Comparisons as saved files, and back: the evaluation of each system, and the difference of each pair."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from retrieval_metrics.comparison.difference import Differences, PairedValues
from retrieval_metrics.comparison.system_ranking import ComparisonRecord
from retrieval_metrics.evaluation.evaluation_file import (
    decode_evaluation,
    decode_metric,
    encode_evaluation,
    encode_metric,
    has_same_questions,
)
from retrieval_metrics.evaluation.scores import Scores
from retrieval_metrics.files.saved_format import Lines, SavedFile, Section, write_saved_file
from retrieval_metrics.files.saved_records import decode_record, encode_record

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from retrieval_metrics.files.saved_format import LabelMapping
    from retrieval_metrics.inputs.qrels import Qrels


# Comparisons as JSON: the evaluation of each system, and the difference of each pair.

OWN_COMPARISONS = {"scores", "metrics", "paired_values", "differences"}
"""Fields of `ComparisonRecord` with a special form in the file, or that follow from these.

All others are small records."""
OTHERS = [field.name for field in fields(ComparisonRecord) if field.name not in OWN_COMPARISONS]


def save_comparison(
    compared: ComparisonRecord, path: str | PathLike[str], labels: LabelMapping | None, *, rankings: bool
) -> None:
    """Write a comparison; see `Comparison.save`."""
    sections = {
        **encode_systems(compared.scores, rankings=rankings),
        "metrics": Lines(map(encode_metric, compared.metrics)),
        **_of_others(compared),
    }
    write_saved_file(path, "comparison", sections, labels)


def has_same_numbers(one: ComparisonRecord, other: ComparisonRecord) -> bool:
    """Return whether two comparisons hold the same numbers, as a saved one and what is loaded of it do."""
    return (
        list(one.scores.items()) == list(other.scores.items())
        and one.metrics == other.metrics
        and _of_others(one) == _of_others(other)
    )


def _of_others(compared: ComparisonRecord) -> dict[str, Any]:
    """Return what is neither scores nor metrics as JSON holds it, where NaN equals itself."""
    others = {name: encode_record(getattr(compared, name), name) for name in OTHERS}
    differences = (encode_record(each, f"the difference in {each.metric}") for each in compared.differences)
    return {**others, "differences": Lines(differences)}


def encode_systems(scores: Mapping[str, Scores], *, rankings: bool) -> dict[str, Any]:
    """Return the sections of several systems: their evaluations, and the texts of all of them, once."""
    texts: dict[str, int] = {}
    systems = Section()
    for name, each in scores.items():
        like = next((other for other in systems if has_same_questions(each, scores[other])), None)
        systems[name] = encode_evaluation(each, texts, rankings=rankings, questions_like=like)
    return {"texts": Lines(texts), "systems": systems}


def decode_systems(document: SavedFile) -> dict[str, Scores]:
    """Return the scores of each system."""
    content = document.content
    scores: dict[str, Scores] = {}
    judged: dict[str, Qrels] = {}
    with document.place("systems"):
        texts, systems = content["texts"], dict(content["systems"])
    for name, said in systems.items():
        found = decode_evaluation(said, document, texts, judged)
        if not isinstance(found, Scores):
            raise ValueError(f"{document.name} is damaged at systems: {name!r} has no values of single queries")  # noqa: TRY004  (said of the file)
        scores[name] = found
        if found.origin is not None:
            judged[name] = found.origin.judged.qrels
    return scores


def decode_comparison(document: SavedFile) -> dict[str, Any]:
    """Return the fields of the `ComparisonRecord` that was saved."""
    content, scores = document.content, decode_systems(document)
    known: dict[str, Any] = {}
    for name in OTHERS:
        with document.place(name):
            known[name] = decode_record(content[name])
    with document.place("differences"):
        known["differences"] = Differences(decode_record(each) for each in content["differences"])
    with document.place("metrics"):
        metrics = tuple(decode_metric(each, document.name) for each in content["metrics"])
    aligned = PairedValues.from_scores(scores, metrics, known.get("clusters"))
    return {"scores": scores, "metrics": metrics, "paired_values": aligned, **known}
