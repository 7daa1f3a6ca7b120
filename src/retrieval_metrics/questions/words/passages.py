"""The corpus of a lint: passages by id, and the sources they were cut from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from retrieval_metrics.checks import grouped
from retrieval_metrics.files.texts import texts_at
from retrieval_metrics.inputs.documents import as_items
from retrieval_metrics.inputs.items import Retrieved
from retrieval_metrics.judging.normalised import normalised, reading
from retrieval_metrics.judging.pieces_met import runs_of, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.checks import DocumentId

WANTED = (
    "a corpus must map ids to texts, as in {'d1': 'its text'}, or be a list of Retrieved(id, text=..., source=...) or "
    "of documents of a framework"
)
SHINGLE = 4
"""The number of words in a run that passages are compared by."""
COMMON = 50
"""A run of words in more passages than this is boilerplate, and ignored."""
FEWEST_RARE = 12
"""Passages with fewer rare words share many of them by chance."""
UNPLACED = "\0"
"""Fills the gaps of an assembled source that no passage covers."""
TRIMMED = 4
"""Gaps up to this many characters are white space that splitters trim off passages."""


class Passages:
    """The passages of a corpus, with indexes that make searches fast.

    Attributes:
        items: The passages.
        by_id: The passages by id.
    """

    def __init__(self, items: Iterable[Retrieved], ids: Iterable[DocumentId] = ()) -> None:
        self.items = list(items)
        self.by_id: dict[Any, Retrieved] = {}
        for item in self.items:
            if item.id is not None and self.by_id.setdefault(item.id, item) is not item:
                raise ValueError(f"the corpus has document {item.id!r} twice; an id must name one passage")
        self.ids = set(ids) | self.by_id.keys()

    @classmethod
    def of(cls, corpus: Any) -> Passages:
        """Read a corpus: texts by id, BEIR rows by id, passages, documents of a host, a folder, a file, or only ids.

        Raises:
            TypeError: If it is none of these.
            ValueError: If it is empty, or an id appears twice.
            OSError: If a file cannot be read.
        """
        if isinstance(corpus, PathLike) or (isinstance(corpus, str) and Path(corpus).exists()):
            corpus = texts_at(corpus)
        if isinstance(corpus, (str, bytes)) or not isinstance(corpus, Iterable):
            raise TypeError(f"{WANTED}, got {type(corpus).__name__}")
        if isinstance(corpus, Mapping):
            read = cls(_passage(name, content) for name, content in corpus.items())
        else:
            entries = list(corpus)
            if entries and all(isinstance(entry, (str, int)) for entry in entries):
                return cls([], entries)
            read = cls(as_items(entries, WANTED))
        if not read.items:
            raise ValueError("the corpus is empty: it has no passages")
        return read

    @cached_property
    def place(self) -> dict[Any, int]:
        """The place of each passage among the items, by id."""
        return {item.id: at for at, item in enumerate(self.items) if item.id is not None}

    @cached_property
    def sources(self) -> dict[str, str]:
        """The text of each source, assembled from the passages; what no passage holds is left blank."""
        parts = grouped(
            (item.source, item)
            for item in self.items
            if item.source is not None and item.text is not None and item.start is not None
        )
        return {name: text for name, held in parts.items() if (text := _assembled(held))}

    def has_source(self, name: str) -> bool:
        """Return whether a passage comes from a source."""
        return any(item.source == name for item in self.items)

    @cached_property
    def normal_sources(self) -> dict[str, str]:
        """The sources in the form in which quotes are compared."""
        return {name: normalised(text) for name, text in self.sources.items()}

    @cached_property
    def normal_texts(self) -> list[str]:
        """The passages in the form in which quotes are compared."""
        return [normalised(item.text or "") for item in self.items]

    @cached_property
    def tokens(self) -> list[list[str]]:
        """The words of each passage."""
        return [words(item.text or "") for item in self.items]

    @cached_property
    def _having(self) -> dict[str, list[int]]:
        return grouped((word, at) for at, tokens in enumerate(self.tokens) for word in dict.fromkeys(tokens))

    @cached_property
    def _all_texts(self) -> str:
        return UNPLACED.join(self.normal_texts)

    def holding(self, quote: str) -> list[int]:
        """Return the passages that hold a quote, as quotes are matched."""
        wanted = normalised(quote)
        inner = words(quote)[1:-1]  # the first and the last word of a quote may be parts of words
        candidates = min((self._having.get(word, []) for word in inner), key=len, default=None)
        if candidates:
            found = [at for at in candidates if self._holds(at, wanted)]
            if found:
                return found
        if wanted not in self._all_texts:  # words may be separated differently, as at the end of a line
            return []
        return [at for at in range(len(self.items)) if self._holds(at, wanted)]

    def _holds(self, at: int, wanted: str) -> bool:
        return wanted in self.normal_texts[at] and reading(self.items[at].text or "").holds(wanted)

    def having_all(self, wanted: Sequence[str]) -> list[int]:
        """Return the passages that have all of the words."""
        having = sorted((self._having.get(word, []) for word in set(wanted)), key=len)
        if not having:
            return []
        kept = [set(self.tokens[at]) for at in having[0]]
        return [at for at, tokens in zip(having[0], kept, strict=True) if tokens.issuperset(wanted)]

    def places(self, quote: str) -> dict[Any, int]:
        """Return how often a quote is in each source whose text is known, and else in each passage by id.

        A place in overlapping passages counts once.
        """
        wanted = normalised(quote)
        found: Counter[Any] = Counter()
        for at in self.holding(quote):
            item = self.items[at]
            if item.source in self.sources:
                found[item.source] = _count(self.sources[item.source], wanted)
            else:
                found[item.id] += _count(item.text or "", wanted)
        return dict(found)

    def source_of(self, quote: str) -> str | None:
        """Return the source that holds a quote, even if no passage does."""
        wanted = normalised(quote)
        held = (name for name, text in self.normal_sources.items() if wanted in text)
        return next((name for name in held if _count(self.sources[name], wanted)), None)

    @cached_property
    def shingles(self) -> list[set[tuple[str, ...]]]:
        """The runs of words of each passage; a passage that is shorter is one run."""
        return [set(runs_of(tokens, min(SHINGLE, max(len(tokens), 1)))) for tokens in self.tokens]

    @cached_property
    def _sharing(self) -> dict[tuple[str, ...], list[int]]:
        return grouped((run, at) for at, runs in enumerate(self.shingles) for run in runs)

    @cached_property
    def _same(self) -> dict[str, list[int]]:
        return grouped((text, at) for at, text in enumerate(self.normal_texts) if text)

    def copies(self, at: int) -> list[int]:
        """Return the other passages with the same text."""
        return [other for other in self._same.get(self.normal_texts[at], ()) if other != at]

    def alike(self, at: int, least: float) -> dict[int, float]:
        """Return the passages that share runs of words with one, and the share of the shorter passage's runs.

        Runs in very many passages are ignored.
        """
        telling = {run for run in self.shingles[at] if len(self._sharing[run]) <= COMMON}
        shared = Counter(other for run in telling for other in self._sharing[run] if other != at)
        alike = {}
        for other, count in sorted(shared.items()):
            if count < least * min(len(telling), len(self.shingles[other])) / 2:
                continue
            size = sum(len(self._sharing[run]) <= COMMON for run in self.shingles[other])
            if count >= least * min(len(telling), size):
                alike[other] = count / min(len(telling), size)
        return alike

    def alike_in_words(self, at: int, least: float) -> dict[int, float]:
        """Return the passages that share rare words with one, and the share of the shorter list of rare words.

        This finds copies in which so many words were changed that few runs are left. Words in very many passages are
        ignored, and so are passages with few others.
        """
        own = self._rare[at]
        shared = Counter(other for word in own for other in self._having[word] if other != at)
        alike = {}
        for other, count in sorted(shared.items()):
            size = min(len(own), len(self._rare[other]))
            if size >= FEWEST_RARE and count >= least * size:
                alike[other] = count / size
        return alike

    @cached_property
    def _rare(self) -> list[set[str]]:
        return [{word for word in tokens if len(self._having[word]) <= COMMON} for tokens in self.tokens]

    def overlap(self, at: int, other: int) -> bool:
        """Return whether two passages are parts of one source that overlap."""
        one, two = self.items[at], self.items[other]
        if None in {one.source, one.start, two.start, one.end, two.end} or one.source != two.source:
            return False
        return max(one.start or 0, two.start or 0) < min(one.end or 0, two.end or 0)


def _count(text: str, wanted: str) -> int:
    return sum(1 for _ in reading(text).places(wanted))


def _passage(name: Any, content: Any) -> Retrieved:
    if isinstance(content, Retrieved):
        return content
    if isinstance(content, Mapping) and isinstance(content.get("text"), str):
        content = f"{content['title']} {content['text']}" if content.get("title") else content["text"]
    if not isinstance(content, str):
        raise TypeError(f"the corpus must map ids to texts, got {content!r} for {name!r}")
    return Retrieved(name, content, source=str(name), start=0)


def _assembled(parts: list[Retrieved]) -> str:
    """Return the text of a source, if its passages are verbatim parts of it."""
    size = max(part.end or 0 for part in parts)
    if any(len(part.text or "") != (part.end or 0) - (part.start or 0) for part in parts):
        return ""
    text, end = [], 0
    for part in sorted(parts, key=lambda part: (part.start or 0, -(part.end or 0))):
        start, held = part.start or 0, part.text or ""
        if start > end:
            text.append((" " if start - end <= TRIMMED else UNPLACED) * (start - end))
            end = start
        text.append(held[end - start :])
        end = max(end, start + len(held))
    return "".join(text)[:size]
