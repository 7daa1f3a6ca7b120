"""The pieces that can be judged instead of ids: quotes, texts, spans of a source, and metadata."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, TypeAlias

from retrieval_metrics.inputs.items import Piece, path_as_text

if TYPE_CHECKING:
    from retrieval_metrics.inputs.items import Retrieved


@dataclass(frozen=True, slots=True)
class Quote(Piece):
    r"""A text that a retrieved item must contain in one piece.

    Texts are compared after NFKC, without case, white space and hyphens between letters, and with one form of quotation
    marks, so line breaks (also within a hyphenated word), ligatures and typography do not matter. If a chunk boundary
    cuts a quote, neither chunk contains it; a `Span` does not have this problem.

    Attributes:
        text: The quoted words. Short quotes occur by chance (see `Matching.min_quote_length`).

    Example:
        >>> import retrieval_metrics as rm
        >>> chunk = rm.Retrieved("c1", "The \u201cwith\u201d statement\nwraps a block.")
        >>> rm.evaluate({"q": [rm.Quote('the "with" statement wraps')]}, {"q": [chunk]}, "recall").means["recall"]
        1.0
    """

    text: str

    def __post_init__(self) -> None:
        _require_text(self.text, "a Quote")


@dataclass(frozen=True, slots=True)
class Text(Piece):
    """A reference text, satisfied once the retrieved items together contain enough of its words.

    A word counts as contained if a run of words around it appears unchanged in an item (see
    `Matching.min_common_words`); case, punctuation and white space do not matter. A chunk inside a long reference
    covers a part of it, and the chunk that completes `Matching.min_coverage` of the reference satisfies it.

    Attributes:
        text: The reference, such as a chunk of the index that was judged.

    Example:
        >>> import retrieval_metrics as rm
        >>> reference = rm.Text("The with statement wraps a block with methods that a context manager defines.")
        >>> halves = [
        ...     rm.Retrieved("a", "The with statement wraps a block with"),
        ...     rm.Retrieved("b", "a block with methods that a context manager defines. Next"),
        ... ]
        >>> result = rm.evaluate({"q": [reference]}, {"q": halves}, ["recall@1", "recall@2"])
        >>> result.means["recall@1"], result.means["recall@2"]
        (0.0, 1.0)
    """

    text: str

    def __post_init__(self) -> None:
        _require_text(self.text, "a Text")


@dataclass(frozen=True, slots=True, repr=False)
class Span(Piece):
    """A part of a source, satisfied once the retrieved items together cover enough of it, however they are cut.

    Attributes:
        source: The name of the source, as in the retrieved items; a `Path` becomes text.
        start: Offset of the first character, from 0.
        end: Offset after the last character.
        uncertain: Whether only some part of the span is relevant rather than all of it, as in a span that `relabel`
            made from an old chunk. Ignored when spans are compared.

    Example:
        >>> import retrieval_metrics as rm
        >>> halves = [
        ...     rm.Retrieved("c1", source="a.md", start=0, end=100),
        ...     rm.Retrieved("c2", source="a.md", start=100, end=200),
        ... ]
        >>> result = rm.evaluate({"q": [rm.Span("a.md", 50, 150)]}, {"q": halves}, ["recall@1", "recall@2"])
        >>> result.means["recall@1"], result.means["recall@2"]
        (0.0, 1.0)
    """

    source: str
    start: int
    end: int
    uncertain: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "source", path_as_text(self.source))
        for offset in (self.start, self.end):
            if isinstance(offset, bool) or not isinstance(offset, Integral):
                raise TypeError(f"the offsets of a Span must be integers, got {offset!r} in {self.source!r}")
        if not 0 <= self.start < self.end:
            raise ValueError(f"a Span needs 0 <= start < end, got {self.start!r} and {self.end!r} in {self.source!r}")

    def __repr__(self) -> str:
        flag = ", uncertain=True" if self.uncertain else ""
        return f"Span(source={self.source!r}, start={self.start!r}, end={self.end!r}{flag})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Span):
            return NotImplemented
        return (self.source, self.start, self.end) == (other.source, other.start, other.end)

    def __hash__(self) -> int:
        return hash((self.source, self.start, self.end))


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Metadata(Piece):
    """Properties that a retrieved item must have, such as the page of a file, a section or a product.

    An item must have all of them. `source` is compared with the source of the item, or else with its metadata; all
    other names are looked up in the metadata. Values are compared as they are: `page="3"` is not `page=3`, but a
    `Path` equals its text. `~Metadata(tenant="acme")` matches every item that lacks one of the properties: the items of
    any other tenant, and those without a tenant.

    Attributes:
        values: Names and values, sorted by name.
        negated: Whether it matches the items that lack one of the properties.

    Example:
        >>> import retrieval_metrics as rm
        >>> chunk = rm.Retrieved("c1", source="a.pdf", metadata={"page": 3})
        >>> rm.evaluate({"q": [rm.Metadata(source="a.pdf", page=3)]}, {"q": [chunk]}, "recall").means["recall"]
        1.0
    """

    values: tuple[tuple[str, Any], ...]
    negated: bool

    def __init__(self, **values: Any) -> None:
        if not values:
            raise ValueError("Metadata needs at least one value, for example Metadata(source='a.pdf', page=3)")
        for name, value in values.items():
            try:
                hash(value)
            except TypeError:
                raise TypeError(f"the value of {name!r} in Metadata must be hashable, got {value!r}") from None
        compared_values = {name: path_as_text(value) for name, value in values.items()}
        object.__setattr__(self, "values", tuple(sorted(compared_values.items())))
        object.__setattr__(self, "negated", False)

    def __invert__(self) -> Metadata:
        negation = Metadata(**dict(self.values))
        object.__setattr__(negation, "negated", not self.negated)
        return negation

    def matches(self, item: Retrieved) -> bool:
        """Return whether an item has all the properties or, if negated, lacks one."""
        has_all = all(have_equal_values(item.value(name), value) for name, value in self.values)
        return has_all is not self.negated

    @property
    def source(self) -> str | None:
        """The source that an item must have; None if it may have any."""
        return None if self.negated else dict(self.values).get("source")

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self.values)
        sign = "~" if self.negated else ""
        return f"{sign}Metadata({values})"


def have_equal_values(first: Any, second: Any) -> bool:
    """Return whether two values are equal; False where their comparison has no answer, as with arrays and `pandas.NA`.

    Args:
        first: A value of the metadata of an item or of a judgment.
        second: Another one.
    """
    try:
        return bool(first == second)
    except (ValueError, TypeError, ArithmeticError):
        return False


def _require_text(text: Any, owner: str) -> None:
    if not isinstance(text, str):
        raise TypeError(f"{owner} must hold a str, got {text!r} ({type(text).__name__})")
    if not text.strip():
        raise ValueError(f"{owner} needs a text, got {text!r}")


# Pieces of one kind with their grades: a mapping is invariant in its keys, so each kind needs a mapping of its own.
GradedPieces: TypeAlias = Mapping[Quote, float] | Mapping[Text, float] | Mapping[Span, float] | Mapping[Metadata, float]
