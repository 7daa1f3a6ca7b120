"""The options for matching retrieved items with the judgments."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from retrieval_metrics._internal.validation import positive_integer, proportion
from retrieval_metrics.files.record_classes import register_record
from retrieval_metrics.inputs.match_key import get_match_key

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from retrieval_metrics.inputs.match_key import Key

    # What ids of the judgments are compared with, as `match=` takes it everywhere.
    MatchBy: TypeAlias = "str | Key | Matching"


@register_record
@dataclass(frozen=True, slots=True, kw_only=True)
class Matching:
    """How retrieved items are matched with the judgments.

    Attributes:
        by: What an id of the judgments is compared with: `"id"`, `"source"`, `"filename"` (the last part of the source,
            or of `file_path` or `file_name` in the metadata), `"metadata:<name>"`, or a callable that takes a
            `Retrieved` and returns its id, or None if it has none.
        deduplicate: Drop every item whose id under `by` appears earlier in the ranking, so that a document takes one
            rank however many of its chunks were retrieved. Otherwise a duplicate keeps its rank, without credit.
        sources: The text of each source, under the name used in items and spans. With it, white space does not count
            towards what spans and items cover, and an item without offsets is searched for in its source. Without it,
            every character counts.
        min_quote_length: A `Quote` with fewer characters, white space excluded, is an error, because it could occur by
            chance.
        min_common_words: How many consecutive words must match for a word of a `Text` to count as covered.
        min_coverage: A `Span` or a `Text` is satisfied once this share of its characters is covered.
        min_overlap: An item counts as relevant in precision if its overlap with a `Span` or a `Text` is at least this
            share of the shorter of the two.
        count_tokens: Returns the number of tokens of a text, for cutoffs such as `recall@800tokens` if items have no
            `tokens`.
        option: The option of an integration that stands for `by`, which warnings name instead, such as
            `document_comparison_field='meta.file'`.

    Raises:
        ValueError: If an option has an invalid value.
    """

    by: str | Key = "id"
    deduplicate: bool = False
    sources: Mapping[str, str] | None = field(default=None, repr=False, hash=False)
    min_quote_length: int = 8
    min_common_words: int = 5
    min_coverage: float = 0.8
    min_overlap: float = 0.5
    count_tokens: Callable[[str], int] | None = None
    option: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        get_match_key(self.by)
        positive_integer(self.min_quote_length, "min_quote_length")
        positive_integer(self.min_common_words, "min_common_words")
        proportion(self.min_coverage, "min_coverage", allow_one=True)
        proportion(self.min_overlap, "min_overlap", allow_one=True)

    @property
    def key(self) -> Key:
        """The function that returns the value of an item to compare with ids."""
        return get_match_key(self.by)

    def __str__(self) -> str:
        return self.by if isinstance(self.by, str) else getattr(self.by, "__name__", repr(self.by))


def as_matching(match: MatchBy) -> Matching:
    """Return the options unchanged, or options with `Matching.by` set to the value."""
    return match if isinstance(match, Matching) else Matching(by=match)
