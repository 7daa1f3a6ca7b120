"""The words of texts: their language, their index, and the passages that share them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher
from functools import cache, cached_property
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics._internal.validation import group_pairs, import_optional
from retrieval_metrics.files.text_files import read_texts
from retrieval_metrics.inputs.chunk_offsets import UNSPACED_SCRIPTS
from retrieval_metrics.inputs.documents import documents_as_items
from retrieval_metrics.inputs.items import Retrieved
from retrieval_metrics.matching.text_normalisation import as_searched_text, normalise
from retrieval_metrics.matching.words import word_runs, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics._internal.validation import DocumentId, FloatArray


_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n{2,}")
_SUFFIX = re.compile(r"(?<=\w{3})(?:ies|es|s|ing|ed|ly|e|y)$")


@cache
def stem(word: str) -> str:
    """Return a word without the most common English endings, so that its forms become equal.

    Example:
        >>> stem("queries"), stem("query"), stem("raised"), stem("raises"), stem("is")
        ('quer', 'quer', 'rais', 'rais', 'is')
    """
    return _SUFFIX.sub("", word)


def content_words(tokens: Iterable[str]) -> list[str]:
    """Return the stems of the content words.

    Example:
        >>> content_words("what does the budget for 2024 propose".split())
        ['budget', '2024', 'propos']
    """
    return [stem(token) for token in tokens if token not in FUNCTION_WORDS]


def find_longest_shared_run(left: Sequence[str], right: Sequence[str]) -> tuple[int, int]:
    """Return where in the first text the longest run of words begins that both have, and how long it is.

    Example:
        >>> find_longest_shared_run("why is the sky blue".split(), "because the sky is".split())
        (2, 2)
    """
    found = SequenceMatcher(None, left, right, autojunk=False).find_longest_match()
    return found.a, found.size


def sentences(text: str) -> list[str]:
    """Return the sentences and paragraphs of a text."""
    return [part for part in _SENTENCE_END.split(text) if part.strip()]


def shortened(text: str, most: int = 80) -> str:
    """Return the beginning of a text on one line, in quotation marks."""
    line = " ".join(text.split())
    return repr(line if len(line) <= most else f"{line[: most - 3].rstrip()}...")


# Search texts with BM25, on the stems of their content words.


def can_search() -> bool:
    """Return whether BM25 is installed."""
    return find_spec("bm25s") is not None


class WordIndex:
    """BM25 over texts given as words."""

    def __init__(self, texts: Sequence[Sequence[str]], what: str) -> None:
        """Index the words of each text; `what` names the caller in messages."""
        self._size = len(texts)
        self._index = import_optional("bm25s", what).BM25()
        self._index.index([content_words(tokens) or [""] for tokens in texts], show_progress=False)

    def scores(self, tokens: Sequence[str]) -> FloatArray:
        """Return the score of each text for the words of a query, shape (texts,)."""
        known = [term for term in content_words(tokens) if term in self._index.vocab_dict]
        if not known:
            return np.zeros(self._size)
        scores: FloatArray = self._index.get_scores(known).astype(np.float64)
        return scores


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
WORD_SEPARATOR = "\0"
"""Fills the gaps of an assembled source that no passage covers."""
TRIMMED = 4
"""Gaps up to this many characters are white space that splitters trim off passages."""


class CorpusIndex:
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
    def of(cls, corpus: Any) -> CorpusIndex:
        """Read a corpus: texts by id, BEIR rows by id, passages, documents of a host, a folder, a file, or only ids."""
        if isinstance(corpus, PathLike) or (isinstance(corpus, str) and Path(corpus).exists()):
            corpus = read_texts(corpus)
        if isinstance(corpus, (str, bytes)) or not isinstance(corpus, Iterable):
            no_path = f" {corpus[:80]!r}, and no file or folder has that path" if isinstance(corpus, str) else ""
            raise TypeError(f"{WANTED}, got {type(corpus).__name__}{no_path}")
        if isinstance(corpus, Mapping):
            read = cls(_passage(name, content) for name, content in corpus.items())
        else:
            entries = list(corpus)
            if entries and all(isinstance(entry, (str, int)) for entry in entries):
                return cls([], entries)
            read = cls(documents_as_items(entries, WANTED))
        if not read.items:
            raise ValueError("the corpus is empty: it has no passages")
        return read

    @cached_property
    def passage_positions(self) -> dict[Any, int]:
        """The place of each passage among the items, by id."""
        return {item.id: at for at, item in enumerate(self.items) if item.id is not None}

    @cached_property
    def sources(self) -> dict[str, str]:
        """The text of each source, assembled from the passages; what no passage holds is left blank."""
        parts = group_pairs(
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
    def _having(self) -> dict[str, list[int]]:
        return group_pairs((word, at) for at, tokens in enumerate(self.tokens) for word in dict.fromkeys(tokens))

    @cached_property
    def _all_texts(self) -> str:
        return WORD_SEPARATOR.join(self.normal_texts)

    def holding(self, quote: str) -> list[int]:
        """Return the passages that hold a quote, as quotes are matched."""
        wanted = normalise(quote)
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
        return wanted in self.normal_texts[at] and as_searched_text(self.items[at].text or "").holds(wanted)

    def containing_all(self, wanted: Sequence[str]) -> list[int]:
        """Return the passages that have all of the words."""
        having = sorted((self._having.get(word, []) for word in set(wanted)), key=len)
        if not having:
            return []
        kept = [set(self.tokens[at]) for at in having[0]]
        return [at for at, tokens in zip(having[0], kept, strict=True) if tokens.issuperset(wanted)]

    def places(self, quote: str) -> dict[Any, int]:
        """Return how often a quote is in each source whose text is known, and else in each passage by id."""
        wanted = normalise(quote)
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
        wanted = normalise(quote)
        held = (name for name, text in self.normal_sources.items() if wanted in text)
        return next((name for name in held if _count(self.sources[name], wanted)), None)

    @cached_property
    def shingles(self) -> list[set[tuple[str, ...]]]:
        """The runs of words of each passage; a passage that is shorter is one run."""
        return [set(word_runs(tokens, min(SHINGLE, max(len(tokens), 1)))) for tokens in self.tokens]

    @cached_property
    def _sharing(self) -> dict[tuple[str, ...], list[int]]:
        return group_pairs((run, at) for at, runs in enumerate(self.shingles) for run in runs)

    @cached_property
    def _same(self) -> dict[str, list[int]]:
        return group_pairs((text, at) for at, text in enumerate(self.normal_texts) if text)

    def copies(self, at: int) -> list[int]:
        """Return the other passages with the same text."""
        return [other for other in self._same.get(self.normal_texts[at], ()) if other != at]

    def find_similar(self, at: int, least: float) -> dict[int, float]:
        """Return the passages that share runs of words with one, and the share of the shorter passage's runs."""
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

    def find_similar_in_words(self, at: int, least: float) -> dict[int, float]:
        """Return the passages that share rare words with one, and the share of the shorter list of rare words."""
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
    return sum(1 for _ in as_searched_text(text).find_ranges(wanted))


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
            text.append((" " if start - end <= TRIMMED else WORD_SEPARATOR) * (start - end))
            end = start
        text.append(held[end - start :])
        end = max(end, start + len(held))
    return "".join(text)[:size]


# The phrases by which a question refers to something unseen, in four languages, and which of these a text is in.

FEWEST_WORDS = 5
"""A text with fewer words has too few common ones to tell its language."""
SHARE, MIN_SURE_SHARE = 0.2, 0.3
"""A text is in a language if this share of its words is among the common ones of that language, and surely so if that
one is: letters of formulas and tables are common words, too."""


_COMMON_WORDS = {
    "English": (
        "a about above after again against all also am an and any are as asked at be because been before being "
        "below between both but by can could d did do does doing don down during each few for from further get "
        "give had has have having he her here hers herself him himself his how i if in into is isn it its itself "
        "just know let ll many may me might more most much must my myself no nor not now of off on once only or "
        "other our ours out over own please re s same shall she should so some such t tell than that the their "
        "theirs them themselves then there these they this those through to too under until up us ve very want "
        "was we were what when where which while who whom whose why will with would you your yours"
    ),
    "German": (
        "aber als am an auch auf aus bei beim bis das dass dem den der des die dies diese dieser durch ein "
        "eine einem einen einer eines er es für gegen gibt hat haben ich ihr im in ist kann kein keine man "
        "mein mich mir mit muss nach nicht noch nur oder ohne sein sich sie sind so über um und unter vom von "
        "vor wann war warum was welche welchem welchen welcher welches wem wen wenn wer werden wie wird wo "
        "wurde wurden zu zum zur zwischen"
    ),
    "French": (
        "a au aux avec ce ces cet cette chez comment d dans de des du elle elles en est et il ils j je l la "
        "le les leur lui ma mais mes mon n ne nous on ont ou où par pas peut plus pour pourquoi qu quand que "
        "quel quelle quelles quels qui quoi s sa sans se ses si son sont sous sur t ta tu un une vous y à été "
        "être"
    ),
    "Spanish": (
        "a al como con cuál cuáles cuándo cuánto cuánta cuántos cuántas cómo de del desde dónde e el ella "
        "ellos en entre es esta este esto están está fue ha hay han la las le les lo los más mi mis muy no o "
        "para pero por porque puede pueden qué quién quiénes se según ser si sin sobre son su sus también te "
        "tiene tienen un una unos unas y ya"
    ),
}
COMMON_WORDS = {language: frozenset(words.split()) for language, words in _COMMON_WORDS.items()}
"""The languages whose phrases are known, with words that occur in most of their sentences."""
FUNCTION_WORDS = COMMON_WORDS["English"]
"""Words that occur in most questions."""

_DOCUMENT = (
    "(?:article|chapter|chunk|context|document|excerpt|extract|fragment|page|paragraph|passage|quote|section|sentence|"
    "snippet|source|text|transcript)"
)
_SHOWN = "(?:above|below|cited|described|discussed|following|given|mentioned|preceding|presented|previous|provided)"
_EXHIBIT = "(?:code|diagram|equation|example|figure|image|list|output|snippet|table)"
_SEEN = rf"(?:{_DOCUMENT}|{_EXHIBIT}|study|paper)"
_OF_ENGLISH = (
    rf"\bth(?:is|ese) {_DOCUMENT}s?\b(?! of\b)",
    (
        rf"\b(?:in|of|from|to|by|per|does|do|is|with|within|per) the (?:{_SHOWN} )?{_DOCUMENT}\b"
        r"(?=\W*$|\W+(?:says?|states?|mention|suggest|describe|analy[sz]e|explain|discuss|about|regarding))"
    ),
    (
        rf"\baccording to (?:the|this|that) (?:{_SHOWN} )?"
        rf"(?:{_DOCUMENT}|author|authors|speaker|writer|study|paper|report)\b"
    ),
    rf"\bthe (?:above|following|preceding|previous|provided|given|cited) (?:{_SEEN}|author)s?\b",
    rf"\bth(?:is|ese|e) {_SEEN}s? (?:above|below|provided|shown|given)\b",
    (
        r"\b(?:described|discussed|mentioned|outlined|given|presented|provided|stated|shown) "
        rf"(?:above|below|here|earlier|(?:in|by) (?:the|this) (?:{_SHOWN} )?(?:{_DOCUMENT}|author|study|paper))\b"
    ),
    rf"\b(?:in|from|of) (?:the|this) (?:{_SHOWN} ){_SEEN}\b",
    rf"\bwhat (?:does|did|do|will|is) the (?:{_DOCUMENT}|author|authors|speaker|writer)\b(?! of\b)",
    (
        rf"\bth(?:is|ese) (?:{_SEEN}|author|person|company|event|method|approach|process|case|part|term|one)"
        r"s?\b(?=[^.!?]*\?\W*$)"
    ),
    r"\bthe author(?:s|'s|\u2019s)?\b(?! of\b)",
    r"\bthe (?:above|aforementioned|former|latter)\b",
    r"\b(?:as|see) (?:above|below)\b",
    rf"\b(?:paper|study) {_SHOWN}\b",
)

_GERMAN = (
    "(?:abbildung|abschnitt|absatz|artikel|auszug|beispiel|bild|dokument|kapitel|passage|seite|tabelle|text|textstelle)"
)
_GERMAN_AUTHOR = rf"(?:{_GERMAN}|autor|autorin|verfasser)(?:e?s)?"
_GERMAN_SHOWN = r"(?:oben \w+|obigen?|obenstehenden?|vorliegenden?|vorstehenden?|folgenden?|genannten)"
_GERMAN_SAID = "(?:angegeben|beschrieben|dargestellt|erläutert|erwähnt|genannt|gesagt|gezeigt)"
_GERMAN_VERB = "(?:hat|haben|wird|wurde|wurden|kann|können|muss|müssen|ist|sind|war|waren)"
_FRENCH = "(?:article|chapitre|document|exemple|extrait|image|page|paragraphe|passage|section|tableau|texte)"
_FRENCH_THE = "(?:le |la |l['\u2019]|ce |cet |cette )"
_FRENCH_SAID = "(?:citée?s?|décrite?s?|indiquée?s?|mentionnée?s?|présentée?s?)"
_FRENCH_SHOWN = "(?:ci-dessus|ci-dessous|précédente?s?|suivante?s?|ci-joint)"
_FRENCH_VERB = "(?:a-t|ont|est|sont|peut|peuvent|doit|doivent)"
_FRENCH_COMMON = "(?:possible|permis|nécessaire|interdit|obligatoire|vrai|utile)"
_SPANISH = "(?:artículo|capítulo|documento|ejemplo|fragmento|imagen|párrafo|pasaje|página|sección|tabla|texto)"
_SPANISH_SAID = "(?:citad|descrit|indicad|mencionad)[oa]s?"
_SPANISH_SHOWN = rf"(?:anterior(?:es)?|siguientes?|de arriba|{_SPANISH_SAID})"

_OF_GERMAN = (
    rf"\bdies(?:er|em|en|es|e) {_GERMAN}(?:e?s|e?n)?\b(?! (?:des|der|von)\b)",
    rf"\b(?:laut|gemäß) (?:dem |der |des )?(?:{_GERMAN_SHOWN} )?{_GERMAN_AUTHOR}\b",
    rf"\b(?:der|die|das|dem|den|des|im|am) {_GERMAN_SHOWN} {_GERMAN}(?:e?s|e?n)?\b",
    rf"\b(?:im|in der|aus dem) {_GERMAN}(?:e?s)? (?:\w+ ){{0,3}}{_GERMAN_SAID}\b",
    rf"\bwas (?:sagt|beschreibt|erklärt|behandelt|zeigt) (?:der|die|das) {_GERMAN_AUTHOR}\b",
    rf"\b(?:wie|oben) (?:oben )?{_GERMAN_SAID}\b",
    rf"^\W*(?:wann|warum|wie|wieso|wo|wozu) {_GERMAN_VERB} (?:er|dies|dieser|diese)\b(?! \w+ )",
)
_OF_FRENCH = (
    rf"\b(?:ce|cet|cette|ces) {_FRENCH}s?\b(?! (?:de|du|des|d')\b)",
    rf"\b(?:selon|d['\u2019]après) {_FRENCH_THE}(?:{_FRENCH}|auteur|autrice)\b",
    rf"\b{_FRENCH}s? {_FRENCH_SHOWN}",
    rf"\b{_FRENCH_SAID} (?:ci-dessus|plus haut|dans {_FRENCH_THE}{_FRENCH})\b",
    rf"\bque (?:dit|décrit|explique|montre) {_FRENCH_THE}(?:{_FRENCH}|auteur|autrice)\b",
    r"\bl['\u2019](?:auteur|autrice)\b(?! (?:de|du|des|d['\u2019])\b)",
    rf"^\W*(?:quand|pourquoi|comment|où) {_FRENCH_VERB}-(?:il|elle|ils|elles)\b(?! {_FRENCH_COMMON})",
)
_OF_SPANISH = (
    rf"\best[ea]s? {_SPANISH}s?\b(?! (?:de|del)\b)",
    rf"\bsegún (?:el |la |este |esta )(?:{_SPANISH}|autor|autora)\b",
    rf"\b(?:el|la|los|las|del|al) {_SPANISH}s? {_SPANISH_SHOWN}\b",
    rf"\b{_SPANISH_SAID} (?:arriba|anteriormente|en (?:el|la|este|esta) {_SPANISH})\b",
    rf"\bqué (?:dice|describe|explica|muestra) (?:el |la )(?:{_SPANISH}|autor|autora)\b(?! (?:de|del)\b)",
    r"\b(?:el autor|la autora)\b(?! (?:de|del)\b)",
)
_ENGLISH_POINTER = re.compile("|".join(_OF_ENGLISH), re.IGNORECASE)
_POINTER = re.compile("|".join([*_OF_GERMAN, *_OF_FRENCH, *_OF_SPANISH]), re.IGNORECASE)
_DANGLING = re.compile(
    r"^\W*(?:and|but|so|then|also)?\W*(?:(?:what|why|how|when|where|which|who)\W+)?(?:did|does|do|is|was|were|are|has|had"
    r"|have|can|could|will|would|should)\W+(?:he|she|it|they|this|that|these|those)\b(?!\W+(?:possible|true|safe|"
    r"necessary|allowed|bad|better|legal|that|wrong|okay|ok|enough|a|an|the|there|to|mean|matter|worth))",
    re.IGNORECASE,
)
"""A question that begins with a pronoun, except one that English grammar puts there."""
_LETTER = re.compile(f"[{UNSPACED_SCRIPTS}]")
_SENTENCE = re.compile(r"[.!?;]\s+\S")


def find_pointing_words(question: str) -> str | None:
    """Return the words by which a question refers to something unseen; None if it does not.

    Example:
        >>> find_pointing_words("What does the author think of it?"), find_pointing_words("Was sagt der Text?")
        ('What does the author', 'Was sagt der Text')
        >>> find_pointing_words("Who opens the vault?") is None
        True
    """
    found = _ENGLISH_POINTER.search(question)
    if found is not None and found[0].lower().startswith("this ") and _SENTENCE.search(question[: found.start()]):
        found = None  # it refers to an earlier part of the question
    found = found or _POINTER.search(question) or (None if _SENTENCE.search(question) else _DANGLING.search(question))
    return None if found is None else " ".join(found[0].split())


def language_of(tokens: Sequence[str], share: float = SHARE) -> str | None:
    """Return the language of a text among those whose phrases are known; None if it is none of them, or too short.

    Example:
        >>> language_of("wie lange ist eine gästekarte gültig".split())
        'German'
        >>> language_of("hoe lang is een gastenkaart eigenlijk geldig".split()) is None
        True
    """
    if len(tokens) < FEWEST_WORDS:
        return None
    shares = {name: sum(token in common for token in tokens) / len(tokens) for name, common in COMMON_WORDS.items()}
    best = max(shares, key=lambda name: shares[name])
    return best if shares[best] >= share else None


def detect_language(tokens: Sequence[str], share: float = SHARE) -> str | None:
    """Return the language of a text, or that it has no spaces between words; None if neither is clear.

    Example:
        >>> detect_language([*"谁在夜里打开金库"]), detect_language("wer darf die tür öffnen".split())
        ('a script without spaces', 'German')
    """
    if len(tokens) >= FEWEST_WORDS and sum(_LETTER.fullmatch(token) is not None for token in tokens) * 2 > len(tokens):
        return "a script without spaces"
    return language_of(tokens, share)


def is_unknown_language(tokens: Sequence[str]) -> bool:
    """Return whether a text is long enough to tell that it is in none of the known languages."""
    return len(tokens) >= FEWEST_WORDS and language_of(tokens) is None
