"""The most requested metrics, as classes in the style of ragas."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from ragas_retrieval_metrics.metric import RetrievalMetric
from ragas_retrieval_metrics.names import Named
from ragas_retrieval_metrics.references import References

if TYPE_CHECKING:
    import retrieval_metrics as rm
    from ragas_retrieval_metrics.names import By, OnUnjudged
    from ragas_retrieval_metrics.references import Judged
    from retrieval_metrics.types import ParameterValue


class _NamedMetric(RetrievalMetric):
    """A metric defined by its class; the arguments are those of `RetrievalMetric`."""

    core_name: ClassVar[str]

    def __init__(
        self,
        k: int | rm.Budget | None = None,
        *,
        by: By | None = None,
        qrels: Judged | References | None = None,
        on_unjudged: OnUnjudged | None = None,
        name: str | None = None,
        **parameters: ParameterValue,
    ) -> None:
        """Create the metric.

        Args:
            k: The cut-off: only the first k contexts count, or those that fit into an `rm.Budget`. None means all.
            by: `"ids"` (the default), `"texts"` or `"auto"`.
            qrels: The judgments, by the text of the query, instead of the reference columns; or a dataset of
                `from_langchain` or `from_llama_index`.
            on_unjudged: `"nan"` (the default) or `"zero"`.
            name: The name of such a metric, from which hosts that store only names can rebuild it.
            **parameters: Parameters of the metric, such as `rel=2`.

        Raises:
            ValueError: If a name is that of another metric, or an argument is unknown.
            TypeError: If k is not an integer, or the qrels have another shape.
        """
        said = self.core_name if name is None else name
        if Named.parse(said).metric.name != self.core_name:
            raise ValueError(
                f"the name {name!r} is not one of {type(self).__name__}; rebuild it with RetrievalMetric({name!r})"
            )
        super().__init__(said, k, by=by, qrels=qrels, on_unjudged=on_unjudged, **parameters)


class HitRate(_NamedMetric):
    """The share of queries with a relevant context among the first k: per row 1 or 0.

    Example:
        >>> HitRate(k=3).score(retrieved_context_ids=["d3", "d7"], reference_context_ids=["d7", "d8"]).value
        1.0
    """

    core_name = "hit_rate"


class MRR(_NamedMetric):
    """Mean reciprocal rank: per row 1 / the rank of the first relevant context.

    Example:
        >>> MRR(k=10).score(retrieved_context_ids=["d3", "d7"], reference_context_ids=["d7", "d8"]).value  # 1 / 2
        0.5
    """

    core_name = "mrr"


class MAP(_NamedMetric):
    """Mean average precision: per row the precision at each relevant context, over all relevant ones.

    Example:
        >>> MAP().score(retrieved_context_ids=["d3", "d7"], reference_context_ids=["d7", "d8"]).value  # (1 / 2) / 2
        0.25
    """

    core_name = "map"


class NDCG(_NamedMetric):
    """Normalised discounted cumulative gain: is the best ranked first?

    Example:
        >>> metric = NDCG(k=10)
        >>> metric.name
        'ndcg_at_10'
        >>> ids = ["d1", "d3", "d7", "d2", "d9"]
        >>> round(metric.score(retrieved_context_ids=ids, reference_context_ids=["d1", "d7"]).value, 4)  # 1.5 / 1.6309
        0.9197
    """

    core_name = "ndcg"


class Precision(_NamedMetric):
    """The share of the first k places that hold a relevant context; without k, of those retrieved.

    Example:
        >>> Precision(k=5).score(retrieved_context_ids=["d3", "d7"], reference_context_ids=["d7", "d8"]).value  # 1 / 5
        0.2
    """

    core_name = "precision"


class Recall(_NamedMetric):
    """The share of the relevant contexts that are among the first k.

    Example:
        >>> Recall(k=5).score(retrieved_context_ids=["d3", "d7"], reference_context_ids=["d7", "d8"]).value  # 1 / 2
        0.5
    """

    core_name = "recall"


class F1(_NamedMetric):
    """The harmonic mean of precision and recall.

    Example:
        >>> F1().score(retrieved_context_ids=["d3", "d7"], reference_context_ids=["d7", "d8"]).value  # both are 1 / 2
        0.5
    """

    core_name = "f1"


SUITE: tuple[type[_NamedMetric], ...] = (HitRate, MRR, MAP, NDCG, Precision, Recall, F1)


def metric_suite(
    k: int | rm.Budget | Iterable[int | rm.Budget | None] | None = (1, 3, 5, 10),
    *,
    by: By | None = None,
    qrels: Judged | None = None,
    on_unjudged: OnUnjudged | None = None,
) -> list[RetrievalMetric]:
    """Return every metric at every cut-off, for `evaluate(dataset, metrics=metric_suite())`.

    Args:
        k: Cut-offs; None among them stands for all contexts.
        by: `"ids"` (the default), `"texts"` or `"auto"`.
        qrels: The judgments, by the text of the query, instead of the reference columns; or a dataset of
            `from_langchain` or `from_llama_index`.
        on_unjudged: `"nan"` (the default) or `"zero"`.

    Raises:
        ValueError: If there is no cut-off, or one is not positive.
        TypeError: If a cut-off is not an integer.

    Example:
        >>> [metric.name for metric in metric_suite(k=(1, 5))][:4]
        ['hit_rate_at_1', 'hit_rate_at_5', 'mrr_at_1', 'mrr_at_5']
    """
    cutoffs = list(dict.fromkeys(k if isinstance(k, Iterable) else [k]))
    if not cutoffs:
        raise ValueError("a suite needs at least one cut-off, for example k=(1, 3, 5, 10)")
    shared = References.of(qrels, by or "ids")  # read once, not once per metric
    return [cls(cutoff, by=by, qrels=shared, on_unjudged=on_unjudged) for cls in SUITE for cutoff in cutoffs]
