"""Register metrics of the core by name in LlamaIndex, so that its own `RetrieverEvaluator` finds them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from llama_index.core.evaluation.retrieval.metrics import METRIC_REGISTRY

from llama_index.evaluation.retrieval_metrics.metrics import RetrievalMetric, metric_class
from retrieval_metrics import Metric
from retrieval_metrics.integration_api import DEFINITIONS

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType

    from llama_index.core.evaluation.retrieval.metrics_base import BaseRetrievalMetric

# The cutoffs to register if there are no names; the registry is a dict, so each cutoff is an entry.
CUTOFFS = (1, 3, 5, 10, 20, 50, 100)


class Registration:
    """The changes made by one call of `register`; calling it undoes them, as does leaving a `with` block.

    Attributes:
        names: The names that were added or replaced.
    """

    def __init__(self, replaced: dict[str, type[BaseRetrievalMetric] | None]) -> None:
        self._replaced = replaced
        self.names = tuple(replaced)

    def __call__(self) -> None:
        """Remove the names and restore what they replaced. A second call does nothing."""
        for name, previous_class in self._replaced.items():
            if METRIC_REGISTRY.get(name) is not metric_class(name):
                continue  # replaced by somebody else since
            if previous_class is None:
                del METRIC_REGISTRY[name]
            else:
                METRIC_REGISTRY[name] = previous_class
        self._replaced = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self()

    def __repr__(self) -> str:
        return f"<Registration of {len(self.names)} metric names>"


def register(names: Iterable[str] | None = None, *, override: bool = False) -> Registration:
    """Register metrics under their names, so that `RetrieverEvaluator.from_metric_names` finds them.

    Registering a name twice changes nothing. The names are process-wide, so prefer `ranking_metrics`, which needs no
    registration, if you can.

    Args:
        names: The names to register, such as `["mrr@10", "ndcg@10"]`. None registers every metric, without cutoff and
            at 1, 3, 5, 10, 20, 50 and 100, except the names of llama-index-core.
        override: Replace metrics of llama-index-core with the same name: `hit_rate`, `mrr`, `precision`, `recall`, `ap`
            and `ndcg` then mean those of this package, even if `names` is None.

    Returns:
        An object that undoes the registration: call it, or use it in a `with` statement.

    Raises:
        ValueError: If a name is unknown, or is a name of llama-index-core and `override` is False. Nothing is
            registered then.
        TypeError: If `names` is a bare string.

    Example:
        >>> from llama_index.core.evaluation import resolve_metrics
        >>> with register(["mrr@10"]):
        ...     [mrr_class] = resolve_metrics(["mrr@10"])
        >>> mrr_class()
        metric('mrr@10')
    """
    if isinstance(names, str):
        raise TypeError(f"register takes a list of names: write [{names!r}]")
    if names is None:
        stripped_names = _list_all_names(with_host_names=override)
    else:
        stripped_names = [name.strip() for name in names]
    classes = {name: metric_class(name) for name in stripped_names}
    host_names = [name for name in classes if _is_host_metric(name)]
    if host_names and not override:
        raise ValueError(
            f"llama-index-core has metrics named {', '.join(host_names)}, which mean something else; pass "
            f"override=True to replace them, or add a cutoff: '{host_names[0]}@10'"
        )
    replaced: dict[str, type[BaseRetrievalMetric] | None] = {}
    for name, cls in classes.items():
        previous_class = METRIC_REGISTRY.get(name)
        if previous_class is not cls:
            replaced[name] = previous_class
    METRIC_REGISTRY.update(classes)
    return Registration(replaced)


def _is_host_metric(name: str) -> bool:
    cls = METRIC_REGISTRY.get(name)
    return cls is not None and not (isinstance(cls, type) and issubclass(cls, RetrievalMetric))


def _list_all_names(*, with_host_names: bool) -> list[str]:
    names = []
    for name, definition in DEFINITIONS.items():
        names.append(name)
        if definition.takes_cutoff:
            names += [str(Metric(name, k)) for k in CUTOFFS]
    if with_host_names:
        return [*names, "ap"]  # llama-index-core's name for what is printed as map here
    return [name for name in names if not _is_host_metric(name)]
