"""Texts are searched with BM25, on the stems of their content words."""

import pytest

from retrieval_metrics.datasets.bm25 import WordIndex, can_search


def test_a_text_scores_by_the_stems_that_it_shares() -> None:
    index = WordIndex([["open", "vaults"], ["the", "coffee"]], "a test")
    scores = index.scores(["opens", "the", "vault"])
    assert scores[0] > 0
    assert scores[1] == 0


def test_words_that_no_text_has_score_nothing() -> None:
    assert WordIndex([["vault"], []], "a test").scores(["the", "ferry"]).tolist() == [0.0, 0.0]


def test_it_is_known_whether_bm25_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert can_search()
    monkeypatch.setattr("retrieval_metrics.datasets.bm25.find_spec", lambda _: None)
    assert not can_search()
