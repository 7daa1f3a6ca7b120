"""Refuse early what cannot be judged: judgments before any answer, and the first answer that does not fit them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from retrieval_metrics.checks import id_kind, same_kind
from retrieval_metrics.inputs.items import Retrieved, key_of
from retrieval_metrics.judging.judge import judge
from retrieval_metrics.judging.ranking_order import BY_ID

if TYPE_CHECKING:
    from retrieval_metrics.checks import QueryId
    from retrieval_metrics.inputs.items import Ranking
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.judging.ranking_order import MatchBy


class Judgeable:
    """Checks that rankings can be judged: that they have what the judgments are compared with."""

    def __init__(self, qrels: Qrels, match: MatchBy) -> None:
        """Set the judgments, and what their ids are compared with; judge that nothing was retrieved.

        Raises:
            ValueError: If `match` is unknown, or a judgment can be judged in no answer, such as a quote that is too
                short.
        """
        nothing: Any = dict.fromkeys(qrels.queries, ())
        judge(qrels, nothing, match, BY_ID)
        self._qrels = qrels
        self._key = key_of(match)
        self._by = match if isinstance(match, str) or callable(match) else match.by

    def check(self, ranking: Ranking, query: QueryId) -> None:
        """Raise if a ranking cannot be judged.

        Raises:
            TypeError: If it holds only ids where more is needed, or ids of another type than those of the judgments.
            ValueError: If it holds items without the values to compare.
        """
        keys = self._keys(ranking, query)
        kind = id_kind({type(key) for key in keys}, f"the document ids retrieved for query {query!r}")
        same_kind(self._qrels.document_kind, "document ids in the judgments", kind, "those that were retrieved")

    def _keys(self, ranking: Any, query: QueryId) -> list[Any]:
        if isinstance(ranking, Mapping) or not all(isinstance(item, Retrieved) for item in islice(ranking, 1)):
            if ranking and (self._qrels.has_pieces or self._by != "id"):
                raise TypeError(
                    f"the retriever returned only ids for query {query!r}, but the judgments or match= need more; "
                    "return rm.Retrieved(id, text=..., source=...) for every document"
                )
            return list(ranking)
        if self._qrels.document_kind is None:
            return []
        keys = [key for item in ranking if (key := self._key(item)) is not None]
        if self._by == "id" and len(keys) < len(ranking):
            raise ValueError(
                f"{len(ranking) - len(keys)} of {len(ranking)} documents retrieved for query {query!r} have no id, and "
                "the judgments are ids; store the documents with their ids, match by 'source', 'metadata:<name>' or a "
                "callable, or judge by Quote, Text or Span"
            )
        if ranking and not keys:
            there = ", ".join(map(repr, ranking[0].metadata or ())) or "nothing"
            raise ValueError(
                f"no document retrieved for query {query!r} has a value for match={self._by!r}; the metadata of the "
                f"first has {there}"
            )
        return keys
