"""Texts are found in a source whatever white space was changed, and offsets are translated between line endings."""

from hypothesis import given
from hypothesis import strategies as st

from retrieval_metrics.inputs.source_text import SourceText

LETTERS = ["a", "b", " ", "\n", "\r\n", "\u0301", "\u6587", "\u3000", "\U0001f600", "\x1c", "\ud800"]
texts = st.lists(st.sampled_from(LETTERS), max_size=30).map("".join)


@given(text=texts, start=st.integers(0, 40), end=st.integers(0, 40))
def test_a_length_is_the_number_of_characters_that_are_no_white_space(text: str, start: int, end: int) -> None:
    if start <= end:
        assert SourceText(text).length(start, end) == sum(not letter.isspace() for letter in text[start:end])


@given(text=texts, start=st.integers(0, 30), end=st.integers(0, 30), length=st.integers(0, 30))
def test_what_is_found_reads_the_same_but_for_white_space(text: str, start: int, end: int, length: int) -> None:
    piece = text[start:end]
    place = SourceText(text).find(piece, previous=(start - 1, start - 1 + length))
    if not piece.strip():
        assert place is None
        return
    assert place is not None
    assert "".join(text[place.start : place.end].split()) == "".join(piece.split())
    assert not text[place.start].isspace()
    assert not text[place.end - 1].isspace()
    assert place.start >= (start if length else start - 1)  # it may begin where an empty piece stands


@given(
    text=st.text("ab", min_size=1, max_size=12),
    piece=st.text("ab", min_size=1, max_size=3),
    previous=st.lists(st.integers(0, 12), min_size=2, max_size=2).map(sorted),
)
def test_of_several_places_the_nearest_to_the_end_of_the_piece_before_is_taken(
    text: str, piece: str, previous: list[int]
) -> None:
    start = min(previous[0], len(text))
    end = min(previous[1], len(text))
    places = [
        position
        for position in range(len(text))
        if text.startswith(piece, position) and (position > start or position >= end)
    ]
    location = SourceText(text).find(piece, (start, end))
    if not places:
        assert location is None
        return
    nearest = min(places, key=lambda position: (abs(position - end), position < end))
    assert location == (nearest, nearest + len(piece), len(places) > 1)


@given(lines=st.lists(st.sampled_from(["", "a", "b c", " "]), min_size=1, max_size=6))
def test_offsets_are_read_across_both_ends_of_lines(lines: list[str]) -> None:
    pairs = "\r\n".join(lines)
    single = "\n".join(lines)
    counting_pairs = SourceText(single)
    counting_single = SourceText(pairs)
    for offset in range(len(pairs) + 1):  # between the two of a pair, the line has not ended yet
        assert counting_pairs.translate_offset(offset) == (
            len(pairs[:offset].replace("\r", "")) if "\r" in pairs else offset
        )
    for offset in range(len(single) + 1):
        assert counting_single.translate_offset(offset) == len(single[:offset].replace("\n", "\r\n"))
