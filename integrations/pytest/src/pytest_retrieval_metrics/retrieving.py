"""What a test hands over, as a run of the core: a run, any callable, or a retriever of an installed host."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from retrieval_metrics import EvaluationSet, Qrels, RetrievedRun, Run, aretrieve, retrieve
from retrieval_metrics.adapting import as_qrels, positive_integer


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be asked and judged.

    Attributes:
        qrels: The judgments, with the texts of the questions where these are known.
        run: What was retrieved, if it is there already.
        retriever: What is to be asked, otherwise.
        queries: The texts to ask.
        repeats: How often everything is asked.
    """

    qrels: Qrels
    run: Any
    retriever: Any
    queries: Mapping[Any, str]
    repeats: int

    @classmethod
    def of(cls, qrels: Any, run_or_retriever: Any, queries: Mapping[Any, str] | None, repeats: int) -> Task:
        """Read what a test handed over.

        Raises:
            TypeError: If the judgments are of the wrong type, there is no text to ask for a query, or a run is to be
                repeated.
            ValueError: If judgments or texts make no sense, or belong to different queries, or `repeats` is not
                positive.
        """
        positive_integer(repeats, "repeats")
        is_run = isinstance(run_or_retriever, (Mapping, Run))
        if is_run and queries is not None:
            raise TypeError("queries= are texts to ask a retriever; with a run there is nothing to ask")
        if is_run and repeats > 1:
            raise TypeError(f"repeats={repeats} asks a retriever again; a run stays what it is, so pass the retriever")
        truth, texts = _questions(qrels, queries)
        if is_run:
            return cls(truth, run_or_retriever, None, {}, 1)
        if stray := [query for query, text in texts.items() if not isinstance(text, str)]:
            raise TypeError(
                f"there is no text to ask for query {stray[0]!r}: pass queries={{{stray[0]!r}: 'its text'}}"
            )
        return cls(truth, None, run_or_retriever, texts, repeats)

    def runs(self, **options: Any) -> list[Any]:
        """Return the run, or ask the retriever as often as was asked for; `options` are those of `retrieve`."""
        if self.retriever is None:
            return [self.run]
        return [retrieve(self.retriever, self.queries, **options) for _ in range(self.repeats)]

    async def aruns(self, **options: Any) -> list[Any]:
        """Do the same on the event loop of the caller."""
        if self.retriever is None:
            return [self.run]
        found: list[RetrievedRun] = []
        for _ in range(self.repeats):
            found.append(await aretrieve(self.retriever, self.queries, **options))  # noqa: PERF401  (one after the other)
        return found


def _questions(qrels: Any, queries: Mapping[Any, str] | None) -> tuple[Qrels, Mapping[Any, str]]:
    if isinstance(qrels, Qrels) or (isinstance(qrels, Mapping) and not _is_dataset(qrels)):
        truth: Any = as_qrels(qrels)
        given: Mapping[Any, str] = truth.texts
        if queries is None:
            return truth, {query: given.get(query, query) for query in truth.queries}
        if absent := [query for query in truth.queries if query not in queries]:
            raise ValueError(f"queries= has no text for {len(absent)} judged queries, for example {absent[0]!r}")
        texts: Any = {query: queries[query] for query in truth.queries}
        if all(isinstance(text, str) for text in texts.values()):
            truth = as_qrels(EvaluationSet(texts, truth))
        return truth, texts
    if queries is not None:
        raise TypeError("queries= belong to judgments by query id; a dataset brings its own texts")
    dataset = EvaluationSet.of(qrels)
    return as_qrels(dataset), dataset.queries


def _is_dataset(qrels: Mapping[Any, Any]) -> bool:
    return isinstance(qrels.get("queries"), Mapping) and isinstance(qrels.get("relevant_docs"), Mapping)
