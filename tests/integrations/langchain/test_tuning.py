"""tune_mmr asks and embeds once, and recommends MMR only where it is better and not by chance."""

import asyncio
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.runnables import RunnableConfig, RunnableLambda

import retrieval_metrics as rm
from langchain_hosts import Prepared, TableOfVectors
from langchain_retrieval_metrics import MMRRetriever, atune_mmr, evaluate_retriever, tune_mmr

VECTORS = {"a": [1.0, 0.1], "same": [1.0, 0.1], "again": [1.0, 0.11], "other": [0.6, 1.0]}
QUESTIONS = [f"question {number}" for number in range(20)]
DOCUMENTS = [Document(text, id=text) for text in VECTORS]
EMBEDDED = VECTORS | {key: [1.0, 0.05] for key in QUESTIONS}
TWO_ASPECTS = [(question, [["a", "same"], ["other"]]) for question in QUESTIONS]  # two aspects
REPEATS = [(question, ["a", "same"]) for question in QUESTIONS]  # repeats, both wanted


def retriever(embeddings: Any, **settings: Any) -> MMRRetriever:
    base = Prepared(answers=dict.fromkeys(QUESTIONS, DOCUMENTS))
    return MMRRetriever(base_retriever=base, embeddings=embeddings, k=2, **settings)


def test_where_answers_have_aspects_mmr_is_recommended_with_what_it_buys() -> None:
    embeddings = TableOfVectors(EMBEDDED)
    tuned = tune_mmr(retriever(embeddings), TWO_ASPECTS, lambdas=[0.3, 0.5], fetch_ks=[3, 4])
    assert sum(map(len, embeddings.documents)) == 4
    assert len(embeddings.queries) == 20
    assert tuned.is_significant
    assert tuned.best == (0.3, 4)
    assert tuned.winner == "lambda 0.3 (4 candidates)"
    assert (tuned.default_mean, tuned.mean) == (0.5, 1)
    assert tuned.conclusion in str(tuned)
    assert tuned.retriever is not None
    assert (tuned.retriever.lambda_mult, tuned.retriever.fetch_k, tuned.retriever.k) == (0.3, 4, 2)
    assert evaluate_retriever(tuned.retriever, TWO_ASPECTS, "recall@2").means["recall@2"] == 1
    (row,) = (row for row in tuned.to_pandas().to_dict("records") if row["setting"] == "lambda 0.3 (4 candidates)")
    assert (row["lambda_mult"], row["fetch_k"]) == (0.3, 4)


def test_where_repeats_are_wanted_the_base_is_kept() -> None:
    tuned = asyncio.run(atune_mmr(retriever(TableOfVectors(EMBEDDED), fetch_k=4), REPEATS))
    assert (tuned.winner, tuned.best, tuned.retriever, tuned.is_significant) == ("plain retrieval", None, None, False)
    assert tuned.conclusion.startswith("Keep plain retrieval")


def test_the_bar_to_beat_is_the_order_of_the_base_and_not_that_of_the_embeddings() -> None:
    vectors = {"good": [0.5, 0.8, 0.33], "s1": [1, 0.1, 0], "s2": [1, 0.11, 0], "s3": [1, 0.12, 0]}
    table = TableOfVectors(vectors | {key: [1.0, 0.0, 0.0] for key in QUESTIONS})
    reranked = [Document(name, id=name) for name in vectors]
    base = Prepared(answers=dict.fromkeys(QUESTIONS, reranked))
    ours = MMRRetriever(base_retriever=base, embeddings=table, k=2, fetch_k=4)
    tuned = tune_mmr(ours, [(question, ["good"]) for question in QUESTIONS], lambdas=[0.3, 0.5, 1], metric="mrr")
    assert (
        tuned["lambda 0.3 (4 candidates)"].means["mrr"] > tuned["lambda 1 (4 candidates)"].means["mrr"]
    )  # better than relevance alone
    assert (tuned.winner, tuned.default_mean, tuned.retriever) == ("plain retrieval", 1.0, None)


def test_the_setting_of_the_retriever_is_tried_too() -> None:
    tuned = tune_mmr(retriever(TableOfVectors(EMBEDDED), fetch_k=4, lambda_mult=0.35), TWO_ASPECTS, lambdas=[0.9])
    assert {setting.name for setting in tuned.settings} == {
        "plain retrieval",
        "lambda 0.9 (4 candidates)",
        "lambda 0.35 (4 candidates)",
    }


def test_a_function_is_wrapped_with_the_settings_that_are_given() -> None:
    table = TableOfVectors(EMBEDDED)
    tuned = tune_mmr(lambda _: DOCUMENTS, TWO_ASPECTS, lambdas=[0.3], embeddings=table, k=2)
    assert tuned.best == (0.3, None)
    assert tuned.retriever is not None
    assert [document.id for document in tuned.retriever.invoke(QUESTIONS[0])] == ["a", "other"]
    with pytest.raises(TypeError, match="has its own k; set them on it"):
        tune_mmr(retriever(table), TWO_ASPECTS, k=3)


@pytest.mark.filterwarnings("ignore:only .* clusters")
def test_questions_of_one_source_are_a_cluster() -> None:
    rows = [
        {"query": text, "relevant": relevant, "source": f"{number // 4}.md"}
        for number, (text, relevant) in enumerate(TWO_ASPECTS)
    ]
    ours = retriever(TableOfVectors(EMBEDDED), fetch_k=4)
    for clusters, count in [("source", 5), ({text: number // 2 for number, text in enumerate(QUESTIONS)}, 10)]:
        options: Any = clusters
        tuned = tune_mmr(ours, rows, lambdas=[0.3], clusters=options)
        query_clusters = tuned.evaluations["plain retrieval"].scores.clusters
        assert query_clusters is not None
        assert query_clusters.count == count


def test_each_setting_scores_what_the_retriever_so_configured_does() -> None:
    embeddings = TableOfVectors(EMBEDDED)
    tuned = tune_mmr(retriever(embeddings), TWO_ASPECTS, lambdas=[0.2, 0.9], fetch_ks=[3, 4], metric="ndcg@2")
    for fetch_k in (3, 4):
        for weight in (0.2, 0.9):
            configured = retriever(embeddings, fetch_k=fetch_k, lambda_mult=weight)
            mean = tuned.evaluations[f"lambda {weight:g} ({fetch_k} candidates)"].means["ndcg@2"]
            assert mean == evaluate_retriever(configured, TWO_ASPECTS, "ndcg@2").means["ndcg@2"]


@pytest.mark.parametrize("metric", ["recall@2", "precision@2", "hit_rate@2", "f1@2", "full_recall@3"])
def test_without_a_choice_what_no_order_changes_is_not_tuned(metric: str) -> None:
    base = Prepared(answers={key: [DOCUMENTS[0], DOCUMENTS[3]] for key in QUESTIONS})
    ours = MMRRetriever(base_retriever=base, embeddings=TableOfVectors(EMBEDDED), k=2)
    with pytest.raises(ValueError, match=rf"no setting changes {metric} in any .* at most 2 documents, .* fetch_k=20"):
        tune_mmr(ours, TWO_ASPECTS, metric=metric)


def test_without_a_choice_what_an_order_changes_is_tuned_and_said() -> None:
    base = Prepared(answers={key: [DOCUMENTS[3], DOCUMENTS[0]] for key in QUESTIONS})
    ours = MMRRetriever(base_retriever=base, embeddings=TableOfVectors(EMBEDDED), k=2)
    with pytest.warns(
        rm.RetrievalWarning, match=r"at most 2 documents, and MMR selects k=2 of them, so it can only"
    ) as caught:
        tuned = tune_mmr(ours, REPEATS, metric="mrr")
    assert [warning.filename for warning in caught] == [__file__]
    assert (tuned.default_mean, tuned.mean) == (0.5, 1)


def test_quotes_are_found_in_documents_without_ids() -> None:
    texts = [f"number {number} tells" for number in range(20)]
    table = TableOfVectors({text: [1.0, number] for number, text in enumerate([*texts, *QUESTIONS])})
    documents = [Document(text) for text in texts]
    rows = [{"query": text, "relevant": [rm.Quote(texts[index])]} for index, text in enumerate(QUESTIONS)]
    tuned = tune_mmr(lambda _: documents, rows, lambdas=[0.3], embeddings=table, k=4)
    assert tuned.default_mean == 0.2  # 4 of 20 questions
    assert tuned.evaluations["plain retrieval"].errors == {}


def test_documents_without_ids_are_refused_after_one_question() -> None:
    queries = []

    def find(query: str) -> list[Document]:
        queries.append(query)
        return [Document("a")]

    with pytest.raises(ValueError, match="have no ID"):
        tune_mmr(find, TWO_ASPECTS, embeddings=TableOfVectors(EMBEDDED), k=1)
    assert len(queries) == 1


def test_where_every_question_fails_nothing_is_concluded() -> None:
    class Refusing(TableOfVectors):
        def embed_query(self, text: str) -> list[float]:
            raise PermissionError(f"401 for {text}")

    with pytest.raises(PermissionError, match="401 for question 0") as raised:
        tune_mmr(retriever(Refusing(EMBEDDED), fetch_k=4), TWO_ASPECTS)
    assert raised.value.__notes__ == [
        (
            "the first 3 queries failed with the same error, so the others were not run; this is the failure of query "
            "'question 0'"
        )
    ]


def test_a_question_that_fails_counts_in_every_setting_and_is_warned_of_once() -> None:
    base = Prepared(answers=dict.fromkeys(QUESTIONS[1:], DOCUMENTS) | {QUESTIONS[0]: ConnectionError("no")})
    ours = MMRRetriever(base_retriever=base, embeddings=TableOfVectors(EMBEDDED), k=2)
    with pytest.warns(rm.RetrievalWarning, match="1 of 20 .*judged queries") as caught:
        tuned = tune_mmr(ours, TWO_ASPECTS, lambdas=[0.3], fetch_ks=[3, 4])
    assert len(caught) == 1
    assert tuned["lambda 0.3 (4 candidates)"].means["recall@2"] == 0.95


def test_attempts_and_the_config_are_those_of_evaluate_retriever() -> None:
    attempts: list[Any] = []

    def find(query: str, config: RunnableConfig) -> list[Document]:
        attempts.append((query, config["metadata"]["run"]))
        if len(attempts) == 1:
            raise ConnectionError("once")
        return DOCUMENTS

    base: Any = RunnableLambda(find)
    options: Any = {"retries": 1, "timeout": 30, "config": {"metadata": {"run": 7}, "max_concurrency": 1}}
    tuned = tune_mmr(base, TWO_ASPECTS, lambdas=[0.3], embeddings=TableOfVectors(EMBEDDED), k=2, **options)
    assert attempts == [(text, 7) for text in [QUESTIONS[0], *QUESTIONS]]
    assert tuned.is_significant


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lambdas": [1]}, "no lambda below 1"),
        ({"lambdas": [2.0]}, r"lambda_mult must be .*got 2\.0"),
        ({"fetch_ks": [1, 4]}, "fetch_k=1 is less than the retriever's k=2"),
        ({"fetch_ks": []}, "no fetch_k to try"),
        ({"metric": "recal@2"}, "did you mean recall"),
    ],
)
def test_what_cannot_be_tried_is_refused_before_anything_is_asked(options: Any, message: str) -> None:
    embeddings = TableOfVectors(EMBEDDED)
    with pytest.raises(ValueError, match=message):
        tune_mmr(retriever(embeddings), TWO_ASPECTS, **({"fetch_ks": [4]} | options))
    assert embeddings.queries == []
