"""Check that a ranking is a list of ids or a mapping of ids to finite scores; errors say how to fix it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any, NoReturn

from retrieval_metrics._internal.validation import show_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics._internal.plain_types import DocumentId, QueryId


# What to pass instead of dicts, for error messages.
ITEMS_HINT = 'their IDs, or items: [rm.Retrieved(row["id"], row["text"]) for row in found]'
PAIR_LENGTH = 2


def as_list(ranking: Any, query: QueryId) -> Sequence[Any]:
    """Return a ranking in rank order as a list.

    Raises:
        TypeError: If it has no order, or holds pairs, lists or dicts in place of ids.
    """
    if isinstance(ranking, (list, tuple, range)):
        documents: Sequence[DocumentId] = ranking
    elif hasattr(ranking, "tolist") and not isinstance(ranking, (str, bytes)):  # numpy strings have it, too
        documents = ranking.tolist()
        if not isinstance(documents, list):  # an array without a dimension holds one value, which may be a text
            _refuse_no_list(documents, query)
    else:
        _refuse_no_list(ranking, query)
    if documents:
        _require_ids_or_items(documents[0], query)
    return documents


def _refuse_no_list(ranking: Any, query: QueryId) -> NoReturn:
    if isinstance(ranking, (str, bytes)):
        raise TypeError(f"the ranking of query {query!r} is the bare string {ranking!r}; write a list: [{ranking!r}]")
    message = (
        f"the ranking of query {query!r} must be a list of document IDs, best first, or a mapping of document IDs "
        f"to scores, got {type(ranking).__name__}"
    )
    if isinstance(ranking, (set, frozenset)):
        message += "; a set has no order"
    raise TypeError(message)


def _require_ids_or_items(element: Any, query: QueryId) -> None:
    """Raise if the first element of a ranking is a pair, a list or a dict; the others are taken to be like it."""
    if isinstance(element, Mapping):
        raise TypeError(f"the ranking of query {query!r} holds {describe_keys(element)}; pass {ITEMS_HINT}")
    if not isinstance(element, (tuple, list)):
        return
    if is_list_of_ids(element):
        raise TypeError(
            f"the ranking of query {query!r} holds lists such as {show_value(element)}; pass one list of IDs, best "
            "first"
        )
    raise TypeError(
        f"the ranking of query {query!r} holds pairs such as {show_value(element)}; pass dict(ranking) for scored "
        "documents"
    )


def is_missing_id(item_id: Any) -> bool:
    """Return whether an item has no id, or an empty one, as hosts write a missing id or source."""
    return item_id is None or item_id == ""


def refuse_empty_id(query: QueryId) -> NoReturn:
    """Raise because a ranking holds an empty id."""
    raise ValueError(f"the ranking of query {query!r} holds an empty ID, ''; give each document an ID, or remove it")


def is_list_of_ids(element: Sequence[Any]) -> bool:
    """Return whether an element of a ranking is a list of ids, and not a pair of id and score."""
    return len(element) != PAIR_LENGTH or all(isinstance(part, str) for part in element)


def describe_keys(row: Mapping[Any, Any]) -> str:
    """Return the description of a list of dicts with these keys, for an error message."""
    keys = ", ".join(map(repr, row))
    return f"dicts with keys {keys or 'none'}"


def require_finite_scores(ranking: Mapping[Any, float], query: QueryId) -> None:
    """Raise for the first score that is not finite; finite scores with an infinite sum are not an error."""
    for document, score in ranking.items():
        if not isinstance(score, Real):
            raise TypeError(
                f"the score of document {document!r} for query {query!r} must be a number, got {show_value(score)} "
                f"({type(score).__name__})"
            )
        # math.isfinite raises for an int that is too large for a float; NaN fails every comparison.
        if not abs(score) <= sys.float_info.max:
            if isinstance(score, int):  # its digits may be thousands
                raise ValueError(
                    f"the score of document {document!r} for query {query!r} is an integer of {score.bit_length()} "
                    "bits; scores must be finite"
                )
            raise ValueError(
                f"the score of document {document!r} for query {query!r} is {score!r}; scores must be finite"
            )
