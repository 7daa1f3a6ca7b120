"""Texts of a page: each once, shortened around the needed words, and the marks where these are left."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from retrieval_metrics.evaluation.page_data import TextRow
from retrieval_metrics.evaluation.report_texts import TextStore, choose_kept_ranges, fit_length


def test_a_text_is_stored_once_for_the_same_name_and_source() -> None:
    store = TextStore()
    assert store.add("d", "s", "text") == store.add("d", "s", "text") == 0
    assert store.add("d", None, "text") == 1
    assert store.shortened(10).rows == [TextRow("d", "s", "text"), TextRow("d", None, "text")]


def test_needed_words_survive_the_shortening_and_keep_their_marks() -> None:
    text = "x" * 300 + "needed words" + "y" * 300
    store = TextStore()
    number = store.add("d", None, text, [(300, 312)])
    shortened = store.shortened(60)
    shown = shortened.rows[number].text
    assert shown is not None
    assert shortened.rows[number].is_shortened
    assert len(shown) < 70
    ((start, end),) = shortened.marks(number, [(300, 312)])
    assert shown[start:end] == "needed words"


MARKS = st.lists(st.tuples(st.integers(0, 400), st.integers(1, 60)), max_size=6)


@given(MARKS, st.integers(20, 500))
def test_no_text_is_longer_than_asked_and_marks_stay_inside_it(marks: list[tuple[int, int]], length: int) -> None:
    text = "".join(chr(0x4E00 + number) for number in range(460))
    places = sorted({(start, start + size) for start, size in marks})
    stretches = choose_kept_ranges(len(text), places, length)
    assert sum(end - start for start, end in stretches) <= length
    assert all(end < start for (_, end), (start, _) in pairwise(stretches))
    store = TextStore()
    number = store.add("d", None, text, places)
    shortened = store.shortened(length)
    shown = shortened.rows[number].text or ""
    covered = set("".join(text[start:end] for start, end in places))
    for start, end in shortened.marks(number, places):
        assert set(shown[start:end]) <= covered | set(" \u2026 ")


@given(st.lists(st.integers(0, 5000), max_size=30), st.integers(10_000, 100_000))
def test_texts_cut_to_the_fitting_length_fit(lengths: list[int], total: int) -> None:
    length = fit_length(lengths, total)
    assert sum(min(text_length, length) for text_length in lengths) <= total
    if sum(lengths) <= total:
        assert all(text_length <= length for text_length in lengths)
