"""What a test hands over, as a run of the core: a run, any callable, or a retriever of an installed host."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from retrieval_metrics import EvaluationSet, Qrels, RetrievedRun, Run
from retrieval_metrics.adapting import as_qrels, host_of

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be asked and judged.

    Attributes:
        qrels: The judgments.
        run: What was retrieved, if it is there already.
        ask: What is called with the text of a query, otherwise.
        queries: The texts to ask.
        read: What turns a result of the host's into items of the core; None where it is a ranking already.
    """

    qrels: Qrels
    run: Any
    ask: Callable[[str], Any] | None
    queries: Mapping[Any, str]
    read: Callable[[Any], Any] | None

    @classmethod
    def of(cls, qrels: Any, run_or_retriever: Any, queries: Mapping[Any, str] | None) -> Task:
        """Read what a test handed over.

        Raises:
            TypeError: If it is neither a run nor something that can be asked.
            ValueError: If judgments or texts make no sense, or belong to different queries.
            ImportError: If the integration of the retriever's framework is not installed.
        """
        is_run = isinstance(run_or_retriever, (Mapping, Run))
        if is_run and queries is not None:
            raise TypeError("queries= are texts to ask a retriever; with a run there is nothing to ask")
        truth, texts = _questions(qrels, queries)
        if is_run:
            return cls(truth, run_or_retriever, None, {}, None)
        if stray := [query for query, text in texts.items() if not isinstance(text, str)]:
            raise TypeError(
                f"there is no text to ask for query {stray[0]!r}: pass queries={{{stray[0]!r}: 'its text'}}"
            )
        host = host_of(run_or_retriever)
        if host is not None and (ask := host.ask(run_or_retriever)) is not None:
            return cls(truth, None, ask, texts, host.items)
        if not callable(run_or_retriever):
            hint = "; write index.as_retriever()" if hasattr(run_or_retriever, "as_retriever") else ""
            name = type(run_or_retriever).__name__
            raise TypeError(f"run_or_retriever must be a run, or callable with the text of a query; got {name}{hint}")
        return cls(truth, None, run_or_retriever, texts, None)

    def answered(self, retrieved: RetrievedRun) -> RetrievedRun:
        """Return what a retriever gave as a run of the core."""
        if self.read is None:
            return retrieved
        errors = retrieved.errors
        return RetrievedRun(
            {query: [] if query in errors else self.read(retrieved[query]) for query in retrieved}, errors
        )


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
