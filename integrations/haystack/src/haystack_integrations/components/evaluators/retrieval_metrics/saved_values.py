"""Results of the evaluator in the forms that Haystack saves with the state of a pipeline."""

from __future__ import annotations

from math import isnan, nan
from typing import Any, Self

from retrieval_metrics import Evaluation


class UndefinedValue(float):
    """The NaN of a question for which a metric is undefined, which Haystack can save as JSON.

    Example:
        >>> UndefinedValue.if_nan(0.5), UndefinedValue.if_nan(nan).to_dict()
        (0.5, {})
    """

    def to_dict(self) -> dict[str, Any]:
        """Return an empty dict: NaN has no other content."""
        return {}

    @classmethod
    def from_dict(cls, _: dict[str, Any]) -> Self:
        """Return NaN."""
        return cls(nan)

    @classmethod
    def if_nan(cls, value: float) -> float:
        """Return a value as it is, or NaN as an instance of this class."""
        if isnan(value):
            return cls(nan)
        return value


class PipelineEvaluation(Evaluation):
    """An evaluation of the core that is saved with the state of a pipeline."""

    # Haystack saves objects that have `to_dict`, and calls `from_dict` of classes in `haystack_integrations`.

    @classmethod
    def from_evaluation(cls, evaluation: Evaluation) -> Self:
        """Return an evaluation as one that Haystack can save."""
        return cls(evaluation.scores, labels=evaluation.labels)

    def to_dict(self) -> dict[str, Any]:
        """Return the content of the file that `save` writes."""
        # Imported here because reading files loads what every kind of result needs.
        from retrieval_metrics.integration_api.text import format_saved

        return {"file": format_saved(self)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Return the evaluation saved by `to_dict`, equal to the last bit."""
        from retrieval_metrics.integration_api.text import parse_saved

        return cls.from_evaluation(parse_saved(data["file"]))
