"""Evaluations as JSON: their origin, their rules, and every number to the last bit."""

from __future__ import annotations

from dataclasses import fields, replace
from math import isfinite
from typing import TYPE_CHECKING, Any

from retrieval_metrics.checks import argument, in_python
from retrieval_metrics.inputs.entries import of_id
from retrieval_metrics.inputs.items import key_of
from retrieval_metrics.inputs.qrels import as_qrels
from retrieval_metrics.judging.judge import judge
from retrieval_metrics.judging.ranking_order import Matching
from retrieval_metrics.keeping.document import WITHOUT_DIGEST, Lines, Section, write_document
from retrieval_metrics.keeping.question_sets import of_qrels, questions_of
from retrieval_metrics.keeping.records import column_of, of_column, of_record, record_of
from retrieval_metrics.keeping.rescoring import refuse_wrong_values
from retrieval_metrics.keeping.runs import of_run, run_of
from retrieval_metrics.results.scores import Origin, Scores, Totals
from retrieval_metrics.scoring.metric import GivenMetric, Metric, bounds_by_metric, given_metric, parse_computed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    from retrieval_metrics.checks import QueryId
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.judging.ranking_order import Key
    from retrieval_metrics.keeping.document import Document, Labels

OWN = {"metrics", "queries", "values", "residuals", "ideals", "lowest", "highest", "origin", "scale"}
"""Fields of `Scores` with a special form in the file; all others are small records."""
OF_A_METRIC = ("residuals", "ideals")
TABLES = ("values", "lowest", "highest")


def save_evaluation(
    record: Scores | Totals, path: str | PathLike[str], labels: Labels | None, *, rankings: bool
) -> None:
    """Write an evaluation; see `Evaluation.save`."""
    texts: dict[str, int] = {}
    said = of_evaluation(record, texts, rankings=rankings)
    write_document(path, "evaluation", {"texts": Lines(texts), "evaluation": said}, labels)


def of_evaluation(
    record: Scores | Totals, texts: dict[str, int], *, rankings: bool, questions_like: str | None = None
) -> Section:
    """Return an evaluation as JSON holds it.

    Args:
        record: The scores or totals.
        texts: The texts of the file, to which those of its rankings are added.
        rankings: Whether to keep the origin of the numbers too.
        questions_like: The name of another evaluation in the same file with the same questions.

    Raises:
        ValueError: If JSON cannot hold something.
    """
    if isinstance(record, Totals):
        return _of_totals(record)
    if not rankings:
        record = replace(record, fills=record.all_fills())  # of which the rankings would tell
    said = Section(metrics=Lines(map(of_metric, record.metrics)), scale=record.scale)
    for name in (field.name for field in fields(record)):
        if name not in OWN:
            said[name] = of_record(getattr(record, name), name)
    if rankings and record.origin is not None:
        said["origin"] = _of_origin(record.origin, texts, questions_like)
    said["values"] = Section(queries=[of_id(query) for query in record.queries])
    for name in TABLES:
        table = getattr(record, name)
        said["values"][name] = None if table is None else _by_query(record.queries, table)
    for name in OF_A_METRIC:
        columns = _columns(record, name)
        said["values"][name] = {str(metric): of_column(column) for metric, column in columns.items()}
    return said


def _by_query(queries: Sequence[QueryId], table: Any) -> Lines:
    """Return a table with the query at the beginning of each row, which makes diffs of files readable."""
    return Lines([of_id(query), *row] for query, row in zip(queries, of_column(table), strict=True))


def _columns(record: Scores, name: str) -> Mapping[Metric, Any]:
    if name == "residuals":
        return record.residuals
    # Computed from the origin on demand, so it must be saved if the origin is not.
    columns = {metric: record.column("ideal", metric) for metric in record.metrics}
    return {metric: column for metric, column in columns.items() if column is not None}


def _of_origin(origin: Origin, texts: dict[str, int], questions_like: str | None) -> Section:
    qrels = origin.judged.qrels
    questions: Any = of_qrels(qrels) if questions_like is None else questions_like
    if not isinstance(origin.match, (str, Matching)):
        raise ValueError(  # noqa: TRY004  (the type is right, but a file cannot hold it)
            f"match={origin.match!r} is a function, which cannot be saved, because loading a file runs no code; match "
            "by 'source' or 'metadata:<name>', or save only the numbers: save(path, rankings=False)"
        )
    try:
        match = of_record(origin.match, "match")
    except ValueError as error:
        error.add_note(in_python("save(path, rankings=False) saves only the numbers"))
        raise
    rounds = {} if origin.rounds == 1 else {"rounds": origin.rounds}
    return Section(
        match=match, largest_grade=qrels.largest_grade, **rounds, questions=questions, run=of_run(origin.run, texts)
    )


def of_metric(metric: Metric) -> dict[str, Any]:
    """Return a metric by its name; a user-defined one with the module that defined it, a given one with its facts."""
    if isinstance(metric, GivenMetric):
        ends = [end if isfinite(end) else None for end in metric.bounds]
        return {"metric": str(metric), "bounds": ends, "lower_is_better": metric.lower_is_better}
    made_by = metric.definition.made_by
    return {"metric": str(metric)} if made_by is None else {"metric": str(metric), "module": made_by.module}


def metric_of(entry: Mapping[str, Any], name: str) -> Metric:
    """Return the metric of that name.

    Raises:
        ValueError: If it is unknown; the message names the module that defined it.
    """
    if "bounds" in entry:
        of = str(entry["metric"])
        pair = bounds_by_metric([of], tuple(entry["bounds"]))[of]
        return given_metric(of, pair, lower_is_better=bool(entry.get("lower_is_better")))
    try:
        return parse_computed(entry["metric"])
    except ValueError as error:
        module = entry.get("module")
        if module is None:
            raise
        how = "call define_metric as in the program that saved it"
        if module != "__main__":
            given = in_python(f"first `import {module}`", f"pass {argument('metrics_from', module)}")
            how = f"{given}, which defined it"
        again = in_python(", and load the file again (loading a file imports nothing)")
        raise ValueError(
            f"{name} has a user-defined metric, {entry['metric']!r}, which is not known here; {how}{again}"
        ) from error


def evaluation_of(
    said: Mapping[str, Any], document: Document, texts: list[str], others: Mapping[str, Qrels] | None = None
) -> Scores | Totals:
    """Return what `of_evaluation` was given.

    Args:
        said: The content of the file.
        document: The file.
        texts: Its texts.
        others: Judgments of evaluations read before, by name.

    Raises:
        ValueError: If something is not understood, naming its place.
    """
    with document.place("metrics"):
        entries = list(said["metrics"])
    metrics = tuple(_metric(entry, document, number) for number, entry in enumerate(entries))
    known: dict[str, Any] = {}
    names = {field.name for field in fields(Scores)} - OWN
    for name in names & said.keys():
        with document.place(name):
            known[name] = record_of(said[name])
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
        try:
            refuse_wrong_values(scores)
        except ValueError as error:
            if document.content.get("version") != WITHOUT_DIGEST:
                raise
            raise ValueError(
                f"{document.name} was saved by an earlier version, whose rules may have been others: {error}; evaluate "
                "again what it holds"
            ) from error
        return scores


def _metric(entry: Any, document: Document, number: int) -> Metric:
    if not isinstance(entry, dict) or not isinstance(entry.get("metric"), str):
        raise ValueError(  # noqa: TRY004  (whatever is wrong in a file is a ValueError)
            f"{document.name} is damaged at metrics[{number}]: {entry!r} has no name"
        )
    return metric_of(entry, document.name)


def _scores(held: Any, metrics: Sequence[Metric], known: dict[str, Any]) -> Scores:
    queries = tuple(held["queries"])
    tables: dict[str, Any] = {name: _table(held, name, queries, len(metrics)) for name in TABLES}
    by_name = {str(metric): metric for metric in metrics}
    columns: dict[str, Any] = {
        name: {by_name[each]: column_of(column) for each, column in held[name].items()} for name in OF_A_METRIC
    }
    for name, of_metrics in columns.items():
        for metric, column in of_metrics.items():
            if column.shape != (len(queries),):
                raise ValueError(f"{name} of {metric} has {column.size} numbers for {len(queries)} queries")
    origin: Origin | None = known.get("origin")
    if origin is not None and not set(queries) <= set(origin.judged.qrels.queries):
        raise ValueError("a query has values but no judgments")
    return Scores(metrics=tuple(metrics), queries=queries, **tables, **columns, **known)


def _table(held: Any, name: str, queries: Sequence[QueryId], n: int) -> Any:
    """Return a table of `n` metrics as an array; a row may begin with its query."""
    rows = held[name]
    if rows is None:
        return None
    if [len(row) - n for row in rows] == [1] * len(queries):
        if (named := [row[0] for row in rows]) != list(queries):
            raise ValueError(f"the rows of {name} are those of other queries, such as {named[0]!r}")
        rows = [row[1:] for row in rows]
    table = column_of(rows)
    if table.size != len(queries) * n:
        raise ValueError(f"{name} has {table.size} numbers for {len(queries)} queries and {n} metrics")
    return table.reshape(len(queries), n)


def _origin_of(said: Any, document: Document, texts: list[str], rules: Any, others: Mapping[str, Qrels]) -> Origin:
    with document.place("origin"):
        questions, held, largest = said["questions"], said["run"], float(said["largest_grade"])
        rounds = int(said.get("rounds", 1))
        match: str | Key | Matching = record_of(said["match"])
        known = others[questions] if isinstance(questions, str) else questions_of(questions, document)
    with document.place("questions"):
        qrels = as_qrels(known)
    with document.place("run"):
        run = run_of(held, texts)
    with document.place("origin"):
        if largest != qrels.largest_grade:
            qrels = qrels.with_largest_grade(largest)
        if not isinstance(match, Matching):
            key_of(match)
        return Origin(judge(qrels, run, match, rules.order), run, match, rounds)


def _of_totals(totals: Totals) -> Section:
    exact = Lines(
        {"column": column, "metric": str(metric), "sums": of_record(sums, f"the sums of {metric}")}
        for (column, metric), sums in totals.exact.items()
    )
    return Section(
        metrics=Lines(map(of_metric, totals.metrics)),
        rules=of_record(totals.rules, "the rules"),
        counts=of_record(totals.counts, "the counts"),
        scale=totals.scale,
        totals=Section(exact=exact),
    )


def _totals_of(
    said: Mapping[str, Any], document: Document, metrics: tuple[Metric, ...], known: Mapping[str, Any]
) -> Totals:
    with document.place("totals"):
        by_name = {str(metric): metric for metric in metrics}
        exact = {(one["column"], by_name[one["metric"]]): record_of(one["sums"]) for one in said["totals"]["exact"]}
        return Totals(metrics, known["rules"], known["counts"], exact, _scale_of(said))


def _scale_of(said: Mapping[str, Any]) -> float | None:
    return None if said.get("scale") is None else float(said["scale"])


def same_questions(one: Scores, other: Scores) -> bool:
    """Return whether two evaluations were computed from the very same judgments."""
    if one.origin is None or other.origin is None:
        return False
    ours, theirs = one.origin.judged.qrels, other.origin.judged.qrels
    return ours is theirs or (
        ours.same_columns(theirs)
        and ours.largest_grade == theirs.largest_grade
        and dict(ours.texts) == dict(theirs.texts)
        and dict(ours.provenance) == dict(theirs.provenance)
    )
