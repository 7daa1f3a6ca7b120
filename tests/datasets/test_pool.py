"""What is worth grading, and why."""

from typing import Any

import pytest

import retrieval_metrics as rm
from vault_runs import CORPUS, QUERIES, QUESTIONS, RUNS


def list_documents(pool: rm.types.Pool) -> list[tuple[Any, Any, str]]:
    return [(document.query, document.document, document.why) for document in pool]


def test_it_is_the_union_of_the_first_minus_what_is_judged_with_the_reason() -> None:
    pool = rm.pool(QUESTIONS, RUNS, CORPUS, depth=2)
    assert list_documents(pool) == [
        ("q1", "b", "bm25: rank 2"),
        ("q1", "c", "dense: rank 1"),
        ("q1", "e", "dense: rank 2"),
        ("q2", "b", "bm25: rank 1, dense: rank 2"),
        ("q2", "d", "bm25: rank 2, dense: rank 1"),
    ]
    assert pool.n_judged == 1
    assert [item.text for item in pool] == [CORPUS[item.document] for item in pool]
    assert len(rm.pool(QUESTIONS, RUNS, CORPUS, depth=2, judged=True)) == 6
    assert len(rm.pool(QUERIES, RUNS, CORPUS, depth=2)) == 6
    text = str(pool)
    assert text.startswith("5 query-document pairs to grade, 2 queries")
    assert "dense only      2" in text
    assert "1 already judged, excluded" in text


def test_documents_without_an_id_are_refused_and_not_taken_for_one() -> None:
    chunks = [rm.Retrieved(None, text, "gate.md", 40 * number) for number, text in enumerate(CORPUS.values())]
    runs = {"bm25": {"q1": chunks[:3]}}
    with pytest.raises(ValueError, match=r"rank 1 of query 'q1' in 'bm25' \('The guard opens the vault\.'\) has no ID"):
        rm.pool(QUERIES, runs)
    pool = rm.pool(QUERIES, runs, match=lambda item: f"{item.source}@{item.start}")
    assert list_documents(pool) == [("q1", f"gate.md@{40 * number}", f"bm25: rank {number + 1}") for number in range(3)]


def test_scores_and_items_are_ranked_as_they_are_evaluated() -> None:
    scored = {"q1": {"a": 1.0, "b": 3.0, "c": 3.0}}  # of equal scores the larger id is first
    assert [item.document for item in rm.pool(QUERIES, scored, depth=2)] == ["c", "b"]
    items = {"q1": [rm.Retrieved("a", "its own text"), rm.Retrieved("b", "another")]}
    assert [item.text for item in rm.pool(QUERIES, items)] == ["its own text", "another"]
    assert [item.text for item in rm.pool(QUERIES, items, {"a": "of the corpus"})] == ["of the corpus", "another"]


def test_of_judged_quotes_no_document_is_known_to_be_judged() -> None:
    questions = rm.EvaluationSet(QUERIES, {"q1": [rm.Quote("opens the vault")], "q2": []})
    assert rm.pool(questions, RUNS, CORPUS).n_judged == 0


def test_a_limit_takes_the_first_of_every_query_or_what_could_move_a_difference_most() -> None:
    pool = rm.pool(QUESTIONS, RUNS, CORPUS, depth=3, metric="ndcg@3")
    assert {min(item.ranks.values()) for item in pool.top(3)} == {1}
    assert {item.query for item in pool.top(3)} == {"q1", "q2"}
    comparison = rm.compare(QUESTIONS, RUNS, "ndcg@3")
    expected = {(document.query, document.document): document.effect for document in comparison.to_judge(100)}
    assert {(item.query, item.document): item.effect for item in pool} == pytest.approx(expected)
    best = max(expected, key=expected.__getitem__)
    (first,) = pool.top(1, "effect")
    assert expected[first.query, first.document] == expected[best]
    drawn = [pool.top(3, "random", seed=seed).items for seed in range(8)]
    assert any(items != drawn[0] for items in drawn)
    assert drawn[0] == pool.top(3, "random", seed=0).items
    with pytest.raises(ValueError, match="the pool has no effects"):
        rm.pool(QUERIES, RUNS).top(2, "effect")
    with pytest.raises(ValueError, match="by must be"):
        pool.top(2, "best")  # type: ignore[arg-type]


def test_the_pool_of_a_sample_keeps_every_document_of_it() -> None:
    pool = rm.pool(QUERIES, RUNS, CORPUS, depth=2)
    sample = pool.sample(1, seed=1)
    sampled = pool.for_queries(sample)
    assert {item.query for item in sampled} == set(sample)
    assert len(sampled) == sum(item.query in sample for item in pool)
    with pytest.raises(KeyError, match="query 'q9' is not among the"):
        pool.for_queries(["q9"])


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((QUERIES, [["a"]]), "runs must be a run"),
        ((QUERIES, {"elsewhere": {"q9": ["a"]}}), "nothing was retrieved for any query of the pool"),
        ((["who?"], RUNS), "questions must be an EvaluationSet"),
        ((QUERIES, RUNS, None, 0), "depth must be a positive integer"),
        ((QUERIES, RUNS, "text"), "a corpus must map IDs to texts"),
    ],
)
def test_what_cannot_be_pooled_says_why(arguments: Any, error: str) -> None:
    with pytest.raises((TypeError, ValueError), match=error):
        rm.pool(*arguments)


def test_it_becomes_a_frame() -> None:
    frame = rm.pool(QUESTIONS, RUNS, CORPUS, depth=2).to_pandas()
    assert list(frame.columns) == ["query", "document", "text", "best_rank", "found_by", "effect"]
    assert list(frame["found_by"]) == ["bm25", "dense", "dense", "bm25, dense", "bm25, dense"]


def test_exchanged_arguments_say_so() -> None:
    runs: Any = {"bm25": {"q1": ["d1"]}}
    for questions in ({"q1": "why?"}, rm.EvaluationSet({"q1": "why?"}, {"q1": ["d1"]})):
        with pytest.raises(TypeError, match=r"swap the first two arguments, pool\(questions, runs\)"):
            rm.pool(runs, questions)  # type: ignore[arg-type]  # that is what is tested
