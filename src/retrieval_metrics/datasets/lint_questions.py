"""Check each question by itself: whether it makes sense alone, says enough, and does not give its answer away."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any, NamedTuple

from retrieval_metrics.datasets import lint_wording as wording
from retrieval_metrics.datasets.content_words import content_words
from retrieval_metrics.datasets.lint_report import LintFinding
from retrieval_metrics.datasets.pointing_words import find_pointing_words
from retrieval_metrics.datasets.question_language import COMMON_WORDS, is_unknown_language
from retrieval_metrics.datasets.text_cutting import split_sentences
from retrieval_metrics.matching.words import words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from retrieval_metrics._internal.plain_types import QueryId
    from retrieval_metrics.datasets.lint_input import LintInput


# A question with fewer words, or with fewer content words, is too short.
MIN_WORDS = 3
MIN_CONTENT_WORDS = 1

# A question is an echo if it has this many words of its answer in a row, and they are at least this share of its words.
MIN_ECHO_RUN = 6
MIN_ECHO_RUN_SHARE = 0.65

# A question is also an echo if it has this many content words, and at least this share of them is in one sentence of
# its answer.
MIN_ECHO_CONTENT_WORDS = 6
MIN_ECHO_WORD_SHARE = 0.95

# A longer sentence is probably a table, or text without punctuation, and could contain the words of any question.
MAX_SENTENCE_WORDS = 60

# A word of a question that can be an id: it may hold punctuation, but not at its end.
_TOKEN = re.compile(r"[^\s()\[\]{}<>\"',;?!]*[^\s()\[\]{}<>\"',;:?!.]")

# Only an id with one of these characters is looked for, because any other may occur as a word of the question.
_CHARACTER_OF_ID = re.compile(r"[\d_#/:.-]")


def find_dependent_questions(subject: LintInput) -> Iterator[LintFinding]:
    """Yield the questions that refer to something unseen: "this section", "laut dem Text", "selon l'auteur"."""
    for query in subject.queries:
        question = subject.texts[query]
        pointing_words = find_pointing_words(question)
        if pointing_words is not None:
            message = wording.format_dependent_question(question, pointing_words)
            yield LintFinding("dependent_question", query, message, {"words": pointing_words})


def find_unknown_languages(subject: LintInput) -> Iterator[str]:
    """Yield a note if the language of some questions is unknown, so that this check is skipped for them."""
    unknown = [query for query, tokens in subject.words.items() if is_unknown_language(tokens)]
    if unknown:
        yield wording.format_unknown_languages_skipped(unknown, len(subject.queries), COMMON_WORDS)


def find_short_questions(subject: LintInput) -> Iterator[LintFinding]:
    """Yield the questions that have too few words to say what is wanted."""
    for query in subject.queries:
        n_words = len(subject.words[query])
        n_content_words = len(subject.content[query])
        if n_words < MIN_WORDS or n_content_words < MIN_CONTENT_WORDS:
            message = wording.format_short_question(subject.texts[query], n_words, n_content_words)
            yield LintFinding("short_question", query, message, {"words": n_words, "telling": n_content_words})


def find_leaked_ids(subject: LintInput) -> Iterator[LintFinding]:
    """Yield the questions that name the id of a document that is relevant to them."""
    for query in subject.queries:
        document = _find_leaked_id(subject, query)
        if document is not None:
            message = wording.format_leaked_id(subject.texts[query], document)
            yield LintFinding("leaked_id", query, message, {"document": document})


def _find_leaked_id(subject: LintInput, query: QueryId) -> str | None:
    tokens = set(_TOKEN.findall(subject.texts[query]))
    documents = [str(judged) for judged in subject.relevant[query] if isinstance(judged, str)]
    for document in sorted(documents, key=len):
        if document in tokens and _CHARACTER_OF_ID.search(document):
            return document
    return None


class _WordsOfText(NamedTuple):
    """The words of a question or a sentence, and the stems of its content words."""

    tokens: list[str]
    stems: set[str]


class SharedRun(NamedTuple):
    """The longest run of words that two texts share: where it begins in the first text, and its length."""

    start: int
    length: int


def find_longest_shared_run(left: Sequence[str], right: Sequence[str]) -> SharedRun:
    """Return where in the first text the longest run of words begins that both have, and how long it is.

    Example:
        >>> find_longest_shared_run("why is the sky blue".split(), "because the sky is".split())
        SharedRun(start=2, length=2)
    """
    match = SequenceMatcher(None, left, right, autojunk=False).find_longest_match()
    return SharedRun(match.a, match.size)


class _Echo(NamedTuple):
    """The words that a question shares with a sentence of its answer.

    Attributes:
        tokens: The words of the question, or of the part of it that is an echo.
        shared: The longest run of words that both have.
        share: The share of the content words of the question that are in the sentence.
    """

    tokens: list[str]
    shared: SharedRun
    share: float

    @property
    def shared_words(self) -> str:
        """The longest run of words that both have, as text."""
        return " ".join(self.tokens[self.shared.start : self.shared.start + self.shared.length])


def find_echoes(subject: LintInput) -> Iterator[LintFinding]:
    """Yield the questions that repeat the words of their answer."""
    sentences_by_judged: dict[Any, list[_WordsOfText]] = {}
    for query in subject.queries:
        parts = _list_question_parts(subject, query)
        for judged in sorted(subject.relevant[query], key=repr):
            if judged not in sentences_by_judged:
                sentences_by_judged[judged] = _read_sentences(subject.text_of(judged) or "")
            echo = _find_echo(parts, sentences_by_judged[judged])
            if echo is not None:
                yield LintFinding(
                    "echo",
                    query,
                    wording.format_echo(
                        subject.texts[query], judged, echo.share, echo.shared_words, echo.shared.length
                    ),
                    {
                        "relevant": judged,
                        "run": echo.shared_words,
                        "longest_run": echo.shared.length,
                        "share": echo.share,
                    },
                )
                break


def _list_question_parts(subject: LintInput, query: QueryId) -> list[_WordsOfText]:
    """Return the words of a question, and those of each of its sentences if it has several."""
    whole_question = _WordsOfText(subject.words[query], set(subject.content[query]))
    sentences = _read_sentences(subject.texts[query])
    return [whole_question, *sentences] if len(sentences) > 1 else [whole_question]


def _read_sentences(text: str) -> list[_WordsOfText]:
    tokens_of_sentences = [words(sentence) for sentence in split_sentences(text)]
    return [_WordsOfText(tokens, set(content_words(tokens))) for tokens in tokens_of_sentences]


def _find_echo(parts: Sequence[_WordsOfText], sentences: Sequence[_WordsOfText]) -> _Echo | None:
    for part in parts:
        for sentence in sentences:
            echo = _find_echo_of_sentence(part, sentence)
            if echo is not None:
                return echo
    return None


def _find_echo_of_sentence(part: _WordsOfText, sentence: _WordsOfText) -> _Echo | None:
    n_stems = len(part.stems)
    share = len(part.stems & sentence.stems) / max(n_stems, 1)
    if share < MIN_ECHO_RUN_SHARE:
        return None
    shared = find_longest_shared_run(part.tokens, sentence.tokens)
    repeats_run = shared.length >= MIN_ECHO_RUN and shared.length >= MIN_ECHO_RUN_SHARE * len(part.tokens)
    repeats_words = share >= MIN_ECHO_WORD_SHARE and n_stems >= MIN_ECHO_CONTENT_WORDS
    if repeats_run or (repeats_words and len(sentence.tokens) <= MAX_SENTENCE_WORDS):
        return _Echo(part.tokens, shared, share)
    return None
