"""Evaluations as saved files, and back."""

from __future__ import annotations

from dataclasses import fields, replace
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics._internal.validation import python_or_cli_text
from retrieval_metrics.evaluation.saved_value_checks import refuse_wrong_values
from retrieval_metrics.evaluation.scores import Origin, Scores, Totals, columns_by_metric
from retrieval_metrics.files.questions_file import decode_questions, encode_qrels
from retrieval_metrics.files.run_file import decode_run, encode_run
from retrieval_metrics.files.saved_format import Lines, SavedFile, Section, write_saved_file
from retrieval_metrics.files.saved_records import decode_column, decode_record, encode_column, encode_record
from retrieval_metrics.inputs.items import get_match_key
from retrieval_metrics.inputs.json_codec import encode_id
from retrieval_metrics.inputs.qrels import Qrels, as_qrels
from retrieval_metrics.matching.judge import judge
from retrieval_metrics.matching.ranking_order import Matching
from retrieval_metrics.metrics.base.given_metrics import GivenMetric, as_given_metric, read_bounds
from retrieval_metrics.metrics.base.metric import Metric, parse_computable_metric

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    from retrieval_metrics._internal.validation import FloatArray, QueryId
    from retrieval_metrics.evaluation.scores import Column
    from retrieval_metrics.files.saved_format import LabelMapping
    from retrieval_metrics.inputs.items import Key


OWN = {"metrics", "queries", "columns", "origin", "scale"}
"""Fields of `Scores` with a special form in the file; all others are small records."""
TABLES: Mapping[str, Column] = {"values": "value", "lowest": "lowest", "highest": "highest"}
"""Columns that all metrics have or none, which the file holds query by query."""
OF_A_METRIC: Mapping[str, Column] = {"residuals": "residual", "ideals": "ideal", "two_valued": "two_valued"}
"""Columns that some metrics have, which the file holds metric by metric."""


def save_evaluation(
    record: Scores | Totals, path: str | PathLike[str], labels: LabelMapping | None, *, rankings: bool
) -> None:
    """Write an evaluation; see `Evaluation.save`."""
    texts: dict[str, int] = {}
    said = encode_evaluation(record, texts, rankings=rankings)
    write_saved_file(path, "evaluation", {"texts": Lines(texts), "evaluation": said}, labels)


def encode_evaluation(
    record: Scores | Totals, texts: dict[str, int], *, rankings: bool, questions_like: str | None = None
) -> Section:
    """Return an evaluation as JSON holds it."""
    if isinstance(record, Totals):
        return _of_totals(record)
    if not rankings:
        record = replace(record, budget_fills=record.all_fills())  # of which the rankings would tell
    said = Section(metrics=Lines(map(encode_metric, record.metrics)), scale=record.scale)
    for name in (field.name for field in fields(record)):
        if name not in OWN:
            said[name] = encode_record(getattr(record, name), name)
    if rankings and record.origin is not None:
        said["origin"] = _of_origin(record.origin, texts, questions_like)
    said["values"] = Section(queries=[encode_id(query) for query in record.queries])
    columns = {
        kind: {
            metric: values for metric in record.metrics if (values := record.per_query_column(kind, metric)) is not None
        }
        for kind in (*TABLES.values(), *OF_A_METRIC.values())
    }
    for name, kind in TABLES.items():
        said["values"][name] = _by_query(record.queries, list(columns[kind].values())) if columns[kind] else None
    for name, kind in OF_A_METRIC.items():
        said["values"][name] = {str(metric): encode_column(values) for metric, values in columns[kind].items()}
    return said


def _by_query(queries: Sequence[QueryId], columns: Sequence[FloatArray]) -> Lines:
    """Return columns with the query at the beginning of each row, which makes diffs of files readable."""
    table = np.column_stack(columns)
    return Lines([encode_id(query), *row] for query, row in zip(queries, encode_column(table), strict=True))


def _of_origin(origin: Origin, texts: dict[str, int], questions_like: str | None) -> Section:
    qrels = origin.judged.qrels
    questions: Any = encode_qrels(qrels) if questions_like is None else questions_like
    if not isinstance(origin.match, (str, Matching)):
        raise ValueError(  # noqa: TRY004  (the type is right, but a file cannot hold it)
            f"match={origin.match!r} is a function, which cannot be saved, because loading a file runs no code; match "
            "by 'source' or 'metadata:<name>', or save only the numbers: save(path, rankings=False)"
        )
    try:
        match = encode_record(origin.match, "match")
    except ValueError as error:
        error.add_note("save(path, rankings=False) saves only the numbers")
        raise
    rounds = {} if origin.rounds == 1 else {"rounds": origin.rounds}
    return Section(
        match=match, largest_grade=qrels.largest_grade, **rounds, questions=questions, run=encode_run(origin.run, texts)
    )


def encode_metric(metric: Metric) -> dict[str, Any]:
    """Return a metric by its name; a user-defined one with the module that defined it, a given one with its facts."""
    if isinstance(metric, GivenMetric):
        ends = [end if isfinite(end) else None for end in metric.bounds]
        return {"metric": str(metric), "bounds": ends, "lower_is_better": metric.lower_is_better}
    made_by = metric.definition.recipe
    return {"metric": str(metric)} if made_by is None else {"metric": str(metric), "module": made_by.module}


def decode_metric(entry: Mapping[str, Any], name: str) -> Metric:
    """Return the metric of that name."""
    if "bounds" in entry:
        of = str(entry["metric"])
        pair = read_bounds([of], tuple(entry["bounds"]))[of]
        return as_given_metric(of, pair, lower_is_better=bool(entry.get("lower_is_better")))
    try:
        return parse_computable_metric(entry["metric"])
    except ValueError as error:
        module = entry.get("module")
        if module is None:
            raise
        how = "call define_metric as in the program that saved it"
        if module != "__main__":
            how = python_or_cli_text(f"first `import {module}`", f"pass --metrics-from {module}") + ", which defined it"
        raise ValueError(
            f"{name} has a user-defined metric, {entry['metric']!r}, which is not known here; {how}"
            + python_or_cli_text(", and load the file again (loading a file imports nothing)")
        ) from error


def decode_evaluation(
    said: Mapping[str, Any], document: SavedFile, texts: list[str], others: Mapping[str, Qrels] | None = None
) -> Scores | Totals:
    """Return what `encode_evaluation` was given."""
    with document.place("metrics"):
        entries = list(said["metrics"])
    metrics = tuple(_metric(entry, document, number) for number, entry in enumerate(entries))
    known: dict[str, Any] = {}
    names = {field.name for field in fields(Scores)} - OWN
    for name in names & said.keys():
        with document.place(name):
            known[name] = decode_record(said[name])
    if "totals" in said:
        return _totals_of(said, document, metrics, known)
    if "origin" in said:
        known["origin"] = origin = _origin_of(said["origin"], document, texts, known.get("rules"), others or {})
        known["scale"] = origin.judged.qrels.largest_grade
    else:
        with document.place("scale"):
            known["scale"] = _scale_of(said)
    with document.place("values"):
        scores = _scores(said["values"], metrics, known)
        refuse_wrong_values(scores)
        return scores


def _metric(entry: Any, document: SavedFile, number: int) -> Metric:
    if not isinstance(entry, dict) or not isinstance(entry.get("metric"), str):
        raise ValueError(  # noqa: TRY004  (whatever is wrong in a file is a ValueError)
            f"{document.name} is damaged at metrics[{number}]: {entry!r} has no name"
        )
    return decode_metric(entry, document.name)


def _scores(held: Any, metrics: Sequence[Metric], known: dict[str, Any]) -> Scores:
    queries = tuple(held["queries"])
    columns: dict[tuple[Column, Metric], FloatArray] = {}
    for name, kind in TABLES.items():
        if (table := _table(held, name, queries, len(metrics))) is not None:
            columns |= columns_by_metric(kind, metrics, table)
    by_name = {str(metric): metric for metric in metrics}
    for name, kind in OF_A_METRIC.items():
        for each, said in held[name].items():
            values = decode_column(said)
            if values.shape != (len(queries),):
                raise ValueError(f"{name} of {by_name[each]} has {values.size} numbers for {len(queries)} queries")
            columns[kind, by_name[each]] = values
    origin: Origin | None = known.get("origin")
    if origin is not None and not set(queries) <= set(origin.judged.qrels.queries):
        raise ValueError("a query has values but no judgments")
    return Scores(metrics=tuple(metrics), queries=queries, columns=columns, **known)


def _table(held: Any, name: str, queries: Sequence[QueryId], n: int) -> Any:
    """Return a table of `n` metrics as an array; a row may begin with its query."""
    rows = held[name]
    if rows is None:
        return None
    if [len(row) - n for row in rows] == [1] * len(queries):
        if (named := [row[0] for row in rows]) != list(queries):
            raise ValueError(f"the rows of {name} are those of other queries, such as {named[0]!r}")
        rows = [row[1:] for row in rows]
    table = decode_column(rows)
    if table.size != len(queries) * n:
        raise ValueError(f"{name} has {table.size} numbers for {len(queries)} queries and {n} metrics")
    return table.reshape(len(queries), n)


def _origin_of(said: Any, document: SavedFile, texts: list[str], rules: Any, others: Mapping[str, Qrels]) -> Origin:
    with document.place("origin"):
        questions, held, largest = said["questions"], said["run"], float(said["largest_grade"])
        rounds = int(said.get("rounds", 1))
        match: str | Key | Matching = decode_record(said["match"])
        known = others[questions] if isinstance(questions, str) else decode_questions(questions, document)
    with document.place("questions"):
        qrels = as_qrels(known)
    with document.place("run"):
        run = decode_run(held, texts)
    with document.place("origin"):
        if largest != qrels.largest_grade:
            qrels = qrels.with_largest_grade(largest)
        if not isinstance(match, Matching):
            get_match_key(match)
        return Origin(judge(qrels, run, match, rules.order), run, match, rounds)


def _of_totals(totals: Totals) -> Section:
    exact = Lines(
        {"column": column, "metric": str(metric), "sums": encode_record(sums, f"the sums of {metric}")}
        for (column, metric), sums in totals.exact.items()
    )
    return Section(
        metrics=Lines(map(encode_metric, totals.metrics)),
        rules=encode_record(totals.rules, "the rules"),
        counts=encode_record(totals.counts, "the counts"),
        scale=totals.scale,
        totals=Section(exact=exact),
    )


def _totals_of(
    said: Mapping[str, Any], document: SavedFile, metrics: tuple[Metric, ...], known: Mapping[str, Any]
) -> Totals:
    with document.place("totals"):
        by_name = {str(metric): metric for metric in metrics}
        exact = {(one["column"], by_name[one["metric"]]): decode_record(one["sums"]) for one in said["totals"]["exact"]}
        return Totals(metrics, known["rules"], known["counts"], exact, _scale_of(said))


def _scale_of(said: Mapping[str, Any]) -> float | None:
    return None if said.get("scale") is None else float(said["scale"])


def has_same_questions(one: Scores, other: Scores) -> bool:
    """Return whether two evaluations were computed from the very same judgments."""
    if one.origin is None or other.origin is None:
        return False
    ours, theirs = one.origin.judged.qrels, other.origin.judged.qrels
    return ours is theirs or (
        ours.has_same_columns(theirs)
        and ours.largest_grade == theirs.largest_grade
        and dict(ours.texts) == dict(theirs.texts)
        and dict(ours.provenance) == dict(theirs.provenance)
    )
