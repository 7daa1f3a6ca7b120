"""tune_mmr asks and embeds once, and recommends MMR only where it is better and not by chance."""

import asyncio
from typing import Any

import pytest
from langchain_core.documents import Document

import retrieval_metrics as rm
from langchain_hosts import Prepared, TableOfVectors
from langchain_retrieval_metrics import MMRRetriever, atune_mmr, evaluate_retriever, tune_mmr

VECTORS = {"a": [1.0, 0.1], "same": [1.0, 0.1], "again": [1.0, 0.11], "other": [0.6, 1.0]}
QUESTIONS = [f"question {number}" for number in range(20)]
FOUND = [Document(text, id=text) for text in VECTORS]
EMBEDDED = VECTORS | {question: [1.0, 0.05] for question in QUESTIONS}
BOTH = [(question, [["a", "same"], ["other"]]) for question in QUESTIONS]  # two aspects
ONE = [(question, ["a", "same"]) for question in QUESTIONS]  # repeats, both wanted


def retriever(embeddings: Any, **settings: Any) -> MMRRetriever:
    base = Prepared(answers=dict.fromkeys(QUESTIONS, FOUND))
    return MMRRetriever(base_retriever=base, embeddings=embeddings, k=2, **settings)


def test_where_answers_have_aspects_mmr_is_recommended_with_what_it_buys() -> None:
    embeddings = TableOfVectors(EMBEDDED)
    tuned = tune_mmr(retriever(embeddings), BOTH, lambdas=[0.3, 0.5], fetch_ks=[3, 4])
    assert sum(map(len, embeddings.documents)) == 4
    assert len(embeddings.queries) == 20
    assert tuned.best == (0.3, 4)
    assert tuned.verdict.startswith("MMR is better for these 2 documents: the best setting, lambda 0.3 of 4, changes")
    assert "recall@2 by +0.5000" in tuned.verdict
    assert tuned.verdict in str(tuned)
    assert tuned.retriever is not None
    assert (tuned.retriever.lambda_mult, tuned.retriever.fetch_k, tuned.retriever.k) == (0.3, 4, 2)
    assert evaluate_retriever(tuned.retriever, BOTH, "recall@2").means["recall@2"] == 1


def test_where_repeats_are_wanted_there_is_no_reason_to_use_it() -> None:
    tuned = asyncio.run(atune_mmr(retriever(TableOfVectors(EMBEDDED), fetch_k=4), ONE))
    assert (tuned.best, tuned.retriever) == (None, None)
    assert tuned.verdict.startswith("There is no reason to use MMR here")


def test_questions_of_one_source_are_a_cluster() -> None:
    rows = [
        {"query": text, "relevant": relevant, "source": f"{number // 4}.md"}
        for number, (text, relevant) in enumerate(BOTH)
    ]
    tuned = tune_mmr(retriever(TableOfVectors(EMBEDDED), fetch_k=4), rows, lambdas=[0.3])
    assert "queries in 5 clusters, by the source of their judgments" in str(tuned)
    assert "seconds per query" not in str(tuned)  # every setting would have the same


def test_each_setting_scores_what_the_retriever_so_configured_does() -> None:
    embeddings = TableOfVectors(EMBEDDED)
    tuned = tune_mmr(retriever(embeddings), BOTH, lambdas=[0.2, 0.9], fetch_ks=[3, 4], metric="ndcg@2")
    for fetch_k in (3, 4):
        for weight in (0.2, 0.9):
            configured = retriever(embeddings, fetch_k=fetch_k, lambda_mult=weight)
            mean = tuned.comparison.evaluations[f"lambda {weight:g} of {fetch_k}"].means["ndcg@2"]
            assert mean == evaluate_retriever(configured, BOTH, "ndcg@2").means["ndcg@2"]


def test_a_question_that_fails_counts_in_every_setting_and_is_warned_of_once() -> None:
    base = Prepared(answers=dict.fromkeys(QUESTIONS[1:], FOUND) | {QUESTIONS[0]: ConnectionError("no")})
    ours = MMRRetriever(base_retriever=base, embeddings=TableOfVectors(EMBEDDED), k=2)
    with pytest.warns(rm.RetrievalWarning, match="nothing was retrieved for 1 of 20") as caught:
        tuned = tune_mmr(ours, BOTH, lambdas=[0.3], fetch_ks=[3, 4])
    assert len(caught) == 1
    assert tuned.comparison.evaluations["lambda 0.3 of 4"].means["recall@2"] == 0.95


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lambdas": [1]}, "no lambda below 1"),
        ({"lambdas": [2.0]}, r"lambda_mult must be .*got 2\.0"),
        ({"fetch_ks": [1, 4]}, "fetch_k=1 is less than the retriever's k=2"),
        ({"fetch_ks": None}, "no fetch_k to try, and the retriever has none"),
    ],
)
def test_what_cannot_be_tried_is_refused_before_anything_is_asked(options: Any, message: str) -> None:
    embeddings = TableOfVectors(EMBEDDED)
    with pytest.raises(ValueError, match=message):
        tune_mmr(retriever(embeddings), BOTH, **({"fetch_ks": [4]} | options))
    assert embeddings.queries == []
