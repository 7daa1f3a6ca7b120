"""Return one run or several by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from retrieval_metrics.inputs.run import Run

if TYPE_CHECKING:
    from collections.abc import Collection

THE_RUN = "the run"
"""The name of a single run."""


def named_runs(runs: Any, queries: Collection[Any], are: str) -> dict[str, Any]:
    """Return the runs by name; a single run, recognised by one of the queries, gets the name "the run".

    Args:
        runs: A run, or a mapping of names to runs.
        queries: The queries that a run might have.
        are: What these queries are, for the message, such as "judged".

    Raises:
        TypeError: If it is neither.
    """
    if isinstance(runs, Run) or (isinstance(runs, Mapping) and any(query in runs for query in queries)):
        return {THE_RUN: runs}
    if not isinstance(runs, Mapping) or not runs or not all(isinstance(run, (Mapping, Run)) for run in runs.values()):
        raise TypeError(
            "runs must be a run, or map names to runs, such as {'bm25': {'q1': ['d7', 'd3']}}, got "
            f"{type(runs).__name__}{'' if not isinstance(runs, Mapping) else f' without a query that is {are}'}"
        )
    return dict(runs)
