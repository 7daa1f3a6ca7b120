"""Encode evaluations for saved files, and decode them."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics._internal.validation import integer
from retrieval_metrics.evaluation.counts import Counts
from retrieval_metrics.evaluation.data_findings import DataFindings, collect_data_findings
from retrieval_metrics.evaluation.data_warnings import DataWarning
from retrieval_metrics.evaluation.saved_metrics import decode_metric, encode_metric
from retrieval_metrics.evaluation.saved_value_checks import require_correct_values
from retrieval_metrics.evaluation.scores import Origin, Scores, columns_by_metric
from retrieval_metrics.evaluation.totals import Totals
from retrieval_metrics.evaluation.unused_exclusion import UnusedExclusion
from retrieval_metrics.files.record_classes import register_record
from retrieval_metrics.files.saved_format import Lines, SavedFile, Section, write_saved_file
from retrieval_metrics.files.saved_questions import decode_questions, encode_qrels
from retrieval_metrics.files.saved_records import decode_column, decode_record, encode_column, encode_record
from retrieval_metrics.files.saved_run import decode_run, encode_run
from retrieval_metrics.inputs.clusters import Clusters
from retrieval_metrics.inputs.json_codec import encode_id
from retrieval_metrics.inputs.match_key import get_match_key
from retrieval_metrics.inputs.qrels import Qrels
from retrieval_metrics.matching.budget import Budget, BudgetFills
from retrieval_metrics.matching.judge import judge
from retrieval_metrics.matching.matching_options import Matching
from retrieval_metrics.metrics.base.rules import Rules

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    from retrieval_metrics._internal.plain_types import FloatArray, QueryId
    from retrieval_metrics.evaluation.scores import Column
    from retrieval_metrics.files.saved_format import LabelMapping
    from retrieval_metrics.inputs.match_key import Key
    from retrieval_metrics.matching.judged_run import JudgedRun
    from retrieval_metrics.metrics.base.metric import Metric


for record_class in (Budget, BudgetFills):
    register_record(record_class)

# Fields of `Scores` with a special form in the file; all others are small records.
SPECIAL_FIELDS = {"metrics", "queries", "columns", "origin", "scale", "findings"}

# Columns that all metrics have or none, which the file holds query by query.
COLUMN_BY_TABLE: Mapping[str, Column] = {"values": "value", "lowest": "lowest", "highest": "highest"}

# Columns that some metrics have, which the file holds metric by metric.
COLUMN_BY_SECTION: Mapping[str, Column] = {"residuals": "residual", "ideals": "ideal", "two_valued": "two_valued"}


def save_evaluation(
    record: Scores | Totals, path: str | PathLike[str], labels: LabelMapping | None, *, rankings: bool
) -> None:
    """Write an evaluation; see `Evaluation.save`."""
    texts: dict[str, int] = {}
    section = encode_evaluation(record, texts, rankings=rankings)
    write_saved_file(path, "evaluation", {"texts": Lines(texts), "evaluation": section}, labels)


def encode_evaluation(
    record: Scores | Totals, texts: dict[str, int], *, rankings: bool, questions_like: str | None = None
) -> Section:
    """Return an evaluation as JSON values.

    Args:
        record: The evaluation.
        texts: The numbers of the texts of the file by text, to which the texts of the run are added.
        rankings: Whether to include the questions, the judgments and the rankings.
        questions_like: The name of another system in the file that has the same questions; None writes them.
    """
    if isinstance(record, Totals):
        return _encode_totals(record)
    if not rankings:
        # How far budgets are filled, and what is wrong with the data, cannot be computed without the rankings.
        record = replace(
            record,
            budget_fills=record.all_fills(),
            findings=collect_data_findings(record),
            clusters=None if record.clusters is None else record.clusters.hide_names(),
        )
    section = Section(metrics=Lines(map(encode_metric, record.metrics)), scale=record.scale)
    for field in fields(record):
        if field.name not in SPECIAL_FIELDS:
            section[field.name] = encode_record(getattr(record, field.name), field.name)
    if rankings and record.origin is not None:
        section["origin"] = _encode_origin(record.origin, texts, questions_like)
    elif record.findings is not None:
        section["findings"] = encode_record(record.findings, "what was found in the data")
    section["values"] = _encode_values(record)
    return section


def _encode_values(scores: Scores) -> Section:
    section = Section(queries=[encode_id(query) for query in scores.queries])
    for name, column in COLUMN_BY_TABLE.items():
        columns = _present_columns(scores, column)
        section[name] = _encode_by_query(scores.queries, list(columns.values())) if columns else None
    for name, column in COLUMN_BY_SECTION.items():
        columns = _present_columns(scores, column)
        section[name] = {str(metric): encode_column(values) for metric, values in columns.items()}
    return section


def _present_columns(scores: Scores, column: Column) -> dict[Metric, FloatArray]:
    """Return a column by metric, for the metrics that have it."""
    columns = {}
    for metric in scores.metrics:
        values = scores.per_query_column(column, metric)
        if values is not None:
            columns[metric] = values
    return columns


def _encode_by_query(queries: Sequence[QueryId], columns: Sequence[FloatArray]) -> Lines:
    """Return columns as rows that begin with their query, which makes diffs of files readable."""
    rows = encode_column(np.column_stack(columns))
    return Lines([encode_id(query), *row] for query, row in zip(queries, rows, strict=True))


def _encode_origin(origin: Origin, texts: dict[str, int], questions_like: str | None) -> Section:
    qrels = origin.judged.qrels
    questions = encode_qrels(qrels) if questions_like is None else questions_like
    if not isinstance(origin.match, (str, Matching)):
        raise ValueError(
            f"match={origin.match!r} is a function, which cannot be saved, because loading a file runs no code; match "
            "by 'source', 'filename' or 'metadata:<name>', or save only the numbers: save(path, rankings=False)"
        )
    try:
        match = encode_record(origin.match, "match")
    except ValueError as error:
        error.add_note("save(path, rankings=False) saves only the numbers")
        raise
    section = Section(match=match, largest_grade=qrels.largest_grade)
    if origin.rounds != 1:
        section["rounds"] = origin.rounds
    if origin.judged.n_excluded is not None:
        section["excluded"] = _encode_excluded(origin.judged)
    if origin.unused_exclusion is not None:
        section["unused_exclusion"] = encode_record(origin.unused_exclusion, "the unused exclusion")
    section["questions"] = questions
    section["run"] = encode_run(origin.run, texts)
    return section


def _encode_excluded(judged: JudgedRun) -> list[list[Any]]:
    """Return the queries from whose rankings documents were left out, with how many."""
    if judged.n_excluded is None:
        return []
    numbers = zip(judged.qrels.queries, judged.n_excluded.tolist(), strict=True)
    return [[encode_id(query), number] for query, number in numbers if number]


def _decode_excluded(section: Any, judged: JudgedRun) -> None:
    """Set how many documents were left out of the ranking of each query."""
    if section is None:
        return
    judged.n_excluded = np.zeros(judged.n_queries, dtype=np.int64)
    for query, number in section:
        judged.n_excluded[judged.qrels.place[query]] = integer(number, "the number of excluded documents")


def decode_evaluation(
    section: Mapping[str, Any],
    saved_file: SavedFile,
    texts: list[str],
    qrels_by_system: Mapping[str, Qrels] | None = None,
) -> Scores | Totals:
    """Return the evaluation that `encode_evaluation` encoded.

    Args:
        section: The encoded evaluation.
        saved_file: The file, for messages.
        texts: The texts of the file by number.
        qrels_by_system: The judgments of the systems that were decoded before, whose questions it may have.
    """
    with saved_file.name_place_in_errors("metrics"):
        entries = list(section["metrics"])
    metrics = tuple(_decode_named_metric(entry, saved_file, number) for number, entry in enumerate(entries))
    arguments: dict[str, Any] = {}
    for field in fields(Scores):
        if field.name in section and field.name not in SPECIAL_FIELDS:
            with saved_file.name_place_in_errors(field.name):
                arguments[field.name] = decode_record(section[field.name])
    with saved_file.name_place_in_errors("rules and counts"):
        _require_rules_and_counts(arguments["rules"], arguments["counts"])
    if "totals" in section:
        return _decode_totals(section, saved_file, metrics, arguments)
    if "origin" in section:
        origin = _decode_origin(section["origin"], saved_file, texts, arguments.get("rules"), qrels_by_system or {})
        arguments["origin"] = origin
        arguments["scale"] = origin.judged.qrels.largest_grade
    else:
        with saved_file.name_place_in_errors("scale"):
            arguments["scale"] = _decode_scale(section)
        with saved_file.name_place_in_errors("findings"):
            arguments["findings"] = _decode_findings(section)
    with saved_file.name_place_in_errors("clusters"):
        _require_clusters(arguments.get("clusters"), section["values"]["queries"])
    with saved_file.name_place_in_errors("values"):
        scores = _decode_scores(section["values"], metrics, arguments)
        require_correct_values(scores)
        return scores


def _decode_findings(section: Mapping[str, Any]) -> DataFindings | None:
    """Return what was found in the data; None if the file does not say it."""
    findings = decode_record(section.get("findings"))
    if findings is None:
        return None
    if not isinstance(findings, DataFindings):
        raise ValueError(f"what was found in the data is {findings!r}")
    if not all(isinstance(warning, DataWarning) for warning in findings.warnings):
        raise ValueError(f"a warning is none of the data: {findings.warnings!r}")
    n_queries = len(section["values"]["queries"])
    for depth, shares in findings.judged_shares.items():
        if shares.shape != (n_queries,):
            raise ValueError(f"{shares.size} shares of the first {depth} documents are judged, for {n_queries} queries")
    return findings


def _require_rules_and_counts(rules: Any, counts: Any) -> None:
    if not isinstance(rules, Rules):
        raise ValueError(f"the rules are {rules!r}")
    for name in Counts.__annotations__:
        count = counts.get(name, 0) if name in Counts.__optional_keys__ else counts[name]
        if type(count) is not int or count < 0:
            raise ValueError(f"the number of {name} is {count!r}")


def _require_clusters(clusters: Any, queries: Sequence[Any]) -> None:
    """Raise unless they are the clusters of the queries, or None."""
    if clusters is None:
        return
    if not isinstance(clusters, Clusters) or list(clusters.queries) != list(queries):
        raise ValueError("they are not those of the queries")
    labels = clusters.labels
    if labels is not None and len(labels) != len(queries):
        raise ValueError(f"there are clusters of {len(labels)} queries, and {len(queries)} have values")


def _decode_named_metric(entry: Any, saved_file: SavedFile, number: int) -> Metric:
    if not isinstance(entry, dict) or not isinstance(entry.get("metric"), str):
        raise ValueError(f"{saved_file.name} is damaged at metrics[{number}]: {entry!r} has no name")
    return decode_metric(entry, saved_file.name)


def _decode_scores(section: Any, metrics: Sequence[Metric], arguments: dict[str, Any]) -> Scores:
    queries = tuple(section["queries"])
    columns: dict[tuple[Column, Metric], FloatArray] = {}
    for name, column in COLUMN_BY_TABLE.items():
        rows = section[name]
        if rows is not None:
            columns |= columns_by_metric(column, metrics, _decode_table(rows, name, queries, len(metrics)))
    metric_by_name = {str(metric): metric for metric in metrics}
    for section_name, column in COLUMN_BY_SECTION.items():
        for metric_name, encoded in section[section_name].items():
            metric = metric_by_name[metric_name]
            values = decode_column(encoded)
            if values.shape != (len(queries),):
                raise ValueError(f"{section_name} of {metric} has {values.size} numbers for {len(queries)} queries")
            columns[column, metric] = values
    origin: Origin | None = arguments.get("origin")
    if origin is not None and not set(queries) <= set(origin.judged.qrels.queries):
        raise ValueError("a query has values but no judgments")
    return Scores(metrics=tuple(metrics), queries=queries, columns=columns, **arguments)


def _decode_table(rows: Any, name: str, queries: Sequence[QueryId], n_metrics: int) -> FloatArray:
    """Return a table as an array, shape (queries, metrics); a row may begin with its query."""
    row_lengths = [len(row) for row in rows]
    begin_with_query = row_lengths == [n_metrics + 1] * len(queries)
    if begin_with_query:
        row_queries = [row[0] for row in rows]
        if row_queries != list(queries):
            raise ValueError(f"the rows of {name} are those of other queries, such as {row_queries[0]!r}")
        rows = [row[1:] for row in rows]
    table = decode_column(rows)
    if table.size != len(queries) * n_metrics:
        raise ValueError(f"{name} has {table.size} numbers for {len(queries)} queries and {n_metrics} metrics")
    reshaped: FloatArray = table.reshape(len(queries), n_metrics)
    return reshaped


def _decode_origin(
    section: Any, saved_file: SavedFile, texts: list[str], rules: Any, qrels_by_system: Mapping[str, Qrels]
) -> Origin:
    with saved_file.name_place_in_errors("origin"):
        questions: Any = section["questions"]
        encoded_run = section["run"]
        largest_grade = float(section["largest_grade"])
        rounds = int(section.get("rounds", 1))
        match: str | Key | Matching = decode_record(section["match"])
        if isinstance(questions, str):  # the name of a system that has the same questions
            questions = qrels_by_system[questions]
        else:
            questions = decode_questions(questions, saved_file)
    with saved_file.name_place_in_errors("questions"):
        # The ids were checked when the evaluation was made, perhaps by other rules, such as allow="blanks".
        qrels = questions if isinstance(questions, Qrels) else Qrels.unchecked(questions)
    with saved_file.name_place_in_errors("run"):
        run = decode_run(encoded_run, texts)
    with saved_file.name_place_in_errors("origin"):
        if largest_grade != qrels.largest_grade:
            qrels = qrels.with_largest_grade(largest_grade)
        if not isinstance(match, Matching):
            get_match_key(match)
        judged = judge(qrels, run, match, rules.order)
        _decode_excluded(section.get("excluded"), judged)
        unused_exclusion = decode_record(section.get("unused_exclusion"))
        if unused_exclusion is not None and not isinstance(unused_exclusion, UnusedExclusion):
            raise ValueError(f"the unused exclusion is {unused_exclusion!r}")
        return Origin(judged, run, match, rounds, unused_exclusion)


def _encode_totals(totals: Totals) -> Section:
    sums = Lines()
    for (column, metric), exact in totals.exact.items():
        encoded = encode_record(exact, f"the sums of {metric}")
        sums.append({"column": column, "metric": str(metric), "sums": encoded})
    return Section(
        metrics=Lines(map(encode_metric, totals.metrics)),
        rules=encode_record(totals.rules, "the rules"),
        counts=encode_record(totals.counts, "the counts"),
        scale=totals.scale,
        totals=Section(exact=sums),
    )


def _decode_totals(
    section: Mapping[str, Any], saved_file: SavedFile, metrics: tuple[Metric, ...], arguments: Mapping[str, Any]
) -> Totals:
    with saved_file.name_place_in_errors("totals"):
        metric_by_name = {str(metric): metric for metric in metrics}
        exact = {}
        for entry in section["totals"]["exact"]:
            exact[entry["column"], metric_by_name[entry["metric"]]] = decode_record(entry["sums"])
        return Totals(metrics, arguments["rules"], arguments["counts"], exact, _decode_scale(section))


def _decode_scale(section: Mapping[str, Any]) -> float | None:
    scale = section.get("scale")
    return None if scale is None else float(scale)


def has_same_questions(scores: Scores, other: Scores) -> bool:
    """Return whether two evaluations were computed from the same questions and judgments."""
    if scores.origin is None or other.origin is None:
        return False
    qrels = scores.origin.judged.qrels
    other_qrels = other.origin.judged.qrels
    if qrels is other_qrels:
        return True
    return (
        qrels.has_same_columns(other_qrels)
        and qrels.largest_grade == other_qrels.largest_grade
        and dict(qrels.texts) == dict(other_qrels.texts)
        and dict(qrels.provenance) == dict(other_qrels.provenance)
    )
