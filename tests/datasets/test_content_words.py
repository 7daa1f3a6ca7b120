"""The words of a text that carry its content."""

from retrieval_metrics.datasets.content_words import content_words


def test_function_words_are_left_out_and_forms_of_a_word_are_equal() -> None:
    assert content_words(["who", "raised", "the", "query"]) == content_words(["raises", "queries"])
