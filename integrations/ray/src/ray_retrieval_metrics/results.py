"""Compute means, intervals and counts from the values of single queries, which stay in the cluster."""

from __future__ import annotations

import pickle
import re
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import retrieval_metrics as rm
from ray_retrieval_metrics.clustering import clustered, values_of
from ray_retrieval_metrics.query_rows import FACTS, LARGEST_GRADE, column_name
from ray_retrieval_metrics.repeats import HELD, PART, REPEATED, TWICE, in_parts, repeats_in
from ray_retrieval_metrics.shuffled_rows import blockwise, need_dataset
from retrieval_metrics import Totals
from retrieval_metrics.adapting.distributed import (
    COLUMNS,
    NOTHING_FOUND,
    OTHER_IDS,
    ExactSums,
    as_rules,
    defined_metrics,
    enters_means,
)
from retrieval_metrics.types import Counts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa
    from ray.data import Dataset

    from ray_retrieval_metrics.clustering import Values
    from retrieval_metrics.types import ClustersBy


def to_evaluation(
    results: Dataset,
    *,
    semantics: str | rm.Rules = "standard",
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
        semantics: The rules under which it was evaluated.
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

    rules = as_rules(semantics, ties)
    need_dataset(results, "results")
    independent = clusters is None or (isinstance(clusters, str) and clusters == "source")
    # Rows of a pipeline that has not run have no known columns; asking for them would run it once more.
    if (names := results.columns(fetch_if_missing=False)) is not None:
        _check_columns(names)
    parts_of_queries = max(int(ray.cluster_resources().get("CPU", 1)), 1)  # type: ignore[no-untyped-call]  # Ray has not typed it
    totals = blockwise(
        results,
        totals_of_block,
        rules=rules,
        own=_packed_definitions(),
        parts=parts_of_queries,
        with_values=not independent,
    )
    collected = _Collected(blockwise(totals.repartition(parts_of_queries, keys=[PART]), repeats_in))
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
    if counts["unjudged_queries"] and 0 < counts["queries"] == counts["missing"]:
        raise ValueError(
            f"the run and the qrels have no query in common: the run has, for example, {collected.unjudged}, the qrels "
            f"have {collected.judged}; evaluate_dataset(qrels, run) takes the judgments first"
        )
    if not collected.n_found:
        warnings.warn(f"{NOTHING_FOUND}; {OTHER_IDS}", rm.RetrievalWarning, stacklevel=2)
    return evaluation if independent else clustered(evaluation, collected.values, clusters)


def _check_columns(names: Sequence[str]) -> None:
    if missing := [name for name in FACTS if name not in names]:
        raise ValueError(
            f"these rows are not a result of evaluate_dataset: they have no column {missing[0]!r}, but {list(names)}"
        )


def _packed_definitions() -> dict[str, bytes]:
    """Return the user-defined metrics, each packed separately; a worker opens those whose columns it finds."""
    from ray import cloudpickle  # noqa: PLC0415  (loaded if there is a Dataset)

    return {
        metric.name: cloudpickle.dumps(metric)  # type: ignore[no-untyped-call]  # Ray has not typed it
        for metric in defined_metrics()
    }


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


def totals_of_block(
    rows: pa.Table, rules: rm.Rules, own: Mapping[str, bytes], parts: int = 1, *, with_values: bool = False
) -> pa.Table:
    """Return the totals of the rows of one block, packed, with what messages need and the digests of its queries.

    Args:
        rows: Rows of a result of `evaluate_dataset`.
        rules: The rule set.
        own: The user-defined metrics, packed, by name.
        parts: The number of parts of the digests.
        with_values: Return the values of the single queries too, packed.

    Raises:
        ValueError: If these are not rows of `evaluate_dataset`, or made under other rules.
    """
    _check_columns(rows.column_names)
    for name in {re.split(r"[(@]", column)[0] for column in rows.column_names} & own.keys():
        pickle.loads(own[name])  # noqa: S301  (packed by the same job; it makes the metric known here)
    metrics = _metrics_of(rows.column_names)
    if not metrics:
        raise ValueError(f"these rows have no values of metrics, but only {rows.column_names}")
    columns = {name: rows[name].to_numpy() for name in rows.column_names if name != "query"}
    judged, scored = columns["is_judged"], columns["is_scored"]
    kept = _check_rules(columns, metrics, rules)
    counts: dict[str, int] = dict.fromkeys(Counts.__annotations__, 0)  # rows of ids have none of the others
    counts |= {
        "queries": int(judged.sum()),
        "scored": int(scored.sum()),
        "missing": int((judged & (columns["n_retrieved"] == 0)).sum()),
        "unjudged_queries": int((~judged).sum()),
        "no_relevant": int((judged & (columns["n_relevant"] == 0)).sum()),
        "duplicates": int(columns["n_duplicates"].sum()),
        "ties": int(columns["is_tied"].sum()),
    }
    sums = {
        (kind, metric): ExactSums.of(columns[column_name(kind, metric)])
        for kind in COLUMNS
        for metric in metrics
        if column_name(kind, metric) in columns
    }
    scale = float(columns[LARGEST_GRADE].max()) if LARGEST_GRADE in columns else None
    totals = Totals(tuple(metrics), rules, cast("Counts", counts), sums, scale)
    from ray import cloudpickle  # noqa: PLC0415  (as above)

    held = _Held(
        totals,
        values_of(rows["query"].to_pylist(), columns, metrics, kept) if with_values else None,
        int(columns["n_found"].sum()),
        len(rows),
        _first(rows, judged),
        _first(rows, ~judged),
    )
    packed: bytes = cloudpickle.dumps(held)  # type: ignore[no-untyped-call]  # as above
    return in_parts(rows["query"], parts, packed)


class _Held(NamedTuple):
    """What the driver learns of a block."""

    totals: Totals
    values: Values | None
    n_found: int
    n_rows: int
    judged: str
    unjudged: str


def _first(rows: pa.Table, which: npt.NDArray[np.bool_]) -> str:
    """Return the first of the selected queries for a message; empty if there is none."""
    return repr(rows["query"][int(which.argmax())].as_py()) if which.any() else ""


def _check_rules(
    columns: Mapping[str, npt.NDArray[Any]], metrics: Sequence[rm.Metric], rules: rm.Rules
) -> npt.NDArray[np.bool_]:
    """Return which queries the rules keep.

    Raises:
        ValueError: If other queries enter the means than under these rules, or ties were treated differently.
    """
    if (column_name("depends", metrics[0]) in columns) != (rules.ties == "expected"):
        how = "not made" if rules.ties == "expected" else "made"
        raise ValueError(
            f'these rows were {how} with ties="expected", but the rules have ties="{rules.ties}"; pass the same ties='
        )
    kept = columns["is_judged"] & ((columns["n_retrieved"] > 0) | (rules.missing == "zero"))
    expected = kept & enters_means(columns["n_relevant"] > 0, rules)
    if (expected != columns["is_scored"]).any():
        raise ValueError(f"these rows were made under other rules than {rules.name}; pass their rules as semantics=")
    return kept


class _Collected:
    """The totals of successive blocks, with what messages need.

    Attributes:
        values: The values of single queries by block, if they were asked for.
        n_found: How many retrieved documents are judged.
        n_rows: How many rows there are.
        repeated: How many of them belong to a query that is there before.
        judged: A judged query for messages; empty if there is none.
        unjudged: An unjudged query for messages; empty if there is none.
    """

    def __init__(self, blocks: Dataset) -> None:
        self._blocks = blocks
        self.values: list[Values] = []
        self.n_found = self.n_rows = self.repeated = 0
        self.judged = self.unjudged = ""

    def __iter__(self) -> Iterator[Totals]:
        for row in self._blocks.iter_rows():
            self.repeated += row[REPEATED]
            if not row[HELD]:
                continue
            held: _Held = pickle.loads(row[HELD])  # noqa: S301  (written by totals_of_block in the same job)
            self.n_found += held.n_found
            self.n_rows += held.n_rows
            self.judged = self.judged or held.judged
            self.unjudged = self.unjudged or held.unjudged
            if held.values is not None:
                self.values.append(held.values)
            yield held.totals

    def refuse_repeats(self) -> None:
        """Raise if a query is in two blocks."""
        if self.repeated:
            raise ValueError(f"{self.repeated:,} of {self.n_rows:,} rows belong to a query that {TWICE}")
