"""Results and datasets of LlamaIndex."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from math import fsum, isnan, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

from llama_index.core.bridge.pydantic import Field
from llama_index.core.evaluation.retrieval.base import RetrievalEvalMode, RetrievalEvalResult
from llama_index.core.schema import BaseNode, NodeWithScore

from retrieval_metrics import EvaluationSet, RetrievalWarning, Text, compare
from retrieval_metrics.integration_api.text import Table, format_saved, numbers, parse_saved, save_text
from retrieval_metrics.types import Piece, Stages

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from os import PathLike

    import pandas as pd

    from retrieval_metrics import Comparison, Evaluation
    from retrieval_metrics.types import Judgments, QueryId


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
        return {
            name: nan if result.metadata.get("undefined") else result.score for name, result in self.metric_dict.items()
        }


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
        foreign: Sequence[str] = (),
    ) -> None:
        """Take the results; `names` are those of all metrics in their order, `foreign` those of LlamaIndex's."""
        super().__init__(results)
        self._evaluation = evaluation
        self.errors = dict(errors or {})
        self.seconds = dict(seconds or {})
        self._names, self._foreign = tuple(names), tuple(foreign)

    if TYPE_CHECKING:

        def __iter__(self) -> Iterator[RetrieverEvalResult]: ...

    @overload
    def __getitem__(self, at: SupportsIndex) -> RetrieverEvalResult: ...
    @overload
    def __getitem__(self, at: slice) -> DatasetResult: ...
    def __getitem__(self, at: SupportsIndex | slice) -> RetrieverEvalResult | DatasetResult:
        found: Any = super().__getitem__(at)
        return self._of(found) if isinstance(at, slice) else found

    def _of(self, results: Sequence[RetrieverEvalResult]) -> DatasetResult:
        kept = {one.query_id for one in results}

        def part(evaluation: Evaluation | None) -> Any:
            return (
                None
                if evaluation is None or not kept
                else evaluation.group_by(lambda query: (query in kept) or None)[True]
            )

        return DatasetResult(
            results,
            part(self._evaluation),
            {query: error for query, error in self.errors.items() if query in kept},
            seconds={query: spent for query, spent in self.seconds.items() if query in kept},
            names=self._names,
            foreign=self._foreign,
        )

    @property
    def evaluation(self) -> Evaluation:
        """The core's result: means, counts, a table; over the metrics of this package.

        Raises:
            ValueError: If there is none, because all metrics are those of LlamaIndex or there is no query.
        """
        if self._evaluation is None and set(self._names) - set(self._foreign):
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
        return {name: fsum(values) / len(values) if values else nan for name, values in self._values().items()}

    def _values(self) -> dict[str, list[float]]:
        of_queries = [one.metric_vals_dict for one in self]
        return {
            name: [values[name] for values in of_queries if not isnan(values.get(name, nan))] for name in self._names
        }

    def comparison(
        self, other: DatasetResult, *, names: tuple[str, str] = ("this", "other"), **options: Any
    ) -> Comparison:
        """Test in which metrics two results differ, as in `retrieval_metrics.compare`.

        They are compared on the queries with the same id, text and judgments in both; `notes` says what differs.

        Args:
            other: The results of another retriever, or with other postprocessors.
            names: The names of this result and the other.
            **options: Other arguments of `compare` for evaluations, such as `margin`, `baseline` and `level`.

        Raises:
            TypeError: If `other` is not such a result.
            ValueError: If they have no query in common, or were evaluated or matched in different ways.
        """
        if not isinstance(other, DatasetResult):
            raise TypeError(f"comparison needs a result of evaluate_dataset, got {type(other).__name__}")
        return compare(dict(zip(names, (self.evaluation, other.evaluation), strict=True)), **options)

    def to_pandas(self) -> pd.DataFrame:
        """Return a DataFrame with one row per query: its text, every metric, its seconds, and its error.

        Raises:
            ImportError: If pandas is not installed.
        """
        import pandas as pd  # noqa: PLC0415  (an extra of the core, and only needed here)

        rows: list[dict[str, Any]] = []
        for one in self:
            values = {name: one.metric_vals_dict.get(name, nan) for name in self._names}
            query: Any = one.query_id
            rows.append({"text": one.query, **values, "seconds": self.seconds.get(query, nan), "error": one.error})
        return pd.DataFrame(rows, index=pd.Index([one.query_id for one in self], name="query"))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the results as JSON, with rankings, judgments and evaluations; `DatasetResult.load` reads them.

        Raises:
            OSError: If the file cannot be written; an existing file stays as it was.

        Warns:
            RetrievalWarning: If JSON cannot hold the evaluation, such as a function given as `match`; only the results
                and their numbers are saved then.
        """
        try:
            evaluation = None if self._evaluation is None else format_saved(self._evaluation)
        except ValueError as error:
            warnings.warn(f"the rankings are left out of {path}: {error}", RetrievalWarning, stacklevel=2)
            evaluation = None
        content = {
            "metrics": self._names,
            "foreign": self._foreign,
            "seconds": [self.seconds.get(one.query_id) for one in self],  # type: ignore[arg-type]  # as above
            "results": [one.model_dump(mode="json") for one in self],
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
        try:
            content = json.loads(Path(path).read_text(encoding="utf-8"))
            results = [RetrieverEvalResult.model_validate(one) for one in content["results"]]
            seconds: Any = dict(zip((one.query_id for one in results), content["seconds"], strict=True))
            names, foreign = content["metrics"], content["foreign"]
            evaluation = None if content["evaluation"] is None else parse_saved(content["evaluation"])
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{path} was not written by DatasetResult.save: {error}") from error
        errors: Any = {one.query_id: RuntimeError(one.error) for one in results if one.error is not None}
        return cls(results, evaluation, errors, seconds=seconds, names=names, foreign=foreign)

    def _tables(self) -> list[Table]:
        """Return what is shown below the table of the core."""
        shown = []
        values = self._values()
        rest = self._foreign if self._evaluation is not None else self._names
        if rest and len(self):
            rows = [[name, numbers.value(self.means[name]), str(len(values[name]))] for name in rest]
            heading = "metric of LlamaIndex" if set(rest) <= set(self._foreign) else "metric"
            shown.append(Table([heading, "mean", "n"], rows, [*self._failures()]))
        if self.stages:
            shown.append(self.stages.table())
        return shown

    def _failures(self) -> Iterator[str]:
        for name in self._foreign:
            if lost := [one for one in self if name not in one.metric_dict]:
                yield (
                    f"{name} failed for {len(lost)} of {numbers.format_query_count(len(self))}, for example "
                    f"{lost[0].query_id!r}: {self._why(lost[0], name)}"
                )

    def _why(self, result: RetrieverEvalResult, name: str) -> str:
        return result.failures.get(name) or result.error or "unknown"

    def __str__(self) -> str:
        own = [] if self._evaluation is None else [str(self._evaluation)]
        return "\n\n".join([*own, *(table.text() for table in self._tables())]) or repr(self)

    def __repr__(self) -> str:
        return f"<DatasetResult: {len(self)} queries, {len(self.errors)} failed>"

    def _repr_html_(self) -> str | None:
        own = [] if self._evaluation is None else [self._evaluation._repr_html_()]
        return "".join([*own, *(table.html() for table in self._tables())]) or None


def read_dataset_content(dataset: Any) -> Any:
    """Return the content of a JSON file of either dataset of LlamaIndex; other things as they are."""
    if not isinstance(dataset, (str, Path)):
        return dataset
    try:
        content = json.loads(Path(dataset).read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise ValueError(f"{dataset} is not JSON: {error}") from error
    if not isinstance(content, Mapping) or not ({"queries", "relevant_docs"} <= set(content) or "examples" in content):
        raise ValueError(
            f"{dataset} must hold a JSON object with 'queries' and 'relevant_docs', as EmbeddingQAFinetuneDataset saves"
        )
    return content


def get_dataset_mode(dataset: Any) -> RetrievalEvalMode:
    """Return the mode of a dataset, as in `mode` of EmbeddingQAFinetuneDataset and its JSON: texts or images."""
    if isinstance(dataset, Mapping):
        said = dataset.get("mode") if "queries" in dataset else None  # otherwise it maps query texts to judgments
    else:
        said = getattr(dataset, "mode", None) if hasattr(dataset, "queries") else None
    return RetrievalEvalMode.TEXT if said is None else RetrievalEvalMode(said)


def match_by_text(dataset: Any) -> EvaluationSet:
    """Return a dataset with relevant ids replaced by their texts, so that it can judge other chunks.

    Node ids change whenever an index is built. The text of a relevant node becomes a `Text` of the core: it counts as
    retrieved once the retrieved nodes together hold enough of it, however they are cut.

    Args:
        dataset: An object or a mapping with `queries`, `corpus` and `relevant_docs` (ids), or the path of its JSON
            file, such as an EmbeddingQAFinetuneDataset.

    Raises:
        TypeError: If it has another shape.
        ValueError: If a relevant id is not in the corpus, or its text there is empty.
        OSError: If the file cannot be read.

    Example:
        >>> dataset = {"queries": {"q": "why?"}, "corpus": {"n1": "because of that"}, "relevant_docs": {"q": ["n1"]}}
        >>> match_by_text(dataset).qrels
        {'q': [Text(text='because of that')]}
    """
    content = read_dataset_content(dataset)
    queries, corpus, relevant_docs = (_part(content, name) for name in ("queries", "corpus", "relevant_docs"))
    texts: dict[Any, list[Text]] = {}
    for query, relevant in relevant_docs.items():
        if lost := [name for name in relevant if name not in corpus]:
            raise ValueError(f"{lost[0]!r}, relevant to query {query!r}, is not in the corpus of {len(corpus)} texts")
        if empty := [name for name in relevant if not corpus[name].strip()]:
            raise ValueError(
                f"the text of {empty[0]!r}, relevant to query {query!r}, is empty, so nothing can be found by it"
            )
        texts[query] = [Text(corpus[name]) for name in relevant]
    return EvaluationSet.from_dataset({"queries": queries, "relevant_docs": texts})


def _part(dataset: Any, name: str) -> Mapping[Any, Any]:
    part = dataset.get(name) if isinstance(dataset, Mapping) else getattr(dataset, name, None)
    if not isinstance(part, Mapping):
        kind = type(dataset).__name__
        raise TypeError(f"a dataset needs queries, corpus and relevant_docs; {name} of the {kind} is {part!r}")
    return part


def refuse_nodes(dataset: EvaluationSet) -> None:
    """Raise if a node is given in place of its id; a node cannot be looked up."""
    for query, judgments in dataset.qrels.items():
        waiting: list[Any] = [judgments]
        while waiting:
            entry = waiting.pop()
            if isinstance(entry, (list, tuple)):
                waiting += entry
            elif isinstance(entry, (BaseNode, NodeWithScore)):
                raise TypeError(
                    f"a {type(entry).__name__} is among the judgments of query {query!r}; pass its id, "
                    f"{entry.node_id!r}, or its text as rm.Text(...)"
                )


def make_single_question(query: str, expected_ids: Judgments | None, expected_texts: list[str] | None) -> EvaluationSet:
    """Return one question whose id is its text; without ids, the expected texts are its judgments."""
    if not isinstance(query, str):
        raise TypeError(f"the query must be a str, got {query!r}")
    if expected_ids is not None:
        return EvaluationSet({query: query}, {query: expected_ids})
    if expected_texts is None:
        raise TypeError("evaluate needs expected_ids or expected_texts; if nothing is relevant, pass an empty list")
    if isinstance(expected_texts, str):
        raise TypeError(f"expected_texts is the bare string {expected_texts!r}; write a list: [{expected_texts!r}]")
    return EvaluationSet({query: query}, {query: [Text(text) for text in expected_texts]})


def to_json_judgments(judgments: Any) -> Any:
    """Return judgments as values for JSON: dicts and lists, with a quote or a span as its repr."""
    if isinstance(judgments, Mapping):
        return {repr(entry) if isinstance(entry, Piece) else entry: grade for entry, grade in judgments.items()}
    if isinstance(judgments, Piece):
        return repr(judgments)
    if hasattr(judgments, "tolist"):
        return judgments.tolist()
    return [entry if isinstance(entry, (str, int)) else to_json_judgments(entry) for entry in judgments]


def list_relevant_ids(judgments: Any) -> list[str]:
    """Return everything relevant in plain judgments as a flat list, for metrics without grades and groups."""
    if isinstance(judgments, dict):
        return [str(name) for name, grade in judgments.items() if grade > 0]
    flat = [[str(entry)] if isinstance(entry, (str, int)) else list_relevant_ids(entry) for entry in judgments]
    return list(dict.fromkeys(name for names in flat for name in names))
