"""The inputs that take the text of a query."""

import pytest
from haystack import Pipeline
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
