"""Match ids that are judged alongside pieces such as quotes."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

from retrieval_metrics._internal.validation import common_id_type, require_same_id_type
from retrieval_metrics.matching.piece_hits import pieces_by_query

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.inputs.items import Retrieved
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.matching.matching_options import Matching
    from retrieval_metrics.matching.piece_hits import PieceHits


class IdRule:
    """Finds ids that are judged alongside pieces; the first item that has an id, or contains it, satisfies it."""

    def __init__(self, qrels: Qrels, matching: Matching) -> None:
        self._qrels = qrels
        self._key = matching.key
        self._finds_contained = matching.by == "id"
        # By query: the position in `Qrels.documents` of each judged id.
        self._position_by_id: dict[int, dict[Any, int]] = {}
        for query, ids in pieces_by_query(qrels, (str, Integral)).items():
            self._position_by_id[query] = {document_id: position for position, document_id in ids.items()}

    def find(self, query: int, ranking: Sequence[tuple[int, Retrieved]], hits: PieceHits) -> None:
        """Look for the ids of a query among the items of its ranking."""
        missing = dict(self._position_by_id.get(query, {}))
        if not missing:
            return
        keys = [self._key(item) for _, item in ranking]
        id_type = common_id_type({type(key) for key in keys} - {type(None)}, "document IDs in the run")
        require_same_id_type(self._qrels.document_kind, "document IDs in the qrels", id_type, "those in the run")
        for (rank, item), key in zip(ranking, keys, strict=True):
            ids = (key, *item.contains) if self._finds_contained else (key,)
            for document_id in ids:
                piece_position = missing.pop(document_id, None)
                if piece_position is None:
                    continue
                hits.add_satisfied(piece_position, rank)
                hits.add_overlapping(piece_position, rank)
