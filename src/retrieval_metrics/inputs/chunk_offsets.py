"""Locate the chunks of a splitter in their sources, for splitters that do not record offsets."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from retrieval_metrics.inputs.items import Retrieved
from retrieval_metrics.inputs.source_text import Location, read_sources

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from retrieval_metrics._internal.plain_types import DocumentId
    from retrieval_metrics.inputs.source_text import SourceText


class LocatedChunks(list[Retrieved]):
    """Chunks with their offsets, in the order given.

    Attributes:
        ambiguous: The ids of the chunks whose text occurs more than once after the start of the previous chunk.
        unlocated: The ids of the chunks without offsets: their source is unknown, or does not contain their text. Any
            offsets that such a chunk had were wrong and are removed.
    """

    def __init__(
        self,
        chunks: Iterable[Retrieved],
        ambiguous: Iterable[DocumentId | None],
        unlocated: Iterable[DocumentId | None],
    ) -> None:
        super().__init__(chunks)
        self.ambiguous = list(ambiguous)
        self.unlocated = list(unlocated)

    def __repr__(self) -> str:
        chunks = "chunk" if len(self) == 1 else "chunks"
        return f"<{len(self)} {chunks}, {len(self.ambiguous)} ambiguous, {len(self.unlocated)} unlocated>"


def locate(chunks: Iterable[Retrieved], sources: Mapping[str, str]) -> LocatedChunks:
    r"""Find the offsets of chunks in their sources, for splitters that do not record them.

    The search for a chunk begins after the start of the previous chunk. Of several ranges, the one nearest to the end
    of the previous chunk is taken, so the order distinguishes chunks that overlap or repeat each other. White space is
    ignored. A chunk with a heading or a context before its text is located by the part that its source contains.
    Offsets that a chunk has already are kept only if its text is there.

    Args:
        chunks: The chunks in the order of their sources, each with its source and its text.
        sources: The text of each source.

    Returns:
        The chunks with their offsets, and the ids of those whose position is ambiguous or unknown.

    Raises:
        TypeError: If a chunk is not a `Retrieved`, or the sources are not a mapping of names to texts.

    Example:
        >>> from retrieval_metrics import Retrieved
        >>> chunks = locate([Retrieved(at, "la la", source="song") for at in range(2)], {"song": "la la\n\nla la"})
        >>> [(chunk.start, chunk.end) for chunk in chunks], chunks.ambiguous
        ([(0, 5), (7, 12)], [0, 1])
    """
    texts = read_sources(sources)
    located: list[Retrieved] = []
    ambiguous: list[DocumentId | None] = []
    unlocated: list[DocumentId | None] = []
    previous_by_source: dict[str, tuple[int, int]] = {}
    for chunk in chunks:
        if not isinstance(chunk, Retrieved):
            raise TypeError(f"chunks must be Retrieved(id, text=..., source=...), got {chunk!r}")
        source = chunk.source
        if chunk.text is not None and source in texts:
            location = _locate_chunk(chunk, texts[source], previous_by_source.get(source, (-1, 0)))
            if location is not None and location.ambiguous:
                ambiguous.append(chunk.id)
            chunk = _with_location(chunk, location)  # noqa: PLW2901  (the same chunk, with its offsets)
        located.append(chunk)
        if chunk.start is None or chunk.end is None:
            unlocated.append(chunk.id)
        elif source is not None:
            previous_by_source[source] = chunk.start, chunk.end
    return LocatedChunks(located, ambiguous, unlocated)


def _with_location(chunk: Retrieved, location: Location | None) -> Retrieved:
    if location is None:
        return replace(chunk, start=None, end=None)
    return replace(chunk, start=location.start, end=location.end, offsets_unverified=False)


def _locate_chunk(chunk: Retrieved, source: SourceText, previous: tuple[int, int]) -> Location | None:
    """Return the range of a chunk: the one it claims if its text is there, or else the one where its text is found.

    A text that is not in the source as a whole is located by the part that is, if that is a single range.
    """
    if chunk.start is not None and chunk.end is not None:
        confirmed = source.confirm_range(chunk.text, chunk.start, chunk.end)
        if confirmed is not None:
            return Location(*confirmed, ambiguous=False)
    text = chunk.text or ""
    location = source.find(text, previous) or source.find(text)
    if location is None:
        shared_ranges = source.find_shared_ranges(text)
        if len(shared_ranges) == 1:
            return Location(*shared_ranges[0], ambiguous=False)
    return location
