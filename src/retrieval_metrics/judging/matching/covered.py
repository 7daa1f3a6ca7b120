"""Count how many of the needed characters the retrieved items cover together."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.inputs.items import Text
from retrieval_metrics.judging.judged_rows import within
from retrieval_metrics.judging.matching.alternatives import Atoms, best_choice
from retrieval_metrics.judging.matching.piece_hits import pieces_of
from retrieval_metrics.judging.matching.places import Positions
from retrieval_metrics.judging.matching.stretches import merged, shared
from retrieval_metrics.judging.matching.texts import whole_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from retrieval_metrics.checks import Cut, FloatArray, QueryId
    from retrieval_metrics.inputs.items import Retrieved, Span
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.judging.matching.piece_hits import PieceHits
    from retrieval_metrics.judging.matching.places import Locator


class CoveredCharacters:
    """Counts the characters of spans and texts that are covered at a cut-off, and how many there are.

    Args:
        hits: What was found, and where the items are.
        rankings: The items of each query.
        locator: Measures stretches.
    """

    def __init__(self, hits: PieceHits, rankings: Mapping[QueryId, Sequence[Retrieved]], locator: Locator) -> None:
        self._qrels = hits.qrels
        self._size = hits.size
        self._added = hits.added()
        self._positions = hits.positions
        self._spans = hits.spans
        self._rankings = rankings
        self._locator = locator
        self._alternatives = _alternatives(hits.qrels)

    @property
    def moved(self) -> dict[Span, Span]:
        """The spans that are elsewhere in their sources than they say, because lines end otherwise there."""
        given: Any = self._qrels.documents
        return {given[at]: span for at, span in self._spans.items() if given[at] != span}

    def counted(self, k: Cut) -> tuple[FloatArray, FloatArray]:
        """Return how many needed characters the first k items cover, and how many are needed, each of shape (queries,).

        Each group needs one alternative, chosen so that the share is largest. Characters shared by several spans count
        once. The result is NaN if something needed has no characters to count, or the position of an item is unknown.
        """
        covered = np.full(len(self._qrels), np.nan)
        total = np.full(len(self._qrels), np.nan)
        of_piece = self._covered_of_piece(k)
        for query, groups in self._alternatives.items():
            measured = [[at for at in group if not np.isnan(self._size[at])] for group in groups]
            positions = self._positions.get(query, Positions())
            depth = self._depth(query, k)
            unknown = positions.first_unplaced is not None and positions.first_unplaced <= depth
            if unknown or not all(measured):
                continue
            atoms = self._atoms([at for group in measured for at in group], of_piece, positions, depth)
            covered[query], total[query] = best_choice([[atoms.of[at] for at in group] for group in measured], atoms)
        return covered, total

    def lengths(self, k: Cut) -> FloatArray:
        """Return how many characters the first k items have, repeats included, shape (queries,)."""
        has_texts = pieces_of(self._qrels, Text)
        length = np.zeros(len(self._qrels))
        for query, name in enumerate(self._qrels.queries):
            items = self._rankings.get(name, ())[: self._depth(query, k)]
            length[query] = sum(
                sum(map(len, whole_words(item.text or ""))) if query in has_texts else self._locator.length_of(item)
                for item in items
            )
        return length

    def _depth(self, query: int, k: Cut) -> int:
        if k is None:
            return len(self._rankings.get(self._qrels.queries[query], ()))
        return int(k[query]) if isinstance(k, np.ndarray) else k

    def _covered_of_piece(self, k: Cut) -> list[int]:
        piece, rank, characters = self._added
        if k is not None:
            characters = np.where(within(self._qrels.document_query[piece], rank, k), characters, 0)
        return [int(sum_of_piece) for sum_of_piece in np.bincount(piece, characters, minlength=len(self._size))]

    def _atoms(self, pieces: Iterable[int], of_piece: Sequence[int], positions: Positions, depth: int) -> Atoms:
        """Cut the spans among some pieces at every start and end of a span; a text is a single atom."""
        atoms = Atoms()
        spans: dict[str, dict[int, Span]] = {}
        for at in pieces:
            if (span := self._spans.get(at)) is not None:
                spans.setdefault(span.source, {})[at] = span
            else:
                atoms.add([at], of_piece[at], int(self._size[at]))
        for source, of_source in spans.items():
            held = merged(
                stretch
                for rank, place in zip(positions.ranks, positions.places, strict=True)
                if rank <= depth and place.source == source
                for stretch in place.stretches
            )
            edges = sorted({edge for span in of_source.values() for edge in (span.start, span.end)})
            for start, end in pairwise(edges):
                within_it = [at for at, span in of_source.items() if span.start <= start and end <= span.end]
                covered = sum(self._locator.length(source, *stretch) for stretch in shared([(start, end)], held))
                if within_it:
                    atoms.add(within_it, covered, self._locator.length(source, start, end))
        return atoms


def _alternatives(qrels: Qrels) -> dict[int, list[list[int]]]:
    """Return, by query, the relevant pieces of each group that has any."""
    groups: dict[int, list[int]] = {}
    members = zip(qrels.member_document.tolist(), qrels.member_group.tolist(), qrels.member_grade.tolist(), strict=True)
    for document, group, grade in members:
        if grade > 0:
            groups.setdefault(group, []).append(document)
    of_query: dict[int, list[list[int]]] = {}
    for group in sorted(groups):
        of_query.setdefault(int(qrels.group_query[group]), []).append(groups[group])
    return of_query
