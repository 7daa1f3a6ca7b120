"""Read the answer of a retriever to a query as a ranking."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from retrieval_metrics.checks import id_kind
from retrieval_metrics.inputs.documents import host_of
from retrieval_metrics.inputs.items import Retrieved
from retrieval_metrics.inputs.run import ITEMS, as_list, keyed, lists_of_ids, refuse_bad_score

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from retrieval_metrics.checks import QueryId
    from retrieval_metrics.inputs.items import Ranking


def as_ranking(answer: Any, query: QueryId, items: Callable[[Any], Sequence[Retrieved]] | None) -> Ranking:
    """Return the answer of a retriever as a ranking: ids, ids with scores, or items.

    Args:
        answer: What the retriever returned; documents of any installed host are converted.
        query: The id of the query.
        items: A function that converts the answer, such as that of the retriever's host; None for a plain function.

    Raises:
        TypeError: If it is not a ranking.
        ValueError: If a score is not finite.
        ImportError: If the answer holds documents of a host whose integration is not installed.
    """
    if answer is None:
        raise TypeError(
            f"the retriever returned None for query {query!r}; does it lack a return statement? If nothing was found, "
            "return an empty list"
        )
    if items is not None:
        return list(items(answer))
    if isinstance(answer, Mapping):
        return _scored(answer, query)
    if isinstance(answer, (list, tuple)) and answer and isinstance(answer[0], (list, tuple)):
        _refuse_pairs(answer[0], query)
    if isinstance(answer, (list, tuple)) and answer and isinstance(answer[0], Mapping):
        raise TypeError(f"the retriever returned {keyed(answer[0])} for query {query!r}; return {ITEMS}")
    ranked = as_list(answer, query)
    if not ranked or all(isinstance(item, Retrieved) for item in ranked):
        return ranked
    first = ranked[0]
    if not isinstance(first, (str, Integral)) and (found := host_of(first)) is not None:
        return list(found.items(ranked))
    if not isinstance(first, (str, Integral, Retrieved)):
        raise TypeError(
            f"the retriever returned objects of type {type(first).__name__} for query {query!r}; return the ids of the "
            "documents, best first, or items: [rm.Retrieved(id, text=...) for ... in found]"
        )
    id_kind(set(map(type, ranked)), f"the document ids retrieved for query {query!r}")
    return ranked


def _scored(answer: Mapping[Any, Any], query: QueryId) -> Ranking:
    for name, value in answer.items():
        if not isinstance(value, Real):
            raise TypeError(
                f"the retriever returned a mapping for query {query!r} with a {type(value).__name__} under "
                f"{name!r}; a mapping must map document ids to scores, so return only the documents in it"
            )
    id_kind(set(map(type, answer)), f"the document ids retrieved for query {query!r}")
    refuse_bad_score(answer, query)
    return answer


def _refuse_pairs(pair: Sequence[Any], query: QueryId) -> None:
    if lists_of_ids(pair) and all(isinstance(part, (str, Integral)) for part in pair):
        raise TypeError(
            f"the retriever returned lists such as {pair!r} for query {query!r}; return one list of ids, best first"
        )
    of_ids = bool(pair) and isinstance(pair[0], (str, Integral))
    first = repr(pair) if of_ids else f"({', '.join(type(part).__name__ for part in pair)})"
    instead = "dict(found), which is ids with scores" if of_ids else "[document for document, score in found]"
    raise TypeError(f"the retriever returned pairs such as {first} for query {query!r}; return {instead}")
