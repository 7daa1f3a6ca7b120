"""Check each question by itself: whether it refers to an unseen passage, or says too little."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from retrieval_metrics.questions.linting.findings import LintFinding
from retrieval_metrics.questions.linting.languages import POINTER
from retrieval_metrics.questions.linting.wording import shortened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from retrieval_metrics.questions.linting.subject import Subject

FEWEST_WORDS = 3
FEWEST_CONTENT_WORDS = 1

_DOCUMENT = (
    "(?:article|chapter|chunk|context|document|excerpt|extract|fragment|page|paragraph|passage|quote|section|sentence|"
    "snippet|source|text|transcript)"
)
_SHOWN = "(?:above|below|cited|described|discussed|following|given|mentioned|preceding|presented|previous|provided)"
_EXHIBIT = "(?:code|diagram|equation|example|figure|image|list|output|snippet|table)"
_SEEN = rf"(?:{_DOCUMENT}|{_EXHIBIT}|study|paper)"
_POINTERS = (
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
_POINTER = re.compile("|".join(_POINTERS), re.IGNORECASE)
_DANGLING = re.compile(
    r"^\W*(?:and|but|so|then|also)?\W*(?:(?:what|why|how|when|where|which|who)\W+)?(?:did|does|do|is|was|were|are|has|had"
    r"|have|can|could|will|would|should)\W+(?:he|she|it|they|this|that|these|those)\b(?!\W+(?:possible|true|safe|"
    r"necessary|allowed|bad|better|legal|that|wrong|okay|ok|enough|a|an|the|there|to|mean|matter|worth))",
    re.IGNORECASE,
)
"""A question that begins with a pronoun, except one that English grammar puts there."""
_TOKEN = re.compile(r"[^\s()\[\]{}<>\"',;?!]*[^\s()\[\]{}<>\"',;:?!.]")
_ID = re.compile(r"[\d_#/:.-]")
"""Characters of ids; an id that is a plain word may well be the word."""
_SENTENCE = re.compile(r"[.!?;]\s+\S")


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


def dependent(subject: Subject) -> Iterator[LintFinding]:
    """Yield the questions that refer to something unseen: "this section", "laut dem Text", "selon l'auteur"."""
    for query in subject.queries:
        text = subject.texts[query]
        found = _POINTER.search(text)
        if found is not None and _SENTENCE.search(text[: found.start()]) and found[0].lower().startswith("this "):
            found = None  # it refers to an earlier part of the question
        found = found or POINTER.search(text) or (None if _SENTENCE.search(text) else _DANGLING.search(text))
        if found is not None:
            words = " ".join(found[0].split())
            yield LintFinding(
                "dependent_question",
                query,
                f"{shortened(text)} says {words!r}, which cannot be understood without the passage",
                {"words": words},
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
