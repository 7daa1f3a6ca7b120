"""Means, intervals and counts from the rows of queries, which stay in the cluster."""

from __future__ import annotations

import pickle
import re
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import pyarrow as pa

import retrieval_metrics as rm
from ray_retrieval_metrics.shuffled_rows import map_blocks, require_dataset
from retrieval_metrics.integration_api.batches import (
    COLUMNS,
    ID_MISMATCH_HINT,
    NOTHING_JUDGED_FOUND,
    as_rules,
    counts_in_means,
    defined_metrics,
    score_run,
)
from retrieval_metrics.types import Counts, Scores

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl
    from numpy import typing as npt
    from ray.data import Dataset

    from retrieval_metrics import Totals
    from retrieval_metrics.integration_api.batches import Column
    from retrieval_metrics.types import ClustersBy, FloatArray


def to_evaluation(
    results: Dataset,
    *,
    rules: str | rm.Rules = "standard",
    ties: str | None = None,
    clusters: ClustersBy = "source",
) -> rm.Evaluation:
    """Return the means of the values of single queries, with intervals and counts.

    Every block is summed in its worker, without rounding, and only these sums are collected. The workers exchange
    sixteen bytes per query to find repeated queries. The result equals that of `rm.evaluate` on all rows, to the last
    bit, for any partition into blocks. It has no values of single queries; those are in the dataset. With `clusters`,
    the values are collected too, eight bytes for each query, metric and column, and the result has them.

    Args:
        results: The result of `evaluate_dataset`, or some of its rows, for the evaluation of a slice. A dataset that is
            not materialized or written is computed now, and again at every further use.
        rules: The rules under which it was evaluated.
        ties: The `ties` with which it was evaluated, if any.
        clusters: The clusters of the queries, for the intervals, as in `rm.evaluate`: a mapping of query ids to
            clusters, or a function of the query id. `"source"` and None treat every query as independent, because
            judgments by id do not have the sources of questions.

    Raises:
        TypeError: If it is not a Dataset, or the clusters have another type.
        ValueError: If the clusters have none of the queries or put all into one; if it is not a result of
            `evaluate_dataset`, has no rows, has a query twice, or was made under other rules; if run and judgments have
            no query in common; and for errors in rows, if they are scored only now.

    Warns:
        RetrievalWarning: If no retrieved document is judged anywhere.
    """
    import ray  # noqa: PLC0415  (loaded if there is a Dataset)

    rules = as_rules(rules, ties)
    require_dataset(results, "results")
    independent = clusters is None or (isinstance(clusters, str) and clusters == "source")
    # Rows of a pipeline that has not run have no known columns; asking for them would run it once more.
    if (names := results.columns(fetch_if_missing=False)) is not None:
        check_columns(names)
    parts_of_queries = max(int(ray.cluster_resources().get("CPU", 1)), 1)  # type: ignore[no-untyped-call]  # Ray has not typed it
    sums = map_blocks(
        results,
        sums_of_block,
        rules=rules,
        own=_packed_definitions(),
        parts=parts_of_queries,
        with_values=not independent,
    )
    collected = _CollectedBlocks(map_blocks(sums.repartition(parts_of_queries, keys=[PART]), repeats_in))
    try:
        parts = list(collected)
    except ray.exceptions.RayTaskError as error:
        # Ray's error begins with the stack of the worker; the message comes after about fifty lines.
        if type(error.cause) in {TypeError, ValueError}:
            raise type(error.cause)(str(error.cause).partition("\n")[0]) from None
        raise
    if not parts:
        raise ValueError("these results are empty: they have no rows")
    collected.refuse_repeats()
    evaluation = rm.merge(parts)
    counts = evaluation.counts
    if counts["unjudged_queries"] and counts["queries"] and not collected.n_answered:
        raise ValueError(
            f"the run and the qrels have no query in common: the run has, for example, {collected.unjudged}, the qrels "
            f"have {collected.judged}; evaluate_dataset(qrels, run) takes the judgments first"
        )
    if not collected.n_found:
        warnings.warn(f"{NOTHING_JUDGED_FOUND}; {ID_MISMATCH_HINT}", rm.RetrievalWarning, stacklevel=2)
    return evaluation if independent else _clustered(evaluation.scores, clusters)


def _clustered(scores: Scores, clusters: ClustersBy) -> rm.Evaluation:
    """Return the evaluation of scores whose queries are in clusters, in the order of their ids."""
    order = np.array(sorted(range(len(scores.queries)), key=scores.queries.__getitem__))
    return rm.Evaluation(scores.select(order, scores.counts).clustered(clusters))


def _packed_definitions() -> dict[str, bytes]:
    """Return the user-defined metrics, each packed separately; a worker opens those whose columns it finds."""
    from ray import cloudpickle  # noqa: PLC0415  (loaded if there is a Dataset)

    return {
        metric.name: cloudpickle.dumps(metric)  # type: ignore[no-untyped-call]  # Ray has not typed it
        for metric in defined_metrics()
    }


def sums_of_block(
    rows: pa.Table, rules: rm.Rules, own: Mapping[str, bytes], parts: int = 1, *, with_values: bool = False
) -> pa.Table:
    """Return the sums of the rows of one block, packed, with what messages need and the digests of its queries."""
    from ray import cloudpickle  # noqa: PLC0415  (as above)

    for name in {re.split(r"[(@]", column)[0] for column in rows.column_names} & own.keys():
        pickle.loads(own[name])  # noqa: S301  (packed by the same job; it makes the metric known here)
    scores = scores_in(rows, rules)
    scale = float(rows[LARGEST_GRADE].to_numpy().max()) if LARGEST_GRADE in rows.column_names else None
    evaluation = rm.Evaluation(replace(scores, scale=scale))
    judged = rows["is_judged"].to_numpy()
    held = _BlockSummary(
        evaluation if with_values else evaluation.totals(),
        int(rows["n_found"].to_numpy().sum()),
        int((judged & (rows["n_retrieved"].to_numpy() > 0)).sum()),
        len(rows),
        _first(rows, judged),
        _first(rows, ~judged),
    )
    packed: bytes = cloudpickle.dumps(held)  # type: ignore[no-untyped-call]  # Ray has not typed it
    return in_parts(rows["query"], parts, packed)


class _BlockSummary(NamedTuple):
    """What the driver learns of a block."""

    part: rm.Evaluation | Totals
    n_found: int
    n_answered: int
    n_rows: int
    judged: str
    unjudged: str


def _first(rows: pa.Table, which: npt.NDArray[np.bool_]) -> str:
    """Return the first of the selected queries for a message; empty if there is none."""
    return repr(rows["query"][int(which.argmax())].as_py()) if which.any() else ""


class _CollectedBlocks:
    """The parts of successive blocks, with what messages need."""

    def __init__(self, blocks: Dataset) -> None:
        self._blocks = blocks
        self.n_found = self.n_answered = self.n_rows = self.repeated = 0
        self.judged = self.unjudged = ""

    def __iter__(self) -> Iterator[rm.Evaluation | Totals]:
        for row in self._blocks.iter_rows():
            self.repeated += row[REPEATED]
            if not row[HELD]:
                continue
            held: _BlockSummary = pickle.loads(row[HELD])  # noqa: S301  (written by sums_of_block in the same job)
            self.n_found += held.n_found
            self.n_answered += held.n_answered
            self.n_rows += held.n_rows
            self.judged = self.judged or held.judged
            self.unjudged = self.unjudged or held.unjudged
            yield held.part

    def refuse_repeats(self) -> None:
        """Raise if a query is in two blocks."""
        if self.repeated:
            raise ValueError(f"{self.repeated:,} of {self.n_rows:,} rows belong to a query that {TWICE}")


FACTS = {
    "is_judged": np.bool_,
    "is_scored": np.bool_,
    "is_tied": np.bool_,
    "n_retrieved": np.int64,
    "n_relevant": np.int64,
    "n_found": np.int64,
    "n_duplicates": np.int64,
}
"""Beside its id and its values: whether a query is judged, enters the means, and has a judged document that ties; how
many documents were retrieved for it, are relevant, were retrieved and are judged, and were retrieved again."""
LARGEST_GRADE = "largest_grade"
"""The largest grade of all judgments, the same in every row; only if a metric divides by it."""


def column_name(kind: Column, metric: rm.Metric) -> str:
    """Return the name of the column that holds one kind of number for one metric.

    Example:
        >>> import retrieval_metrics as rm
        >>> column_name("value", rm.Metric.parse("p@5")), column_name("ideal", rm.Metric.parse("p@5"))
        ('precision@5', 'ideal precision@5')
    """
    return str(metric) if kind == "value" else f"{kind} {metric}"


def value_columns(metrics: Sequence[rm.Metric], rules: rm.Rules) -> list[str]:
    """Return the names of the columns of values: those known for these metrics if judgments are flat."""
    example = score_run(rm.Qrels({"query": ["document"]}), {"query": ["document"]}, metrics, rules)
    known = [
        (kind, metric) for kind in COLUMNS for metric in metrics if example.per_query_column(kind, metric) is not None
    ]
    return [column_name(kind, metric) for kind, metric in known]


def find_value_columns(rows: pa.Table) -> list[str]:
    """Return the names of the columns of values in rows."""
    return [name for name in rows.column_names if name not in {"query", LARGEST_GRADE, *FACTS}]


def score_rows(scores: Scores, id_type: pa.DataType, scale: float | None) -> pa.Table:
    """Return a row for each judged query, in the order of the judgments; NaN for missing values."""
    judged = scores.require_origin("written as rows").judged
    n, kept = judged.n_queries, scores.positions
    n_relevant = judged.n_relevant().astype(np.int64)
    scored, tied = np.zeros((2, n), dtype=np.bool_)
    scored[kept] = counts_in_means(n_relevant[kept] > 0, scores.rules)
    tied[judged.tied_queries()] = True
    facts = {
        "is_judged": np.ones(n, dtype=np.bool_),
        "is_scored": scored,
        "is_tied": tied,
        "n_retrieved": judged.n_retrieved,
        "n_relevant": n_relevant,
        "n_found": judged.sum_by_query(judged.ranks.query).astype(np.int64),
        "n_duplicates": judged.n_duplicates,
    }
    values: dict[str, FloatArray] = {}
    for kind in COLUMNS:
        for metric in scores.metrics:
            column = scores.per_query_column(kind, metric)
            if column is not None:
                values[column_name(kind, metric)] = np.full(n, np.nan)
                values[column_name(kind, metric)][kept] = column
    return _table(judged.qrels.queries, id_type, facts, _scale_column(scale, n), values)


def check_columns(names: Sequence[str]) -> None:
    """Raise if rows are no result of `evaluate_dataset`."""
    if missing := [name for name in FACTS if name not in names]:
        raise ValueError(
            f"these rows are not a result of evaluate_dataset: they have no column {missing[0]!r}, but {list(names)}"
        )


def scores_in(rows: pa.Table, rules: rm.Rules) -> Scores:
    """Return the scores of the queries in some rows, with the counts of all of them."""
    check_columns(rows.column_names)
    metrics = _metrics_of(rows.column_names)
    if not metrics:
        raise ValueError(f"these rows have no values of metrics, but only {rows.column_names}")
    columns = {name: rows[name].to_numpy() for name in rows.column_names if name != "query"}
    kept = _kept(columns, metrics, rules)
    judged = columns["is_judged"]
    counts: dict[str, int] = dict.fromkeys(Counts.__annotations__, 0)  # rows of ids have none of the others
    counts |= {
        "queries": int(judged.sum()),
        "scored": int(columns["is_scored"].sum()),
        "missing": int((judged & (columns["n_retrieved"] == 0) & (columns["n_relevant"] > 0)).sum()),
        "unjudged_queries": int((~judged).sum()),
        "no_relevant": int((judged & (columns["n_relevant"] == 0)).sum()),
        "duplicates": int(columns["n_duplicates"].sum()),
        "ties": int(columns["is_tied"].sum()),
    }

    names = {(kind, metric): column_name(kind, metric) for kind in COLUMNS for metric in metrics}
    return Scores(
        metrics=tuple(metrics),
        queries=tuple(rows["query"].filter(kept).to_pylist()),
        columns={key: columns[name][kept] for key, name in names.items() if name in columns},
        counts=cast("Counts", counts),
        rules=rules,
    )


def _metrics_of(names: Sequence[str]) -> list[rm.Metric]:
    """Return the metrics with columns of values; other columns were added by users."""
    metrics = []
    for name in names:
        try:
            metric = rm.Metric.parse(name)
        except ValueError:
            continue
        if str(metric) == name:
            metrics.append(metric)
    return metrics


def _kept(columns: dict[str, npt.NDArray[Any]], metrics: Sequence[rm.Metric], rules: rm.Rules) -> npt.NDArray[np.bool_]:
    """Return which queries the rules keep."""
    if (column_name("depends", metrics[0]) in columns) != (rules.ties == "expected"):
        how = "not made" if rules.ties == "expected" else "made"
        raise ValueError(
            f'these rows were {how} with ties="expected", but the rules have ties="{rules.ties}"; pass the same ties='
        )
    kept = columns["is_judged"] & ((columns["n_retrieved"] > 0) | (rules.missing == "zero"))
    expected = kept & counts_in_means(columns["n_relevant"] > 0, rules)
    if (expected != columns["is_scored"]).any():
        raise ValueError(f"these rows were made under other rules than {rules.name}; pass their rules as rules=")
    return kept


def unjudged_rows(
    queries: Sequence[str | int], id_type: pa.DataType, columns: Sequence[str], scale: float | None
) -> pa.Table:
    """Return a row for each unjudged query of the run, without values in any of the columns."""
    n = len(queries)
    facts: dict[str, Any] = {name: np.zeros(n, dtype=kind) for name, kind in FACTS.items()}
    return _table(queries, id_type, facts, _scale_column(scale, n), {name: np.full(n, np.nan) for name in columns})


def _scale_column(scale: float | None, n: int) -> dict[str, Any]:
    return {} if scale is None else {LARGEST_GRADE: np.full(n, scale)}


def _table(queries: Sequence[str | int], id_type: pa.DataType, *columns: dict[str, Any]) -> pa.Table:
    named = {name: column for part in columns for name, column in part.items()}
    return pa.table({"query": pa.array(queries, type=id_type), **named})


TWICE = "is in these results twice, as when a result is joined with itself; every query must be there once"
PART, DIGESTS, HELD, REPEATED = "part", "digests", "held", "repeated"


def digests_of(queries: pa.ChunkedArray) -> npt.NDArray[np.uint64]:
    """Return sixteen bytes for each query of a block: of a billion queries, no two have the same."""
    import polars as pl  # noqa: PLC0415  (the core has read the rows with it)

    ids = cast("pl.Series", pl.from_arrow(queries))
    if (twice := ids.is_duplicated()).any():
        raise ValueError(f"query {ids.filter(twice)[0]!r} {TWICE}")
    return np.column_stack([ids.hash(seed=0).to_numpy(), ids.hash(seed=1).to_numpy()])


def in_parts(queries: pa.ChunkedArray, parts: int, held: bytes) -> pa.Table:
    """Return a row for each part of the digests of a block; the first also holds what is to reach the driver."""
    digests = digests_of(queries)
    part = (digests[:, 0] % np.uint64(parts)).astype(np.int64)
    order = np.argsort(part, kind="stable")
    split = np.split(digests[order], np.cumsum(np.bincount(part, minlength=parts))[:-1])
    return pa.table(
        {
            PART: pa.array(range(parts), pa.int64()),
            DIGESTS: pa.array([each.tobytes() for each in split], pa.large_binary()),
            HELD: pa.array([held, *[b""] * (parts - 1)], pa.large_binary()),
        }
    )


def repeats_in(rows: pa.Table) -> dict[str, list[Any]]:
    """Return what the blocks held, and how many rows of this part belong to a query that was there before."""
    if not len(rows):
        return {HELD: [], REPEATED: []}
    found = np.frombuffer(b"".join(rows[DIGESTS].to_pylist()), np.uint64).reshape(-1, 2)
    found = found[np.lexsort((found[:, 1], found[:, 0]))]
    repeated = int((found[1:] == found[:-1]).all(axis=1).sum())
    held = [each for each in rows[HELD].to_pylist() if each]
    return {HELD: [b"", *held], REPEATED: [repeated, *[0] * len(held)]}
