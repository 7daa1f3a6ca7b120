"""The options for matching retrieved items with the judgments."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from retrieval_metrics.checks import positive_integer, proportion
from retrieval_metrics.inputs.items import key_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from retrieval_metrics.inputs.items import Key as Key  # noqa: PLC0414  (exported by this form)

    MatchBy: TypeAlias = "str | Key | Matching"
    """What ids of the judgments are compared with, as `match=` takes it everywhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Matching:
    """How retrieved items are matched with the judgments.

    Attributes:
        by: What an id of the judgments is compared with: `"id"`, `"source"`, `"metadata:<name>"`, or a callable that
            takes a `Retrieved` and returns its id, or None if it has none.
        collapse: Drop every item whose id under `by` appears earlier in the ranking, so that a document takes one rank
            however many of its chunks were retrieved. Otherwise a repeat keeps its rank and earns nothing.
        sources: The text of each source, under the name used in items and spans. With it, white space does not count
            towards what spans and items cover, and an item without offsets is searched for in its source. Without it,
            every character counts.
        shortest_quote: A `Quote` with fewer characters, white space excluded, is an error, because it could occur by
            chance.
        text_run: How many consecutive words must match for a word of a `Text` to count as covered.
        share: A `Span` or a `Text` is satisfied once this share of its characters is covered.
        overlap: An item counts as relevant in precision if its overlap with a `Span` or a `Text` is at least this share
            of the shorter of the two.
        tokens: Returns the number of tokens of a text, for cut-offs such as `recall@800tokens` if items have no
            `tokens`.

    Raises:
        ValueError: If an option has an invalid value.
    """

    by: str | Key = "id"
    collapse: bool = False
    sources: Mapping[str, str] | None = field(default=None, repr=False, hash=False)
    shortest_quote: int = 8
    text_run: int = 5
    share: float = 0.8
    overlap: float = 0.5
    tokens: Callable[[str], int] | None = None

    def __post_init__(self) -> None:
        key_of(self.by)
        positive_integer(self.shortest_quote, "shortest_quote")
        positive_integer(self.text_run, "text_run")
        for name, value in (("share", self.share), ("overlap", self.overlap)):
            proportion(value, name, one=True)

    @property
    def key(self) -> Key:
        """The function that returns the value of an item to compare with ids."""
        return key_of(self.by)

    def __str__(self) -> str:
        return self.by if isinstance(self.by, str) else getattr(self.by, "__name__", repr(self.by))


def as_matching(match: MatchBy) -> Matching:
    """Return the options unchanged, or options with `Matching.by` set to the value.

    Raises:
        ValueError: If it is neither.
    """
    return match if isinstance(match, Matching) else Matching(by=match)
