"""Results of the evaluator in the reports that Haystack prints."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any, Literal

from haystack.evaluation import EvaluationRunResult

if TYPE_CHECKING:
    from pandas import DataFrame


class RetrievalRunResult(EvaluationRunResult):
    """Haystack's `EvaluationRunResult`, with None where a question has no value, because JSON knows no NaN.

    Example:
        >>> results = {"mrr": {"score": 0.5, "individual_scores": [0.5, float("nan")]}}
        >>> RetrievalRunResult("bm25", {"question": ["a", "b"]}, results).detailed_report()
        {'question': ['a', 'b'], 'mrr': [0.5, None]}
    """

    def detailed_report(
        self, output_format: Literal["json", "csv", "df"] = "json", csv_file: str | None = None
    ) -> dict[str, list[Any]] | DataFrame | str:
        """Return the values of every question, as the class of Haystack does."""
        values = {name: _without_nan(result["individual_scores"]) for name, result in self.results.items()}
        return self._handle_output({**self.inputs, **values}, output_format, csv_file)

    def aggregated_report(
        self, output_format: Literal["json", "csv", "df"] = "json", csv_file: str | None = None
    ) -> dict[str, list[Any]] | DataFrame | str:
        """Return the means, as the class of Haystack does."""
        means = _without_nan([result["score"] for result in self.results.values()])
        return self._handle_output({"metrics": list(self.results), "score": means}, output_format, csv_file)


def _without_nan(values: list[Any]) -> list[Any]:
    return [None if value is None or isnan(value) else value for value in values]
