"""Where MMR takes the vectors of nodes from: the node, the store of the index, or one computation for each node."""

import logging
from collections.abc import Callable
from itertools import pairwise
from typing import Any
from uuid import NAMESPACE_DNS, uuid4, uuid5

import numpy as np
import pytest
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.schema import NodeWithScore, TextNode

from embedding_service import TOPICS, vector_of
from llama_index.evaluation.retrieval_metrics import MMRPostprocessor, RetrieverEvaluator


def by_uuid(name: str) -> str:
    return str(uuid5(NAMESPACE_DNS, name))


ROWS = [(f"what do {first} and {second} do?", [[first, by_uuid(first)]]) for first, second in pairwise(TOPICS)]


class Counts(BaseEmbedding):
    """Embeds by topics, and counts the texts as a paid service would."""

    _texts: int = PrivateAttr(default=0)

    def _get_text_embedding(self, text: str) -> list[float]:
        self._texts += 1
        return vector_of(text)

    def _get_query_embedding(self, query: str) -> list[float]:
        return vector_of(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return vector_of(query)


@pytest.fixture
def model() -> Counts:
    return Counts()


@pytest.fixture
def index(model: Counts) -> VectorStoreIndex:
    nodes = [TextNode(id_=topic, text=f"about {topic}") for topic in TOPICS]
    vector_index = VectorStoreIndex(nodes, embed_model=model)
    model._texts = 0
    return vector_index


def retrieved(index: VectorStoreIndex, mmr: MMRPostprocessor) -> dict[str, list[str]]:
    evaluator = RetrieverEvaluator.from_metric_names(
        ["mrr"], retriever=index.as_retriever(similarity_top_k=5), node_postprocessors=[mmr]
    )
    return {result.query: result.retrieved_ids for result in evaluator.evaluate_dataset(ROWS)}


def test_a_node_is_embedded_once_and_the_cost_is_said_once(
    index: VectorStoreIndex, model: Counts, caplog: pytest.LogCaptureFixture
) -> None:
    mmr = MMRPostprocessor(top_n=3, embed_model=model)
    with caplog.at_level(logging.WARNING):
        first = retrieved(index, mmr)
        spent = model._texts
        assert retrieved(index, mmr) == first
    assert model._texts == spent
    messages = [record.getMessage() for record in caplog.records if record.name.endswith("mmr_postprocessor")]
    assert len(messages) == 1
    assert "MMR embeds 5 of 5 candidates" in messages[0]
    assert "pass vectors=index, or" in messages[0]


@pytest.mark.parametrize(
    "vectors",
    [
        lambda index: index,
        lambda index: index.vector_store,
        lambda index: lambda ids: [index.vector_store.get(node_id) for node_id in ids],
    ],
    ids=["the index", "the store", "a function"],
)
def test_vectors_of_the_index_cost_nothing_and_change_nothing(
    index: VectorStoreIndex, model: Counts, vectors: Callable[[Any], Any]
) -> None:
    expected = retrieved(index, MMRPostprocessor(top_n=3, embed_model=model))
    model._texts = 0
    assert retrieved(index, MMRPostprocessor(top_n=3, embed_model=model, vectors=vectors(index))) == expected
    assert model._texts == 0


def test_what_the_index_does_not_know_is_embedded(index: VectorStoreIndex, model: Counts) -> None:
    mmr = MMRPostprocessor(embed_model=model, vectors=index.vector_store)
    nodes = [NodeWithScore(node=TextNode(id_=name, text=f"about {name}")) for name in ("with", "new")]
    assert [scored.node.node_id for scored in mmr.postprocess_nodes(nodes, query_str="with")] == ["with", "new"]
    assert model._texts == 1


def test_a_node_whose_text_changed_is_embedded_again_and_equal_texts_once(model: Counts) -> None:
    for text in ("about with", "about try", "about try"):
        nodes = [NodeWithScore(node=TextNode(id_=name, text=text)) for name in ("a", "b")]
        MMRPostprocessor(embed_model=model).postprocess_nodes(nodes, query_str="with")
    assert model._texts == 2


def qdrant() -> Any:
    qdrant = pytest.importorskip("llama_index.vector_stores.qdrant", reason="no llama-index-vector-stores-qdrant")
    client = pytest.importorskip("qdrant_client").QdrantClient(":memory:")
    return qdrant.QdrantVectorStore("topics", client=client)


def faiss() -> Any:
    stores = pytest.importorskip("llama_index.vector_stores.faiss", reason="no llama-index-vector-stores-faiss")
    length = len(vector_of("with"))
    return stores.FaissVectorStore(pytest.importorskip("faiss").IndexFlatIP(length))


def chroma() -> Any:
    stores = pytest.importorskip("llama_index.vector_stores.chroma", reason="no llama-index-vector-stores-chroma")
    client = pytest.importorskip("chromadb").EphemeralClient()
    return stores.ChromaVectorStore(client.create_collection(f"c{uuid4().hex}", metadata={"hnsw:space": "cosine"}))


class WithoutTies(Counts):
    """Stores round vectors or normalise them, so equal similarities would be ordered by chance."""

    def _get_text_embedding(self, text: str) -> list[float]:
        noise = np.random.default_rng([*text.encode()]).normal(scale=0.2, size=len(vector_of("with")))
        return [float(value) for value in np.array(super()._get_text_embedding(text)) + noise]


@pytest.mark.filterwarnings("ignore:Payload indexes have no effect")  # which its own store makes
@pytest.mark.parametrize("make", [qdrant, faiss, chroma])
def test_other_stores_give_their_vectors_too(make: Callable[[], Any]) -> None:
    store = make()
    model = WithoutTies()
    nodes = [TextNode(id_=by_uuid(topic), text=f"about {topic}") for topic in TOPICS]
    context = StorageContext.from_defaults(vector_store=store)
    index = VectorStoreIndex(nodes, storage_context=context, embed_model=model)
    expected = retrieved(index, MMRPostprocessor(top_n=3, embed_model=model))
    assert all(len(ids) == 3 for ids in expected.values())
    spent = model._texts
    assert retrieved(index, MMRPostprocessor(top_n=3, embed_model=model, vectors=index)) == expected
    if make is faiss:
        with pytest.raises(
            ValueError, match=r"got FaissVectorStore, which does not know the IDs .* vectors=index, the"
        ):
            MMRPostprocessor(vectors=store)
    else:
        assert retrieved(index, MMRPostprocessor(top_n=3, embed_model=model, vectors=store)) == expected
    assert model._texts == spent
    later = TextNode(id_=by_uuid("later"), text=f"about {TOPICS[0]}")
    index.insert_nodes([later])
    strange = TextNode(id_="no ID of a point", text="about something new")
    mmr = MMRPostprocessor(embed_model=model, vectors=index)
    spent = model._texts
    mmr.postprocess_nodes([NodeWithScore(node=node) for node in (nodes[1], later, strange)], query_str="with")
    assert model._texts == spent + 1


def test_a_faiss_index_that_does_not_return_its_vectors_says_what_makes_it() -> None:
    class IndexIVFFlat:
        def reconstruct(self, position: int) -> Any:
            raise RuntimeError(f"direct map not initialized, at {position}")

    store = type("FaissVectorStore", (), {"client": IndexIVFFlat()})()
    index = VectorStoreIndex([], embed_model=Counts())
    index._vector_store = store
    index.index_struct.nodes_dict["0"] = "n1"
    mmr = MMRPostprocessor(embed_model=Counts(), vectors=index)
    nodes = [NodeWithScore(node=TextNode(id_=name, text=f"about {TOPICS[0]}")) for name in ("n1", "n2")]
    with pytest.raises(ValueError, match=r"IndexIVFFlat .*call store\.client\.make_direct_map\(\) once"):
        mmr.postprocess_nodes(nodes, query_str="with")


def test_another_store_is_refused_with_the_way_out() -> None:
    with pytest.raises(ValueError, match=r"got dict; for another store, write a function: lambda ids:"):
        MMRPostprocessor(vectors={"a": [1.0]})
