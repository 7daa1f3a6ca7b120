"""The kinds of pooled passages."""

import retrieval_metrics as rm
from retrieval_metrics.datasets.pooled_documents import find_passage_kinds
from vault_runs import CORPUS, QUERIES, RUNS


def test_kinds_say_by_whom_a_passage_was_found_and_how_like_the_question_it_is() -> None:
    kinds = rm.pool(QUERIES, RUNS, CORPUS, depth=3).kinds
    assert kinds["q1", "b"]["found by"] == "bm25 only"
    assert kinds["q1", "a"]["found by"] == "bm25 and dense"
    assert kinds["q1", "a"]["best rank"] == "1 to 3"
    assert kinds["q2", "b"]["length"].startswith("over ")
    assert kinds["q1", "a"]["question-word overlap"].startswith("over ")
    assert kinds["q1", "c"]["question-word overlap"].startswith("up to ")


def test_kinds_at_their_borders() -> None:
    run = {"q1": ["a", "c", "d", "e"]}
    corpus = {"a": "guard", "c": "the vault opens", "d": "opens vault now", "e": "he opens the vault by night"}
    kinds = rm.pool(QUERIES, {"alone": run}, corpus).kinds
    assert [kinds["q1", document]["best rank"] for document in "acde"] == ["1 to 3", "1 to 3", "1 to 3", "beyond 3"]
    # The median itself is not over it: 3 words, and both content words of the question.
    assert [kinds["q1", document]["length"] for document in "acde"] == [*["up to 3 words"] * 3, "over 3 words"]
    assert {kinds["q1", document]["question-word overlap"] for document in "acde"} == {"up to 100%"}
    assert {kinds["q1", document]["found by"] for document in "acde"} == {
        "alone"
    }  # the name of the only system, and no more


def test_documents_without_a_text_count_in_no_median() -> None:
    run = {"q1": ["a", "c", "x", "y", "z"]}
    corpus = {"a": "guard", "c": "the vault opens at night"}
    pool = rm.pool(QUERIES, {"alone": run}, corpus)
    kinds = find_passage_kinds(pool.items, pool.queries, pool.systems)
    assert kinds.median_length == 3
    assert [kinds.by_passage["q1", document].is_long for document in "acx"] == [False, True, None]
    assert kinds.by_passage["q1", "c"].has_many_question_words
    assert kinds.by_passage["q1", "x"].has_many_question_words is None
    assert [pool.kinds["q1", document].get("length") for document in "acx"] == ["up to 3 words", "over 3 words", None]
