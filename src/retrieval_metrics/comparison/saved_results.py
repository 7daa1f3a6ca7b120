"""Evaluations, comparisons, question sets and runs as saved files, and back."""

from __future__ import annotations

from dataclasses import fields, replace
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics._internal.validation import python_or_cli_text
from retrieval_metrics.comparison.comparison_record import ComparisonRecord
from retrieval_metrics.comparison.difference import Differences
from retrieval_metrics.comparison.paired_values import PairedValues
from retrieval_metrics.evaluation.scores import Origin, Scores, Totals, columns_by_metric
from retrieval_metrics.files.saved_format import Lines, SavedFile, Section, write_saved_file
from retrieval_metrics.files.saved_records import decode_column, decode_record, encode_column, encode_record
from retrieval_metrics.inputs.documents import SourceDocuments
from retrieval_metrics.inputs.items import get_match_key
from retrieval_metrics.inputs.json_codec import decode_judgments, encode_id, encode_judgments, to_json_value
from retrieval_metrics.inputs.provenance import Provenance
from retrieval_metrics.inputs.qrels import Qrels, as_qrels, judgments_by_query
from retrieval_metrics.inputs.question_rows import CONVERSATION_KEY
from retrieval_metrics.inputs.questions import Questions
from retrieval_metrics.inputs.ranking_codec import decode_error, decode_ranking, encode_error, encode_ranking
from retrieval_metrics.inputs.retrieved_run import RetrievedRun
from retrieval_metrics.inputs.run import Run
from retrieval_metrics.matching.judge import call_numbers, judge
from retrieval_metrics.matching.ranking_order import Matching
from retrieval_metrics.metrics.base.given_metrics import GivenMetric, as_given_metric, read_bounds
from retrieval_metrics.metrics.base.metric import Metric, parse_computable_metric
from retrieval_metrics.metrics.base.score import score

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    from retrieval_metrics._internal.validation import FloatArray, IntArray, QueryId
    from retrieval_metrics.evaluation.scores import Column
    from retrieval_metrics.files.saved_format import LabelMapping
    from retrieval_metrics.inputs.items import Key, RunMapping
    from retrieval_metrics.matching.judged_run import JudgedRun


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
    said = of_evaluation(record, texts, rankings=rankings)
    write_saved_file(path, "evaluation", {"texts": Lines(texts), "evaluation": said}, labels)


def of_evaluation(
    record: Scores | Totals, texts: dict[str, int], *, rankings: bool, questions_like: str | None = None
) -> Section:
    """Return an evaluation as JSON holds it."""
    if isinstance(record, Totals):
        return _of_totals(record)
    if not rankings:
        record = replace(record, budget_fills=record.all_fills())  # of which the rankings would tell
    said = Section(metrics=Lines(map(of_metric, record.metrics)), scale=record.scale)
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
    questions: Any = of_qrels(qrels) if questions_like is None else questions_like
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


def of_metric(metric: Metric) -> dict[str, Any]:
    """Return a metric by its name; a user-defined one with the module that defined it, a given one with its facts."""
    if isinstance(metric, GivenMetric):
        ends = [end if isfinite(end) else None for end in metric.bounds]
        return {"metric": str(metric), "bounds": ends, "lower_is_better": metric.lower_is_better}
    made_by = metric.definition.recipe
    return {"metric": str(metric)} if made_by is None else {"metric": str(metric), "module": made_by.module}


def metric_of(entry: Mapping[str, Any], name: str) -> Metric:
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
    """Return what `of_evaluation` was given."""
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
    return metric_of(entry, document.name)


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
        metrics=Lines(map(of_metric, totals.metrics)),
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


def same_questions(one: Scores, other: Scores) -> bool:
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
        "metrics": Lines(map(of_metric, compared.metrics)),
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
        like = next((other for other in systems if same_questions(each, scores[other])), None)
        systems[name] = of_evaluation(each, texts, rankings=rankings, questions_like=like)
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
        metrics = tuple(metric_of(each, document.name) for each in content["metrics"])
    aligned = PairedValues.from_scores(scores, metrics, known.get("clusters"))
    return {"scores": scores, "metrics": metrics, "paired_values": aligned, **known}


# Evaluation sets as JSON: one entry per question, with its judgments and provenance.


def save_questions(
    questions: Questions, path: str | PathLike[str], labels: LabelMapping | None = None, *, sources: bool = False
) -> None:
    """Write an evaluation set; see `EvaluationSet.save`."""
    kept = questions.sources
    if sources and (kept is None or not kept.texts):
        raise ValueError("the set has no source texts to save; add them with questions.with_sources(documents)")
    if not isinstance(questions.qrels, Qrels):
        Qrels(questions.qrels)  # errors in the judgments are raised before anything is written
    qrels = judgments_by_query(questions.qrels)
    entries = Lines(
        _entry(query, text, qrels[query], questions.provenance.get(query))
        | encode_answer_and_conversation(questions, query)
        for query, text in questions.queries.items()
    )
    sections: dict[str, Any] = {"questions": entries}
    if kept is not None:
        sections["digests"] = dict(kept.digests)
    if kept is not None and sources:
        sections["sources"] = dict(kept.texts)
    write_saved_file(path, "questions", sections, labels)


def decode_sources(content: Mapping[str, Any], document: SavedFile) -> SourceDocuments | None:
    """Return the sources of a saved set; None if neither their texts nor their digests were saved."""
    if "digests" not in content:
        return None
    with document.place("sources"):
        kept = SourceDocuments(dict(content.get("sources", {})), dict(content["digests"]))
        if changed := kept.find_changed(kept.texts):
            raise ValueError(f"the text of {changed[0]!r} is not the one that was saved")
        return kept


def of_qrels(qrels: Qrels) -> Lines:
    """Return judgments as JSON holds them, with the texts of the questions if they are known."""
    return Lines(
        _entry(query, qrels.texts.get(query), judgments, qrels.provenance.get(query))
        for query, judgments in qrels.as_dict().items()
    )


def _entry(query: QueryId, text: str | None, judgments: Any, provenance: Provenance | None) -> dict[str, Any]:
    entry: dict[str, Any] = {"query": encode_id(query)}
    if text is not None:
        entry["text"] = text
    entry["relevant"] = encode_judgments(judgments, f"query {query!r}")
    if provenance is not None:
        entry["provenance"] = to_json_value(provenance.as_dict(), f"the provenance of query {query!r}")
    return entry


def encode_answer_and_conversation(questions: Questions, query: QueryId) -> dict[str, Any]:
    """Return the answer to a question and what was said before it, as JSON holds them, as far as there is either."""
    answer, said = questions.answers.get(query), questions.conversation.get(query)
    entry: dict[str, Any] = {} if answer is None else {"answer": answer}
    return entry if said is None else entry | {CONVERSATION_KEY: [dict(message) for message in said]}


def decode_questions(entries: list[Any], document: SavedFile) -> Questions:
    """Return the questions of a file; those without a text have none in `queries`."""
    queries: dict[Any, str] = {}
    qrels: dict[Any, Any] = {}
    provenance: dict[Any, Provenance] = {}
    answers: dict[Any, str] = {}
    history: dict[Any, Any] = {}
    for number, entry in enumerate(entries):
        with document.place(f"questions[{number}]"):
            query = entry["query"]
            if query in qrels:
                raise ValueError(f"query {query!r} appears twice")
            if "text" in entry:
                queries[query] = entry["text"]
            qrels[query] = decode_judgments(entry["relevant"], f"query {query!r}")
            if "provenance" in entry:
                provenance[query] = Provenance(**entry["provenance"])
            if "answer" in entry:
                answers[query] = entry["answer"]
            if CONVERSATION_KEY in entry:
                history[query] = entry[CONVERSATION_KEY]
    with document.place("questions"):
        return Questions(queries, qrels, provenance, answers=answers, conversation=history)


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


FEW = 16
"""The queries that are scored again whenever a file is loaded."""
ROUNDING = 1e-9
"""Another processor, or a later release, may add the same numbers in another order."""


def refuse_wrong_values(scores: Scores) -> None:
    """Raise if a value is outside the range of its metric, or not what the saved rankings and judgments give."""
    for metric in scores.metrics:
        column = scores.column(metric)
        low, high = metric.definition.bounds
        wrong = (column < low - ROUNDING) | (column > high + ROUNDING)
        if (metric.definition.bounded or metric.definition.is_given) and wrong.any():
            row = int(wrong.argmax())
            raise ValueError(
                f"{metric} of query {scores.queries[row]!r} is {column[row]:g}, which is not in [{low:g}, {high:g}]"
            )
    if scores.origin is None or scores.origin.rounds > 1 or not scores.queries:
        return  # the values do not follow from what is in the file
    n = len(scores.queries)
    rows = np.unique(np.linspace(0, n - 1, min(FEW, n)).astype(np.intp))
    judged = _judged_again(scores, scores.origin, rows)
    for metric in scores.metrics:
        if not metric.definition.is_given and metric.definition.recipe is None:
            _compare(scores, rows, metric, score(judged, metric, scores.rules).values)


def _compare(scores: Scores, rows: IntArray, metric: Metric, found: FloatArray) -> None:
    said = scores.column(metric)[rows]
    wrong = ~np.isclose(said, found, rtol=ROUNDING, atol=ROUNDING, equal_nan=True)
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(
            f"{metric} of query {scores.queries[int(rows[row])]!r} is {said[row]:g}, but the judgments and "
            f"the ranking in the file give {found[row]:g}"
        )


def _judged_again(scores: Scores, origin: Origin, rows: IntArray) -> JudgedRun:
    truth = origin.judged.qrels
    queries = [scores.queries[row] for row in rows]
    places = scores.positions[rows].tolist()
    few = Qrels({query: truth.judgments(at) for query, at in zip(queries, places, strict=True)})
    run = {query: origin.run[query] for query in queries if query in origin.run}
    calls = {query: found for query, found in call_numbers(origin.run).items() if query in run}
    again = RetrievedRun(run, calls=calls) if calls else run
    return judge(few.with_largest_grade(truth.largest_grade), again, origin.match, scores.rules.order)
