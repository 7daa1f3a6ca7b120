"""Comparisons as JSON: the evaluation of each system, and the difference of each pair."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from retrieval_metrics.keeping.document import Lines, Section, write_document
from retrieval_metrics.keeping.evaluations import evaluation_of, metric_of, of_evaluation, of_metric, same_questions
from retrieval_metrics.keeping.records import of_record, record_of
from retrieval_metrics.results.difference import Aligned, Differences
from retrieval_metrics.results.scores import Scores
from retrieval_metrics.results.standings import Compared

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.keeping.document import Document, Labels

OWN = {"scores", "metrics", "aligned", "differences"}
"""Fields of `Compared` with a special form in the file, or that follow from these; all others are small records."""
OTHERS = [field.name for field in fields(Compared) if field.name not in OWN]


def save_comparison(compared: Compared, path: str | PathLike[str], labels: Labels | None, *, rankings: bool) -> None:
    """Write a comparison; see `Comparison.save`."""
    sections = {
        **of_systems(compared.scores, rankings=rankings),
        "metrics": Lines(map(of_metric, compared.metrics)),
        **_of_others(compared),
    }
    write_document(path, "comparison", sections, labels)


def are_alike(one: Compared, other: Compared) -> bool:
    """Return whether two comparisons hold the same numbers, as a saved one and what is loaded of it do."""
    return (
        list(one.scores.items()) == list(other.scores.items())
        and one.metrics == other.metrics
        and _of_others(one) == _of_others(other)
    )


def _of_others(compared: Compared) -> dict[str, Any]:
    """Return what is neither scores nor metrics as JSON holds it, where NaN equals itself."""
    others = {name: of_record(getattr(compared, name), name) for name in OTHERS}
    differences = (of_record(each, f"the difference in {each.metric}") for each in compared.differences)
    return {**others, "differences": Lines(differences)}


def has_earlier_tests(document: Document) -> bool:
    """Return whether the differences of a comparison hold a test of the first version, which is no longer made."""
    with document.place("differences"):
        return any("p_t" in each["paired"] for each in document.content["differences"])


def of_systems(scores: Mapping[str, Scores], *, rankings: bool) -> dict[str, Any]:
    """Return the sections of several systems: their evaluations, and the texts of all of them, once."""
    texts: dict[str, int] = {}
    systems = Section()
    for name, each in scores.items():
        like = next((other for other in systems if same_questions(each, scores[other])), None)
        systems[name] = of_evaluation(each, texts, rankings=rankings, questions_like=like)
    return {"texts": Lines(texts), "systems": systems}


def systems_of(document: Document) -> dict[str, Scores]:
    """Return the scores of each system.

    Raises:
        ValueError: If something is malformed; the message names its place.
    """
    content = document.content
    scores: dict[str, Scores] = {}
    judged: dict[str, Qrels] = {}
    with document.place("systems"):
        texts, systems = content["texts"], dict(content["systems"])
    for name, said in systems.items():
        found = evaluation_of(said, document, texts, judged)
        if not isinstance(found, Scores):
            raise ValueError(f"{document.name} is damaged at systems: {name!r} has no values of single queries")  # noqa: TRY004  (said of the file)
        scores[name] = found
        if found.origin is not None:
            judged[name] = found.origin.judged.qrels
    return scores


def compared_of(document: Document, *, differences: bool = True) -> dict[str, Any]:
    """Return the fields of the `Compared` that was saved.

    Args:
        document: The file.
        differences: Whether to read the differences too.

    Raises:
        ValueError: If something is malformed; the message names its place.
    """
    content, scores = document.content, systems_of(document)
    known: dict[str, Any] = {}
    for name in OTHERS:
        if name in content:
            with document.place(name):
                known[name] = record_of(content[name])
    if differences:
        with document.place("differences"):
            known["differences"] = Differences(record_of(each) for each in content["differences"])
    with document.place("metrics"):
        metrics = tuple(metric_of(each, document.name) for each in content["metrics"])
    aligned = Aligned.of(scores, metrics, known.get("clusters"))
    return {"scores": scores, "metrics": metrics, "aligned": aligned, **known}
