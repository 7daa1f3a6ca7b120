"""The metrics of the core as metrics of LlamaIndex."""

from __future__ import annotations

from functools import cache, lru_cache
from math import isnan
from typing import TYPE_CHECKING, Any, ClassVar

from llama_index.core.bridge.pydantic import ConfigDict, model_validator
from llama_index.core.evaluation.retrieval.metrics import METRIC_REGISTRY
from llama_index.core.evaluation.retrieval.metrics_base import BaseRetrievalMetric, RetrievalMetricResult

from retrieval_metrics import Metric
from retrieval_metrics.integration_api import Scorer
from retrieval_metrics.integration_api.batches import require_known_scale

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from retrieval_metrics.types import Judgments, QueryScore, Ranking

# Options of metrics of llama-index-core, with the metric that each stands for; and one that a single query lacks.
HOST_OPTIONS = {
    "use_granular_hit_rate": "the share of relevant documents found is recall: use 'recall' or 'recall@10'",
    "use_granular_mrr": "the average over all relevant documents is 'map', with a cutoff 'map@10'",
    "exclude": "a metric sees one query without its ID: pass exclude= to evaluate_dataset of RetrieverEvaluator",
    "mode": "the gain is part of the name: use 'ndcg' or 'ndcg(gain=exponential)'",
}


class RetrievalMetric(BaseRetrievalMetric):
    """A metric for the evaluator of LlamaIndex; create it with `metric`.

    Attributes:
        metric_name: The name as given, by which results are keyed.
        spec: The metric of the core.
    """

    model_config = ConfigDict(extra="forbid")  # the name holds all options, such as `k`

    metric_name: ClassVar[str]
    spec: ClassVar[Metric]

    @model_validator(mode="before")
    @classmethod
    def _refuse_options(cls, arguments: Any) -> Any:
        refuse_host_options(arguments)
        return arguments

    def compute(
        self,
        query: str | None = None,
        expected_ids: Judgments | None = None,
        retrieved_ids: Ranking | None = None,
        expected_texts: list[str] | None = None,
        retrieved_texts: list[str] | None = None,
        **kwargs: object,
    ) -> RetrievalMetricResult:
        """Return the value for one query.

        Args:
            query: Not used.
            expected_ids: The relevant ids; grades and groups are accepted too.
            retrieved_ids: The retrieved ids, best first. An empty list scores 0.
            expected_texts: Not used.
            retrieved_texts: Not used.
            **kwargs: Any other argument is an error.

        Returns:
            The score. `metadata` holds `k`, `relevant_ranks`, `num_relevant` and `num_retrieved`. If nothing is
            relevant, the metric is undefined: the score is 0, because JSON has no NaN, and `metadata["undefined"]` is
            True.

        Raises:
            TypeError: If an argument is unknown, or the ids are not a list of ids (a bare string is not).
            ValueError: If a list of ids is missing, or a metric needs the largest grade of all judgments.
        """
        refuse_host_options(kwargs)
        if kwargs:
            raise TypeError(f"{self.metric_name} has no argument {', '.join(map(repr, kwargs))}")
        if expected_ids is None or retrieved_ids is None:
            missing = "expected_ids" if expected_ids is None else "retrieved_ids"
            raise ValueError(f"{self.metric_name} needs {missing}; if there are none, pass an empty list")
        score = scorer_of(self.spec, self.spec.definition).ranking(expected_ids, retrieved_ids)[self.spec]
        require_known_grade_scale([self.spec], expected_ids)
        return as_result(score, self.spec)

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute; for options of LlamaIndex's own metrics, the error names the metric to use instead."""
        refuse_host_options([name])
        super().__setattr__(name, value)

    def __reduce__(self) -> tuple[Callable[[str, Metric], RetrievalMetric], tuple[str, Metric]]:
        """Pickle as a name: the class is created when it is unpickled, once the core knows the metric there."""
        return _unpickle, (self.metric_name, self.spec)

    def __repr__(self) -> str:
        return f"metric({self.metric_name!r})"

    def __str__(self) -> str:
        return self.metric_name


@lru_cache(maxsize=256)
def scorer_of(spec: Metric, _: object) -> Scorer:
    """Return what computes a metric, the same for every row; a metric that was defined again has another definition."""
    return Scorer(spec)


@cache
def metric_class(name: str) -> type[RetrievalMetric]:
    """Return the class of the metric with this name, always the same one."""
    spec = Metric.parse(name)
    metric_name = name.strip()
    namespace = {
        "__module__": __name__,
        "__doc__": spec.definition.summary,
        "metric_name": metric_name,
        "spec": spec,
    }
    return type(f"RetrievalMetric[{metric_name}]", (RetrievalMetric,), namespace)


def _unpickle(name: str, _: Metric) -> RetrievalMetric:
    return metric(name)


def metric(name: str | Metric) -> RetrievalMetric:
    """Return the metric with this name, for `RetrieverEvaluator(metrics=[...])`.

    Args:
        name: Any name of the core, such as `ndcg@10`, `map` or `precision(rel=2)@5`. Results have the name as given.

    Raises:
        ValueError: If no metric has that name; the message suggests the nearest.
        TypeError: If it is not a name.

    Example:
        >>> metric("mrr@3").compute(expected_ids=["d7"], retrieved_ids=["d3", "d7"]).score  # found at rank 2
        0.5
    """
    return metric_class(str(name) if isinstance(name, Metric) else name)()


def ranking_metrics(names: Iterable[str | Metric]) -> list[BaseRetrievalMetric]:
    """Return the metrics with these names, each once, in the given order.

    Raises:
        ValueError: If no metric has one of the names, or there is none.
        TypeError: If it is a bare string, or something is not a name.

    Example:
        >>> ranking_metrics(["mrr@5", "hit_rate@3"])
        [metric('mrr@5'), metric('hit_rate@3')]
    """
    if isinstance(names, (str, Metric)):
        raise TypeError(
            f"ranking_metrics takes a list of names: write [{str(names)!r}], or metric({str(names)!r}) for one"
        )
    metric_by_name: dict[str, BaseRetrievalMetric] = {}
    for name in names:
        host_metric = metric(name)
        metric_by_name[host_metric.metric_name] = host_metric
    if not metric_by_name:
        raise ValueError("there are no metrics; name at least one, for example ['ndcg@10']")
    return list(metric_by_name.values())


def resolve_metrics(names: Iterable[str | Metric]) -> list[BaseRetrievalMetric]:
    """Return the metrics with these names, each once: those of this package if known, or else those of LlamaIndex."""
    if isinstance(names, str):
        raise TypeError(f"metric_names must be a list of names: write [{names!r}]")
    names = list(names)
    for name in names:
        if not isinstance(name, (str, Metric)):
            raise TypeError(f"from_metric_names takes names, got {name!r}; write RetrieverEvaluator(metrics=[...])")
    return [_resolve_metric(name) for name in dict.fromkeys(names)]


def _resolve_metric(name: str | Metric) -> BaseRetrievalMetric:
    try:
        return metric(name)
    except ValueError:
        if name in METRIC_REGISTRY:  # one of LlamaIndex, or registered by somebody else
            return METRIC_REGISTRY[name]()
        raise


def require_known_grade_scale(metrics: Iterable[Metric], judgments: Judgments) -> None:
    """Refuse the grades of a single query for metrics that divide by the largest grade of all."""
    require_known_scale(metrics, "one query", "write it into the name: {name}(max_grade=3)", judgments)


def require_metrics(metrics: object) -> None:
    """Raise unless an argument is a list of at least one metric; a name is not a metric."""
    if not isinstance(metrics, (list, tuple)) or not metrics:
        raise ValueError(f"metrics must be a list of at least one metric, got {metrics!r}")
    for entry in metrics:
        if isinstance(entry, (str, Metric)):
            raise ValueError(
                f"metrics holds the name {str(entry)!r}; write RetrieverEvaluator.from_metric_names([...]), or "
                f"metrics=[metric({str(entry)!r})]"
            )


def refuse_host_options(arguments: Iterable[str]) -> None:
    """Raise if an argument is an option that stands elsewhere here: in the name of a metric, or at another function."""
    for name in arguments:
        if name in HOST_OPTIONS:
            raise TypeError(f"{name} is not an option here; {HOST_OPTIONS[name]}")


def as_result(score: QueryScore, spec: Metric) -> RetrievalMetricResult:
    """Return a score as a result of LlamaIndex; because JSON has no NaN, undefined is 0 with a note in the metadata."""
    metadata = {
        "k": spec.k,
        "relevant_ranks": list(score.relevant_ranks),
        "num_relevant": score.n_relevant,
        "num_retrieved": score.n_retrieved,
    }
    if isnan(score.value):
        return RetrievalMetricResult(score=0.0, metadata={**metadata, "undefined": True})
    return RetrievalMetricResult(score=score.value, metadata=metadata)
