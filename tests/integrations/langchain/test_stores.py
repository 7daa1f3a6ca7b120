"""Vectors that real stores hold: none is embedded again, and the selection is that of the store's own MMR."""

import asyncio
import copy
import pickle
import uuid
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore, VectorStore

from clustered_embeddings import KINDS, NAMES, TEXTS, Counting, text_vector
from langchain_retrieval_metrics import MMRRetriever, get_vectors
from langchain_stores import MAKERS, Store, chroma, ids, in_memory, qdrant

QUERIES = 300
# k, fetch_k and lambda
SETTINGS = [(4, 20, 0.5), (4, 20, 0.0), (10, 50, 0.25), (10, 50, 0.75), (5, 20, 1.0)]


@pytest.fixture(scope="module", params=MAKERS)
def named(request: pytest.FixtureRequest) -> tuple[str, Store]:
    embeddings = Counting()
    return request.param, Store(MAKERS[request.param](embeddings), embeddings)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", MAKERS)
def test_vectors_are_found_whatever_the_ids_are(name: str, kind: str) -> None:
    embeddings = Counting()
    if (name, kind) in {("Chroma", "integers"), ("Qdrant", "strings")}:
        with pytest.raises(ValueError, match=r"Expected ID to be a str|is not a valid UUID"):
            MAKERS[name](embeddings, KINDS[kind])
        return
    store = MAKERS[name](embeddings, KINDS[kind])
    before = embeddings.texts
    assert len(MMRRetriever.from_store(store, k=4, fetch_k=20).invoke("question")) == 4
    assert embeddings.texts == before


def test_around_the_stores_own_retriever_no_document_is_embedded_either(named: tuple[str, Store]) -> None:
    store, embeddings = named[1]
    by_hand = MMRRetriever(
        base_retriever=store.as_retriever(), embeddings=embeddings, vector_fn=get_vectors(store), fetch_k=20
    )
    before = embeddings.texts
    assert ids(by_hand.invoke("question")) == ids(MMRRetriever.from_store(store).invoke("question"))
    assert ids(asyncio.run(by_hand.ainvoke("question"))) == ids(by_hand.invoke("question"))
    assert embeddings.texts == before


def count_agreements(store: VectorStore, convert_weight: Callable[[float], float]) -> tuple[int, int]:
    """For how many questions the store's own MMR returns the same documents, and in the same order."""
    n_equal = 0
    n_ordered = 0
    for number in range(QUERIES):
        k, fetch_k, weight = SETTINGS[number % len(SETTINGS)]
        query = f"question {number}"
        retriever = MMRRetriever.from_store(store, k=k, fetch_k=fetch_k, lambda_mult=weight)
        ours = ids(retriever.invoke(query))
        own = ids(store.max_marginal_relevance_search(query, k=k, fetch_k=fetch_k, lambda_mult=convert_weight(weight)))
        n_equal += set(ours) == set(own)
        n_ordered += ours == own
    return n_equal, n_ordered


@pytest.mark.thorough
def test_the_documents_are_those_of_the_stores_own_mmr(named: tuple[str, Store]) -> None:
    name, (store, _) = named
    n_equal, n_ordered = count_agreements(store, (lambda weight: 1 - weight) if name == "Qdrant" else float)
    assert n_equal == QUERIES
    assert n_ordered == QUERIES or name == "Chroma"


def test_a_retriever_is_no_store() -> None:
    with pytest.raises(TypeError, match=r"got a VectorStoreRetriever; write from_store\(retriever\.vectorstore\), or"):
        MMRRetriever.from_store(in_memory(Counting()).as_retriever())  # type: ignore[arg-type]


def test_the_number_of_candidates_is_not_that_of_the_search() -> None:
    with pytest.raises(ValueError, match=r"search_kwargs has k=10, .* fetch_k=, the number of candidates, to from_"):
        MMRRetriever.from_store(in_memory(Counting()), search_kwargs={"k": 10})


def test_a_store_that_gives_no_vectors_is_embedded_by_the_embeddings_that_are_given() -> None:
    class Closed(VectorStore):
        """As Annoy, DuckDB and LanceDB: it searches, and keeps its vectors to itself."""

        def __init__(self, within: VectorStore) -> None:
            self.within = within

        @property
        def embeddings(self) -> Embeddings | None:
            return self.within.embeddings

        def similarity_search(self, query: str, k: int = 4, **_: Any) -> list[Document]:
            return self.within.similarity_search(query, k)

        @classmethod
        def from_texts(cls, *_: Any, **__: Any) -> Any:
            raise NotImplementedError

    model = Counting()
    closed = Closed(in_memory(model))
    with pytest.raises(TypeError, match=r"got Closed; .* or pass embeddings to embed the texts"):
        MMRRetriever.from_store(closed)
    ours = MMRRetriever.from_store(closed, embeddings=model, k=5)
    assert ids(ours.invoke("question")) == ids(MMRRetriever.from_store(closed.within, k=5).invoke("question"))


def test_vectors_of_deleted_documents_are_not_kept() -> None:
    store: Any = in_memory(Counting())
    vectors: Any = get_vectors(store)
    vectors([Document(text, id=name) for text, name in zip(TEXTS, NAMES, strict=True)])
    store.delete(NAMES[20:])
    vectors([Document(TEXTS[0], id=NAMES[0])])
    assert len(vectors._converted) == 20


def test_chroma_returns_what_mmr_selects_in_the_order_of_plain_search() -> None:
    store = chroma(Counting())
    reordered = 0
    for number in range(20):
        own = ids(store.max_marginal_relevance_search(f"question {number}", k=10, fetch_k=50, lambda_mult=0.25))
        plain = ids(store.similarity_search(f"question {number}", k=50))
        ours = ids(MMRRetriever.from_store(store, k=10, fetch_k=50, lambda_mult=0.25).invoke(f"question {number}"))
        assert own == sorted(ours, key=plain.index)
        reordered += own != ours
    assert reordered > 0


def test_qdrant_still_takes_lambda_for_its_opposite() -> None:
    """When this fails, langchain-qdrant was mended: take the row out of the table of the README."""
    store = qdrant(Counting())
    for number in range(20):
        plain = ids(store.similarity_search(f"question {number}", k=10))
        only_relevance, only_diversity = (
            ids(store.max_marginal_relevance_search(f"question {number}", k=10, fetch_k=50, lambda_mult=weight))
            for weight in (0.0, 1.0)
        )
        assert only_relevance == plain != only_diversity
        assert (
            ids(MMRRetriever.from_store(store, k=10, fetch_k=50, lambda_mult=1).invoke(f"question {number}")) == plain
        )


def test_documents_that_are_not_in_the_store_have_no_vector_there(named: tuple[str, Store]) -> None:
    store = named[1].store
    stored = Document("text 3", id=NAMES[3])
    strange = Document("new", id=str(uuid.UUID(int=9**9)))
    stored_vector, strange_vector, bare_vector = get_vectors(store)([stored, strange, Document("bare")])
    assert strange_vector is None
    assert bare_vector is None
    assert np.corrcoef(stored_vector, text_vector("text 3"))[0, 1] == pytest.approx(1)  # Qdrant keeps them at length 1
    assert get_vectors(store)([Document("bare")]) == [None]


def test_what_is_added_deleted_or_replaced_is_noticed(named: tuple[str, Store]) -> None:
    store = MAKERS[named[0]](Counting())
    vectors = get_vectors(store)
    new = str(uuid.UUID(int=10**6))
    assert vectors([Document("late", id=new)]) == [None]
    store.add_texts(["late"], ids=[new])
    (late,) = vectors([Document("late", id=new)])
    assert np.corrcoef(late, text_vector("late"))[0, 1] == pytest.approx(1)
    store.delete([NAMES[0]])
    gone, still = vectors([Document("text 0", id=NAMES[0]), Document("late", id=new)])
    assert gone is None
    assert np.corrcoef(still, text_vector("late"))[0, 1] == pytest.approx(1)


@pytest.mark.parametrize("name", ["InMemoryVectorStore", "FAISS"])
def test_where_the_store_can_be_pickled_so_can_its_retriever(name: str) -> None:
    retriever = MMRRetriever.from_store(MAKERS[name](Counting()))
    expected = ids(retriever.invoke("question"))
    for other in (pickle.loads(pickle.dumps(retriever)), copy.deepcopy(retriever)):
        assert ids(other.invoke("question")) == expected


def test_a_faiss_index_that_does_not_return_its_vectors_says_what_makes_it() -> None:
    from faiss import IndexFlatIP, IndexIVFFlat
    from langchain_community.docstore.in_memory import InMemoryDocstore
    from langchain_community.vectorstores import FAISS

    embeddings = Counting()
    vectors = np.array([text_vector(text) for text in TEXTS[:40]], np.float32)
    index = IndexIVFFlat(IndexFlatIP(vectors.shape[1]), vectors.shape[1], 1)
    index.train(vectors)
    store = FAISS(embeddings, index, InMemoryDocstore(), {})
    store.add_texts(TEXTS[:40])
    retriever = MMRRetriever.from_store(store, k=4, fetch_k=10)
    with pytest.raises(ValueError, match=r"IndexIVFFlat .*call store\.index\.make_direct_map\(\) once"):
        retriever.invoke("question")
    embedded = MMRRetriever(base_retriever=store.as_retriever(), embeddings=embeddings, k=4, fetch_k=10)
    selected = [document.page_content for document in embedded.invoke("question")]
    store.index.make_direct_map()
    assert [document.page_content for document in retriever.invoke("question")] == selected


def test_a_store_that_is_not_known_takes_a_function_of_ones_own() -> None:
    class Elsewhere(InMemoryVectorStore):  # derived from one that is known
        pass

    store = Elsewhere.from_texts(TEXTS[:5], Counting(), ids=NAMES[:5])
    assert get_vectors(store)([Document("text 0", id=NAMES[0])])[0] is not None
    strange: Any = type("PGVector", (), {"embeddings": None})()
    with pytest.raises(TypeError, match=r"get_vectors supports InMemoryVectorStore, .*got PGVector; .*vector_fn="):
        get_vectors(strange)
    retriever: Any = store.as_retriever()
    with pytest.raises(TypeError, match=r"got VectorStoreRetriever; a retriever knows its store as"):
        get_vectors(retriever)
