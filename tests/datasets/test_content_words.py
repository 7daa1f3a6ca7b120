"""The words of a text that carry its content, its sentences, and how its beginning is shown."""

import pytest

from retrieval_metrics.datasets.content_words import (
    content_words,
    find_longest_shared_run,
    quote_beginning,
    split_sentences,
)


def test_function_words_are_left_out_and_forms_of_a_word_are_equal() -> None:
    assert content_words(["who", "raised", "the", "query"]) == content_words(["raises", "queries"])


@pytest.mark.parametrize(
    ("left", "right", "run"),
    [("a b c", "x a b", (0, 2)), ("a b c", "c", (2, 1)), ("a", "b", (0, 0)), ("", "a", (0, 0))],
)
def test_the_longest_run_that_two_texts_share(left: str, right: str, run: tuple[int, int]) -> None:
    assert find_longest_shared_run(left.split(), right.split()) == run


def test_sentences_end_with_their_punctuation_or_with_a_paragraph() -> None:
    assert split_sentences("It rains. Really?\n\n  \n\nA heading\n\nSo it is") == [
        "It rains.",
        "Really?",
        "A heading",
        "So it is",
    ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [("a\n  b", "'a b'"), ("x" * 80, repr("x" * 80)), ("x" * 81, repr("x" * 77 + "...")), ("it's", '"it\'s"')],
)
def test_a_text_is_shown_on_one_line_of_eighty_characters(text: str, shown: str) -> None:
    assert quote_beginning(text) == shown
