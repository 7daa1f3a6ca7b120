"""MMRRetriever: the host's own selections, vectors used again, callbacks, and every setting that means nothing."""

import asyncio
import copy
import pickle
import random
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_classic.retrievers import EnsembleRetriever
from langchain_core.callbacks import BaseCallbackHandler, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import ConfigurableField, RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_core.vectorstores.utils import maximal_marginal_relevance
from pydantic import ValidationError

import retrieval_metrics as rm
from langchain_hosts import Prepared, TableOfVectors
from langchain_retrieval_metrics import MMRRetriever, get_vectors

VECTORS = {"query": [1.0, 0.2], "a": [1.0, 0.1], "same": [1.0, 0.1], "other": [0.3, 1.0], "far": [-1.0, 0.0]}

DOCUMENTS = [Document(text, id=f"id of {text}", metadata={"page": 1}) for text in VECTORS if text != "query"]


def retriever(**settings: Any) -> MMRRetriever:
    defaults: dict[str, Any] = {
        "base_retriever": Prepared(answers={"query": DOCUMENTS}),
        "embeddings": TableOfVectors(VECTORS),
        "k": 2,
    }
    return MMRRetriever(**(defaults | settings))


def texts(documents: list[Document]) -> list[str]:
    return [document.page_content for document in documents]


def store_of(n: int, d: int, distinct: int) -> InMemoryVectorStore:
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=d))
    store.add_documents([Document(f"text {number % distinct}", id=f"d{number}") for number in range(n)])
    return store


@pytest.mark.parametrize("lambda_mult", [0.0, 0.25, 0.5, 0.75, 1.0])
@pytest.mark.parametrize("distinct", [60, 15])  # with repeats there are ties
def test_the_same_ids_in_the_same_order_as_the_store_itself(lambda_mult: float, distinct: int) -> None:
    store = store_of(60, 8, distinct)
    ours = MMRRetriever(
        base_retriever=store.as_retriever(),
        embeddings=store.embeddings,
        vector_fn=get_vectors(store),
        k=10,
        fetch_k=40,
        fetch_k_arg="k",
        lambda_mult=lambda_mult,
    )
    for query in ("one", "another", "a third"):
        expected = store.max_marginal_relevance_search(query, k=10, fetch_k=40, lambda_mult=lambda_mult)
        assert ids(ours.invoke(query)) == ids(expected)


@given(seed=st.integers(0, 10**6), lambda_mult=st.sampled_from([0.0, 0.3, 0.5, 0.9, 1.0]))
def test_the_selection_is_that_of_langchains_own_function(seed: int, lambda_mult: float) -> None:
    rng = random.Random(seed)
    n = rng.randint(1, 20)
    dimensions = rng.randint(2, 8)
    k = rng.randint(1, 25)
    random_vectors = np.random.default_rng(seed).normal(size=(n + 1, dimensions))
    query = random_vectors[0]
    vectors = random_vectors[1:].tolist()
    expected = maximal_marginal_relevance(query, vectors, lambda_mult=lambda_mult, k=k)
    assert list(rm.mmr(query, vectors, k=k, lambda_mult=lambda_mult)) == expected


def test_what_comes_back_is_the_documents_with_id_score_and_rank() -> None:
    keys = {"mmr_score_key": "mmr_score", "mmr_rank_key": "mmr_rank"}
    first, second = retriever(lambda_mult=0.5, **keys).invoke("query")
    assert (first.id, first.page_content) == ("id of a", "a")
    cosine = 1.02 / (1.04 * 1.01) ** 0.5
    assert first.metadata == {"page": 1, "mmr_score": pytest.approx(cosine / 2), "mmr_rank": 1}
    assert (second.id, second.metadata["mmr_rank"]) == ("id of other", 2)
    assert retriever(mmr_rank_key="rank").invoke("query")[0].metadata == {"page": 1, "rank": 1}
    assert retriever().invoke("query")[0].metadata == {"page": 1}  # whole documents can be compared


def test_documents_of_the_base_retriever_are_left_as_they_were() -> None:
    before = copy.deepcopy(DOCUMENTS)
    retriever(k=4).invoke("query")
    assert before == DOCUMENTS


def test_sync_async_and_batches_agree() -> None:
    ours = retriever(k=4)

    async def asynchronously() -> list[Any]:
        return [await ours.ainvoke("query"), *await ours.abatch(["query"] * 2)]

    assert [ours.invoke("query"), *ours.batch(["query"] * 2)] == asyncio.run(asynchronously())


def test_settings_can_be_given_to_one_call() -> None:
    ours = retriever(lambda_mult=1.0)
    assert texts(ours.invoke("query")) == ["a", "same"]
    assert texts(ours.invoke("query", lambda_mult=0.5)) == ["a", "other"]
    assert texts(ours.invoke("query", k=1)) == ["a"]
    assert texts(ours.invoke("query", k=2, fetch_k=2)) == ["a", "same"]
    with pytest.raises(ValueError, match="fetch_k=1 candidates cannot give k=2 documents"):
        ours.invoke("query", fetch_k=1)
    with pytest.raises(ValueError, match=r"lambda_mult must be from 0.*got 5"):
        asyncio.run(ours.ainvoke("query", lambda_mult=5))
    with pytest.raises(TypeError, match="unexpected keyword argument 'lambda'"):
        ours.invoke("query", None, **{"lambda": 0.5})


def test_each_distinct_text_is_embedded_once_and_only_once() -> None:
    embeddings = TableOfVectors(VECTORS)
    twice = Prepared(answers={"query": [*DOCUMENTS, *DOCUMENTS]})
    ours = retriever(base_retriever=twice, embeddings=embeddings)
    for _ in range(3):
        ours.invoke("query")
    asyncio.run(ours.ainvoke("query"))
    assert (embeddings.documents, embeddings.queries) == ([["a", "same", "other", "far"]], ["query"])


def test_without_a_cache_texts_are_embedded_for_every_query() -> None:
    embeddings = TableOfVectors(VECTORS)
    ours = retriever(embeddings=embeddings, cache_size=0)
    ours.invoke("query")
    ours.invoke("query")
    assert (len(embeddings.documents), len(embeddings.queries)) == (2, 2)


def test_another_embedding_model_does_not_get_the_vectors_of_the_first() -> None:
    ours = retriever(lambda_mult=1.0, k=1)
    assert texts(ours.invoke("query")) == ["a"]
    ours.embeddings = TableOfVectors({**VECTORS, "query": [-1.0, 0.0]})
    assert texts(ours.invoke("query")) == ["far"]


def test_vectors_in_the_metadata_or_a_store_are_not_embedded_again() -> None:
    embeddings = TableOfVectors(VECTORS)
    with_vectors = [
        Document(document.page_content, metadata={"v": VECTORS[document.page_content]}) for document in DOCUMENTS
    ]
    ours = retriever(base_retriever=Prepared(answers={"query": with_vectors}), embeddings=embeddings, embedding_key="v")
    expected = texts(retriever().invoke("query"))
    assert texts(ours.invoke("query")) == expected
    with_function = retriever(
        embeddings=embeddings, vector_fn=lambda documents: [VECTORS[document.page_content] for document in documents]
    )
    assert texts(with_function.invoke("query")) == expected
    assert embeddings.documents == []
    half = retriever(
        embeddings=embeddings,
        vector_fn=lambda documents: [{"a": VECTORS["a"]}.get(document.page_content) for document in documents],
    )
    assert texts(half.invoke("query")) == expected
    assert embeddings.documents == [["same", "other", "far"]]


def test_relevance_by_rank_and_by_score_needs_no_query() -> None:
    scored = [
        Document(text, metadata={"vector": VECTORS[text], key: score})
        for text, key, score in [("far", "score", -3.0), ("a", "relevance_score", 40), ("other", "score", 12.5)]
    ]
    settings = {
        "base_retriever": Prepared(answers={"?": scored}),
        "embeddings": None,
        "embedding_key": "vector",
        "mmr_score_key": "mmr_score",
        "k": 3,
    }
    by_score = retriever(relevance="score", lambda_mult=1.0, **settings).invoke("?")
    assert [(document.page_content, document.metadata["mmr_score"]) for document in by_score] == [
        ("a", 1.0),
        ("other", 15.5 / 43),
        ("far", 0.0),
    ]
    by_rank = retriever(relevance="rank", lambda_mult=1.0, **settings).invoke("?")
    assert [(document.page_content, document.metadata["mmr_score"]) for document in by_rank] == [
        ("far", 1.0),
        ("a", 0.5),
        ("other", 0.0),
    ]


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"page": 3}, r"document 'd1' has no metadata 'relevance_score' or 'score'.*it has 'page'.*relevance='rank'"),
        ({"score": float("nan")}, "score of document 'd1' must be a finite number, got nan"),
        ({"score": "high"}, "must be a finite number, got 'high'"),
    ],
)
def test_a_missing_or_impossible_score_is_named(metadata: dict[str, Any], message: str) -> None:
    base = Prepared(answers={"query": [Document("a", id="d1", metadata=metadata)]})
    with pytest.raises(ValueError, match=message):
        retriever(base_retriever=base, relevance="score").invoke("query")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"k": 0}, r"k\n.*greater than or equal to 1.*input_value=0"),
        ({"k": None}, "k\n.*valid integer.*input_value=None"),
        ({"lambda_mult": 1.5}, r"lambda_mult\n.*less than or equal to 1.*input_value=1\.5"),
        ({"lambda_mult": float("nan")}, r"lambda_mult\n.*input_value=nan"),
        ({"fetch_k": 1}, "fetch_k=1 candidates cannot give k=2 documents"),
        ({"fetch_k_arg": "k"}, "fetch_k_arg='k' passes fetch_k to the base retriever, but fetch_k is not set"),
        ({"relevance": "cosine"}, "'query', 'score' or 'rank'.*input_value='cosine'"),
        ({"embeddings": None}, "relevance='query' needs embeddings"),
        ({"embeddings": None, "relevance": "rank"}, "pass embeddings, an embedding_key or a vector_fn"),
        ({"embedding": None}, r"embedding\n.*Extra inputs are not permitted"),
        ({"cache_size": -1}, r"cache_size\n.*input_value=-1"),
        ({"base_retriever": "bm25"}, r"base_retriever\n.*input_value='bm25'"),
        ({"base_retriever": store_of(1, 2, 1)}, r"write MMRRetriever\.from_store\(store\), or .*\.as_retriever\(\)"),
        ({"lambda_mult": "0.5"}, "must be a number, got '0.5'"),
        ({"lambda_mult": True}, "must be a number, got True"),
        ({"k": True}, "must be a number, got True"),
        ({"fetch_k": "20"}, "must be a number, got '20'"),
    ],
)
def test_a_setting_that_means_nothing_is_refused_with_what_was_given(settings: Any, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        retriever(**settings)


def test_a_setting_is_checked_when_it_is_assigned_too() -> None:
    ours = retriever()
    with pytest.raises(ValidationError, match="input_value=7"):
        ours.lambda_mult = 7
    with pytest.raises(ValidationError, match="cannot give k=2"):
        ours.fetch_k = 1
    assert (ours.lambda_mult, ours.fetch_k, "fetch_k" in ours.model_fields_set) == (0.5, None, False)
    ours.fetch_k = 6
    with pytest.raises(ValidationError, match="cannot give k=9"):
        ours.k = 9
    assert (ours.k, ours.fetch_k) == (2, 6)
    ours.k = 3
    assert len(ours.invoke("query")) == 3


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        ([[1.0, 0.0], [1.0]], "document 'y', 'same' has a vector of 1 numbers, and document 'x', 'a' one of 2"),
        ([[1.0, float("nan")], [1.0, 0.0]], "the vector of document 'x', 'a' holds nan at position 1"),
        ([[1.0, 0.0], ["a", "b"]], r"vector of document 'y', 'same' must be a list of numbers, got \['a', 'b'\]"),
        ([[1.0, 0.0], [[1.0], [2.0, 3.0]]], "the vector of document 'y', 'same' must be a list of numbers"),
        ([[1.0, 0.0]], "vector_fn returned 1 vectors for 2 documents"),
    ],
)
def test_vectors_that_do_not_fit_are_named(vectors: Any, message: str) -> None:
    base = Prepared(answers={"query": [Document("a", id="x"), Document("same", id="y")]})
    with pytest.raises(ValueError, match=message):
        retriever(base_retriever=base, vector_fn=lambda _: vectors).invoke("query")


def test_a_document_without_a_vector_is_named_where_nothing_can_embed_it() -> None:
    with pytest.raises(ValueError, match="4 documents have no vector, for example 'a'; pass embeddings"):
        retriever(embeddings=None, relevance="rank", embedding_key="v").invoke("query")


def test_a_base_retriever_that_returns_no_documents_is_refused() -> None:
    with pytest.raises(TypeError, match="base_retriever must return a list of Documents, got 'a text'"):
        retriever(base_retriever=RunnableLambda(lambda _: "a text")).invoke("query")


def test_nothing_found_is_nothing_selected_and_nothing_embedded() -> None:
    embeddings = TableOfVectors(VECTORS)
    ours = retriever(base_retriever=Prepared(answers={"query": []}), embeddings=embeddings)
    assert (ours.invoke("query"), asyncio.run(ours.ainvoke("query"))) == ([], [])
    assert (embeddings.documents, embeddings.queries) == ([], [])


@pytest.mark.parametrize("asynchronous", [False, True])
def test_the_base_retriever_is_a_child_run_and_tags_pass_through(asynchronous: bool) -> None:
    class Runs(BaseCallbackHandler):
        def __init__(self) -> None:
            self.started: list[Any] = []
            self.ended = 0

        def on_retriever_start(
            self, *_: Any, run_id: Any, parent_run_id: Any = None, tags: Any = None, **__: Any
        ) -> None:
            self.started.append((run_id, parent_run_id, tags))

        def on_retriever_end(self, *_: Any, **__: Any) -> None:
            self.ended += 1

    runs = Runs()
    ours = retriever(tags=["mmr"])
    config: Any = {"callbacks": [runs], "tags": ["a run"]}
    if asynchronous:
        asyncio.run(ours.ainvoke("query", config))
    else:
        ours.invoke("query", config)
    (outer, parent, tags), (_, inner_parent, inner_tags) = runs.started
    assert (parent, inner_parent, runs.ended) == (None, outer, 2)
    assert set(tags) == {"a run", "mmr"}
    assert inner_tags == ["a run"]


def test_a_store_whose_documents_are_gone_has_no_vectors_for_them() -> None:
    store = store_of(3, 4, 3)
    vectors = get_vectors(store)([Document("text 0", id="d0"), Document("new", id="x"), Document("bare")])
    assert [vector is None for vector in vectors] == [False, True, True]


def test_a_vector_that_was_replaced_in_the_store_is_not_remembered() -> None:
    store = store_of(2, 4, 2)
    vectors = get_vectors(store)
    (before,) = vectors([Document("text 0", id="d0")])
    store.store["d0"]["vector"] = [1.0, 2.0, 3.0, 4.0]
    (after,) = vectors([Document("text 0", id="d0")])
    assert before.tolist() != after.tolist() == [1.0, 2.0, 3.0, 4.0]
    store.delete(["d0"])
    assert vectors([Document("text 0", id="d0")]) == [None]


def test_copies_work_and_begin_with_an_empty_cache() -> None:
    ours = retriever(base_retriever=Prepared(answers={"query": DOCUMENTS}))
    expected = ours.invoke("query")
    for other in (copy.copy(ours), copy.deepcopy(ours), ours.model_copy(), pickle.loads(pickle.dumps(ours))):
        assert other.invoke("query") == expected


@pytest.mark.parametrize("embedded", [None, [1.0], [1.0, float("nan")]])
def test_what_embeddings_give_is_named_and_not_kept(embedded: Any) -> None:
    class Broken(TableOfVectors):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            vectors = super().embed_documents(texts)
            if broken and "far" in texts:
                vectors[texts.index("far")] = embedded
            return vectors

    broken = True
    ours = retriever(embeddings=Broken(VECTORS), k=4)
    with pytest.raises(ValueError, match="document 'id of far', 'far'"):
        ours.invoke("query")
    broken = False
    if embedded != [1.0]:  # alone, a vector of one number is a vector
        assert len(ours.invoke("query")) == 4


def test_functions_and_tuples_are_retrievers_as_they_are_for_evaluation() -> None:
    async def asynchronously(query: str) -> tuple[Document, ...]:
        await asyncio.sleep(0)
        return tuple(DOCUMENTS)

    assert texts(retriever(base_retriever=lambda _: tuple(DOCUMENTS)).invoke("query")) == ["a", "other"]
    assert texts(asyncio.run(retriever(base_retriever=asynchronously).ainvoke("query"))) == ["a", "other"]
    with pytest.raises(TypeError, match="asynchronous function; use ainvoke"):
        retriever(base_retriever=asynchronously).invoke("query")


EMBEDDINGS = DeterministicFakeEmbedding(size=8)

STORE = InMemoryVectorStore(EMBEDDINGS)

STORE.add_documents([Document(f"text {number}", id=f"d{number}") for number in range(60)])

CONFIGURABLE = STORE.as_retriever(search_kwargs={"k": 4}).configurable_fields(
    search_kwargs=ConfigurableField(id="search_kwargs")
)


def ours(base: Any, **settings: Any) -> MMRRetriever:
    return MMRRetriever(base_retriever=base, embeddings=EMBEDDINGS, vector_fn=get_vectors(STORE), **settings)


def ids(documents: Any) -> list[str]:
    return [document.id for document in documents]


def every_way(retriever: Any, config: Any) -> list[list[str]]:
    async def asynchronously() -> list[Any]:
        streamed = [chunk async for chunk in retriever.astream("query", config)]
        return [await retriever.ainvoke("query", config), *await retriever.abatch(["query"], config), *streamed]

    answers = [
        retriever.invoke("query", config),
        *retriever.batch(["query"], config),
        *retriever.stream("query", config),
        *asyncio.run(asynchronously()),
    ]
    return [ids(documents) for documents in answers]


def test_configurable_fields_reach_the_base_retriever() -> None:
    config: Any = {"configurable": {"search_kwargs": {"k": 20}}}
    expected = set(ids(CONFIGURABLE.invoke("query", config)))
    answers = every_way(ours(CONFIGURABLE, k=20), config)
    assert len(answers) == 6
    assert all(set(answer) == expected for answer in answers)
    assert len(expected) == 20


def test_they_reach_it_through_a_chain_too() -> None:
    chain = RunnableLambda(str.strip) | ours(CONFIGURABLE, k=20)
    assert len(chain.invoke(" query ", {"configurable": {"search_kwargs": {"k": 20}}})) == 20


def test_tags_metadata_and_concurrency_reach_the_base_retriever() -> None:
    configs: list[Any] = []

    def base(query: str, config: Any) -> list[Document]:
        configs.append((config["tags"], config["metadata"]["run"], config["max_concurrency"]))
        return [Document("text 1", id="d1")]

    every_way(ours(RunnableLambda(base)), {"tags": ["t"], "metadata": {"run": 7}, "max_concurrency": 3})
    assert configs == [(["t"], 7, 3)] * 6


def test_runs_have_one_name_and_one_parent_each() -> None:
    class Runs(BaseCallbackHandler):
        def __init__(self) -> None:
            self.started: list[Any] = []

        def on_retriever_start(
            self, *_: Any, run_id: Any, parent_run_id: Any = None, name: Any = None, **__: Any
        ) -> None:
            self.started.append((run_id, parent_run_id, name))

    runs = Runs()
    ours(CONFIGURABLE, fetch_k=20).invoke("query", {"callbacks": [runs], "run_name": "mine"})
    (outer, _, name), (_, parent, inner_name) = runs.started
    assert (name, parent, inner_name) == ("mine", outer, "VectorStoreRetriever")


class TakesTop(BaseRetriever):
    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        top: int = 3,
    ) -> list[Document]:
        return [Document(f"text {number}", id=f"d{number}") for number in range(top)]


TOO_FEW = Prepared(answers={"query": ["d1", "d2"]})


@pytest.mark.parametrize(
    "base", [TOO_FEW, EnsembleRetriever(retrievers=[TOO_FEW, TOO_FEW], weights=[0.5, 0.5]), TakesTop()]
)
def test_a_base_that_returns_no_more_than_k_is_warned_of_once(base: Any) -> None:
    retriever = ours(base, k=4, fetch_k=50)
    with pytest.warns(rm.RetrievalWarning, match="nothing to choose from, although fetch_k=50 and k=4.*fetch_k_arg="):
        retriever.invoke("query")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        retriever.invoke("query")


def test_a_store_that_is_not_asked_for_more_than_k_is_warned_of() -> None:
    store = InMemoryVectorStore.from_texts([f"text {number}" for number in range(9)], EMBEDDINGS)
    message = r"nothing to choose from, because k=4: pass fetch_k=.* fetch_k=20"
    with pytest.warns(rm.RetrievalWarning, match=message) as caught:
        ours(store.as_retriever(), k=4).invoke("query")
    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.filterwarnings("error")
def test_nothing_is_warned_of_where_there_is_a_choice_or_a_store_holds_no_more() -> None:
    assert len(ours(TakesTop(), k=4, fetch_k=50, fetch_k_arg="top").invoke("query")) == 4
    small = InMemoryVectorStore.from_texts(["a", "b"], EMBEDDINGS)
    assert len(MMRRetriever.from_store(small).invoke("query")) == 2
    assert len(ours(TOO_FEW, k=2).invoke("query")) == 2  # no fetch_k was asked for
    assert len(ours(small.as_retriever(), k=4).invoke("query")) == 2
    assert len(ours(small.as_retriever(), k=1).invoke("query")) == 1
