"""What a test hands over, as a run of the core: a run, any callable, or a retriever of an installed host."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from retrieval_metrics import EvaluationSet, Qrels, Run
from retrieval_metrics.adapting import as_qrels


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be asked and judged.

    Attributes:
        qrels: The judgments.
        run: What was retrieved, if it is there already.
        retriever: What is to be asked, otherwise.
        queries: The texts to ask.
    """

    qrels: Qrels
    run: Any
    retriever: Any
    queries: Mapping[Any, str]

    @classmethod
    def of(cls, qrels: Any, run_or_retriever: Any, queries: Mapping[Any, str] | None) -> Task:
        """Read what a test handed over.

        Raises:
            TypeError: If the judgments are of the wrong type, or there is no text to ask for a query.
            ValueError: If judgments or texts make no sense, or belong to different queries.
        """
        is_run = isinstance(run_or_retriever, (Mapping, Run))
        if is_run and queries is not None:
            raise TypeError("queries= are texts to ask a retriever; with a run there is nothing to ask")
        truth, texts = _questions(qrels, queries)
        if is_run:
            return cls(truth, run_or_retriever, None, {})
        if stray := [query for query, text in texts.items() if not isinstance(text, str)]:
            raise TypeError(
                f"there is no text to ask for query {stray[0]!r}: pass queries={{{stray[0]!r}: 'its text'}}"
            )
        return cls(truth, None, run_or_retriever, texts)


def _questions(qrels: Any, queries: Mapping[Any, str] | None) -> tuple[Qrels, Mapping[Any, str]]:
    if isinstance(qrels, Qrels) or (isinstance(qrels, Mapping) and not _is_dataset(qrels)):
        truth = as_qrels(qrels)
        texts: Mapping[Any, Any] = {query: query for query in truth.queries} if queries is None else queries
        if absent := [query for query in truth.queries if query not in texts]:
            raise ValueError(f"queries= has no text for {len(absent)} judged queries, for example {absent[0]!r}")
        return truth, {query: texts[query] for query in truth.queries}
    if queries is not None:
        raise TypeError("queries= belong to judgments by query id; a dataset brings its own texts")
    dataset = EvaluationSet.of(qrels)
    return as_qrels(dataset.qrels), dataset.queries


def _is_dataset(qrels: Mapping[Any, Any]) -> bool:
    return isinstance(qrels.get("queries"), Mapping) and isinstance(qrels.get("relevant_docs"), Mapping)
