"""Whatever is judged, a dataset made from a retriever gives the numbers of the core, to the last bit."""

from collections.abc import Sequence
from typing import Any, ClassVar

import pytest

import retrieval_metrics as rm
from conformance import Items, MatchConformance, Scores, Truth
from ragas_retrieval_metrics import evaluate_dataset, from_langchain

schema = pytest.importorskip("langchain_core.documents", exc_type=ImportError)
runnables = pytest.importorskip("langchain_core.runnables", exc_type=ImportError)


class TestADatasetOfARetriever(MatchConformance):
    leaves_out: ClassVar[frozenset[str]] = frozenset({"source, each once", "spans"})  # a Matching is refused, see below

    def matched(self, qrels: Truth, items: Items, metrics: Sequence[str], match: Any) -> Scores:
        documents: dict[str, list[Any]] = {}
        for query, ranking in items.items():
            documents[query] = [
                schema.Document(str(item.text), id=str(item.id), metadata=dict(item.metadata or {})) for item in ranking
            ]
        questions = rm.EvaluationSet({query: query for query in qrels}, qrels)
        dataset = from_langchain(
            runnables.RunnableLambda(documents.__getitem__), questions, match=match, show_progress=False
        )
        per_query = evaluate_dataset(dataset, list(metrics)).per_query
        return {metric: dict(zip(qrels, per_query[metric].values(), strict=True)) for metric in metrics}


def test_options_of_matching_have_no_place_in_a_dataset_and_are_refused() -> None:
    with pytest.raises(TypeError, match="a dataset of ragas holds one ID for each item"):
        from_langchain(
            runnables.RunnableLambda(lambda _: []),
            {"q": ["a"]},
            match=rm.Matching(deduplicate=True),  # type: ignore[arg-type]
        )
