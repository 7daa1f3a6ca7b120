"""The inputs that take the text of a query, and the outputs that hold documents."""

from collections.abc import Iterable, Sequence
from typing import Any, List, Optional, Union  # noqa: UP035  (older components are annotated so)

import pytest
from haystack import Document, Pipeline, component
from haystack.components.retrievers import FilterRetriever, InMemoryBM25Retriever, MultiQueryTextRetriever

import retrieval_metrics as rm
from haystack_hosts import ASKED_WORDS, retrieve_in_both_styles


def test_an_input_for_several_queries_gets_a_list_of_one(bm25: InMemoryBM25Retriever) -> None:
    direct = retrieve_in_both_styles(bm25)
    several = MultiQueryTextRetriever(retriever=bm25)
    assert retrieve_in_both_styles(several) == direct
    pipeline = Pipeline()
    pipeline.add_component("retriever", MultiQueryTextRetriever(retriever=bm25))
    assert retrieve_in_both_styles(pipeline) == direct


def test_a_component_without_a_query_is_refused(bm25: InMemoryBM25Retriever) -> None:
    with pytest.raises(TypeError, match="no input of FilterRetriever takes the text of a query"):
        rm.retrieve(FilterRetriever(bm25.document_store), ASKED_WORDS)


@pytest.mark.parametrize(
    "annotation",
    [
        List[Document],  # noqa: UP006  (older components are annotated so)
        Optional[List[Document]],  # noqa: UP006, UP045
        Union[List[Document], None],  # noqa: UP006, UP007
        list[Document] | None,
        Sequence[Document],
        Iterable[Document],
    ],
    ids=str,
)
def test_documents_are_recognised_in_every_spelling_of_their_type(annotation: Any) -> None:
    @component
    class Retriever:
        @component.output_types(documents=annotation, meta=list[str])
        def run(self, query: str) -> dict[str, Any]:
            return {"documents": [Document(id="d1", content=query)], "meta": []}

    pipeline = Pipeline()
    pipeline.add_component("retriever", Retriever())
    assert rm.evaluate({"q": ["d1"]}, rm.retrieve(pipeline, {"q": "text"}), "mrr").means == {"mrr": 1.0}
