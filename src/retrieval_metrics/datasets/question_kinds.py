"""The kinds of questions, and how many of each are written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from retrieval_metrics._internal.validation import positive_number

if TYPE_CHECKING:
    from collections.abc import Collection


ONE_PASSAGE = "one_passage"
SEVERAL_PASSAGES = "several_passages"
OTHER_WORDS = "other_words"
KEYWORDS = "keywords"
COMPARISON = "comparison"
CONVERSATIONAL = "conversational"
UNANSWERABLE = "unanswerable"

# The meaning of each kind, whose name is also that of its prompt.
KINDS = {
    ONE_PASSAGE: "one passage answers it",
    OTHER_WORDS: "one passage answers it, in words other than the question's",
    SEVERAL_PASSAGES: "several passages are needed together",
    KEYWORDS: "a few words for a search box",
    COMPARISON: "compares what two documents say",
    CONVERSATIONAL: "it continues a conversation, and needs its context",
    UNANSWERABLE: "no passage answers it",
}

# The kinds that are made from several passages, all of which are needed.
MULTI_PASSAGE_KINDS = frozenset({SEVERAL_PASSAGES, COMPARISON})

# How questions are divided among kinds if no kinds are named.
DEFAULT_SHARES = {ONE_PASSAGE: 4, OTHER_WORDS: 3, SEVERAL_PASSAGES: 2, KEYWORDS: 1}


def apportion(
    n: int, shares: str | Iterable[str] | Mapping[str, float], allowed_names: Collection[str], argument: str
) -> dict[str, int]:
    """Return how many of `n` go to each name, by the largest remainders.

    Example:
        >>> apportion(10, {"keywords": 1, "one_passage": 2}, KINDS, "kinds")
        {'keywords': 3, 'one_passage': 7}
    """
    share_by_name = _read_shares(shares, argument)
    listed_names = ", ".join(map(repr, allowed_names))
    if not share_by_name:
        raise ValueError(f"{argument} must be among {listed_names}, got none")
    for name in share_by_name:
        if name not in allowed_names:
            raise ValueError(f"{argument} must be among {listed_names}, got {name!r}")
    valid_shares = {name: positive_number(share, f"the share of {name!r}") for name, share in share_by_name.items()}
    total = sum(valid_shares.values())
    exact_counts = {name: n * share / total for name, share in valid_shares.items()}
    counts = {name: int(exact_count) for name, exact_count in exact_counts.items()}
    by_remainder = sorted(counts, key=lambda name: counts[name] - exact_counts[name])
    for name in by_remainder[: n - sum(counts.values())]:
        counts[name] += 1
    return counts


def _read_shares(shares: str | Iterable[str] | Mapping[str, float], argument: str) -> Mapping[str, float]:
    if isinstance(shares, str):
        return {shares: 1}
    if isinstance(shares, Mapping):
        return shares
    try:
        return dict.fromkeys(shares, 1)
    except TypeError:
        message = f"{argument} must be a name, names, or a mapping of names to shares, got {shares!r}"
        raise TypeError(message) from None
