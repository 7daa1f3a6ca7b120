"""Texts are cut at paragraphs, sentences and blanks, into parts of equal length."""

import pytest

from retrieval_metrics.datasets.text_cutting import cut_text


@pytest.mark.parametrize(("title", "ends"), [("t" * 20, "here."), ("t" * 30, "t")])
def test_a_text_is_cut_at_a_paragraph_unless_that_leaves_less_than_half_of_an_even_part(title: str, ends: str) -> None:
    text = f"{title}\n\nOne sentence of the text stands here. And another sentence stands here too."
    first, second = cut_text(text, 76)
    assert first[0] == 0
    assert text[slice(*first)].endswith(ends)
    assert text[slice(*second)].endswith("here too.")
