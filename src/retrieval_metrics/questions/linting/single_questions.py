"""Check each question by itself: whether it makes sense alone, says enough, and does not tell its answer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from retrieval_metrics.inputs.items import Piece
from retrieval_metrics.judging.pieces_met import words
from retrieval_metrics.questions.linting.findings import LintFinding
from retrieval_metrics.questions.words.languages import COMMON_WORDS, pointing_words, unknown_language
from retrieval_metrics.questions.words.wording import content_words, longest_shared_run, sentences, shortened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from retrieval_metrics.questions.linting.subject import Subject

FEWEST_WORDS = 3
FEWEST_CONTENT_WORDS = 1
LONGEST_RUN = 6
"""A question is an echo if it has this many words of its answer in a row, and these are ..."""
RUN_SHARE = 0.65
"""... at least this share of its words."""
WORD_SHARE = 0.95
"""A question is also an echo if this share of its content words is in one sentence of its answer ..."""
FEWEST_TELLING = 6
"""... and it has at least this many."""
LONGEST_SENTENCE = 60
"""A longer sentence is a table or lacks punctuation, and has enough words to contain any question."""
_TOKEN = re.compile(r"[^\s()\[\]{}<>\"',;?!]*[^\s()\[\]{}<>\"',;:?!.]")
_ID = re.compile(r"[\d_#/:.-]")
"""Characters of ids; an id that is a plain word may well be the word."""


def dependent(subject: Subject) -> Iterator[LintFinding]:
    """Yield the questions that refer to something unseen: "this section", "laut dem Text", "selon l'auteur"."""
    for query in subject.queries:
        if (said := pointing_words(subject.texts[query])) is not None:
            yield LintFinding(
                "dependent_question",
                query,
                f"{shortened(subject.texts[query])} says {said!r}, which cannot be understood without the passage",
                {"words": said},
            )


def unknown_languages(subject: Subject) -> Iterator[str]:
    """Say for how many questions it is unknown whether they make sense alone."""
    foreign = [query for query, tokens in subject.words.items() if unknown_language(tokens)]
    if foreign:
        *others, last = COMMON_WORDS
        yield (
            f"whether {len(foreign):,} of {len(subject.queries):,} questions make sense without their passage, such as "
            f"{foreign[0]!r}, because their language seems to be none of {', '.join(others)} and {last}"
        )


def short(subject: Subject) -> Iterator[LintFinding]:
    """Yield the questions that have too few words to say what is wanted."""
    for query in subject.queries:
        count, telling = len(subject.words[query]), len(subject.content[query])
        if count < FEWEST_WORDS or telling < FEWEST_CONTENT_WORDS:
            yield LintFinding(
                "short_question",
                query,
                f"{subject.texts[query]!r} has {count} {'word' if count == 1 else 'words'}, {telling} of them "
                "content words: many passages would match",
                {"words": count, "telling": telling},
            )


def leaked(subject: Subject) -> Iterator[LintFinding]:
    """Yield the questions that name the id of a document that is relevant to them."""
    for query in subject.queries:
        named = set(_TOKEN.findall(subject.texts[query]))
        for judged in sorted((str(one) for one in subject.relevant[query] if isinstance(one, str)), key=len):
            if judged in named and _ID.search(judged):
                yield LintFinding(
                    "leaked_id",
                    query,
                    f"{shortened(subject.texts[query])} names {judged!r}, the id of a document that is relevant to it",
                    {"document": judged},
                )
                break


def echoes(subject: Subject) -> Iterator[LintFinding]:
    """Yield the questions that repeat the words of their answer."""
    sentence_words: dict[Any, list[tuple[list[str], set[str]]]] = {}
    for query in subject.queries:
        parts = _parts(subject.texts[query], subject.words[query], subject.content[query])
        for judged in sorted(subject.relevant[query], key=repr):
            if judged not in sentence_words:
                cut = [words(one) for one in sentences(subject.text_of(judged) or "")]
                sentence_words[judged] = [(tokens, set(content_words(tokens))) for tokens in cut]
            found = next(
                ((asked, one) for asked, telling in parts if (one := _echo(asked, telling, sentence_words[judged]))),
                None,
            )
            if found is not None:
                asked, (at, run, share) = found
                said = " ".join(asked[at : at + run])
                yield LintFinding(
                    "echo",
                    query,
                    f"{shortened(subject.texts[query])} shares {share:.0%} of its content words with one sentence of "
                    f"{shortened(repr(judged) if isinstance(judged, Piece) else str(judged))}, and {run} words in a "
                    f"row, {said!r}: users do not know the words of the answer",
                    {"relevant": judged, "run": said, "longest_run": run, "share": share},
                )
                break


def _parts(text: str, asked: list[str], telling: list[str]) -> list[tuple[list[str], set[str]]]:
    """Return words and content words of a question, and of each of its sentences if it has several."""
    cut = [words(one) for one in sentences(text)]
    parts = [(tokens, set(content_words(tokens))) for tokens in cut] if len(cut) > 1 else []
    return [(asked, set(telling)), *parts]


def _echo(
    asked: list[str], telling: set[str], answer: list[tuple[list[str], set[str]]]
) -> tuple[int, int, float] | None:
    for tokens, content in answer:
        share = len(telling & content) / max(len(telling), 1)
        if share < RUN_SHARE:
            continue
        at, run = longest_shared_run(asked, tokens)
        if (run >= LONGEST_RUN and run >= RUN_SHARE * len(asked)) or (
            share >= WORD_SHARE and len(telling) >= FEWEST_TELLING and len(tokens) <= LONGEST_SENTENCE
        ):
            return at, run, share
    return None
