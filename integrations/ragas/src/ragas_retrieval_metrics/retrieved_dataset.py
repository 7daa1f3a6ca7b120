"""A dataset of ragas that also keeps the judgments and the retrieved items that its columns cannot hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from ragas_retrieval_metrics.ragas_imports import EvaluationDataset

if TYPE_CHECKING:
    from ragas.dataset_schema import MultiTurnSample
    from ragas.dataset_schema import SingleTurnSample as SingleTurnSample_dataset_schema

    import retrieval_metrics as rm


@dataclass(repr=False)
class RetrievedDataset(EvaluationDataset):
    """An `EvaluationDataset` that also keeps what the columns of ragas cannot hold, as from `from_langchain`.

    Use it like any other. `evaluate_dataset`, `to_evaluation`, and metrics with `qrels=dataset` take from it the
    grades, groups and spans of the questions, and the sources and offsets of retrieved items. Files and other
    conversions of ragas keep only the columns. If a column was changed later, the column counts.

    Attributes:
        questions: The questions with their judgments; None in a dataset read from elsewhere.
        run: What was retrieved for each query, by query id, with errors and seconds; the id of each item is the one
            chosen by `match`.

    Example:
        >>> import retrieval_metrics as rm
        >>> questions = rm.EvaluationSet.from_dataset([("what does yield do?", [rm.Span("yield.txt", 40, 51)])])
        >>> item = rm.Retrieved("chunk 2", "about yield", source="yield.txt", start=40)
        >>> from ragas import SingleTurnSample
        >>> row = SingleTurnSample(user_input="what does yield do?", retrieved_contexts=["about yield"])
        >>> run = rm.RetrievedRun({"what does yield do?": [item]})
        >>> RetrievedDataset([row], questions=questions, run=run)[:1].run["what does yield do?"][0].start
        40
    """

    questions: rm.EvaluationSet | None = None
    run: rm.RetrievedRun | None = None

    @property
    def is_whole(self) -> bool:
        """Whether the dataset has its questions and its run, and not only rows."""
        return self.questions is not None and self.run is not None

    @overload
    def __getitem__(self, idx: int) -> SingleTurnSample_dataset_schema | MultiTurnSample: ...
    @overload
    def __getitem__(self, idx: slice) -> RetrievedDataset: ...
    def __getitem__(self, idx: Any) -> Any:
        """Return a row, or some of the rows with everything known of them."""
        if isinstance(idx, slice):
            return type(self)(self.samples[idx], self.backend, self.name, self.questions, self.run)
        return super().__getitem__(idx)
