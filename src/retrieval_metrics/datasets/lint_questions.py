"""Check each question by itself: whether it makes sense alone, says enough, and does not tell its answer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from retrieval_metrics.datasets import lint_wording as wording
from retrieval_metrics.datasets.content_words import content_words, find_longest_shared_run, split_sentences
from retrieval_metrics.datasets.lint_report import LintFinding
from retrieval_metrics.datasets.pointing_words import find_pointing_words
from retrieval_metrics.datasets.question_language import COMMON_WORDS, is_unknown_language
from retrieval_metrics.matching.words import words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from retrieval_metrics._internal.validation import QueryId
    from retrieval_metrics.datasets.lint_input import LintInput


# A question with fewer words is short, and so is one with fewer content words.
MIN_WORDS = 3
MIN_CONTENT_WORDS = 1

# A question is an echo if it has this many words of its answer in a row, and these are ...
MIN_ECHO_RUN = 6

# ... at least this share of its words.
MIN_ECHO_RUN_SHARE = 0.65

# A question is also an echo if this share of its content words is in one sentence of its answer ...
MIN_ECHO_WORD_SHARE = 0.95

# ... and it has at least this many.
MIN_ECHO_CONTENT_WORDS = 6

# A longer sentence is a table or lacks punctuation, and has enough words to contain any question.
MAX_SENTENCE_WORDS = 60

_TOKEN = re.compile(r"[^\s()\[\]{}<>\"',;?!]*[^\s()\[\]{}<>\"',;:?!.]")

# Characters of ids; an id that is a plain word may well be the word.
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
    """Say for how many questions it is unknown whether they make sense alone."""
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


class _Echo(NamedTuple):
    """The words that a question shares with a sentence of its answer.

    Attributes:
        tokens: The words of the question, or of the part of it that is an echo.
        start: Where in these the longest shared run begins.
        length: How many words it has.
        share: The share of the content words that are in the sentence.
    """

    tokens: list[str]
    start: int
    length: int
    share: float

    @property
    def shared_run(self) -> str:
        """The longest run of words that both have."""
        return " ".join(self.tokens[self.start : self.start + self.length])


def find_echoes(subject: LintInput) -> Iterator[LintFinding]:
    """Yield the questions that repeat the words of their answer."""
    sentences_by_judged: dict[Any, list[_WordsOfText]] = {}
    for query in subject.queries:
        parts = _question_parts(subject, query)
        for judged in sorted(subject.relevant[query], key=repr):
            if judged not in sentences_by_judged:
                sentences_by_judged[judged] = _sentence_words(subject.text_of(judged) or "")
            echo = _find_echo(parts, sentences_by_judged[judged])
            if echo is not None:
                yield LintFinding(
                    "echo",
                    query,
                    wording.format_echo(subject.texts[query], judged, echo.share, echo.shared_run, echo.length),
                    {
                        "relevant": judged,
                        "run": echo.shared_run,
                        "longest_run": echo.length,
                        "share": echo.share,
                    },
                )
                break


def _question_parts(subject: LintInput, query: QueryId) -> list[_WordsOfText]:
    """Return words and content words of a question, and of each of its sentences if it has several."""
    whole_question = _WordsOfText(subject.words[query], set(subject.content[query]))
    sentences = _sentence_words(subject.texts[query])
    return [whole_question, *sentences] if len(sentences) > 1 else [whole_question]


def _sentence_words(text: str) -> list[_WordsOfText]:
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
    run = find_longest_shared_run(part.tokens, sentence.tokens)
    repeats_run = run.length >= MIN_ECHO_RUN and run.length >= MIN_ECHO_RUN_SHARE * len(part.tokens)
    repeats_words = share >= MIN_ECHO_WORD_SHARE and n_stems >= MIN_ECHO_CONTENT_WORDS
    if repeats_run or (repeats_words and len(sentence.tokens) <= MAX_SENTENCE_WORDS):
        return _Echo(part.tokens, run.start, run.length, share)
    return None
