"""The kinds and difficulties of generated questions, and how many of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from retrieval_metrics.checks import positive_number

if TYPE_CHECKING:
    from collections.abc import Sequence

ONE_PASSAGE, SEVERAL_PASSAGES, OTHER_WORDS, KEYWORDS = "one_passage", "several_passages", "other_words", "keywords"
COMPARISON, CONVERSATIONAL, UNANSWERABLE = "comparison", "conversational", "unanswerable"

KINDS = {
    ONE_PASSAGE: "one passage answers it",
    OTHER_WORDS: "one passage answers it, in other words than the question's",
    SEVERAL_PASSAGES: "several passages are needed together",
    KEYWORDS: "a few words for a search box",
    COMPARISON: "what two documents say is compared",
    CONVERSATIONAL: "it continues a conversation, and needs what was said",
    UNANSWERABLE: "no passage answers it",
}
"""The meaning of each kind, whose name is also that of its prompt."""

OF_SEVERAL = frozenset({SEVERAL_PASSAGES, COMPARISON})
"""The kinds that are made from several passages, all of which are needed."""

DEFAULT_SHARES = {ONE_PASSAGE: 4, OTHER_WORDS: 3, SEVERAL_PASSAGES: 2, KEYWORDS: 1}

EASY, MEDIUM, HARD = "easy", "medium", "hard"
DIFFICULTIES = {
    EASY: "at least two thirds of its content words are in the passage",
    MEDIUM: "one third to two thirds are",
    HARD: "fewer than one third are",
}


def difficulty_of(overlap: float) -> str:
    """Return the difficulty of a question by the share of its content words that are in what it was made from.

    Example:
        >>> difficulty_of(2 / 3), difficulty_of(0.5), difficulty_of(0.3)
        ('easy', 'medium', 'hard')
    """
    if 3 * overlap >= 2:  # noqa: PLR2004  (two thirds)
        return EASY
    return MEDIUM if 3 * overlap >= 1 else HARD


def shared_out(n: int, shares: Any, known: Sequence[str] | Mapping[str, str], what: str) -> dict[str, int]:
    """Return how many of `n` go to each name, by the largest remainders.

    Args:
        n: The total.
        shares: A name, several names in equal shares, or a mapping of names to shares, in any unit.
        known: The known names.
        what: What is shared out, for messages.

    Raises:
        TypeError: If the shares are none of these.
        ValueError: If a name is unknown, there is no name, or a share is not positive.

    Example:
        >>> shared_out(10, {"easy": 1, "hard": 2}, DIFFICULTIES, "difficulty")
        {'easy': 3, 'hard': 7}
    """
    if isinstance(shares, str):
        shares = [shares]
    if not isinstance(shares, Mapping):
        try:
            shares = dict.fromkeys(shares, 1)
        except TypeError:
            raise TypeError(f"{what} must be a name, names, or a mapping of names to shares, got {shares!r}") from None
    if not shares or (unknown := [name for name in shares if name not in known]):
        said = repr(unknown[0]) if shares else "none"
        raise ValueError(f"{what} must be among {', '.join(map(repr, known))}, got {said}")
    parts = {name: positive_number(share, f"the share of {name!r}") for name, share in shares.items()}
    whole = sum(parts.values())
    exact = {name: n * part / whole for name, part in parts.items()}
    counts = {name: int(value) for name, value in exact.items()}
    order = sorted(exact, key=lambda name: counts[name] - exact[name])
    for name in order[: n - sum(counts.values())]:
        counts[name] += 1
    return counts
