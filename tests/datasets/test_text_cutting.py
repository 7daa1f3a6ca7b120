"""Texts are cut at paragraphs, sentences and blanks, into parts of equal length."""

import pytest

from retrieval_metrics.datasets.text_cutting import cut_text, quote_beginning, split_sentences


@pytest.mark.parametrize(("title", "ends"), [("t" * 20, "here."), ("t" * 30, "t")])
def test_a_text_is_cut_at_a_paragraph_unless_that_leaves_less_than_half_of_an_even_part(title: str, ends: str) -> None:
    text = f"{title}\n\nOne sentence of the text stands here. And another sentence stands here too."
    first, second = cut_text(text, 76)
    assert first[0] == 0
    assert text[slice(*first)].endswith(ends)
    assert text[slice(*second)].endswith("here too.")


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
