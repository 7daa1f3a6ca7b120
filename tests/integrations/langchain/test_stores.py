"""Vectors that real stores hold: none is embedded again, and the selection is that of the store's own MMR."""

import asyncio
import copy
import pickle
import uuid
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from chromadb import EphemeralClient
from langchain_chroma import Chroma
from langchain_community.vectorstores import FAISS
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore, VectorStore
from langchain_qdrant import QdrantVectorStore
from qdrant_client import models

import retrieval_metrics as rm
from clustered_embeddings import KINDS, NAMES, TEXTS, Counting, N, of_text
from langchain_retrieval_metrics import MMRRetriever, evaluate_retriever, get_vectors, tune_mmr

QUERIES = 300
SETTINGS = [(4, 20, 0.5), (4, 20, 0.0), (10, 50, 0.25), (10, 50, 0.75), (5, 20, 1.0)]
"""k, fetch_k and lambda."""


def in_memory(embeddings: Embeddings, names: Any = NAMES) -> VectorStore:
    return InMemoryVectorStore.from_texts(TEXTS, embeddings, ids=names)


def faiss(embeddings: Embeddings, names: Any = NAMES) -> VectorStore:
    return FAISS.from_texts(TEXTS, embeddings, ids=names)


def chroma(embeddings: Embeddings, names: Any = NAMES) -> VectorStore:
    store = Chroma(
        f"c{uuid.uuid4().hex}",
        embeddings,
        client=EphemeralClient(),
        collection_metadata={"hnsw:space": "cosine", "hnsw:search_ef": N},  # exact, as the others are
    )
    store.add_texts(TEXTS, ids=names)
    return store


def qdrant(embeddings: Embeddings, names: Any = NAMES) -> VectorStore:
    return QdrantVectorStore.from_texts(TEXTS, embeddings, ids=names, location=":memory:", collection_name="c")


class Store(NamedTuple):
    store: VectorStore
    embeddings: Counting


MAKERS: dict[str, Callable[..., VectorStore]] = {
    "InMemoryVectorStore": in_memory,
    "FAISS": faiss,
    "Chroma": chroma,
    "Qdrant": qdrant,
}


@pytest.fixture(scope="module", params=MAKERS)
def named(request: pytest.FixtureRequest) -> tuple[str, Store]:
    embeddings = Counting()
    return request.param, Store(MAKERS[request.param](embeddings), embeddings)


def ids(documents: list[Document]) -> list[Any]:
    return [document.metadata.get("_id", document.id) for document in documents]


def test_a_query_is_embedded_once_and_no_document_is(named: tuple[str, Store]) -> None:
    store, embeddings = named[1]
    retriever = MMRRetriever.from_store(store, k=4, fetch_k=50)
    texts, queries = embeddings.texts, embeddings.queries
    for number in range(5):
        assert len(retriever.invoke(f"question {number}")) == 4
    asyncio.run(retriever.ainvoke("question 5"))
    assert (embeddings.texts - texts, embeddings.queries - queries) == (0, 6)


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


def agreement(store: VectorStore, theirs: Callable[[float], float]) -> tuple[int, int]:
    """For how many questions the store's own MMR returns the same documents, and in the same order."""
    same = ordered = 0
    for number in range(QUERIES):
        k, fetch_k, weight = SETTINGS[number % len(SETTINGS)]
        ours = ids(
            MMRRetriever.from_store(store, k=k, fetch_k=fetch_k, lambda_mult=weight).invoke(f"question {number}")
        )
        own = ids(
            store.max_marginal_relevance_search(f"question {number}", k=k, fetch_k=fetch_k, lambda_mult=theirs(weight))
        )
        same += set(ours) == set(own)
        ordered += ours == own
    return same, ordered


def test_the_documents_are_those_of_the_stores_own_mmr(named: tuple[str, Store]) -> None:
    name, (store, _) = named
    same, ordered = agreement(store, (lambda weight: 1 - weight) if name == "Qdrant" else (lambda weight: weight))
    assert same == QUERIES
    assert ordered == QUERIES or name == "Chroma"


def filtered(maker: Callable[[Embeddings], VectorStore], every: int) -> tuple[VectorStore, Any]:
    """Return a store in which one text of so many matches, and the filter for them, in its own language."""
    metadata = [{"part": number % every} for number in range(N)]
    store: Any = maker(Counting())
    store.delete(NAMES)
    store.add_texts(TEXTS, metadata, ids=NAMES)
    kind = type(store).__name__
    if kind == "QdrantVectorStore":
        match = models.FieldCondition(key="metadata.part", match=models.MatchValue(value=1))
        return store, models.Filter(must=[match])
    return store, (lambda document: document.metadata["part"] == 1) if kind == "InMemoryVectorStore" else {"part": 1}


@pytest.mark.filterwarnings("ignore:FAISS filters the")
@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("every", [3, 10])
def test_with_a_filter_the_documents_are_those_of_the_stores_own_mmr(name: str, every: int) -> None:
    store, condition = filtered(MAKERS[name], every)
    search: Any = {"filter": condition}
    from_store = MMRRetriever.from_store(store, k=8, fetch_k=40, search_kwargs=search)
    wrapped = MMRRetriever(
        base_retriever=store.as_retriever(search_kwargs=search),
        embeddings=store.embeddings,
        vector_fn=get_vectors(store),
        k=8,
        fetch_k=40,
    )
    for number in range(40):
        text = f"question {number}"
        own = ids(store.max_marginal_relevance_search(text, k=8, fetch_k=40, **search))
        ours = ids(from_store.invoke(text))
        assert set(ours) == set(own)
        assert ids(wrapped.invoke(text)) == ours
        assert len(ours) == 8 or name == "FAISS"  # which filters what it fetched
    assert set(ids(asyncio.run(from_store.ainvoke("question 39")))) == set(own)


def test_what_faiss_fetches_for_a_filter_can_be_given() -> None:
    store, condition = filtered(faiss, 10)
    many = MMRRetriever.from_store(store, k=8, fetch_k=20, search_kwargs={"filter": condition, "fetch_k": N})
    assert len(many.invoke("question")) == 8


def test_a_filter_of_faiss_that_leaves_fewer_than_k_is_said_once() -> None:
    store, condition = filtered(faiss, 10)
    few = MMRRetriever.from_store(store, k=8, fetch_k=10, search_kwargs={"filter": condition})
    with pytest.warns(rm.RetrievalWarning, match=r"filters the 20 documents .* fewer than k=8: .*'fetch_k': 200"):
        few.invoke("question")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        few.invoke("question 1")


@pytest.mark.parametrize("how", ["alone", "wrapped", "from the store", "asynchronous"])
def test_an_evaluation_says_once_how_many_questions_a_filter_left_fewer_than_k(how: str) -> None:
    store, condition = filtered(faiss, 10)
    retriever: Any = store.as_retriever(search_kwargs={"k": 4, "filter": condition})
    if how == "wrapped":
        held: Any = {"vector_fn": get_vectors(store), "embeddings": store.embeddings}
        retriever = MMRRetriever(base_retriever=retriever, k=4, fetch_k=10, **held)
    elif how == "from the store":
        retriever = MMRRetriever.from_store(store, k=4, fetch_k=10, search_kwargs={"filter": condition})
    asked: Any = {f"question {number}": [rm.Text(TEXTS[1])] for number in range(20)}
    questions = rm.EvaluationSet({text: text for text in asked}, asked)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if how == "asynchronous":
            run = asyncio.run(rm.aretrieve(retriever, questions))
        else:
            run = rm.retrieve(retriever, questions)
    few = [text for text, ranking in run.items() if len(ranking) < 4]
    assert 0 < len(few) < 20
    (said,) = (str(one.message) for one in caught)
    assert said.startswith(f"{len(few)} of 20 queries got fewer than k=4, for example {few[0]!r} {len(run[few[0]])}: ")
    assert "look at more (FAISS: search_kwargs={'fetch_k': ...}), or filter before" in said


def test_a_store_that_is_too_small_a_threshold_and_a_filter_before_the_search_are_in_order() -> None:
    in_memory, condition = filtered(MAKERS["InMemoryVectorStore"], 10)
    by_distance: Any = faiss(Counting())
    _, threshold = by_distance.similarity_search_with_score("question 0", k=4)[-1]
    retrievers = [
        in_memory.as_retriever(search_kwargs={"k": N + 5}),
        in_memory.as_retriever(search_kwargs={"k": N, "filter": condition}),
        by_distance.as_retriever(search_kwargs={"k": 8, "score_threshold": threshold}),
    ]
    lengths = []
    with warnings.catch_warnings():
        warnings.simplefilter("error", rm.RetrievalWarning)
        for retriever in retrievers:
            run = rm.retrieve(retriever, {f"question {number}": f"question {number}" for number in range(6)})
            lengths.append({len(ranking) for ranking in run.values()})
    assert lengths[:2] == [{N}, {N // 10}]
    assert len(lengths[2]) > 1


@pytest.mark.filterwarnings("ignore:FAISS filters the")
@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("every", [None, 3])
def test_a_setting_is_tuned_with_the_candidates_it_has(name: str, every: int | None) -> None:
    store, condition = filtered(MAKERS[name], every or 3)
    search = {} if every is None else {"filter": condition}
    base = MMRRetriever.from_store(store, k=4, fetch_k=50, search_kwargs=search)
    texts = [f"question {number}" for number in range(15)]
    asked: Any = [(text, [rm.Text(one.page_content) for one in base.candidates(text, 60)[:15:3]]) for text in texts]
    tuned = tune_mmr(base, asked, lambdas=[0.2, 0.6], fetch_ks=[20, 40])
    for fetch_k in (20, 40):
        for weight in (0.2, 0.6):
            configured = base.model_copy(update={"fetch_k": fetch_k, "lambda_mult": weight})
            expected = evaluate_retriever(configured, asked, "recall@4").per_query["recall@4"]
            assert tuned.evaluations[f"lambda {weight:g} of {fetch_k} candidates"].per_query["recall@4"] == expected


def test_a_filter_that_most_match_leaves_as_many_candidates_as_faiss_has() -> None:
    store, _ = filtered(faiss, 10)
    search: Any = {"filter": lambda metadata: metadata["part"] != 1}
    for number in range(40):
        own = ids(store.max_marginal_relevance_search(f"question {number}", k=8, fetch_k=20, **search))
        ours = MMRRetriever.from_store(store, k=8, fetch_k=20, search_kwargs=search)
        assert ids(ours.invoke(f"question {number}")) == own


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
    assert len(vectors._converted) == 20  # noqa: SLF001  (what is held shows nowhere else)


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
    held = Document("text 3", id=NAMES[3])
    strange = Document("new", id=str(uuid.UUID(int=9**9)))
    known, unknown, bare = get_vectors(store)([held, strange, Document("bare")])
    assert unknown is None
    assert bare is None
    assert np.corrcoef(known, of_text("text 3"))[0, 1] == pytest.approx(1)  # Qdrant keeps them at length 1
    assert get_vectors(store)([Document("bare")]) == [None]


def test_what_is_added_deleted_or_replaced_is_noticed(named: tuple[str, Store]) -> None:
    store = MAKERS[named[0]](Counting())
    vectors = get_vectors(store)
    new = str(uuid.UUID(int=10**6))
    assert vectors([Document("late", id=new)]) == [None]
    store.add_texts(["late"], ids=[new])
    (late,) = vectors([Document("late", id=new)])
    assert np.corrcoef(late, of_text("late"))[0, 1] == pytest.approx(1)
    store.delete([NAMES[0]])
    gone, still = vectors([Document("text 0", id=NAMES[0]), Document("late", id=new)])
    assert gone is None
    assert np.corrcoef(still, of_text("late"))[0, 1] == pytest.approx(1)


@pytest.mark.parametrize("name", ["InMemoryVectorStore", "FAISS"])
def test_where_the_store_can_be_pickled_so_can_its_retriever(name: str) -> None:
    retriever = MMRRetriever.from_store(MAKERS[name](Counting()))
    expected = ids(retriever.invoke("question"))
    for other in (pickle.loads(pickle.dumps(retriever)), copy.deepcopy(retriever)):  # noqa: S301  (our own pickle)
        assert ids(other.invoke("question")) == expected


def test_a_store_that_is_not_known_takes_a_function_of_ones_own() -> None:
    class Elsewhere(InMemoryVectorStore):  # derived from one that is known
        pass

    known = Elsewhere.from_texts(TEXTS[:5], Counting(), ids=NAMES[:5])
    assert get_vectors(known)([Document("text 0", id=NAMES[0])])[0] is not None
    strange: Any = type("PGVector", (), {"embeddings": None})()
    with pytest.raises(TypeError, match=r"get_vectors supports InMemoryVectorStore, .*got PGVector; .*vector_fn="):
        get_vectors(strange)
    retriever: Any = known.as_retriever()
    with pytest.raises(TypeError, match=r"got VectorStoreRetriever; a retriever knows its store as"):
        get_vectors(retriever)
