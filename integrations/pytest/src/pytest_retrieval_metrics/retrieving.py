"""Get a run from the argument of a test: a run, a function, or a retriever of an installed host."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from retrieval_metrics import EvaluationSet, Qrels, Run, aretrieve, retrieve
from retrieval_metrics.adapting.twins import positive_integer


@dataclass(frozen=True, slots=True)
class Task:
    """What to retrieve and judge.

    Attributes:
        qrels: The judgments, with the texts of the questions if they are known.
        run: The run, if there is one.
        retriever: The retriever otherwise.
        queries: The texts of the queries.
        repeats: How often everything is asked.
        options: Further arguments of `retrieve`.
    """

    qrels: Qrels
    run: Any
    retriever: Any
    queries: Mapping[Any, str]
    repeats: int
    options: Mapping[str, Any]

    @classmethod
    def of(
        cls, qrels: Any, run_or_retriever: Any, queries: Mapping[Any, str] | None, repeats: int, **options: Any
    ) -> Task:
        """Read the arguments of a test.

        Raises:
            TypeError: If the judgments are of the wrong type, a query has no text, or `repeats` is used with a run.
            ValueError: If judgments or texts are invalid or belong to different queries, or `repeats` is not positive.
        """
        positive_integer(repeats, "repeats")
        is_run = isinstance(run_or_retriever, (Mapping, Run))
        if is_run and queries is not None:
            raise TypeError("queries= are texts for a retriever; a run needs none")
        if is_run and repeats > 1:
            raise TypeError(f"repeats={repeats} needs a retriever, because a run never varies; pass the retriever")
        truth, texts = _questions(qrels, queries)
        if is_run:
            return cls(truth, run_or_retriever, None, {}, 1, options)
        if stray := [query for query, text in texts.items() if not isinstance(text, str)]:
            raise TypeError(
                f"there is no text to ask for query {stray[0]!r}: pass queries={{{stray[0]!r}: 'its text'}}"
            )
        return cls(truth, None, run_or_retriever, texts, repeats, options)

    def runs(self) -> list[Any]:
        """Return the run, or ask the retriever `repeats` times."""
        if self.retriever is None:
            return [self.run]
        return [retrieve(self.retriever, self.queries, **self.options) for _ in range(self.repeats)]

    async def aruns(self) -> list[Any]:
        """Do the same on the event loop of the caller."""
        if self.retriever is None:
            return [self.run]
        return [await aretrieve(self.retriever, self.queries, **self.options) for _ in range(self.repeats)]


def _questions(qrels: Any, queries: Mapping[Any, str] | None) -> tuple[Qrels, Mapping[Any, str]]:
    if isinstance(qrels, Qrels) or (isinstance(qrels, Mapping) and not _is_dataset(qrels)):
        truth: Any = Qrels(qrels)
        given: Mapping[Any, str] = truth.texts
        if queries is None:
            return truth, {query: given.get(query, query) for query in truth.queries}
        if absent := [query for query in truth.queries if query not in queries]:
            raise ValueError(f"queries= has no text for {len(absent)} judged queries, for example {absent[0]!r}")
        texts: Any = {query: queries[query] for query in truth.queries}
        if all(isinstance(text, str) for text in texts.values()):
            truth = Qrels(EvaluationSet(texts, truth))
        return truth, texts
    if queries is not None:
        raise TypeError("queries= are for judgments by query id; a dataset has its own texts")
    dataset = EvaluationSet.of(qrels)
    return Qrels(dataset), dataset.queries


def _is_dataset(qrels: Mapping[Any, Any]) -> bool:
    return isinstance(qrels.get("queries"), Mapping) and isinstance(qrels.get("relevant_docs"), Mapping)
