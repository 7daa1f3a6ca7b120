"""Index the passages of a corpus, to find quotes, copies and similar passages in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from retrieval_metrics._internal.grouping import group_pairs
from retrieval_metrics.files.text_folders import read_texts
from retrieval_metrics.inputs.documents import documents_as_items
from retrieval_metrics.inputs.items import Retrieved
from retrieval_metrics.matching.quote_search import as_searched_text
from retrieval_metrics.matching.text_normalisation import normalise
from retrieval_metrics.matching.words import word_runs, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics._internal.plain_types import DocumentId
    from retrieval_metrics.inputs.match_key import Key

    # Texts or BEIR rows by id, passages, documents of a host, ids alone, or the path of a file or folder of texts.
    CorpusSource: TypeAlias = Mapping[Any, object] | Iterable[object] | PathLike[str] | str


CORPUS_FORMS = (
    "a corpus must map IDs to texts, as in {'d1': 'its text'}, or be a list of Retrieved(id, text=..., source=...) or "
    "of documents of a framework"
)

# Passages are compared by runs of so many words.
RUN_LENGTH = 4

# A run of words that is in more passages than this is boilerplate, and is ignored.
MAX_PASSAGES_OF_RUN = 50

# Passages with fewer rare words share many of them by chance.
MIN_RARE_WORDS = 12

# Fills the gaps of an assembled source that no passage covers.
WORD_SEPARATOR = "\0"

# A gap between two passages of up to so many characters counts as white space that the splitter removed.
MAX_TRIMMED = 4


class CorpusIndex:
    """The passages of a corpus, with indexes that make searches fast.

    Attributes:
        items: The passages.
        by_id: The passages by id.
        ids: The ids of all documents, also of those without a text.
    """

    def __init__(self, items: Iterable[Retrieved], ids: Iterable[DocumentId] = ()) -> None:
        self.items = list(items)
        self.by_id: dict[Any, Retrieved] = {}
        for item in self.items:
            if item.id is not None and self.by_id.setdefault(item.id, item) is not item:
                raise ValueError(f"the corpus has document {item.id!r} twice; an ID must name one passage")
        self.ids = set(ids) | self.by_id.keys()

    def name_items(self, key: Key) -> None:
        """Let another value of the passages, which several of them may share, take the place of their ids.

        A text by its id is named by it as by a source. A name that several passages share is known, but names none.
        """
        names = [_find_name(item, key) for item in self.items]
        n_items_by_name = Counter(names)
        named_items = []
        for item, name in zip(self.items, names, strict=True):
            is_alone = n_items_by_name[name] == 1
            named_items.append(replace(item, id=name if is_alone else None))
        self.items = named_items
        self.by_id = {item.id: item for item in named_items if item.id is not None}
        self.ids = {name for name in names if name is not None}

    @classmethod
    def from_corpus(cls, corpus: CorpusSource) -> CorpusIndex:
        """Read a corpus: texts by id, BEIR rows by id, passages, documents of a host, a folder, a file, or only ids."""
        if isinstance(corpus, PathLike) or (isinstance(corpus, str) and Path(corpus).exists()):
            corpus = read_texts(corpus)
        if isinstance(corpus, (str, bytes)) or not isinstance(corpus, Iterable):
            no_path_note = ""
            if isinstance(corpus, str):
                no_path_note = f" {corpus[:80]!r}, and no file or folder has that path"
            raise TypeError(f"{CORPUS_FORMS}, got {type(corpus).__name__}{no_path_note}")
        if isinstance(corpus, Mapping):
            index = cls(_passage_from_entry(name, content) for name, content in corpus.items())
        else:
            entries: list[Any] = list(corpus)
            if entries and all(isinstance(entry, (str, int)) for entry in entries):
                return cls([], entries)
            index = cls(documents_as_items(entries, CORPUS_FORMS))
        if not index.items:
            raise ValueError("the corpus is empty: it has no passages")
        return index

    @cached_property
    def passage_positions(self) -> dict[Any, int]:
        """The position of each passage among the items, by id."""
        return {item.id: position for position, item in enumerate(self.items) if item.id is not None}

    @cached_property
    def sources(self) -> dict[str, str]:
        """The text of each source, assembled from the passages; what no passage holds is left blank."""
        items_by_source: dict[str, list[Retrieved]] = {}
        for item in self.items:
            if item.source is not None and item.text is not None and item.start is not None:
                items_by_source.setdefault(item.source, []).append(item)
        text_by_source: dict[str, str] = {}
        for name, items in items_by_source.items():
            text = _assemble_source(items)
            if text:
                text_by_source[name] = text
        return text_by_source

    def has_source(self, name: str) -> bool:
        """Return whether a passage comes from a source."""
        return any(item.source == name for item in self.items)

    @cached_property
    def normal_sources(self) -> dict[str, str]:
        """The sources in the form in which quotes are compared."""
        return {name: normalise(text) for name, text in self.sources.items()}

    @cached_property
    def normal_texts(self) -> list[str]:
        """The passages in the form in which quotes are compared."""
        return [normalise(item.text or "") for item in self.items]

    @cached_property
    def tokens(self) -> list[list[str]]:
        """The words of each passage."""
        return [words(item.text or "") for item in self.items]

    @cached_property
    def _positions_by_word(self) -> dict[str, list[int]]:
        positions_by_word: dict[str, list[int]] = {}
        for position, tokens in enumerate(self.tokens):
            for word in dict.fromkeys(tokens):
                positions_by_word.setdefault(word, []).append(position)
        return positions_by_word

    @cached_property
    def _joined_texts(self) -> str:
        return WORD_SEPARATOR.join(self.normal_texts)

    def find_quote(self, quote: str) -> list[int]:
        """Return the passages that hold a quote, as quotes are matched."""
        normal_quote = normalise(quote)
        inner_words = words(quote)[1:-1]  # the first and the last word of a quote may be parts of words
        candidates = min((self._positions_by_word.get(word, []) for word in inner_words), key=len, default=None)
        if candidates:
            positions = [position for position in candidates if self._holds_quote(position, normal_quote)]
            if positions:
                return positions
        if normal_quote not in self._joined_texts:  # words may be divided differently, as at the end of a line
            return []
        return [position for position in range(len(self.items)) if self._holds_quote(position, normal_quote)]

    def _holds_quote(self, position: int, normal_quote: str) -> bool:
        if normal_quote not in self.normal_texts[position]:
            return False
        return as_searched_text(self.items[position].text or "").holds(normal_quote)

    def find_passages_with_words(self, wanted_words: Sequence[str]) -> list[int]:
        """Return the passages that have all of the words."""
        positions_of_words = [self._positions_by_word.get(word, []) for word in set(wanted_words)]
        if not positions_of_words:
            return []
        rarest = min(positions_of_words, key=len)
        return [position for position in rarest if set(self.tokens[position]).issuperset(wanted_words)]

    def count_places(self, quote: str) -> dict[Any, int]:
        """Return how often a quote is in each source whose text is known, and else in each passage by id."""
        normal_quote = normalise(quote)
        n_places: Counter[Any] = Counter()
        for position in self.find_quote(quote):
            item = self.items[position]
            if item.source in self.sources:
                n_places[item.source] = _count_quote(self.sources[item.source], normal_quote)
            else:
                n_places[item.id] += _count_quote(item.text or "", normal_quote)
        return dict(n_places)

    def find_source_of_quote(self, quote: str) -> str | None:
        """Return the source that holds a quote, even if no passage does."""
        normal_quote = normalise(quote)
        for name, normal_text in self.normal_sources.items():
            if normal_quote in normal_text and _count_quote(self.sources[name], normal_quote):
                return name
        return None

    @cached_property
    def shingles(self) -> list[set[tuple[str, ...]]]:
        """The runs of words of each passage; a passage that is shorter is one run."""
        return [set(word_runs(tokens, min(RUN_LENGTH, max(len(tokens), 1)))) for tokens in self.tokens]

    @cached_property
    def _positions_by_run(self) -> dict[tuple[str, ...], list[int]]:
        positions_by_run: dict[tuple[str, ...], list[int]] = {}
        for position, runs in enumerate(self.shingles):
            for run in runs:
                positions_by_run.setdefault(run, []).append(position)
        return positions_by_run

    @cached_property
    def _positions_by_text(self) -> dict[str, list[int]]:
        return group_pairs((text, position) for position, text in enumerate(self.normal_texts) if text)

    def find_copies(self, position: int) -> list[int]:
        """Return the other passages with the same text."""
        same_text = self._positions_by_text.get(self.normal_texts[position], ())
        return [other for other in same_text if other != position]

    def find_similar(self, position: int, min_share: float) -> dict[int, float]:
        """Return the passages that share runs of words with one, and the share of the shorter passage's runs."""
        own_runs = self.shingles[position] - self._common_runs
        n_shared: Counter[int] = Counter()
        for run in own_runs:
            n_shared.update(self._positions_by_run[run])
        del n_shared[position]
        share_by_position: dict[int, float] = {}
        for other, count in sorted(n_shared.items()):
            other_runs = self.shingles[other]
            # Nearly all passages are dismissed here, before their common runs are taken out.
            if count < min_share * min(len(own_runs), len(other_runs)) / 2:
                continue
            n_shorter = min(len(own_runs), len(other_runs - self._common_runs))
            if count >= min_share * n_shorter:
                share_by_position[other] = count / n_shorter
        return share_by_position

    @cached_property
    def _common_runs(self) -> set[tuple[str, ...]]:
        return {run for run, positions in self._positions_by_run.items() if len(positions) > MAX_PASSAGES_OF_RUN}

    def find_similar_in_words(self, position: int, min_share: float) -> dict[int, float]:
        """Return the passages that share rare words with one, and the share of the shorter list of rare words."""
        own_words = self._rare_words[position]
        n_shared: Counter[int] = Counter()
        for word in own_words:
            n_shared.update(self._positions_by_word[word])
        del n_shared[position]
        share_by_position: dict[int, float] = {}
        for other, count in sorted(n_shared.items()):
            n_shorter = min(len(own_words), len(self._rare_words[other]))
            if n_shorter >= MIN_RARE_WORDS and count >= min_share * n_shorter:
                share_by_position[other] = count / n_shorter
        return share_by_position

    @cached_property
    def _rare_words(self) -> list[set[str]]:
        rare_words = {
            word for word, positions in self._positions_by_word.items() if len(positions) <= MAX_PASSAGES_OF_RUN
        }
        return [rare_words.intersection(tokens) for tokens in self.tokens]

    def are_overlapping(self, position: int, other: int) -> bool:
        """Return whether two passages are parts of one source that overlap."""
        left = self.items[position]
        right = self.items[other]
        if left.source is None or left.source != right.source:
            return False
        if left.start is None or left.end is None or right.start is None or right.end is None:
            return False
        return max(left.start, right.start) < min(left.end, right.end)


def _count_quote(text: str, normal_quote: str) -> int:
    return len(list(as_searched_text(text).find_ranges(normal_quote)))


def _find_name(item: Retrieved, key: Key) -> DocumentId | None:
    """Return the value of a passage that judged ids are compared with."""
    name = key(item)
    if name is None and item.source is None and item.id is not None:
        return key(replace(item, source=str(item.id)))
    return name


def _passage_from_entry(name: Any, content: Any) -> Retrieved:
    if isinstance(content, Retrieved):
        return content
    if isinstance(content, Mapping) and isinstance(content.get("text"), str):
        content = f"{content['title']} {content['text']}" if content.get("title") else content["text"]
    if not isinstance(content, str):
        raise TypeError(f"the corpus must map IDs to texts, got {content!r} for {name!r}")
    return Retrieved(name, content, source=str(name), start=0)


def _assemble_source(items: list[Retrieved]) -> str:
    """Return the text of a source, or "" unless its passages are verbatim parts of it."""
    length = max(item.end or 0 for item in items)
    if any(len(item.text or "") != (item.end or 0) - (item.start or 0) for item in items):
        return ""
    chunks_of_source: list[str] = []
    end = 0
    # Of passages that begin together, the longest comes first, so that the others add nothing.
    for item in sorted(items, key=lambda item: (item.start or 0, -(item.end or 0))):
        start = item.start or 0
        text = item.text or ""
        if start > end:
            filler = " " if start - end <= MAX_TRIMMED else WORD_SEPARATOR
            chunks_of_source.append(filler * (start - end))
            end = start
        chunks_of_source.append(text[end - start :])
        end = max(end, start + len(text))
    return "".join(chunks_of_source)[:length]
