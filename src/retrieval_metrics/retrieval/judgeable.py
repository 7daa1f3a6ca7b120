"""Check that what was retrieved can be compared with the judgments."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, NoReturn

from retrieval_metrics._internal.validation import common_id_type, require_same_id_type
from retrieval_metrics.inputs.items import Retrieved
from retrieval_metrics.inputs.match_key import get_match_key
from retrieval_metrics.inputs.ranking_checks import is_missing_id
from retrieval_metrics.matching.judge import judge
from retrieval_metrics.matching.ranking_order import TIES_BY_ID

if TYPE_CHECKING:
    from retrieval_metrics._internal.plain_types import QueryId
    from retrieval_metrics.inputs.items import Ranking
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.matching.matching_options import MatchBy


class Judgeable:
    """Checks that rankings can be judged: that they have what the judgments are compared with."""

    def __init__(self, qrels: Qrels, match: MatchBy) -> None:
        """Set the judgments, and what their ids are compared with; judge that nothing was retrieved."""
        empty_run: Any = dict.fromkeys(qrels.queries, ())
        judge(qrels, empty_run, match, TIES_BY_ID)
        self._qrels = qrels
        self._key = get_match_key(match)
        self._match_by = match if isinstance(match, str) or callable(match) else match.by

    def check(self, ranking: Ranking, query: QueryId) -> None:
        """Raise if a ranking cannot be judged.

        Raises:
            TypeError: If it holds only ids where more is needed, or ids of another type than those of the judgments.
            ValueError: If it holds items without the values to compare.
        """
        keys = self._read_keys(ranking, query)
        key_type = common_id_type({type(key) for key in keys}, f"the document IDs retrieved for query {query!r}")
        require_same_id_type(
            self._qrels.document_kind, "document IDs in the judgments", key_type, "those that were retrieved"
        )

    def _read_keys(self, ranking: Any, query: QueryId) -> list[Any]:
        """Return what the judgments are compared with."""
        has_items = not isinstance(ranking, Mapping) and all(isinstance(item, Retrieved) for item in islice(ranking, 1))
        if not has_items:
            if ranking and (self._qrels.has_pieces or self._match_by != "id"):
                raise TypeError(
                    f"the retriever returned only IDs for query {query!r}, but the judgments or match= need more; "
                    "return rm.Retrieved(id, text=..., source=...) for every document"
                )
            return list(ranking)
        if self._qrels.document_kind is None:
            return []
        keys = []
        for item in ranking:
            key = self._key(item)
            if not is_missing_id(key):
                keys.append(key)
        if self._match_by == "id" and len(keys) < len(ranking):
            raise ValueError(
                f"{len(ranking) - len(keys)} of {len(ranking)} documents retrieved for query {query!r} have no ID, and "
                "the judgments are IDs; store the documents with their IDs, match by 'source', 'metadata:<name>' or a "
                "callable, or judge by Quote, Text or Span"
            )
        if ranking and not keys:
            self._refuse_without_keys(ranking[0], query)
        return keys

    def _refuse_without_keys(self, first: Retrieved, query: QueryId) -> NoReturn:
        from difflib import get_close_matches

        metadata = first.metadata or {}
        names = ", ".join(map(repr, metadata)) or "nothing"
        close = get_close_matches(str(self._match_by), [f"metadata:{name}" for name in metadata], n=1)
        hint = f"; write match={close[0]!r}" if close else ""
        raise ValueError(
            f"no document retrieved for query {query!r} has a value for match={self._match_by!r}; the metadata of the "
            f"first has {names}{hint}"
        )
