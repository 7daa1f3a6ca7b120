"""Results in the host's form that keep what the core knows."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any

from llama_index.core.bridge.pydantic import Field
from llama_index.core.evaluation.retrieval.base import RetrievalEvalResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from retrieval_metrics import Evaluation
    from retrieval_metrics.adapting import QueryId


class RetrieverEvalResult(RetrievalEvalResult):
    """The result of one query: that of LlamaIndex, with the judgments as they were given and the error, if any.

    `expected_ids` are all relevant ids, flattened; `retrieved_ids` the ids the nodes were judged by.
    """

    query_id: str | int | None = Field(default=None, description="The id of the query in its dataset")
    judgments: Any = Field(default=None, description="What is true for the query: ids, grades, or groups")
    error: str | None = Field(default=None, description="What went wrong for this query")

    @property
    def metric_vals_dict(self) -> dict[str, float]:
        """The value of each metric, NaN where it is undefined, so that means leave the query out."""
        return {
            name: nan if result.metadata.get("undefined") else result.score for name, result in self.metric_dict.items()
        }


class DatasetResult(list[RetrieverEvalResult]):
    """The results of all queries of a dataset, in its order: a list, as `aevaluate_dataset` used to return.

    Attributes:
        errors: The exception of each query that failed, by query id.
    """

    def __init__(
        self,
        results: Iterable[RetrieverEvalResult],
        evaluation: Evaluation | None,
        errors: Mapping[QueryId, Exception] | None = None,
    ) -> None:
        super().__init__(results)
        self._evaluation = evaluation
        self.errors = dict(errors or {})

    @property
    def evaluation(self) -> Evaluation:
        """The core's result: means, counts, a table; over the metrics of this package.

        Raises:
            ValueError: If there is none, because all metrics are foreign.
        """
        if self._evaluation is None:
            raise ValueError(
                "no metric of this package was computed; name some: RetrieverEvaluator.from_metric_names(['ndcg@10'])"
            )
        return self._evaluation

    def __str__(self) -> str:
        return repr(self) if self._evaluation is None else str(self._evaluation)

    def __repr__(self) -> str:
        return f"<DatasetResult: {len(self)} queries, {len(self.errors)} failed>"

    def _repr_html_(self) -> str | None:
        return None if self._evaluation is None else self._evaluation._repr_html_()
