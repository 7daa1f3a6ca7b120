"""Stores that few projects have installed: each is skipped where its client is missing.

LanceDB and Milvus run inside the process, PGVector against a real server that `pgserver` brings; Elasticsearch and
Pinecone are asked by their real clients, and answered by `fake_vector_services`.
"""

import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from langchain_core.documents import Document

from clustered_embeddings import KINDS, NAMES, TEXTS, Counting, text_vector
from fake_vector_services import Elasticsearch, Pinecone, served
from langchain_retrieval_metrics import MMRRetriever, get_vectors

QUESTIONS = [f"question {number}" for number in range(40)]
SETTINGS = [(4, 20, 0.5), (4, 20, 0.0), (10, 50, 0.25), (10, 50, 0.75), (5, 20, 1.0)]
"""k, fetch_k and lambda."""

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of the clients
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


def lancedb(embeddings: Counting, folder: Path, _: ExitStack, names: Any = NAMES) -> Any:
    pytest.importorskip("lancedb", reason="LanceDB is not installed")
    from langchain_community.vectorstores import LanceDB

    store = LanceDB(embedding=embeddings, uri=str(folder), mode="append")
    store.add_texts(TEXTS, ids=names)
    return store


def milvus(embeddings: Counting, folder: Path, _: ExitStack, names: Any = NAMES) -> Any:
    pytest.importorskip("milvus_lite", reason="the embedded server of Milvus is not installed")
    langchain_milvus = pytest.importorskip("langchain_milvus", reason="langchain-milvus is not installed")
    store = langchain_milvus.Milvus(
        embeddings,
        connection_args={"uri": str(folder / "milvus.db")},
        index_params={"index_type": "FLAT", "metric_type": "COSINE"},
    )
    store.add_texts(TEXTS, ids=names)
    return store


def pgvector(embeddings: Counting, folder: Path, open_ones: ExitStack, names: Any = NAMES) -> Any:
    pgserver = pytest.importorskip("pgserver", reason="pgserver, which brings PostgreSQL with pgvector, is missing")
    postgres = pytest.importorskip("langchain_postgres", reason="langchain-postgres is not installed")
    server = pgserver.get_server(folder, cleanup_mode="stop")
    open_ones.callback(server.cleanup)
    address = server.get_uri().replace("postgresql://", "postgresql+psycopg://")
    store = postgres.PGVector(embeddings, connection=address, engine_args={"pool_size": 1})
    open_ones.callback(store._engine.dispose)
    store.add_texts(TEXTS, ids=names)
    return store


def elasticsearch(embeddings: Counting, _: Path, open_ones: ExitStack, names: Any = NAMES) -> Any:
    langchain_elasticsearch = pytest.importorskip(
        "langchain_elasticsearch", reason="langchain-elasticsearch is not installed"
    )
    address, _requests = open_ones.enter_context(served(Elasticsearch))
    store = langchain_elasticsearch.ElasticsearchStore("i", embedding=embeddings, es_url=address)
    open_ones.callback(store.close)
    store.add_texts(TEXTS, ids=names)
    return store


def pinecone(embeddings: Counting, _: Path, open_ones: ExitStack, names: Any = NAMES) -> Any:
    langchain_pinecone = pytest.importorskip("langchain_pinecone", reason="langchain-pinecone is not installed")
    client = pytest.importorskip("pinecone", reason="the client of Pinecone is not installed")
    address, _requests = open_ones.enter_context(served(Pinecone))
    index = client.Pinecone(api_key="none").Index(host=address)
    store = langchain_pinecone.PineconeVectorStore(index, embeddings)
    store.add_texts(TEXTS, ids=names)
    return store


class Store(NamedTuple):
    name: str
    store: Any
    embeddings: Counting


MAKERS: dict[str, Callable[..., Any]] = {
    "LanceDB": lancedb,
    "Milvus": milvus,
    "PGVector": pgvector,
    "Elasticsearch": elasticsearch,
    "Pinecone": pinecone,
}


@pytest.fixture(scope="module", params=MAKERS)
def opened(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    embeddings = Counting()
    with ExitStack() as open_ones:
        store = MAKERS[request.param](embeddings, tmp_path_factory.mktemp("store"), open_ones)
        yield Store(request.param, store, embeddings)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", MAKERS)
def test_vectors_are_found_whatever_the_ids_are(name: str, kind: str, tmp_path: Path) -> None:
    embeddings = Counting()
    with ExitStack() as open_ones:
        if (name, kind) in {("Milvus", "integers"), ("Pinecone", "integers")}:
            with pytest.raises(Exception, match=r"All ids should be strings|passed type was int"):
                MAKERS[name](embeddings, tmp_path, open_ones, KINDS[kind])
            return
        store = MAKERS[name](embeddings, tmp_path, open_ones, KINDS[kind])
        before = embeddings.texts
        assert len(MMRRetriever.from_store(store, k=4, fetch_k=20).invoke("question")) == 4
        assert embeddings.texts == before


def texts(documents: list[Document]) -> list[str]:
    return [document.page_content for document in documents]


def test_the_store_gives_the_vectors_its_own_mmr_compares(opened: Store) -> None:
    name, store, embeddings = opened
    embedded = embeddings.texts
    for number, question in enumerate(QUESTIONS):
        k, fetch_k, weight = SETTINGS[number % len(SETTINGS)]
        own = store.max_marginal_relevance_search(question, k=k, fetch_k=fetch_k, lambda_mult=weight)
        ours = MMRRetriever.from_store(store, k=k, fetch_k=fetch_k, lambda_mult=weight).invoke(question)
        assert sorted(texts(ours)) == sorted(texts(own))
        assert texts(ours) == texts(own) or name in {"LanceDB", "PGVector"}  # in the order of plain search
    assert embeddings.texts == embedded


def test_what_the_store_holds_is_found_and_nothing_else(opened: Store) -> None:
    store = opened.store
    documents = MMRRetriever.from_store(store, k=3, lambda_mult=1).candidates("text 3", 20)
    vectors = get_vectors(store)
    looked_up = vectors([*documents, Document("never stored", id=str(uuid.UUID(int=9**9))), Document("without an ID")])
    for document, vector in zip(documents, looked_up[: len(documents)], strict=True):
        assert list(vector) == pytest.approx(text_vector(document.page_content), rel=1e-5)
    assert looked_up[-2:] == [None, None]
    assert vectors([]) == []


def test_what_is_added_or_deleted_is_noticed(opened: Store) -> None:
    name, store, _ = opened
    late = str(uuid.UUID(int=10**6))
    text = "it's late"  # with a quote, as texts have them
    document = Document(text, id=late, metadata={"pk": late})
    vectors = get_vectors(store)
    assert vectors([document]) == [None]
    store.add_texts([text], ids=[late])
    assert list(vectors([document])[0]) == pytest.approx(text_vector(text), rel=1e-5)
    store.delete([late])
    assert vectors([document]) == [None], name


def test_around_any_search_of_elasticsearch_documents_without_ids_are_embedded() -> None:
    embeddings = Counting()
    with ExitStack() as open_ones:
        store = elasticsearch(embeddings, Path(), open_ones)
        bare = store.as_retriever(search_kwargs={"k": 20})
        by_hand = MMRRetriever(base_retriever=bare, embeddings=embeddings, vector_fn=get_vectors(store), k=4)
        before = embeddings.texts
        assert texts(by_hand.invoke("question")) == texts(MMRRetriever.from_store(store).invoke("question"))
        assert embeddings.texts == before + 20


def test_elasticsearch_is_asked_for_as_many_candidates_as_are_wanted() -> None:
    with ExitStack() as open_ones:
        store = elasticsearch(Counting(), Path(), open_ones)
        with pytest.raises(Exception, match="BadRequestError"):
            store.max_marginal_relevance_search("question", k=4, fetch_k=60)
        assert len(MMRRetriever.from_store(store, k=60, fetch_k=60).invoke("question")) == 60
        wrapped = MMRRetriever(base_retriever=store.as_retriever(), embeddings=Counting(), k=60, fetch_k=60)
        assert len(wrapped.invoke("question")) == 60


def make_store_of_package(package: str, name: str, **attributes: Any) -> Any:
    return type(name, (), {"__module__": package, **attributes})()


def test_a_store_that_cannot_be_read_is_refused_with_the_way_out() -> None:
    several: Any = make_store_of_package("langchain_milvus.vectorstores", "Milvus", _vector_field=["dense", "sparse"])
    with pytest.raises(TypeError, match=r"got a Milvus with several vectors of each document \(dense, sparse\); .*vec"):
        get_vectors(several)
    only_asynchronous: Any = make_store_of_package("langchain_postgres.vectorstores", "PGVector", async_mode=True)
    with pytest.raises(TypeError, match=r"PGVector with async_mode=True, which cannot be read .*or pass embeddings"):
        get_vectors(only_asynchronous)
    older = make_store_of_package("langchain_community.vectorstores.pgvector", "PGVector")
    with pytest.raises(TypeError, match=r"got PGVector; for another store write"):
        get_vectors(older)
