"""Match judged metadata: every item that has the values is relevant, and the first one satisfies the judgment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrieval_metrics.inputs.pieces import Metadata
from retrieval_metrics.matching.piece_hits import pieces_by_query

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.inputs.items import Retrieved
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.matching.piece_hits import PieceHits


class MetadataRule:
    """Finds judged metadata; the first item that has the values satisfies the judgment, and every one is relevant."""

    def __init__(self, qrels: Qrels) -> None:
        self._metadata_by_query: dict[int, dict[int, Metadata]] = pieces_by_query(qrels, Metadata)

    def find(self, query: int, ranking: Sequence[tuple[int, Retrieved]], hits: PieceHits) -> None:
        """Look for the metadata of a query among the items of its ranking."""
        for piece_position, metadata in self._metadata_by_query.get(query, {}).items():
            is_satisfied = False
            for rank in _find_ranks(metadata, ranking):
                hits.add_overlapping(piece_position, rank)
                if not is_satisfied:
                    is_satisfied = True
                    hits.add_satisfied(piece_position, rank)


def _find_ranks(metadata: Metadata, ranking: Sequence[tuple[int, Retrieved]]) -> list[int]:
    """Return the ranks whose item has the values, itself or in a copy; negated, those where neither has them."""
    matches_by_rank: dict[int, list[bool]] = {}
    for rank, item in ranking:
        matches_by_rank.setdefault(rank, []).append(metadata.matches(item))
    accept = all if metadata.negated else any
    return [rank for rank, matches in matches_by_rank.items() if accept(matches)]
