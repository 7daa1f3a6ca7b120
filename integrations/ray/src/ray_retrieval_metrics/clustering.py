"""The values of single queries, collected if intervals need the clusters of the queries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import retrieval_metrics as rm
from ray_retrieval_metrics.query_rows import column_name
from retrieval_metrics.adapting.distributed import COLUMNS
from retrieval_metrics.types import Scores

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from retrieval_metrics.adapting.distributed import Column
    from retrieval_metrics.types import ClustersBy, FloatArray

DERIVED = "depends"
"""The column that can be computed from others."""

Values = dict[str, Any]
"""The ids of queries, `query`, and one array for each column of their values."""


def values_of(
    queries: Sequence[Any],
    columns: Mapping[str, npt.NDArray[Any]],
    metrics: Sequence[rm.Metric],
    kept: npt.NDArray[np.bool_],
) -> Values:
    """Return the values of the queries of a block that an evaluation holds.

    Args:
        queries: The ids of the queries.
        columns: The columns of the block.
        metrics: The metrics.
        kept: Shape (queries,), which queries the rules keep.
    """
    names = [column_name(kind, metric) for kind in COLUMNS if kind != DERIVED for metric in metrics]
    chosen = [query for query, keep in zip(queries, kept.tolist(), strict=True) if keep]
    return {"query": chosen, **{name: columns[name][kept] for name in names if name in columns}}


def clustered(evaluation: rm.Evaluation, blocks: Sequence[Values], clusters: ClustersBy) -> rm.Evaluation:
    """Return an evaluation with the values of its queries, whose intervals know their clusters.

    Args:
        evaluation: The evaluation of the whole.
        blocks: The values, block by block.
        clusters: The clusters of the queries, as in `rm.evaluate`.

    Raises:
        TypeError: If the clusters have another type.
        ValueError: If they have none of the queries, or put all into one cluster.
    """
    ids = [query for block in blocks for query in block["query"]]
    order = sorted(range(len(ids)), key=ids.__getitem__)
    queries = tuple(ids[at] for at in order)
    columns: dict[str, FloatArray] = {
        name: np.concatenate([block[name] for block in blocks])[order] for name in blocks[0] if name != "query"
    }
    metrics = evaluation.metrics

    def known(kind: Column) -> dict[rm.Metric, FloatArray]:
        return {metric: columns[name] for metric in metrics if (name := column_name(kind, metric)) in columns}

    def table(kind: Column) -> FloatArray | None:
        of_metrics = known(kind)
        return np.column_stack(list(of_metrics.values())) if of_metrics else None

    return rm.Evaluation(
        Scores(
            metrics=metrics,
            queries=queries,
            values=np.column_stack([columns[column_name("value", metric)] for metric in metrics]),
            counts=evaluation.counts,
            rules=evaluation.rules,
            residuals=known("residual"),
            ideals=known("ideal"),
            lowest=table("lowest"),
            highest=table("highest"),
        ).clustered(clusters)
    )
