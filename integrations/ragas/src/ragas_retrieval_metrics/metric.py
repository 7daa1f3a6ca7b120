"""Metrics of the core as metrics of ragas: one class for every interface, and names that it accepts."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from math import inf, isnan, nan
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, TypeAlias, cast, get_args

import retrieval_metrics as rm
from ragas_retrieval_metrics.rows import (
    FIELDS,
    BaseMetric,
    Judged,
    MetricResult,
    MetricType,
    References,
    Row,
    SingleTurnMetric,
    as_items,
    as_pieces,
)
from retrieval_metrics import Budget, Metric
from retrieval_metrics.adapting import DEFINITIONS, RowScorer, scored_name
from retrieval_metrics.adapting.distributed import divides_by_largest_grade, refuse_unknown_scale
from retrieval_metrics.adapting.twins import arguments_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langchain_core.callbacks import Callbacks
    from ragas.dataset_schema import SingleTurnSample
    from ragas.run_config import RunConfig

    from retrieval_metrics.types import ParameterValue, QueryScore


class RetrievalMetric(BaseMetric, SingleTurnMetric):  # type: ignore[misc]  # the bases of BaseMetric disagree on allowed_values
    """Any metric of the core, for ragas.

    It runs in `evaluate()`, `aevaluate()`, `single_turn_score`, `score`, `ascore`, `abatch_score` and inside
    `@experiment`, without an LLM, a key or a network, and returns the value of `rm.evaluate` to the last bit.

    Nothing retrieved scores 0. A row without a relevant context has the value NaN, which ragas leaves out of its mean.
    `to_evaluation` counts such rows and failed ones.

    Attributes:
        name: The name in the results, such as `ndcg_at_10`. It includes everything that changes the value, so the
            metric can be rebuilt from it: `RetrievalMetric(name)`; of `qrels` a fingerprint, as in
            `ndcg_at_10-qrels-5c1f09aa`, and they are passed again.
        metric: The metric of the core.
        by: What is compared.
        on_unjudged: What a row without a relevant context scores.

    Example:
        >>> metric = RetrievalMetric("rbp(p=0.5)@3")
        >>> metric.name
        'rbp_at_3-p-0.5'
        >>> metric.score(retrieved_context_ids=["d3", "d7"], reference_context_ids=["d7"]).value  # (1 - .5) * .5
        0.25
    """

    def __init__(
        self,
        name: str | rm.Metric,
        k: int | rm.Budget | None = None,
        *,
        by: By | None = None,
        qrels: Judged | References | None = None,
        on_unjudged: OnUnjudged | None = None,
        **parameters: ParameterValue,
    ) -> None:
        """Create the metric.

        Args:
            name: A name of the core (`"ndcg@10"`, `"precision(rel=2)@5"`), or the name of such a metric in ragas.
            k: The cut-off, if it is not in the name: only the first k contexts count, or with `by="texts"` those that
                fit into `rm.Budget(2000, "chars")`. None means all.
            by: `"ids"` (the default) compares `retrieved_context_ids` with `reference_context_ids`; `"texts"` compares
                `retrieved_contexts` with `reference_contexts`, each as an `rm.Text`, for datasets with only texts;
                `"auto"` takes ids if a row has them, and texts otherwise.
            qrels: The judgments, by the text of the query (`user_input`): ids, grades `{"d1": 2}`, groups
                `[["d1", "d2"], ["d9"]]` or graded groups; with `by="texts"` reference texts, `rm.Text` or `rm.Quote`
                instead of ids. They replace the reference columns, which in `evaluate()` can only hold flat lists. They
                can also be an `rm.EvaluationSet`, or a dataset of `from_langchain` or `from_llama_index`, which has
                offsets and sources of the retrieved documents too, so that it can be judged by spans.
            on_unjudged: `"nan"` (the default) leaves a row without a relevant context undefined; `"zero"` scores it 0.
            **parameters: Parameters of the metric, such as `rel=2` or `gain="exponential"`.

        Raises:
            ValueError: If the metric, a parameter or an option is unknown, arguments contradict each other, or the
                metric needs what rows of ragas do not hold.
            TypeError: If k is not an integer, or the qrels have another shape.
        """
        said = Named(name) if isinstance(name, rm.Metric) else Named.parse(name)
        metric = _complete(said.metric, k, parameters)
        self.by: By = cast("By", one_of(by or said.by, By, "by"))
        self.on_unjudged: OnUnjudged = cast(
            "OnUnjudged", one_of(on_unjudged or said.on_unjudged, OnUnjudged, "on_unjudged")
        )
        self.metric = metric
        self.references = References.of(qrels, self.by)
        if said.qrels is not None and self.references is None:
            raise ValueError(f"{name!r} is the name of a metric with judgments of its own; pass them: qrels=")
        _require_countable(metric, self.by, has_items=self.references is not None and bool(self.references.retrieved))
        highest = 1.0 if metric.definition.bounded else inf
        fingerprint = None if self.references is None else self.references.fingerprint
        full = str(Named(metric, self.by, self.on_unjudged, fingerprint))
        super().__init__(name=full, allowed_values=(0.0, highest))
        # Not through the setter, which refuses columns of ids; ragas's own metrics do the same.
        self._required_columns = {MetricType.SINGLE_TURN: self._columns()}

    def _columns(self) -> set[str]:
        if self.by == "auto":
            return {f"{field}:optional" for field in Row._fields}
        retrieved, reference = FIELDS[self.by]
        if self.references is None:
            return {retrieved, reference, "user_input:optional"}
        other = {f"{field}:optional" for field, _ in FIELDS.values()} if self.references.retrieved else {retrieved}
        return {"user_input", *other}

    def init(self, run_config: RunConfig) -> None:
        """Do nothing: ragas calls this to configure a language model, and there is none."""

    async def _single_turn_ascore(self, sample: SingleTurnSample, callbacks: Callbacks) -> float:  # noqa: ARG002  (ragas passes it by name)
        row = Row(*(getattr(sample, field) for field in Row._fields)).read()
        return self._compare(row, host_filled=True)[0]

    def score(
        self,
        retrieved_context_ids: Any = None,
        reference_context_ids: Any = None,
        retrieved_contexts: Sequence[str] | str | None = None,
        reference_contexts: Sequence[str] | str | None = None,
        user_input: str | None = None,
        **other: Any,
    ) -> MetricResult:
        """Score one row, without waiting for anything; works inside a running event loop too, as in a notebook.

        Args:
            retrieved_context_ids: Ids best first, or `{id: score}`. The text of a list, as in a CSV file, is parsed.
            reference_context_ids: The judgments: ids, grades, groups or graded groups.
            retrieved_contexts: Texts best first.
            reference_contexts: The texts that should be retrieved.
            user_input: The query: the key of `qrels`, and the name of the row in messages.
            **other: The other columns of the row, such as `response` or `id`, so that `score(**row)` works; ignored.

        Returns:
            The value, a float, with the relevant ranks as its reason.

        Raises:
            ValueError: If the field that `by` compares is missing.
            TypeError: If a field has the wrong type: a bare string for a list, a set for a ranking; or if another
                column has a name like that of judgments, `reference_context_...`, and would be ignored.
        """
        _require_known(other)
        row = Row(retrieved_context_ids, reference_context_ids, retrieved_contexts, reference_contexts, user_input)
        value, reason = self._compare(row.read(), host_filled=False)
        return MetricResult(value=value, reason=reason)

    @arguments_of(score)  # hosts read the names of the columns from the signature
    async def ascore(self, *args: Any, **fields: Any) -> MetricResult:
        """Score one row; arguments, result and errors are those of `score`."""
        return self.score(*args, **fields)

    def batch_score(self, inputs: list[dict[str, Any]]) -> list[MetricResult]:
        """Score several rows, each given as the arguments of `score`; works inside a running event loop too."""
        return [self.score(**fields) for fields in inputs]

    def _compare(self, row: Row, *, host_filled: bool) -> tuple[float, str]:
        kind, judgments, ranking = compared(row, self.by, self.references)
        if ranking is None:
            ranking = self._nothing_retrieved(row, FIELDS[kind][0], host_filled=host_filled)
        if judgments is None:
            if self.references:
                self.references.warn_of_unjudged([row.user_input])
            return (0.0 if self.on_unjudged == "zero" else nan), "there are no judgments"
        scorer = RowScorer(
            self.metric,
            match="id" if self.references is None else self.references.match,
            max_grade=self._scale(judgments) if divides_by_largest_grade(self.metric) else None,
        )
        score = scorer.row(judgments, lambda: ranking, name=f"row {row.query!r}")[self.metric]
        if isnan(score.value) and not score.n_relevant and self.on_unjudged == "zero":
            return 0.0, _reason(score, self.metric)
        return score.value, _reason(score, self.metric)

    def _scale(self, judgments: Any) -> float:
        """Return the largest grade of all judgments."""
        if self.references is not None:
            return self.references.truth.largest_grade or 1.0
        refuse_unknown_scale(
            [self.metric],
            "one row",
            "set it with max_grade=, or pass all judgments to the metric with qrels=",
            judgments,
        )
        return 1.0

    def _nothing_retrieved(self, row: Row, field: str, *, host_filled: bool) -> list[str]:
        """Return an empty ranking for a row that a host did not fill in, which means that retrieval failed."""
        if not host_filled:
            raise ValueError(
                f"row {row.query!r} has no {field}, which {self.name} needs; write [] if nothing was retrieved"
            )
        warnings.warn(
            f"row {row.query!r} has no {field}: nothing was retrieved, which scores 0",
            rm.RetrievalWarning,
            stacklevel=2,
        )
        return []

    def __repr__(self) -> str:
        return f"{type(self).__name__}(name={self.name!r})"


def _require_known(other: Iterable[str]) -> None:
    lost = [column for column in other if column.startswith("reference_context")]
    if lost:
        raise TypeError(
            f"{lost[0]} is not a column that these metrics read, so it would be ignored; write grades and groups into "
            "reference_context_ids, or pass them to the metric: qrels="
        )


def _require_countable(metric: rm.Metric, by: By, *, has_items: bool) -> None:
    if isinstance(metric.k, rm.Budget) and metric.k.unit == "tokens":
        raise ValueError(
            f"{metric} counts tokens, but rows of ragas have none; cut off by characters, or evaluate with rm.evaluate"
        )
    if by != "texts" and not has_items and (isinstance(metric.k, rm.Budget) or metric.definition.needs_places):
        raise ValueError(f"{metric} needs the texts that were retrieved; compare them with by='texts', got by={by!r}")


def _complete(metric: rm.Metric, k: int | rm.Budget | None, parameters: dict[str, ParameterValue]) -> rm.Metric:
    if k is not None and metric.k not in {None, k}:
        raise ValueError(f"the name {str(metric)!r} has k={metric.k}, but k={k} is passed too; pass it once")
    return rm.Metric.of(metric.name, metric.k if k is None else k, **{**dict(metric.parameters), **parameters})


def _reason(score: QueryScore, metric: rm.Metric) -> str:
    if not score.n_relevant:
        return "nothing is relevant"
    k = metric.k if isinstance(metric.k, int) else None
    ranks = [rank for rank in score.relevant_ranks if k is None or rank <= k]
    at = f", at rank {', '.join(map(str, ranks))}" if ranks else ""
    budget = f"; what fits into {metric.k} counts" if isinstance(metric.k, rm.Budget) else ""
    return f"{len(ranks)} relevant in the first {k or score.n_retrieved}{at}; {score.n_relevant} needed{budget}"


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
        """Create the metric."""
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


By: TypeAlias = Literal["ids", "texts", "auto"]
OnUnjudged: TypeAlias = Literal["nan", "zero"]


class Named(NamedTuple):
    """The parts of a name, which includes everything that changes the value, so that it can be rebuilt."""

    # Ragas keys its results by the name of a metric, MLflow refuses `@`, `(` and `=` in it, and Haystack stores only
    # the class and the name. So a name is made of letters, digits, `_`, `-`, `.` and `:`.

    metric: Metric
    by: By = "ids"
    on_unjudged: OnUnjudged = "nan"
    qrels: str | None = None

    def __str__(self) -> str:
        chosen = {"by": self.by, "unjudged": self.on_unjudged, "qrels": self.qrels}
        return scored_name(self.metric.plain_name, chosen, {"by": "ids", "unjudged": "nan", "qrels": None})

    @classmethod
    def parse(cls, text: str) -> Named:
        """Read a name in the form of this package or of the core.

        Example:
            >>> Named.parse("ndcg_at_10").metric
            Metric.parse('ndcg@10')
            >>> str(Named.parse("precision(rel=2)@5"))
            'precision_at_5-rel-2'
            >>> Named.parse("mrr_at_10-by-texts").by
            'texts'
        """
        if not isinstance(text, str):
            return cls(Metric.parse(text))  # which raises a better error
        head, *rest = _option().split(text)
        given: dict[str, str] = dict(zip(rest[::2], rest[1::2], strict=True))
        by = one_of(given.pop("by", "ids"), By, "by")
        on_unjudged = one_of(given.pop("unjudged", "nan"), OnUnjudged, "on_unjudged")
        qrels = given.pop("qrels", None)
        name, at, cutoff = head.rpartition("_at_")
        budget = Budget.parse(cutoff) if at else None
        metric = Metric.parse(head) if budget is None else Metric.of(name, budget)
        if given:
            metric = Metric.of(metric.name, metric.k, **{key: value.replace("_", ";") for key, value in given.items()})
        return cls(metric, cast("By", by), cast("OnUnjudged", on_unjudged), qrels)


def one_of(value: str, options: object, what: str) -> str:
    """Return the value if it is one of the words of a Literal type."""
    if value not in get_args(options):
        raise ValueError(f"{what} must be one of {', '.join(map(repr, get_args(options)))}, got {value!r}")
    return value


def _option() -> re.Pattern[str]:
    """Return a pattern for the name of any option, including parameters of user-defined metrics."""
    parameters = sorted({key for definition in DEFINITIONS.values() for key in definition.parameters})
    return re.compile(rf"-({'|'.join((*parameters, 'by', 'unjudged', 'qrels'))})-")


class RowToScore(NamedTuple):
    """The judgments and the ranking of a row."""

    kind: By
    judgments: Any
    ranking: Any


def compared(row: Row, by: By, references: References | None) -> RowToScore:
    """Return what is compared in a row, in the shapes of the core."""
    kind = row.kind(by)
    ranking, judgments = (getattr(row, field) for field in FIELDS[kind])
    items = None if references is None else references.items_of(row)
    if items is None:
        _require_fields(row, kind, by, judged=references is not None)
        judgments = judgments if references is None else references.of_query(row)
    if kind == "texts":
        judgments = None if judgments is None else as_pieces(judgments)
        ranking = None if ranking is None else as_items(ranking)
    if references is None or items is None:
        return RowToScore(kind, judgments, ranking)
    # A column is there as converted, or changed since.
    return RowToScore(kind, references.of_query(row) if judgments is None else judgments, items)


def _require_fields(row: Row, kind: By, by: By, *, judged: bool) -> None:
    """Raise if a row has only the fields of the other kind; the reference is not needed if it is judged otherwise."""
    other: By = "texts" if kind == "ids" else "ids"
    for field, instead in zip(FIELDS[kind][: 1 if judged else 2], FIELDS[other], strict=False):
        if getattr(row, field) is None and getattr(row, instead) is not None:
            raise ValueError(
                f"row {row.query!r} has {instead} but no {field}, which by={by!r} compares; fill {field}, or "
                f"compare {other} on both sides with by={other!r}"
            )
