"""The example retrievers: best first, deterministic, silent, and neither perfect nor useless."""

import re
from itertools import pairwise

import numpy as np
import pytest

from corpus import passages
from questions import qrels, queries
from retrievers import BM25, Dense, Retriever

PASSAGES = passages()


@pytest.fixture(scope="module")
def bm25() -> BM25:
    return BM25(PASSAGES)


@pytest.fixture(scope="module")
def dense() -> Dense:
    return Dense(PASSAGES)


@pytest.fixture(params=["bm25", "dense"])
def retriever(request: pytest.FixtureRequest) -> Retriever:
    fixture: Retriever = request.getfixturevalue(request.param)
    return fixture


@pytest.mark.parametrize("k", [1, 5, 10, 37])
def test_search_returns_at_most_k_known_passages_best_first(retriever: Retriever, k: int) -> None:
    passage_ids = {piece.id for piece in PASSAGES}
    for query in list(queries().values())[::10]:
        ranking = retriever.search(query, k)
        assert 0 < len(ranking) <= k
        assert ranking.keys() <= passage_ids
        assert all(before >= after for before, after in pairwise(ranking.values()))


def test_fewer_results_are_the_head_of_more(retriever: Retriever) -> None:
    for query in list(queries().values())[::10]:
        assert list(retriever.search(query, 3).items()) == list(retriever.search(query, 20).items())[:3]


def test_ten_is_the_default(retriever: Retriever) -> None:
    query = "How do I open a file in a with statement?"
    assert retriever.search(query) == retriever.search(query, 10)
    assert len(retriever.search(query)) == 10


def test_a_passage_is_found_by_its_own_text(retriever: Retriever) -> None:
    for piece in PASSAGES[::25]:
        assert next(iter(retriever.search(piece.text))) == piece.id


@pytest.mark.parametrize("build", [BM25, Dense])
def test_the_same_passages_give_the_same_answers(build: type[BM25] | type[Dense]) -> None:
    first = build(PASSAGES[:200])
    second = build(PASSAGES[:200])
    for query in list(queries().values())[::5]:
        assert list(first.search(query).items()) == list(second.search(query).items())


@pytest.mark.parametrize("build", [BM25, Dense])
def test_nothing_is_printed(build: type[BM25] | type[Dense], capfd: pytest.CaptureFixture[str]) -> None:
    build(PASSAGES[:50]).search("What is a metaclass?")
    assert capfd.readouterr() == ("", "")


def test_bm25_finds_exactly_the_passages_that_share_a_word(bm25: BM25) -> None:
    with_word = {piece.id for piece in PASSAGES if re.search(r"\bmetaclass\b", f"{piece.title} {piece.text}")}
    assert bm25.search("metaclass", k=1000).keys() == with_word
    assert bm25.search("zzyzx") == {}
    assert bm25.search("") == {}


def test_dense_returns_every_passage_when_asked(dense: Dense) -> None:
    assert dense.search("metaclass", k=10**6).keys() == {piece.id for piece in PASSAGES}


def test_dense_finds_a_passage_by_another_form_of_its_words(bm25: BM25, dense: Dense) -> None:
    assert "assert#1" in dense.search("asserting", 3)
    assert bm25.search("asserting") == {}


def test_dense_vectors_are_of_unit_length_in_the_order_of_the_ids(dense: Dense) -> None:
    assert dense.ids == [piece.id for piece in PASSAGES]
    assert dense.vectors.shape == (len(PASSAGES), 200)
    assert dense.vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(dense.vectors, axis=1), 1, rtol=1e-5)


def test_dense_scores_are_the_cosines_of_the_encoded_query(dense: Dense) -> None:
    vector = dense.encode("How do decorators work?")
    assert vector.shape == (200,)
    assert vector.dtype == np.float32
    assert np.linalg.norm(vector) == pytest.approx(1, rel=1e-5)
    for name, score in dense.search("How do decorators work?").items():
        assert score == pytest.approx(float(dense.vectors[dense.ids.index(name)] @ vector), abs=1e-6)


def test_dense_encodes_what_it_has_never_seen_as_zeros(dense: Dense) -> None:
    assert not dense.encode("ЖЖЖ").any()


def test_dense_has_fewer_dimensions_than_passages() -> None:
    assert Dense(PASSAGES[:12]).vectors.shape == (12, 11)
    assert Dense(PASSAGES[:12], dimensions=4).vectors.shape == (12, 4)


def test_dense_refuses_a_single_passage() -> None:
    with pytest.raises(ValueError, match="a dense index needs at least 2 passages, got 1"):
        Dense(PASSAGES[:1])


def test_each_retriever_answers_most_questions_in_its_first_five_but_not_all(retriever: Retriever) -> None:
    relevant = {
        name: set(judged) if isinstance(judged, dict) else {document for part in judged for document in part}
        for name, judged in qrels(PASSAGES).items()
    }
    hits = [not relevant[name].isdisjoint(retriever.search(text, 5)) for name, text in queries().items()]
    assert 0.5 < sum(hits) / len(hits) < 0.95, "the examples need questions that are found and questions that are not"
