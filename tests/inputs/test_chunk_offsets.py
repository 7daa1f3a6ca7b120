"""Where chunks stand in their sources."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import retrieval_metrics as rm
from retrieval_metrics import Retrieved
from retrieval_metrics.inputs.chunk_offsets import SourceText
from span_collection import SPLITTERS, chunked, corpora_in, stripped

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


@given(size=st.integers(2, 12), overlap=st.integers(0, 1))
def test_chunks_that_repeat_each_other_are_told_apart_by_their_order(size: int, overlap: int) -> None:
    text = "na" * 40
    starts = range(0, len(text) - size + 1, size - overlap)
    located = rm.locate([Retrieved(start, text[start : start + size], "s") for start in starts], {"s": text})
    if not overlap:
        assert [chunk.start for chunk in located] == list(starts)
    assert all((chunk.end or 0) - (chunk.start or 0) == size for chunk in located)


def test_what_cannot_be_placed_is_named_and_kept() -> None:
    chunks = [Retrieved("x", "not there", "s"), Retrieved("y", "text", "t"), Retrieved("z", "text", "s", 2)]
    located = rm.locate(chunks, {"s": "a text"})
    assert located == chunks
    assert located.unlocated == ["x", "y"]
    assert repr(located) == "<3 chunks, 0 ambiguous, 2 unlocated>"


def test_offsets_are_checked_against_the_text() -> None:
    text = "One two three. Slots save memory in every instance of a class. The end is near."
    fact = "Slots save memory in every instance of a class."
    chunks = [
        Retrieved("wrong", fact, "s", 3, offsets_unverified=True),
        Retrieved("elsewhere", "not there", "s", 3),
        Retrieved("with a heading", f"From the handbook: {fact}", "s"),
        Retrieved("no text", None, "s", 3, 9),
        Retrieved("no end", None, "s", 3),
    ]
    located = rm.locate(chunks, {"s": text})
    assert [(chunk.start, chunk.end) for chunk in located] == [(15, 62), (None, None), (15, 62), (3, 9), (3, None)]
    assert not located[0].offsets_unverified
    assert located.unlocated == ["elsewhere", "no end"]
    raw = "One.\r\n\r\nTwo.\r\nTwo."
    assert [chunk.start for chunk in rm.locate([Retrieved("b", "Two.", "s", 11)], {"s": raw})] == [14]


@pytest.mark.parametrize(
    ("chunks", "sources", "message"),
    [
        ({"a": Retrieved("a")}, {}, "chunks must be Retrieved.*got 'a'"),
        ([Retrieved("a")], "text", "sources must map names to texts, got str"),
        ([Retrieved("a")], {"s": 3}, "sources must map names to texts"),
    ],
)
def test_other_types_are_refused(chunks: Any, sources: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        rm.locate(chunks, sources)


@given(lines=st.lists(st.sampled_from(["", "a", "b c", " "]), min_size=1, max_size=6))
def test_offsets_are_read_across_both_ends_of_lines(lines: list[str]) -> None:
    pairs = "\r\n".join(lines)
    single = "\n".join(lines)
    counting_pairs = SourceText(single)
    counting_single = SourceText(pairs)
    for offset in range(len(pairs) + 1):  # between the two of a pair, the line has not ended yet
        assert counting_pairs.find_across_newlines(offset) == (
            len(pairs[:offset].replace("\r", "")) if "\r" in pairs else offset
        )
    for offset in range(len(single) + 1):
        assert counting_single.find_across_newlines(offset) == len(single[:offset].replace("\n", "\r\n"))


@pytest.mark.parametrize("splitter", SPLITTERS)
def test_chunks_without_offsets_are_found_in_the_sources(shared_data: Path, splitter: str) -> None:
    corpora = corpora_in(shared_data)
    chunks = chunked(corpora, splitter)
    located = rm.locate([Retrieved(chunk.id, chunk.text, chunk.source) for chunk in chunks], corpora)
    assert not located.unlocated
    ambiguous = set(located.ambiguous)
    compact = {name: "".join(text.split()) for name, text in corpora.items()}
    for chunk, located_chunk in zip(chunks, located, strict=True):
        assert (located_chunk.start, located_chunk.end) == stripped(corpora[chunk.source or ""], chunk)
        if chunk.id in ambiguous:
            assert compact[chunk.source or ""].count("".join((chunk.text or "").split())) > 1
