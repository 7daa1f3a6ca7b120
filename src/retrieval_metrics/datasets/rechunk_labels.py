"""Transfer judgments by chunk id to another chunking of the same sources."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from retrieval_metrics._internal.optional_packages import to_data_frame
from retrieval_metrics.inputs.chunk_offsets import locate
from retrieval_metrics.inputs.items import Piece
from retrieval_metrics.inputs.pieces import Span
from retrieval_metrics.inputs.qrels import as_qrels
from retrieval_metrics.matching.character_ranges import merge_ranges
from retrieval_metrics.matching.matching_options import Matching
from retrieval_metrics.matching.span_offsets import SpanLocator
from retrieval_metrics.reports.tables import Printed, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pandas as pd

    from retrieval_metrics._internal.plain_types import DocumentId, QueryId
    from retrieval_metrics.inputs.items import Judgments, Relevant, Retrieved
    from retrieval_metrics.inputs.qrels import QuestionsOrQrels


LabelStatus: TypeAlias = Literal["kept", "moved", "split", "merged", "lost"]

# The outcomes of a label, in the order in which the counts are printed.
_MEANING_OF_STATUS: Mapping[LabelStatus, str] = {
    "kept": "same chunk, same ID",
    "moved": "in one new chunk, with a different ID or boundaries",
    "split": "spans several new chunks",
    "merged": "in one new chunk with other old chunks",
    "lost": "not in the new chunks",
}
# If a larger share of the labels is split, a note warns that they favour long chunks.
MAX_SPLIT_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class Relabelled:
    """The transfer of one label.

    Attributes:
        query: The query.
        old_id: The id of the old chunk.
        status: `kept`, `moved`, `split`, `merged` or `lost`.
        span: The position of the old chunk; None if it is unknown, in which case the label stays an id.
        new_ids: The ids of the new chunks that hold part of it, largest part first.
        coverage: The share of its characters that the new chunks hold in total.
    """

    query: QueryId
    old_id: DocumentId
    status: LabelStatus
    span: Span | None
    new_ids: tuple[DocumentId | None, ...]
    coverage: float


class RelabelResult(Printed):
    """Judgments that do not depend on the chunking, and the result for every label.

    Attributes:
        qrels: The judgments, with every label as a `Span` over its old chunk. The spans are marked as uncertain,
            because it is unknown which part of the chunk was relevant. They fit any chunking of the sources.
        labels: The result for each label.
        counts: The number of labels with each status.
    """

    def __init__(self, qrels: dict[QueryId, Judgments], labels: Iterable[Relabelled]) -> None:
        self.qrels: Any = qrels
        self.labels = list(labels)
        counts = Counter(label.status for label in self.labels)
        self.counts: dict[LabelStatus, int] = {status: counts[status] for status in _MEANING_OF_STATUS}

    def to_pandas(self) -> pd.DataFrame:
        """Return a DataFrame with one row per label and the columns of `Relabelled`.

        Raises:
            ImportError: If pandas is not installed; the message contains the command.
        """
        columns = [field.name for field in fields(Relabelled)]
        rows = [[getattr(label, name) for name in columns] for label in self.labels]
        return to_data_frame(rows, columns)

    def __repr__(self) -> str:
        return f"<RelabelResult of {len(self.labels)} labels: {self.counts['lost']} lost>"

    def _tables(self) -> list[Table]:
        rows = []
        for status, meaning in _MEANING_OF_STATUS.items():
            rows.append([f"{status}: {meaning}", str(self.counts[status])])
        notes = []
        for label in self.labels:
            if label.status == "lost":
                unknown_note = "" if label.span else "; position unknown, kept as an ID"
                notes.append(
                    f"lost: {label.old_id!r} of query {label.query!r}, {label.coverage:.0%} covered{unknown_note}"
                )
        if self.counts["split"] > MAX_SPLIT_SHARE * len(self.labels):
            notes.append(
                "a split label counts only when most of its old chunk is retrieved, which favours long chunks; compare "
                "by coverage@2000chars, or judge by quotes"
            )
        return [Table(["labels", "n"], rows, notes)]


def relabel(
    qrels: QuestionsOrQrels,
    old_chunks: Iterable[Retrieved],
    new_chunks: Iterable[Retrieved],
    *,
    match: Matching | None = None,
) -> RelabelResult:
    """Transfer judgments by chunk id to another chunking of the same sources.

    Every label becomes a `Span` over the old chunk, and the report says what happens to it in the new chunking. Nothing
    is dropped: a label whose chunk is unknown stays an id, a span that the new chunks do not hold stays a span, and
    both count against recall. If both texts are known, only text that is equal in both counts as held, so offsets into
    a source that was edited in between do not match silently.

    Args:
        qrels: Judgments by chunk id, flat, graded or grouped; pieces such as quotes stay as they are.
        old_chunks: The chunks that were judged, with source and offsets.
        new_chunks: The chunks of the new chunking, with source and offsets.
        match: `Matching.sources` locates chunks without offsets and ignores white space; `Matching.min_coverage` is the
            share of a chunk that must be held.

    Returns:
        The new judgments and the report.

    Raises:
        ValueError: If two old chunks have the same id.

    Example:
        >>> from retrieval_metrics import Retrieved
        >>> old = [Retrieved("a", source="s", start=0, end=512), Retrieved("b", source="s", start=512, end=1024)]
        >>> new = [Retrieved(start, source="s", start=start, end=start + 384) for start in (0, 384, 768)]
        >>> result = relabel({"q": ["a"]}, old, new)
        >>> result.labels[0].status, result.labels[0].new_ids
        ('split', (0, 384))
        >>> result.qrels
        {'q': {Span(source='s', start=0, end=512, uncertain=True): 1.0}}
    """
    options = match or Matching()
    original = as_qrels(qrels)
    sources = options.sources or {}
    located_old = locate(old_chunks, sources)
    located_new = locate(new_chunks, sources)
    transfer = _LabelTransfer(_by_id(located_old), _ChunkFinder(located_old, located_new, options))
    judgments: dict[QueryId, Judgments] = {}
    for query, grades_or_groups in original.as_dict().items():
        if isinstance(grades_or_groups, Mapping):
            judgments[query] = transfer.move_grades(query, grades_or_groups)
        else:
            judgments[query] = [transfer.move_grades(query, group) for group in grades_or_groups]
    return RelabelResult(judgments, transfer.labels)


def _by_id(chunks: Iterable[Retrieved]) -> dict[Any, Retrieved]:
    chunk_by_id: dict[Any, Retrieved] = {}
    for chunk in chunks:
        if chunk.id in chunk_by_id:
            raise ValueError(f"two old chunks have the ID {chunk.id!r}, so a label with that ID is ambiguous")
        chunk_by_id[chunk.id] = chunk
    return chunk_by_id


class _LabelTransfer:
    """Transfers labels one by one, and keeps the result for each.

    Attributes:
        labels: The result for each label.
    """

    def __init__(self, chunk_by_id: Mapping[Any, Retrieved], finder: _ChunkFinder) -> None:
        self.labels: list[Relabelled] = []
        self._chunk_by_id = chunk_by_id
        self._finder = finder

    def move_grades(self, query: QueryId, grades: Mapping[Any, float]) -> dict[Any, float]:
        """Return the grades of a query or a group, by the positions of their old chunks."""
        moved: dict[Any, float] = {}
        for relevant, grade in grades.items():
            position = self._move(query, relevant)
            moved[position] = max(grade, moved.get(position, grade))  # two old chunks may have the same position
        return moved

    def _move(self, query: QueryId, relevant: Relevant) -> Relevant:
        """Return the span of an old chunk; a piece stays as it is, and an id whose chunk is unknown, too."""
        if isinstance(relevant, Piece):
            return relevant
        label = self._finder.relabel(query, relevant, self._chunk_by_id.get(relevant))
        self.labels.append(label)
        return label.span or relevant


@dataclass(frozen=True, slots=True)
class _Overlap:
    """A chunk that overlaps another, and where.

    Attributes:
        chunk: The other chunk.
        start: Where the stretch in common starts in the source.
        end: Where it ends.
    """

    chunk: Retrieved
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _HeldPart:
    """A part of an old chunk that a new one holds, with its length in characters that count."""

    length: int
    overlap: _Overlap


class _ChunkFinder:
    """Finds the parts of old chunks in the new ones."""

    def __init__(self, old: Sequence[Retrieved], new: Sequence[Retrieved], options: Matching) -> None:
        self._min_coverage = options.min_coverage
        self._locator = SpanLocator(options.sources)
        self._old = _ChunkIndex(old)
        self._new = _ChunkIndex(new)

    def relabel(self, query: QueryId, old_id: DocumentId, chunk: Retrieved | None) -> Relabelled:
        """Return the result for the label of an old chunk; None stands for a chunk that is unknown."""
        if chunk is None or chunk.source is None or chunk.start is None or chunk.end is None:
            return Relabelled(query, old_id, "lost", None, (), 0.0)
        length_of_chunk = self._length(chunk)
        if not length_of_chunk:
            return Relabelled(query, old_id, "lost", None, (), 0.0)
        span = Span(chunk.source, chunk.start, chunk.end, uncertain=True)
        held_parts = []
        for overlap in self._new.find_overlaps(chunk):
            length = self._locator.counted_length(chunk.source, overlap.start, overlap.end)
            if length and _reads_alike(chunk, overlap):
                held_parts.append(_HeldPart(length, overlap))
        held_parts.sort(key=lambda part: -part.length)  # the largest first
        union = merge_ranges((part.overlap.start, part.overlap.end) for part in held_parts)
        n_held = sum(self._locator.counted_length(chunk.source, start, end) for start, end in union)
        coverage = n_held / length_of_chunk
        holders = [part.overlap.chunk for part in held_parts]
        new_ids = tuple(holder.id for holder in holders)
        return Relabelled(query, old_id, self._find_status(chunk, holders, coverage), span, new_ids, coverage)

    def _find_status(self, chunk: Retrieved, holders: Sequence[Retrieved], coverage: float) -> LabelStatus:
        """Return what became of an old chunk; `holders` are the new chunks that hold part of it, largest part first."""
        if coverage < self._min_coverage:
            return "lost"
        largest = holders[0]
        if not self._holds(largest, chunk):
            return "split"
        if self._holds(chunk, largest):
            is_same = largest.id == chunk.id and (largest.start, largest.end) == (chunk.start, chunk.end)
            return "kept" if is_same else "moved"
        for overlap in self._old.find_overlaps(largest):
            if overlap.chunk is not chunk and self._holds(largest, overlap.chunk):
                return "merged"
        return "moved"

    def _holds(self, holder: Retrieved, chunk: Retrieved) -> bool:
        """Return whether a chunk holds enough of another."""
        overlap = _find_overlap(holder, chunk)
        if overlap is None or chunk.source is None:
            return False
        length = self._locator.counted_length(chunk.source, overlap.start, overlap.end)
        return length / max(self._length(chunk), 1) >= self._min_coverage

    def _length(self, chunk: Retrieved) -> int:
        """Return the number of characters of a chunk that count."""
        return self._locator.counted_length(chunk.source or "", chunk.start or 0, chunk.end or 0)


class _ChunkIndex:
    """Finds the chunks that overlap another, without reading all of their source."""

    def __init__(self, chunks: Iterable[Retrieved]) -> None:
        chunks_by_source: dict[str, list[Retrieved]] = {}
        for chunk in chunks:
            if chunk.source is not None and chunk.start is not None and chunk.end is not None:
                chunks_by_source.setdefault(chunk.source, []).append(chunk)
        self._sorted_by_source = {
            source: _SortedChunks.from_chunks(source_chunks) for source, source_chunks in chunks_by_source.items()
        }

    def find_overlaps(self, chunk: Retrieved) -> Iterator[_Overlap]:
        """Yield the chunks that overlap one, in the order of the input, each with the stretch in common."""
        chunks = self._sorted_by_source.get(chunk.source or "")
        if chunks is None:
            return
        for candidate in chunks.between(chunk.start or 0, chunk.end or 0):
            overlap = _find_overlap(chunk, candidate)
            if overlap is not None:
                yield overlap


class _NumberedChunk(NamedTuple):
    """A chunk with its position in the input."""

    number: int
    chunk: Retrieved


@dataclass(frozen=True, slots=True)
class _SortedChunks:
    """The chunks of one source by start.

    Attributes:
        numbered: The chunks, sorted by start.
        starts: The start of each.
        largest_ends: The largest end of each chunk and those before it.
    """

    numbered: list[_NumberedChunk]
    starts: list[int]
    largest_ends: list[int]

    @classmethod
    def from_chunks(cls, chunks: Iterable[Retrieved]) -> _SortedChunks:
        """Sort chunks of one source by their starts."""
        numbered = [_NumberedChunk(number, chunk) for number, chunk in enumerate(chunks)]
        numbered.sort(key=lambda numbered_chunk: numbered_chunk.chunk.start or 0)
        starts = [numbered_chunk.chunk.start or 0 for numbered_chunk in numbered]
        ends = [numbered_chunk.chunk.end or 0 for numbered_chunk in numbered]
        largest_ends = list(accumulate(ends, max))
        return cls(numbered, starts, largest_ends)

    def between(self, start: int, end: int) -> list[Retrieved]:
        """Return the chunks that may overlap a stretch, in the order of the input."""
        first = bisect_right(self.largest_ends, start)
        last = bisect_left(self.starts, end)
        in_input_order = sorted(self.numbered[first:last], key=lambda numbered_chunk: numbered_chunk.number)
        return [numbered_chunk.chunk for numbered_chunk in in_input_order]


def _find_overlap(chunk: Retrieved, other: Retrieved) -> _Overlap | None:
    """Return where another chunk overlaps one; None if it does not."""
    start = max(chunk.start or 0, other.start or 0)
    end = min(chunk.end or 0, other.end or 0)
    if start >= end:
        return None
    return _Overlap(other, start, end)


def _reads_alike(chunk: Retrieved, overlap: _Overlap) -> bool:
    """Return whether two chunks have the same text where they overlap; True if a text is not known verbatim."""
    chunk_text = _verbatim(chunk, overlap)
    other_text = _verbatim(overlap.chunk, overlap)
    return chunk_text is None or other_text is None or chunk_text == other_text


def _verbatim(chunk: Retrieved, overlap: _Overlap) -> str | None:
    """Return the text of a chunk where it overlaps another; None unless its text is verbatim from the source."""
    if chunk.text is None or chunk.start is None or chunk.end is None or len(chunk.text) != chunk.end - chunk.start:
        return None
    return chunk.text[overlap.start - chunk.start : overlap.end - chunk.start]
