"""Carry judgments over to chunks that were cut anew."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from retrieval_metrics._internal.validation import to_data_frame
from retrieval_metrics.inputs.chunk_offsets import locate
from retrieval_metrics.inputs.items import Piece, Span
from retrieval_metrics.inputs.qrels import as_qrels
from retrieval_metrics.matching.character_ranges import merge_ranges
from retrieval_metrics.matching.ids import count_common_queries
from retrieval_metrics.matching.judge import judge
from retrieval_metrics.matching.ranking_order import Matching
from retrieval_metrics.matching.span_offsets import SpanLocator
from retrieval_metrics.metrics.base.rules import STANDARD
from retrieval_metrics.reports.tables import Printed, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pandas as pd

    from retrieval_metrics._internal.validation import DocumentId, QueryId
    from retrieval_metrics.inputs.items import Judgments, Key, Relevant, Retrieved, RunMapping
    from retrieval_metrics.inputs.qrels import QuestionsOrQrels


Fate: TypeAlias = Literal["kept", "moved", "split", "merged", "lost"]

_MEANING: Mapping[Fate, str] = {
    "kept": "the same chunk has the same id",
    "moved": "one new chunk holds it, under another id or with other boundaries",
    "split": "it takes several new chunks to hold it",
    "merged": "one new chunk holds it together with other old chunks",
    "lost": "the new chunks do not hold it",
}
SPLIT = 0.1
"""With a larger share of split labels, chunkings cannot be compared by what needs a whole old chunk."""


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
    status: Fate
    span: Span | None
    new_ids: tuple[DocumentId | None, ...]
    coverage: float


class RelabelResult(Printed):
    """Judgments that do not depend on the chunking, and the result for every label.

    Attributes:
        qrels: The judgments, with every label as a `Span` over its old chunk. The spans are marked as uncertain,
            because it is unknown which part of the chunk was relevant. They fit any chunking of the sources.
        labels: The result for each label.
        counts: The number of labels with each fate.
    """

    def __init__(self, qrels: dict[QueryId, Judgments], labels: Iterable[Relabelled]) -> None:
        self.qrels: Any = qrels
        self.labels = list(labels)
        found = Counter(label.status for label in self.labels)
        self.counts: dict[Fate, int] = {fate: found[fate] for fate in _MEANING}

    def to_pandas(self) -> pd.DataFrame:
        """Return a DataFrame with one row per label and the columns of `Relabelled`.

        Raises:
            ImportError: If pandas is not installed; the message holds the command.
        """
        columns = [field.name for field in fields(Relabelled)]
        rows = [[getattr(label, name) for name in columns] for label in self.labels]
        return to_data_frame(rows, columns)

    def __repr__(self) -> str:
        return f"<RelabelResult of {len(self.labels)} labels: {self.counts['lost']} lost>"

    def _tables(self) -> list[Table]:
        rows = [[f"{fate}: {meaning}", str(self.counts[fate])] for fate, meaning in _MEANING.items()]
        notes = [
            f"lost: {label.old_id!r} of query {label.query!r}, {label.coverage:.0%} held"
            + ("" if label.span else "; its position is unknown, so it stays an id")
            for label in self.labels
            if label.status == "lost"
        ]
        if self.counts["split"] > SPLIT * len(self.labels):
            notes.append(
                "a split label counts only once most of its old chunk is retrieved, whichever part was relevant, which "
                "favours long chunks; compare chunkings by coverage@2000chars, or judge by quotes"
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
        >>> new = [Retrieved(at, source="s", start=at, end=at + 384) for at in (0, 384, 768)]
        >>> result = relabel({"q": ["a"]}, old, new)
        >>> result.labels[0].status, result.labels[0].new_ids
        ('split', (0, 384))
        >>> result.qrels
        {'q': {Span(source='s', start=0, end=512, uncertain=True): 1.0}}
    """
    options = match or Matching()
    truth = as_qrels(qrels)
    old, new = (locate(chunks, options.sources or {}) for chunks in (old_chunks, new_chunks))
    by_id: dict[Any, Retrieved] = {}
    for chunk in old:
        if chunk.id in by_id:
            raise ValueError(f"two old chunks have the id {chunk.id!r}, so a label with that id is ambiguous")
        by_id[chunk.id] = chunk
    chunking = _ChunkFinder(old, new, options)
    labels: list[Relabelled] = []

    def carried(query: QueryId, relevant: Relevant) -> Relevant:
        if isinstance(relevant, Piece):
            return relevant
        label = chunking.fate_of(query, relevant, by_id.get(relevant))
        labels.append(label)
        return label.span or relevant

    def group(query: QueryId, grades: Mapping[Any, float]) -> dict[Any, float]:
        places: dict[Any, float] = {}
        for relevant, grade in grades.items():
            place = carried(query, relevant)
            places[place] = max(grade, places.get(place, grade))  # two old chunks may have the same position
        return places

    judgments: dict[QueryId, Judgments] = {}
    for query, given in truth.as_dict().items():
        judgments[query] = group(query, given) if isinstance(given, Mapping) else [group(query, one) for one in given]
    return RelabelResult(judgments, labels)


class _ChunkFinder:
    """Finds the parts of old chunks in the new ones."""

    def __init__(self, old: Sequence[Retrieved], new: Sequence[Retrieved], options: Matching) -> None:
        self._share = options.min_coverage
        self._locator = SpanLocator(options.sources)
        self._old = _ChunkIndex(old)
        self._new = _ChunkIndex(new)

    def fate_of(self, query: QueryId, label: DocumentId, chunk: Retrieved | None) -> Relabelled:
        """Return the result for one label."""
        if chunk is None or chunk.source is None or chunk.start is None or chunk.end is None or not self._length(chunk):
            return Relabelled(query, label, "lost", None, (), 0.0)
        span = Span(chunk.source, chunk.start, chunk.end, uncertain=True)
        parts = [
            (self._locator.counted_length(chunk.source, *stretch), stretch, other)
            for other, stretch in self._new.meeting(chunk)
            if _reads_alike(chunk, other, stretch)
        ]
        parts = sorted((part for part in parts if part[0]), key=lambda part: -part[0])
        union = merge_ranges(stretch for _, stretch, _ in parts)
        held = sum(self._locator.counted_length(chunk.source, *stretch) for stretch in union) / self._length(chunk)
        new = tuple(other.id for _, _, other in parts)
        return Relabelled(query, label, self._fate(chunk, [part[2] for part in parts], held), span, new, held)

    def _fate(self, chunk: Retrieved, holding: Sequence[Retrieved], held: float) -> Fate:
        if held < self._share:
            return "lost"
        largest = holding[0]
        if not self._holds(largest, chunk):
            return "split"
        if self._holds(chunk, largest):
            same = largest.id == chunk.id and (largest.start, largest.end) == (chunk.start, chunk.end)
            return "kept" if same else "moved"
        others = (other for other, _ in self._old.meeting(largest) if other is not chunk)
        return "merged" if any(self._holds(largest, other) for other in others) else "moved"

    def _holds(self, holder: Retrieved, chunk: Retrieved) -> bool:
        stretch = _common(holder, chunk)
        if stretch is None or chunk.source is None:
            return False
        return self._locator.counted_length(chunk.source, *stretch) / max(self._length(chunk), 1) >= self._share

    def _length(self, chunk: Retrieved) -> int:
        return self._locator.counted_length(chunk.source or "", chunk.start or 0, chunk.end or 0)


class _ChunkIndex:
    """Finds the chunks that overlap another, without reading all of their source."""

    def __init__(self, chunks: Iterable[Retrieved]) -> None:
        by_source: dict[str, list[Retrieved]] = {}
        for chunk in chunks:
            if chunk.source is not None and chunk.start is not None and chunk.end is not None:
                by_source.setdefault(chunk.source, []).append(chunk)
        self._of = {source: self._sorted(given) for source, given in by_source.items()}

    @staticmethod
    def _sorted(chunks: list[Retrieved]) -> tuple[list[tuple[int, Retrieved]], list[int], list[int]]:
        """Return chunks by start with their place in the input, their starts, and the largest end up to each."""
        placed = sorted(enumerate(chunks), key=lambda one: one[1].start or 0)
        starts = [chunk.start or 0 for _, chunk in placed]
        return placed, starts, list(accumulate((chunk.end or 0 for _, chunk in placed), max))

    def meeting(self, chunk: Retrieved) -> Iterator[tuple[Retrieved, tuple[int, int]]]:
        """Yield the chunks that overlap one, in the order of the input, each with the stretch in common."""
        placed, starts, furthest = self._of.get(chunk.source or "", ([], [], []))
        first, last = bisect_right(furthest, chunk.start or 0), bisect_left(starts, chunk.end or 0)
        for _, other in sorted(placed[first:last], key=lambda one: one[0]):
            if (stretch := _common(chunk, other)) is not None:
                yield other, stretch


def _common(left: Retrieved, right: Retrieved) -> tuple[int, int] | None:
    start, end = max(left.start or 0, right.start or 0), min(left.end or 0, right.end or 0)
    return (start, end) if start < end else None


def _reads_alike(left: Retrieved, right: Retrieved, stretch: tuple[int, int]) -> bool:
    """Return whether two chunks have the same text where they overlap; True if a text is not known verbatim."""
    one, other = _verbatim(left, stretch), _verbatim(right, stretch)
    return one is None or other is None or one == other


def _verbatim(chunk: Retrieved, stretch: tuple[int, int]) -> str | None:
    if chunk.text is None or chunk.start is None or chunk.end is None or len(chunk.text) != chunk.end - chunk.start:
        return None
    return chunk.text[stretch[0] - chunk.start : stretch[1] - chunk.start]


# Show which retrieved item satisfies which judgment, to check the matching before you trust a metric.

SHOWN = 60
"""The length to which cells are cut, because a quote may fill a page."""


class Match(NamedTuple):
    """One judged id or piece, and where it was found.

    Attributes:
        query: The query.
        relevant: The id, quote, text, span or property.
        grade: Its grade.
        rank: The rank of the item that satisfies it, or of the last of several that do so together; None if none does.
    """

    query: QueryId
    relevant: Relevant
    grade: float
    rank: int | None


class Matches(Printed):
    """All judged ids and pieces with the ranks that satisfy them, query by query.

    Attributes:
        rows: One `Match` for each judgment, in the order of the judgments.
    """

    def __init__(self, rows: Sequence[Match]) -> None:
        self.rows = tuple(rows)

    @property
    def missing(self) -> list[Match]:
        """The relevant judgments that no item satisfies."""
        return [row for row in self.rows if row.rank is None and row.grade > 0]

    def __iter__(self) -> Iterator[Match]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def to_pandas(self) -> pd.DataFrame:
        """Return a DataFrame with one row per judgment; the rank is missing if no item satisfies it.

        Raises:
            ImportError: If pandas is not installed; the message holds the command.
        """
        frame = to_data_frame(self.rows, Match._fields)
        return frame.astype({"rank": "Int64"})

    def __repr__(self) -> str:
        return f"<Matches: {len(self.rows)} judged, {len(self.missing)} relevant ones not found>"

    def _tables(self) -> list[Table]:
        rows = [
            [
                f"{_short(row.query)}  {_short(row.relevant)}",
                f"{row.grade:g}",
                "-" if row.rank is None else str(row.rank),
            ]
            for row in self.rows
        ]
        return [Table(["query and what is judged", "grade", "rank"], rows)]


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 4]}...{text[-1]}"


def match(qrels: QuestionsOrQrels, run: RunMapping, match: str | Key | Matching = "id") -> Matches:
    """Find which retrieved item satisfies which judgment, exactly as `evaluate` does.

    Args:
        qrels: The judgments, as for `evaluate`.
        run: The rankings, as for `evaluate`.
        match: What an id of the judgments is compared with, as in `evaluate`.

    Raises:
        TypeError: If judgments or rankings have the wrong type.
        ValueError: If the run is empty or has no query in common with the judgments, or an option is unknown.

    Example:
        >>> from retrieval_metrics import Quote, Retrieved
        >>> qrels = {"q": [Quote("wraps a block"), "c9"]}
        >>> print(match(qrels, {"q": [Retrieved("c1", "Next."), Retrieved("c2", "It wraps a block.")]}))
        query and what is judged           grade  rank
        'q'  Quote(text='wraps a block')       1     2
        'q'  'c9'                              1     -
    """
    truth = as_qrels(qrels)
    count_common_queries(run, truth)
    items = judge(truth, run, match, STANDARD.order).items
    rank = dict(zip(items.document.tolist(), items.rank.tolist(), strict=True))
    return Matches(
        [
            Match(truth.queries[query], truth.documents[at], grade, rank.get(at))
            for at, (query, grade) in enumerate(
                zip(truth.document_query.tolist(), truth.document_grade.tolist(), strict=True)
            )
        ]
    )
