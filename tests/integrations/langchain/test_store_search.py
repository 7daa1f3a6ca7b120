"""What a search for the candidates of MMR asks of a store, and what its filter leaves."""

import asyncio
import warnings
from typing import Any

import pytest

import retrieval_metrics as rm
from clustered_embeddings import TEXTS, Counting, N
from langchain_retrieval_metrics import MMRRetriever, evaluate_retriever, get_vectors, tune_mmr
from langchain_stores import MAKERS, Store, faiss, filtered, ids


@pytest.fixture(scope="module", params=MAKERS)
def named(request: pytest.FixtureRequest) -> tuple[str, Store]:
    embeddings = Counting()
    return request.param, Store(MAKERS[request.param](embeddings), embeddings)


def test_a_query_is_embedded_once_and_no_document_is(named: tuple[str, Store]) -> None:
    store, embeddings = named[1]
    retriever = MMRRetriever.from_store(store, k=4, fetch_k=50)
    n_texts = embeddings.texts
    n_queries = embeddings.queries
    for number in range(5):
        assert len(retriever.invoke(f"question {number}")) == 4
    asyncio.run(retriever.ainvoke("question 5"))
    assert (embeddings.texts - n_texts, embeddings.queries - n_queries) == (0, 6)


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
    retriever = MMRRetriever.from_store(store, k=8, fetch_k=10, search_kwargs={"filter": condition})
    with pytest.warns(rm.RetrievalWarning, match=r"filters the 20 documents .* fewer than k=8: .*'fetch_k': 200"):
        retriever.invoke("question")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        retriever.invoke("question 1")


def test_a_filter_of_faiss_that_leaves_nothing_is_said_too() -> None:
    store, _ = filtered(faiss, 10)
    nothing = {"part": "absent"}
    retriever = MMRRetriever.from_store(store, k=8, fetch_k=10, search_kwargs={"filter": nothing})
    with pytest.warns(rm.RetrievalWarning, match=r"filters the 20 documents .* and 0 of them match, fewer than k=8"):
        assert retriever.invoke("question") == []
    plain = store.as_retriever(search_kwargs={"k": 4, "filter": nothing})
    with pytest.warns(rm.RetrievalWarning, match=r"2 of 2 queries got fewer than k=4 results .*'fetch_k'"):
        rm.retrieve(plain, {"q1": "question 1", "q2": "question 2"})


@pytest.mark.parametrize("how", ["alone", "wrapped", "from the store", "asynchronous"])
def test_an_evaluation_says_once_how_many_questions_a_filter_left_fewer_than_k(how: str) -> None:
    store, condition = filtered(faiss, 10)
    retriever: Any = store.as_retriever(search_kwargs={"k": 4, "filter": condition})
    if how == "wrapped":
        vector_settings: Any = {"vector_fn": get_vectors(store), "embeddings": store.embeddings}
        retriever = MMRRetriever(base_retriever=retriever, k=4, fetch_k=10, **vector_settings)
    elif how == "from the store":
        retriever = MMRRetriever.from_store(store, k=4, fetch_k=10, search_kwargs={"filter": condition})
    qrels: Any = {f"question {number}": [rm.Text(TEXTS[1])] for number in range(20)}
    questions = rm.EvaluationSet({text: text for text in qrels}, qrels)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if how == "asynchronous":
            run = asyncio.run(rm.aretrieve(retriever, questions))
        else:
            run = rm.retrieve(retriever, questions)
    short_queries = [text for text, ranking in run.items() if len(ranking) < 4]
    assert 0 < len(short_queries) < 20
    (message,) = (str(warning.message) for warning in caught)
    first = short_queries[0]
    assert message.startswith(
        f"{len(short_queries)} of 20 queries got fewer than k=4 results (e.g. {first!r}: {len(run[first])}): "
    )
    assert "examine more (FAISS: search_kwargs={'fetch_k': ...}), or filter before" in message


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
    questions: Any = []
    for text in texts:
        candidates = base.candidates(text, 60)[:15:3]
        questions.append((text, [rm.Text(candidate.page_content) for candidate in candidates]))
    tuned = tune_mmr(base, questions, lambdas=[0.2, 0.6], fetch_ks=[20, 40])
    for fetch_k in (20, 40):
        for weight in (0.2, 0.6):
            configured = base.model_copy(update={"fetch_k": fetch_k, "lambda_mult": weight})
            expected = evaluate_retriever(configured, questions, "recall@4").per_query["recall@4"]
            assert tuned.evaluations[f"lambda {weight:g} ({fetch_k} candidates)"].per_query["recall@4"] == expected


def test_a_filter_that_most_match_leaves_as_many_candidates_as_faiss_has() -> None:
    store, _ = filtered(faiss, 10)
    search: Any = {"filter": lambda metadata: metadata["part"] != 1}
    for number in range(40):
        own = ids(store.max_marginal_relevance_search(f"question {number}", k=8, fetch_k=20, **search))
        ours = MMRRetriever.from_store(store, k=8, fetch_k=20, search_kwargs=search)
        assert ids(ours.invoke(f"question {number}")) == own
