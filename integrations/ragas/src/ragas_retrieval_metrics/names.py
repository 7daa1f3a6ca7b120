"""Names of metrics that every host of ragas accepts, and from which the metric can be rebuilt.

Ragas keys its results by the name of a metric, MLflow refuses `@`, `(` and `=` in it, and Haystack stores only the
class and the name. So a name includes everything that changes the value, in letters, digits, `_`, `-`, `.` and `:`.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, TypeAlias, cast, get_args

from retrieval_metrics import Budget, Metric
from retrieval_metrics.adapting import DEFINITIONS, scored_name

By: TypeAlias = Literal["ids", "texts", "auto"]
OnUnjudged: TypeAlias = Literal["nan", "zero"]


class Named(NamedTuple):
    """The parts of a name.

    Attributes:
        metric: The metric of the core, with its cut-off and parameters.
        by: What is compared.
        on_unjudged: What a row without a relevant context scores.
        qrels: The fingerprint of the judgments that were given to it; None if they are in the rows.
    """

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

        Raises:
            ValueError: If there is no such metric, or an option has an unknown value.
            TypeError: If it is not a text.

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
    """Return the value if it is one of the words of a Literal type.

    Raises:
        ValueError: If it is not.
    """
    if value not in get_args(options):
        raise ValueError(f"{what} must be one of {', '.join(map(repr, get_args(options)))}, got {value!r}")
    return value


def _option() -> re.Pattern[str]:
    """Return a pattern for the name of any option, including parameters of user-defined metrics."""
    parameters = sorted({key for definition in DEFINITIONS.values() for key in definition.parameters})
    return re.compile(rf"-({'|'.join((*parameters, 'by', 'unjudged', 'qrels'))})-")
