"""Match ids and metadata, which do not depend on the text of an item."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

from retrieval_metrics.checks import id_kind, same_kind
from retrieval_metrics.inputs.items import Metadata
from retrieval_metrics.judging.matching.piece_hits import pieces_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.inputs.items import Retrieved
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.judging.matching.matching import Matching
    from retrieval_metrics.judging.matching.piece_hits import PieceHits


class IdRule:
    """Finds ids that are judged alongside pieces, each at the first item that has it."""

    def __init__(self, qrels: Qrels, matching: Matching) -> None:
        self._qrels = qrels
        self._key = matching.key
        self._ids: dict[int, dict[Any, int]] = {
            query: {document: at for at, document in ids.items()}
            for query, ids in pieces_of(qrels, (str, Integral)).items()
        }

    def find(self, query: int, ranking: Sequence[tuple[int, Retrieved]], hits: PieceHits) -> None:
        """Look for the ids of a query among the items of its ranking."""
        ids = dict(self._ids.get(query, {}))
        if not ids:
            return
        keys = [(rank, self._key(item)) for rank, item in ranking]
        kind = id_kind({type(key) for _, key in keys if key is not None}, "document ids in the run")
        same_kind(self._qrels.document_kind, "document ids in the qrels", kind, "those in the run")
        for rank, key in keys:
            at = ids.pop(key, None)
            if at is not None:
                hits.satisfied(at, rank)
                hits.overlapping(at, rank)


class MetadataRule:
    """Finds judged metadata; an item satisfies it if it has all the properties."""

    def __init__(self, qrels: Qrels) -> None:
        self._wanted: dict[int, dict[int, Metadata]] = pieces_of(qrels, Metadata)

    def find(self, query: int, ranking: Sequence[tuple[int, Retrieved]], hits: PieceHits) -> None:
        """Look for the metadata of a query among the items of its ranking."""
        missing = dict(self._wanted.get(query, {}))
        for at, wanted in self._wanted.get(query, {}).items():
            for rank, item in ranking:
                if all(item.value(name) == value for name, value in wanted.values):
                    hits.overlapping(at, rank)
                    if missing.pop(at, None):
                        hits.satisfied(at, rank)
