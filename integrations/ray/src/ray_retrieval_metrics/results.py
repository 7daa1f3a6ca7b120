"""Compute means, intervals and counts from the values of single queries, which stay in the cluster."""

from __future__ import annotations

import pickle
import re
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import retrieval_metrics as rm
from ray_retrieval_metrics.query_rows import LARGEST_GRADE, check_columns, scores_in
from ray_retrieval_metrics.repeats import HELD, PART, REPEATED, TWICE, in_parts, repeats_in
from ray_retrieval_metrics.shuffled_rows import blockwise, need_dataset
from retrieval_metrics.adapting.distributed import NOTHING_FOUND, OTHER_IDS, as_rules, defined_metrics

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy.typing as npt
    import pyarrow as pa
    from ray.data import Dataset

    from retrieval_metrics import Totals
    from retrieval_metrics.types import ClustersBy, Scores


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
        check_columns(names)
    parts_of_queries = max(int(ray.cluster_resources().get("CPU", 1)), 1)  # type: ignore[no-untyped-call]  # Ray has not typed it
    sums = blockwise(
        results,
        sums_of_block,
        rules=rules,
        own=_packed_definitions(),
        parts=parts_of_queries,
        with_values=not independent,
    )
    collected = _Collected(blockwise(sums.repartition(parts_of_queries, keys=[PART]), repeats_in))
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
    return evaluation if independent else _clustered(evaluation.scores, clusters)


def _clustered(scores: Scores, clusters: ClustersBy) -> rm.Evaluation:
    """Return the evaluation of scores whose queries are in clusters, in the order of their ids."""
    order = np.array(sorted(range(len(scores.queries)), key=scores.queries.__getitem__))
    return rm.Evaluation(scores.of(order, scores.counts).clustered(clusters))


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
    """Return the sums of the rows of one block, packed, with what messages need and the digests of its queries.

    Args:
        rows: Rows of a result of `evaluate_dataset`.
        rules: The rule set.
        own: The user-defined metrics, packed, by name.
        parts: The number of parts of the digests.
        with_values: Return the values of the single queries too.

    Raises:
        ValueError: If these are not rows of `evaluate_dataset`, or made under other rules.
    """
    from ray import cloudpickle  # noqa: PLC0415  (as above)

    for name in {re.split(r"[(@]", column)[0] for column in rows.column_names} & own.keys():
        pickle.loads(own[name])  # noqa: S301  (packed by the same job; it makes the metric known here)
    scores = scores_in(rows, rules)
    scale = float(rows[LARGEST_GRADE].to_numpy().max()) if LARGEST_GRADE in rows.column_names else None
    evaluation = rm.Evaluation(replace(scores, scale=scale))
    judged = rows["is_judged"].to_numpy()
    held = _Held(
        evaluation if with_values else evaluation.totals(),
        int(rows["n_found"].to_numpy().sum()),
        len(rows),
        _first(rows, judged),
        _first(rows, ~judged),
    )
    packed: bytes = cloudpickle.dumps(held)  # type: ignore[no-untyped-call]  # Ray has not typed it
    return in_parts(rows["query"], parts, packed)


class _Held(NamedTuple):
    """What the driver learns of a block."""

    part: rm.Evaluation | Totals
    n_found: int
    n_rows: int
    judged: str
    unjudged: str


def _first(rows: pa.Table, which: npt.NDArray[np.bool_]) -> str:
    """Return the first of the selected queries for a message; empty if there is none."""
    return repr(rows["query"][int(which.argmax())].as_py()) if which.any() else ""


class _Collected:
    """The parts of successive blocks, with what messages need.

    Attributes:
        n_found: How many retrieved documents are judged.
        n_rows: How many rows there are.
        repeated: How many of them belong to a query that is there before.
        judged: A judged query for messages; empty if there is none.
        unjudged: An unjudged query for messages; empty if there is none.
    """

    def __init__(self, blocks: Dataset) -> None:
        self._blocks = blocks
        self.n_found = self.n_rows = self.repeated = 0
        self.judged = self.unjudged = ""

    def __iter__(self) -> Iterator[rm.Evaluation | Totals]:
        for row in self._blocks.iter_rows():
            self.repeated += row[REPEATED]
            if not row[HELD]:
                continue
            held: _Held = pickle.loads(row[HELD])  # noqa: S301  (written by sums_of_block in the same job)
            self.n_found += held.n_found
            self.n_rows += held.n_rows
            self.judged = self.judged or held.judged
            self.unjudged = self.unjudged or held.unjudged
            yield held.part

    def refuse_repeats(self) -> None:
        """Raise if a query is in two blocks."""
        if self.repeated:
            raise ValueError(f"{self.repeated:,} of {self.n_rows:,} rows belong to a query that {TWICE}")
