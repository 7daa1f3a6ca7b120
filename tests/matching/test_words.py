"""Texts that differ only in typography have the same words."""

from retrieval_metrics.matching.words import unhyphenated_words, word_runs, words


def test_words_are_separated_by_punctuation_and_hyphens() -> None:
    assert words("Well-known: it's 2.5 km\u00b2") == ["well", "known", "it", "s", "2", "5", "km2"]
    assert words("\u4e2d\u6587 text") == ["\u4e2d", "\u6587", "text"]
    assert words("... ---") == []


def test_a_hyphen_within_a_word_does_not_matter_where_texts_are_compared() -> None:
    assert unhyphenated_words("A well-known of-\nfice") == unhyphenated_words("a wellknown office")
    assert unhyphenated_words("pages 10-15") == ["pages", "10", "15"]


def test_runs_are_as_long_as_asked_for() -> None:
    tokens = ["a", "b", "c"]
    assert list(word_runs(tokens, 1)) == [("a",), ("b",), ("c",)]
    assert list(word_runs(tokens, 3)) == [("a", "b", "c")]
    assert list(word_runs(tokens, 4)) == []
