"""The objects that users retrieve and judge: items, and the pieces that can be judged instead of ids."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from types import MappingProxyType, NoneType
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from retrieval_metrics._internal.plain_types import DocumentId


# What a caller may go on filling after he made an item of it.
_COPIED_VALUES = (list, set, dict)


@dataclass(frozen=True, slots=True)
class Retrieved:
    """An item that a retriever returned; only what is compared with the judgments is required.

    Attributes:
        id: Its id in the index; None if it has none.
        text: Its text.
        source: What it was cut from: a file, a page, a document id.
        start: Offset of its first character in the source, from 0.
        end: Offset after its last character; optional if there are a `text` and a `start`.
        score: The retriever's score. It is not used: rankings of Retrieved are in list order.
        metadata: Anything else, by name; copied, with the lists, sets and dicts in it, and ignored by the hash.
        tokens: How many tokens it has, for cutoffs such as `recall@800tokens`.
        offsets_unverified: Whether `start` and `end` are only what a framework recorded. Such offsets may refer to a
            section, a page or an earlier form of the text, so they count only where the text of the source, or the
            quote beside a span, confirms them.
        copies: Other items of the same document, which `fuse` keeps; quotes, texts, spans and metadata are looked for
            in them as well, and they take no rank.
        contains: The ids of the chunks that it contains, if it is the parent that a retriever returned in their place.
            A judged one counts as found at its rank.

    Raises:
        TypeError: If the text is not a str, or an offset is not an int.
        ValueError: If the offsets are negative or reversed, or there is an end without a start.

    Example:
        >>> Retrieved("with#2", "The with statement", source="with", start=120).end
        138
    """

    id: DocumentId | None
    text: str | None = None
    source: str | None = None
    start: int | None = None
    end: int | None = None
    score: float | None = None
    metadata: Mapping[str, Any] | None = field(default=None, hash=False)
    tokens: int | None = None
    offsets_unverified: bool = field(default=False, repr=False, compare=False, kw_only=True)
    copies: tuple[Retrieved, ...] = field(default=(), repr=False, compare=False, kw_only=True)
    contains: tuple[DocumentId, ...] = field(default=(), repr=False, compare=False, kw_only=True)

    def __post_init__(self) -> None:
        if self.metadata is not None:
            # A copy, because a caller may use one dict for one result after another.
            metadata = dict(self.metadata)
            for name, value in metadata.items():
                if type(value) in _COPIED_VALUES:
                    metadata[name] = value.copy()
            object.__setattr__(self, "metadata", metadata)
        if self.text is not None and not isinstance(self.text, str):
            raise TypeError(
                f"the text of retrieved item {self.id!r} must be a str or None, got {type(self.text).__name__}"
            )
        if self.start is None and self.end is None:  # the usual case, and items are made by the million
            return
        if not (isinstance(self.start, (int, NoneType)) and isinstance(self.end, (int, NoneType))):
            raise TypeError(
                f"the offsets of retrieved item {self.id!r} must be int or None, got {self.start!r} and {self.end!r}"
            )
        if self.start is None:
            if self.end is not None:
                raise ValueError(f"retrieved item {self.id!r} ends at {self.end!r} but has no start")
            return
        if self.end is None:
            if self.text is None:
                return
            object.__setattr__(self, "end", self.start + len(self.text))
        elif not 0 <= self.start <= self.end:
            raise ValueError(f"retrieved item {self.id!r} needs 0 <= start <= end, got {self.start!r} and {self.end!r}")
        if self.start < 0:
            raise ValueError(f"retrieved item {self.id!r} needs 0 <= start, got {self.start!r}")

    def value(self, name: str) -> Any:
        """Return `source` or an entry of the metadata, where an item without a source may have it."""
        if name == "source" and self.source is not None:
            return self.source
        if self.metadata is None:
            return None
        return self.metadata.get(name)


def item_identity(item: Any) -> Any:
    """Return a value that is equal for equal items: the id, or else the range in a source, or else the text."""
    if not isinstance(item, Retrieved):
        return item
    if item.id is not None:
        return item.id
    if item.source is not None and item.start is not None:
        return (item.source, item.start, item.end)
    return ("text", item.text)


# Judgments other than ids: quotes, texts, spans of a source, and metadata.


class Piece:
    """A judgment other than an id: what a retrieved item must contain, cover or be."""

    __slots__ = ()


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
        source: The name of the source, as in the retrieved items.
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
    other names are looked up in the metadata. Values are compared as they are: `page="3"` is not `page=3`.
    `~Metadata(tenant="acme")` matches every item that lacks one of the properties: the items of any other tenant, and
    those without a tenant.

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
        object.__setattr__(self, "values", tuple(sorted(values.items())))
        object.__setattr__(self, "negated", False)

    def __invert__(self) -> Metadata:
        negation = Metadata(**dict(self.values))
        object.__setattr__(negation, "negated", not self.negated)
        return negation

    def matches(self, item: Retrieved) -> bool:
        """Return whether an item has all the properties or, if negated, lacks one."""
        return all(item.value(name) == value for name, value in self.values) is not self.negated

    @property
    def source(self) -> str | None:
        """The source that an item must have; None if it may have any."""
        return None if self.negated else dict(self.values).get("source")

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self.values)
        sign = "~" if self.negated else ""
        return f"{sign}Metadata({values})"


def _require_text(text: Any, owner: str) -> None:
    if not isinstance(text, str):
        raise TypeError(f"{owner} must hold a str, got {text!r} ({type(text).__name__})")
    if not text.strip():
        raise ValueError(f"{owner} needs a text, got {text!r}")


# Aliases of the shapes in which judgments and runs are accepted.

# A mapping is invariant in its keys, so "str or int" must be a union of mappings, not a mapping of a union.
NumberById: TypeAlias = Mapping[str, float] | Mapping[int, float]

# What can be relevant: a document by its id, or a piece such as a quote.
Relevant: TypeAlias = "DocumentId | Piece"

# One literal, because Pyright does not read two literals that Python joins as a type.
ByKind: TypeAlias = "Mapping[Quote, float] | Mapping[Text, float] | Mapping[Span, float] | Mapping[Metadata, float]"
Grades: TypeAlias = "NumberById | ByKind | Mapping[Piece, float] | Mapping[Relevant, float]"

# Alternatives of which one suffices: ids or pieces, with or without grades.
Alternatives: TypeAlias = "Grades | Collection[Relevant]"

# The judgments of one query: ids or pieces, with or without grades, or groups that are all needed.
Judgments: TypeAlias = "Grades | Collection[Relevant] | Sequence[Alternatives]"

# What was retrieved for one query: ids with scores, or ids or items, best first.
Ranking: TypeAlias = "NumberById | Sequence[DocumentId] | Sequence[Retrieved]"

QrelsMapping: TypeAlias = Mapping[str, Judgments] | Mapping[int, Judgments]
RunMapping: TypeAlias = Mapping[str, Ranking] | Mapping[int, Ranking]
QueryTexts: TypeAlias = Mapping[str, str] | Mapping[int, str]
NO_TEXTS: QueryTexts = MappingProxyType({})
