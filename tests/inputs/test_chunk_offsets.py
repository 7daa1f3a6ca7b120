"""Chunks without offsets are located in their sources, and wrong offsets are corrected."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import retrieval_metrics as rm
from retrieval_metrics import Retrieved
from span_collection import SPLITTERS, chunked, corpora_in, stripped


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
