"""Many texts are searched in a long one, whose index only says where a search may begin."""

from typing import Self

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval_metrics.traces import searchable_text
from retrieval_metrics.traces.searchable_text import MAX_SCANS, SearchableText

# So few characters, one of them beyond the basic plane and one half of another, that texts repeat themselves.
TEXTS = st.text("ab\U0001f600\ud83d", max_size=80)


class CountedText(str):
    """A text that counts how often it is searched."""

    __slots__ = ("n_searches",)
    n_searches: int

    def __new__(cls, text: str) -> Self:
        counted = super().__new__(cls, text)
        counted.n_searches = 0
        return counted

    def find(self, *arguments: object) -> int:
        self.n_searches += 1
        return super().find(*arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("max_scans", [0, 2, MAX_SCANS])
@given(TEXTS, st.lists(TEXTS, max_size=8), st.lists(st.tuples(st.integers(0, 80), st.integers(0, 80)), max_size=8))
def test_a_text_is_held_exactly_if_it_stands_there(
    max_scans: int, text: str, random_texts: list[str], ends: list[tuple[int, int]]
) -> None:
    passages = [text[start:end] for start, end in ends]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(searchable_text, "MAX_SCANS", max_scans)
        searchable = SearchableText(text)
        for needle in [*random_texts, *passages]:
            assert searchable.holds(needle) == (needle in text)


@pytest.mark.parametrize("beginning", ["absent ", "word " * 200], ids=["unlike the text", "a repetitive text"])
def test_texts_that_are_not_there_are_soon_told_without_a_search(beginning: str) -> None:
    text = CountedText("word " * 1_000)
    searchable = SearchableText(text)

    assert not any(searchable.holds(f"{beginning}{number}") for number in range(10 * MAX_SCANS))
    assert text.n_searches <= 3 * MAX_SCANS


def test_texts_in_reverse_order_are_soon_told_without_a_search() -> None:
    passages = [f"{number} bottles hang upon the wall, {number} bottles of ink" for number in range(10 * MAX_SCANS)]
    text = CountedText("\n".join(passages))
    searchable = SearchableText(text)

    assert all(searchable.holds(passage) for passage in reversed(passages))
    assert text.n_searches <= 4 * MAX_SCANS
