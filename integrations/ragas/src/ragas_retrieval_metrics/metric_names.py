"""Write and read the names of metrics in ragas, which hold every option that changes a value."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, TypeAlias, cast, get_args

from retrieval_metrics import Budget, Metric
from retrieval_metrics.integration_api import DEFINITIONS, scored_name

By: TypeAlias = Literal["ids", "texts", "auto"]
OnUnjudged: TypeAlias = Literal["nan", "zero"]

# The options of a metric that its name holds, with the values that it leaves out.
DEFAULT_OPTIONS = {"by": "auto", "unjudged": "nan", "qrels": None}


class MetricName(NamedTuple):
    """The parts of a name, from which the metric can be rebuilt.

    Attributes:
        metric: The metric of the core, with its cutoff and parameters.
        by: What is compared.
        on_unjudged: What a row without a relevant context scores.
        qrels_fingerprint: The fingerprint of judgments that were passed to the metric; None if it had none.
    """

    # Ragas keys its results by the name of a metric, MLflow refuses `@`, `(` and `=` in it, and Haystack stores only
    # the class and the name. So a name is made of letters, digits, `_`, `-`, `.` and `:`.

    metric: Metric
    by: By = "auto"
    on_unjudged: OnUnjudged = "nan"
    qrels_fingerprint: str | None = None

    def __str__(self) -> str:
        options = {"by": self.by, "unjudged": self.on_unjudged, "qrels": self.qrels_fingerprint}
        return scored_name(self.metric.plain_name, options, DEFAULT_OPTIONS)

    @classmethod
    def parse(cls, text: str) -> MetricName:
        """Read a name in the form of this package or of the core.

        Example:
            >>> MetricName.parse("ndcg_at_10").metric
            Metric.parse('ndcg@10')
            >>> str(MetricName.parse("precision(rel=2)@5"))
            'precision_at_5-rel-2'
            >>> MetricName.parse("mrr_at_10-by-texts").by
            'texts'
        """
        if not isinstance(text, str):
            return cls(Metric.parse(text))  # which raises a better error
        metric_text, *option_parts = _option_pattern().split(text)
        options: dict[str, str] = {}
        for option, value in zip(option_parts[::2], option_parts[1::2], strict=True):
            if option in options:
                raise ValueError(f"{text!r} has {option!r} twice, {options[option]!r} and {value!r}: keep one of them")
            options[option] = value
        by = require_choice(options.pop("by", "auto"), By, "by")
        on_unjudged = require_choice(options.pop("unjudged", "nan"), OnUnjudged, "on_unjudged")
        qrels_fingerprint = options.pop("qrels", None)
        metric = _parse_metric(metric_text, parameters=options)
        return cls(metric, cast("By", by), cast("OnUnjudged", on_unjudged), qrels_fingerprint)


def _parse_metric(text: str, parameters: dict[str, str]) -> Metric:
    name, separator, cutoff = text.rpartition("_at_")
    budget = Budget.parse(cutoff) if separator else None
    metric = Metric.parse(text) if budget is None else Metric(name, budget)
    if not parameters:
        return metric
    # A parameter that is a list has `;` between its values in the core, and `_` in the names of this package.
    values = {key: value.replace("_", ";") for key, value in parameters.items()}
    return Metric(metric.name, metric.k, **values)


def require_choice(value: str, choices: object, argument: str) -> str:
    """Return the value if it is one of the words of a Literal type."""
    words = get_args(choices)
    if value not in words:
        raise ValueError(f"{argument} must be one of {', '.join(map(repr, words))}, got {value!r}")
    return value


def _option_pattern() -> re.Pattern[str]:
    """Return a pattern for the name of any option, including parameters of user-defined metrics."""
    parameters: set[str] = set()
    for definition in DEFINITIONS.values():
        parameters.update(definition.parameters)
    names = (*sorted(parameters), *DEFAULT_OPTIONS)
    return re.compile(rf"-({'|'.join(names)})-")
