"""The offsets of chunks in their sources."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from retrieval_metrics.inputs.retrieved import Retrieved
from retrieval_metrics.inputs.sources import Location, SourceText, read_sources

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from retrieval_metrics.checks import DocumentId


class LocatedChunks(list[Retrieved]):
    """Chunks with their offsets, in the order given.

    Attributes:
        ambiguous: The ids of the chunks whose text appears more than once after the chunk before.
        unplaced: The ids of the chunks without offsets: their source is unknown, or does not contain their text, so
            that offsets they had were wrong.
    """

    def __init__(
        self, chunks: Iterable[Retrieved], ambiguous: Iterable[DocumentId | None], unplaced: Iterable[DocumentId | None]
    ) -> None:
        super().__init__(chunks)
        self.ambiguous = list(ambiguous)
        self.unplaced = list(unplaced)

    def __repr__(self) -> str:
        return f"<{len(self)} chunks, {len(self.ambiguous)} ambiguous, {len(self.unplaced)} unplaced>"


def locate(chunks: Iterable[Retrieved], sources: Mapping[str, str]) -> LocatedChunks:
    r"""Find the offsets of chunks in their sources, for splitters that do not record them.

    The search for a chunk begins after the start of the chunk before it. Of several places, the one nearest to the end
    of that chunk is taken, so the order distinguishes chunks that overlap or repeat each other. White space does not
    matter. A chunk that has a heading or a context before its text is placed by the part that is of its source. Offsets
    that a chunk has are kept only if its text is there.

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
    unplaced: list[DocumentId | None] = []
    previous: dict[str, tuple[int, int]] = {}
    for chunk in chunks:
        if not isinstance(chunk, Retrieved):
            raise TypeError(f"chunks must be Retrieved(id, text=..., source=...), got {chunk!r}")
        source = chunk.source
        placed = chunk
        if chunk.text is not None and source in texts:
            place = _checked(chunk, texts[source], previous.get(source, (-1, 0)))
            if place is None:
                placed = replace(chunk, start=None, end=None)
            else:
                placed = replace(chunk, start=place.start, end=place.end, claimed=False)
                ambiguous += [chunk.id] * place.ambiguous
        located.append(placed)
        if placed.start is None or placed.end is None:
            unplaced.append(chunk.id)
        elif source is not None:
            previous[source] = placed.start, placed.end
    return LocatedChunks(located, ambiguous, unplaced)


def _checked(chunk: Retrieved, source: SourceText, previous: tuple[int, int]) -> Location | None:
    """Return where a chunk is: where it says, or where its text or the part of it that is of the source is found."""
    if chunk.start is not None and chunk.end is not None:
        place = source.confirmed(chunk.text, chunk.start, chunk.end)
        if place is not None:
            return Location(*place, ambiguous=False)
    text = chunk.text or ""
    found = source.find(text, previous) or source.find(text)
    if found is None and len(parts := source.parts(text)) == 1:
        return Location(*parts[0], ambiguous=False)
    return found
