"""Write comparisons to files and read them: the evaluation of each system, and the difference of each pair."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from retrieval_metrics.comparison.comparison_record import ComparisonRecord
from retrieval_metrics.comparison.difference import Differences
from retrieval_metrics.comparison.paired_values import PairedValues
from retrieval_metrics.evaluation.evaluation_file import decode_evaluation, encode_evaluation, has_same_questions
from retrieval_metrics.evaluation.saved_metrics import decode_metric, encode_metric
from retrieval_metrics.evaluation.scores import Scores
from retrieval_metrics.files.saved_format import Lines, SavedFile, Section, write_saved_file
from retrieval_metrics.files.saved_records import decode_record, encode_record
from retrieval_metrics.inputs.clusters import Clusters

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from os import PathLike

    from retrieval_metrics.files.saved_format import LabelMapping
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.metrics.base.metric import Metric


# Fields of `ComparisonRecord` with a special form in the file, and `paired_values`, which is computed from the scores.
SPECIAL_COMPARISON_FIELDS = {"scores", "metrics", "paired_values", "differences"}

# All other fields are small records, which have the general form.
_PLAIN_FIELDS = [field.name for field in fields(ComparisonRecord) if field.name not in SPECIAL_COMPARISON_FIELDS]


def save_comparison(
    comparison: ComparisonRecord, path: str | PathLike[str], labels: LabelMapping | None, *, rankings: bool
) -> None:
    """Write a comparison; see `Comparison.save`."""
    sections = {
        **encode_systems(comparison.scores, rankings=rankings),
        "metrics": Lines(map(encode_metric, comparison.metrics)),
        **_encode_results(comparison, with_cluster_names=rankings),
    }
    write_saved_file(path, "comparison", sections, labels)


def has_same_numbers(comparison: ComparisonRecord, other: ComparisonRecord) -> bool:
    """Return whether two comparisons hold the same numbers, as a comparison and its saved copy do."""
    return (
        list(comparison.scores.items()) == list(other.scores.items())
        and comparison.metrics == other.metrics
        and _encode_results(comparison, with_cluster_names=False) == _encode_results(other, with_cluster_names=False)
    )


def _encode_results(comparison: ComparisonRecord, *, with_cluster_names: bool) -> dict[str, Any]:
    """Return everything but the scores and metrics in the form for JSON, in which NaN equals itself."""
    sections: dict[str, Any] = {}
    for name in _PLAIN_FIELDS:
        value = getattr(comparison, name)
        if isinstance(value, Clusters) and not with_cluster_names:
            value = value.hide_names()
        sections[name] = encode_record(value, name)
    differences = Lines()
    for difference in comparison.differences:
        differences.append(encode_record(difference, f"the difference in {difference.metric}"))
    sections["differences"] = differences
    return sections


def encode_systems(scores: Mapping[str, Scores], *, rankings: bool) -> dict[str, Any]:
    """Return the sections of a file with several systems: their evaluations, and each text once for all of them."""
    texts: dict[str, int] = {}
    systems = Section()
    for name, system_scores in scores.items():
        questions_like = _find_same_questions(system_scores, scores, systems)
        systems[name] = encode_evaluation(system_scores, texts, rankings=rankings, questions_like=questions_like)
    return {"texts": Lines(texts), "systems": systems}


def _find_same_questions(scores: Scores, all_scores: Mapping[str, Scores], names: Iterable[str]) -> str | None:
    """Return the first of these systems that was asked the same questions; None if there is none."""
    for name in names:
        if has_same_questions(scores, all_scores[name]):
            return name
    return None


def decode_systems(saved_file: SavedFile) -> dict[str, Scores]:
    """Return the scores of each system."""
    with saved_file.name_place_in_errors("systems"):
        texts = saved_file.content["texts"]
        systems = dict(saved_file.content["systems"])
    scores_by_system: dict[str, Scores] = {}
    qrels_by_system: dict[str, Qrels] = {}
    for name, section in systems.items():
        scores = decode_evaluation(section, saved_file, texts, qrels_by_system)
        if not isinstance(scores, Scores):
            raise ValueError(f"{saved_file.name} is damaged at systems: {name!r} has no values of single queries")
        scores_by_system[name] = scores
        if scores.origin is not None:
            qrels_by_system[name] = scores.origin.judged.qrels
    return scores_by_system


def decode_comparison(saved_file: SavedFile) -> dict[str, Any]:
    """Return the fields of the `ComparisonRecord` that was saved."""
    content = saved_file.content
    scores = decode_systems(saved_file)
    fields_by_name: dict[str, Any] = {}
    for name in _PLAIN_FIELDS:
        with saved_file.name_place_in_errors(name):
            fields_by_name[name] = decode_record(content[name])
    with saved_file.name_place_in_errors("differences"):
        fields_by_name["differences"] = Differences(decode_record(entry) for entry in content["differences"])
    with saved_file.name_place_in_errors("metrics"):
        metrics = tuple(decode_metric(entry, saved_file.name) for entry in content["metrics"])
    with saved_file.name_place_in_errors("differences"):
        _require_all_metrics(fields_by_name["differences"], metrics)
    paired_values = PairedValues.from_scores(scores, metrics, fields_by_name.get("clusters"))
    return {"scores": scores, "metrics": metrics, "paired_values": paired_values, **fields_by_name}


def _require_all_metrics(differences: Differences, metrics: Sequence[Metric]) -> None:
    """Raise unless there is a pair of systems, and each has a difference in every metric."""
    names = list(map(str, metrics))
    if not differences:
        raise ValueError("there are none")
    for pair, differences_of_pair in differences.by_pair.items():
        names_of_pair = [str(difference.metric) for difference in differences_of_pair]
        if names_of_pair != names:
            raise ValueError(f"those of {pair} are in {names_of_pair}, and the metrics are {names}")
