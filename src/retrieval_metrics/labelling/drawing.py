"""Where a model's grades say that systems differ: the queries that people should grade first."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.comparing.compare import evaluated_as
from retrieval_metrics.evaluation.evaluate import evaluate
from retrieval_metrics.inputs.qrels import as_qrels
from retrieval_metrics.labelling.labels import Labels
from retrieval_metrics.questions.sample import EACH
from retrieval_metrics.scoring.metric import as_metrics, relevant_from

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from retrieval_metrics.checks import FloatArray
    from retrieval_metrics.inputs.items import RunMapping
    from retrieval_metrics.inputs.qrels import QuestionsOrQrels
    from retrieval_metrics.inputs.run import Run
    from retrieval_metrics.scoring.metric import Metric

MOST, OTHERS = "differ most", "others"
FEWEST, MOST_OF = 8, 2
"""The first stratum has at least one query of 8, and at most one of 2."""
LARGEST = 0.6
"""The largest part of the labels for the first stratum."""


def where_systems_differ(
    queries: Sequence[Any],
    graded: Labels | QuestionsOrQrels,
    runs: Mapping[str, RunMapping | Run],
    metrics: str | Metric | Iterable[str | Metric],
) -> tuple[dict[Any, str], dict[str, float]]:
    """Return two strata, the queries on which the systems differ most by these grades and the others, and their shares.

    With the root mean square difference S of each of W queries, the first stratum is as large as makes the sum of W S
    least, and the part of the labels in each is in proportion to W S (Neyman's allocation with Dalenius's boundary).
    The others get at least 40 %: the model may be wrong.
    Systems differ by the highest value of one of them less the lowest of another, in the metric in which that is most.
    A query without grades, or for which a metric is undefined, counts as not different.

    Raises:
        ValueError: If there are fewer than two systems, or they differ on no query.
    """
    if len(runs) < 2:  # noqa: PLR2004  (two differ)
        raise ValueError(f"only two or more systems can differ, got {list(runs)}")
    chosen, truth = as_metrics(metrics), as_qrels(graded.qrels if isinstance(graded, Labels) else graded)
    values = []
    for name, run in runs.items():
        scores = evaluated_as(name, partial(evaluate, truth, run, chosen, clusters=None)).scores
        values.append([[scores.per_query[str(metric)].get(query, np.nan) for query in queries] for metric in chosen])
    systems = np.array(values)
    apart = np.nan_to_num(systems.max(axis=0) - systems.min(axis=0)).max(axis=0)
    if not apart.any():
        raise ValueError(
            f"by these grades the systems differ on none of the {len(queries)} queries in "
            f"{', '.join(map(str, relevant_from(chosen, truth.relevant_from)))}; draw without them: sample(n)"
        )
    size, share = first_stratum(np.sort(apart)[::-1])
    most = {queries[at] for at in np.argsort(-apart, kind="stable")[:size].tolist()}
    return {query: MOST if query in most else OTHERS for query in queries}, {MOST: share, OTHERS: 1 - share}


def first_stratum(apart: FloatArray) -> tuple[int, float]:
    """Return the size of the first stratum and its part of the labels, from differences in falling order."""
    count = len(apart)
    sizes = np.arange(max(EACH, count // FEWEST), max(EACH, count // MOST_OF) + 1)
    squares = np.cumsum(apart**2)
    first = np.sqrt(sizes * squares[sizes - 1])
    others = np.sqrt((count - sizes) * np.maximum(squares[-1] - squares[sizes - 1], 0.0))
    best = int(np.argmin(first + others))
    return int(sizes[best]), min(LARGEST, float(first[best] / (first[best] + others[best])))
