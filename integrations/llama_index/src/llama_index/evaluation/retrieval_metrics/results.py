"""The results of a query and of a dataset, as LlamaIndex has them, with the core's evaluation."""

from __future__ import annotations

import json
from math import fsum, isnan, nan
from typing import TYPE_CHECKING, Any, SupportsIndex, Unpack, overload

from llama_index.core.bridge.pydantic import Field
from llama_index.core.evaluation.retrieval.base import RetrievalEvalResult

from retrieval_metrics import DEFAULT_METRICS
from retrieval_metrics.integration_api import warn
from retrieval_metrics.integration_api.text import Table, numbers, read_json, save_text
from retrieval_metrics.types import Stages

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from os import PathLike

    import pandas as pd

    from retrieval_metrics import Comparison, Evaluation, Metric
    from retrieval_metrics.types import ComparisonOptions, QueryId


class RetrieverEvalResult(RetrievalEvalResult):
    """The result of one query: that of LlamaIndex, with the judgments as given and the error, if any.

    `expected_ids` are all relevant ids as a flat list; `retrieved_ids` are the ids by which the nodes were judged.
    """

    query_id: str | int | None = Field(default=None, description="The id of the query in its dataset")
    judgments: Any = Field(default=None, description="The judgments of the query: ids, grades, or groups")
    error: str | None = Field(default=None, description="The error of this query")
    failures: dict[str, str] = Field(default_factory=dict, description="The errors of single metrics, by name")

    @property
    def metric_vals_dict(self) -> dict[str, float]:
        """The value of each metric; NaN if it is undefined, so that means leave the query out."""
        values = {}
        for name, result in self.metric_dict.items():
            is_undefined = result.metadata.get("undefined")
            values[name] = nan if is_undefined else result.score
        return values


class DatasetResult(list[RetrievalEvalResult]):
    """The results of all queries of a dataset in its order: a list, as in LlamaIndex's `aevaluate_dataset`.

    A slice of it is a `DatasetResult` too, with the evaluation of its queries. Printed, it shows the means of all
    metrics, those of LlamaIndex below those of this package.

    Attributes:
        errors: The exception of each failed query, by query id.
        seconds: How long each query took, by query id.
    """

    def __init__(
        self,
        results: Iterable[RetrievalEvalResult],
        evaluation: Evaluation | None,
        errors: Mapping[QueryId, Exception] | None = None,
        *,
        seconds: Mapping[QueryId, float] | None = None,
        names: Sequence[str] = (),
        host_names: Sequence[str] = (),
    ) -> None:
        """Take the results; `names` are those of all metrics in their order, `host_names` those of LlamaIndex's."""
        super().__init__(results)
        self._evaluation = evaluation
        self.errors = dict(errors or {})
        self.seconds = dict(seconds or {})
        self._names = tuple(names)
        self._host_names = tuple(host_names)

    if TYPE_CHECKING:

        def __iter__(self) -> Iterator[RetrieverEvalResult]: ...

    @overload
    def __getitem__(self, index: SupportsIndex) -> RetrieverEvalResult: ...
    @overload
    def __getitem__(self, index: slice) -> DatasetResult: ...
    def __getitem__(self, index: SupportsIndex | slice) -> RetrieverEvalResult | DatasetResult:
        selected: Any = super().__getitem__(index)
        if isinstance(index, slice):
            return self._with_results(selected)
        result: RetrieverEvalResult = selected
        return result

    def _with_results(self, results: Sequence[RetrieverEvalResult]) -> DatasetResult:
        """Return the result of some of the queries."""
        queries = {result.query_id for result in results}
        evaluation = None
        if self._evaluation is not None and queries:
            slices: Any = self._evaluation.group_by(lambda query: (query in queries) or None)
            evaluation = slices[True]
        return DatasetResult(
            results,
            evaluation,
            {query: error for query, error in self.errors.items() if query in queries},
            seconds={query: seconds for query, seconds in self.seconds.items() if query in queries},
            names=self._names,
            host_names=self._host_names,
        )

    @property
    def evaluation(self) -> Evaluation:
        """The core's result: means, counts, a table; over the metrics of this package.

        Raises:
            ValueError: If there is none, because all metrics are those of LlamaIndex or there is no query.
        """
        if self._evaluation is None and set(self._names) - set(self._host_names):
            raise ValueError("the file was saved without the rankings, as it warned then; evaluate again")
        if self._evaluation is None:
            raise ValueError(
                "no metric of this package was computed; add some: RetrieverEvaluator.from_metric_names(['ndcg@10'])"
            )
        return self._evaluation

    @property
    def stages(self) -> Stages:
        """The core's evaluation of the retrieved nodes, and of the nodes after each postprocessor.

        `rm.compare(result.stages)` tests what they change, and `result.stages.losses("recall@5")` says what they lose.
        Empty without `stages=True`.
        """
        return Stages(None) if self._evaluation is None else self._evaluation.stages

    @property
    def means(self) -> dict[str, float]:
        """The mean of every metric, including those of LlamaIndex, over the queries where it is defined; or NaN."""
        means = {}
        for name, values in self._defined_values().items():
            means[name] = fsum(values) / len(values) if values else nan
        return means

    def _defined_values(self) -> dict[str, list[float]]:
        """Return the values of each metric, by name, of the queries for which it is defined."""
        values_by_query = [result.metric_vals_dict for result in self]
        values_by_name = {}
        for name in self._names:
            values = [query_values.get(name, nan) for query_values in values_by_query]
            values_by_name[name] = [value for value in values if not isnan(value)]
        return values_by_name

    def comparison(
        self,
        other: DatasetResult,
        *,
        names: tuple[str, str],
        metrics: str | Metric | Iterable[str | Metric] = DEFAULT_METRICS,
        **options: Unpack[ComparisonOptions],
    ) -> Comparison:
        """Test in which metrics two results differ, as in `retrieval_metrics.compare`.

        They are compared on the queries with the same id, text and judgments in both; `notes` says what differs.

        Args:
            other: The results of another retriever, or with other postprocessors.
            names: The names of this result and the other, such as `("old", "new")`.
            metrics: The metrics to compare; the default is all that both have.
            **options: Other arguments of `compare` for evaluations, such as `margin`, `baseline` and `level`.

        Raises:
            TypeError: If `other` is not such a result.
            ValueError: If there are not two different names, or if the results have no query in common, or were
                evaluated or matched in different ways.
        """
        from retrieval_metrics import compare

        if not isinstance(other, DatasetResult):
            raise TypeError(f"comparison needs a result of evaluate_dataset, got {type(other).__name__}")
        if len(names) != 2 or names[0] == names[1]:
            raise ValueError(f"names must be two different names, such as names=('old', 'new'), got {names!r}")
        evaluations = (self.evaluation, other.evaluation)
        return compare(dict(zip(names, evaluations, strict=True)), metrics=metrics, **options)

    def to_pandas(self) -> pd.DataFrame:
        """Return a DataFrame with one row per query: its text, every metric, its seconds, and its error.

        Raises:
            ImportError: If pandas is not installed.
        """
        import pandas as pd

        rows: list[dict[str, Any]] = []
        for result in self:
            query: Any = result.query_id
            row: dict[str, Any] = {"text": result.query}
            values = result.metric_vals_dict
            for name in self._names:
                row[name] = values.get(name, nan)
            row["seconds"] = self.seconds.get(query, nan)
            row["error"] = result.error
            rows.append(row)
        queries = [result.query_id for result in self]
        return pd.DataFrame(rows, index=pd.Index(queries, name="query"))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the results as JSON, with rankings, judgments and evaluations; `DatasetResult.load` reads them.

        Raises:
            OSError: If the file cannot be written; an existing file stays as it was.

        Warns:
            RetrievalWarning: If JSON cannot hold the evaluation, such as a function given as `match`; only the results
                and their numbers are saved then.
        """
        # Imported here because saved files need what every kind of result needs.
        from retrieval_metrics.integration_api.text import format_saved

        try:
            evaluation = None if self._evaluation is None else format_saved(self._evaluation)
        except ValueError as error:
            warn(f"the rankings are left out of {path}: {error}")
            evaluation = None
        seconds: Mapping[Any, float] = self.seconds
        content = {
            "metrics": self._names,
            "foreign": self._host_names,
            "seconds": [seconds.get(result.query_id) for result in self],
            "results": [result.model_dump(mode="json") for result in self],
            "evaluation": evaluation,
        }
        save_text(path, json.dumps(content, ensure_ascii=False, indent=1))

    @classmethod
    def load(cls, path: str | PathLike[str]) -> DatasetResult:
        """Read a file of `save`: an equal result, with its evaluation, its rankings and its stages.

        Raises:
            ValueError: If the file was not written by `save`.
            OSError: If it cannot be read.
        """
        from retrieval_metrics.integration_api.text import parse_saved

        try:
            content = read_json(path)
            results = [RetrieverEvalResult.model_validate(saved) for saved in content["results"]]
            queries = [result.query_id for result in results]
            seconds: Any = {}
            for query, query_seconds in zip(queries, content["seconds"], strict=True):
                if query_seconds is not None:
                    seconds[query] = query_seconds
            names = content["metrics"]
            host_names = content["foreign"]
            evaluation = None if content["evaluation"] is None else parse_saved(content["evaluation"])
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{path} was not written by DatasetResult.save: {error}") from error
        errors: Any = {result.query_id: RuntimeError(result.error) for result in results if result.error is not None}
        return cls(results, evaluation, errors, seconds=seconds, names=names, host_names=host_names)

    def _tables(self) -> list[Table]:
        """Return the tables that are shown below the table of the core."""
        tables = []
        names = self._names if self._evaluation is None else self._host_names
        if names and len(self):
            values = self._defined_values()
            means = self.means
            rows = [[name, numbers.format_value(means[name]), str(len(values[name]))] for name in names]
            heading = "metric of LlamaIndex" if set(names) <= set(self._host_names) else "metric"
            tables.append(Table([heading, "mean", "n"], rows, self._failure_notes()))
        if self.stages:
            tables.append(self.stages.table())
        return tables

    def _failure_notes(self) -> list[str]:
        """Return a note on each metric of LlamaIndex that failed for some queries."""
        notes = []
        for name in self._host_names:
            failed = [result for result in self if name not in result.metric_dict]
            if failed:
                notes.append(
                    f"{name} failed for {len(failed)} of {numbers.format_query_count(len(self))}, for example "
                    f"{failed[0].query_id!r}: {self._failure_reason(failed[0], name)}"
                )
        return notes

    def _failure_reason(self, result: RetrieverEvalResult, name: str) -> str:
        return result.failures.get(name) or result.error or "unknown"

    def __str__(self) -> str:
        texts = [table.text() for table in self._tables()]
        if self._evaluation is not None:
            texts.insert(0, str(self._evaluation))
        return "\n\n".join(texts) or repr(self)

    def __repr__(self) -> str:
        return f"<DatasetResult: {len(self)} queries, {len(self.errors)} failed>"

    def _repr_html_(self) -> str | None:
        fragments = [table.html() for table in self._tables()]
        if self._evaluation is not None:
            fragments.insert(0, self._evaluation._repr_html_())
        return "".join(fragments) or None
