"""Results that Haystack can write down, so that a pipeline resumes from a breakpoint behind them."""

from __future__ import annotations

from math import isnan, nan
from typing import Any, Self

from retrieval_metrics import Evaluation
from retrieval_metrics.adapting.printing import read_again, written


class Undefined(float):
    """The value of a question without one: NaN, which Haystack writes down as JSON can hold it.

    Example:
        >>> Undefined.unless(0.5), Undefined.unless(nan).to_dict()
        (0.5, {})
    """

    def to_dict(self) -> dict[str, Any]:
        """Return the content: nothing."""
        return {}

    @classmethod
    def from_dict(cls, _: dict[str, Any]) -> Self:
        """Return NaN."""
        return cls(nan)

    @classmethod
    def unless(cls, value: float) -> float:
        """Return a value, or this class of NaN where it is one."""
        return cls(nan) if isnan(value) else value


class PipelineEvaluation(Evaluation):
    """An evaluation of the core that is saved with the state of a pipeline.

    Haystack writes down what has `to_dict`, and trusts `from_dict` of classes in `haystack_integrations`.
    """

    @classmethod
    def of(cls, evaluation: Evaluation) -> Self:
        """Return an evaluation as one that Haystack can write down."""
        return cls(evaluation.record, labels=evaluation.labels)

    def to_dict(self) -> dict[str, Any]:
        """Return the content of the file that `save` writes.

        Raises:
            ValueError: If JSON cannot hold something, such as a date in the metadata of a document.
        """
        return {"file": written(self)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Return the evaluation of `to_dict`, equal to the last bit.

        Raises:
            ValueError: If the content is damaged.
        """
        return cls.of(read_again(data["file"]))
