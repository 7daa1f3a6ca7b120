"""Check which questions have something relevant, and which of it is in the corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retrieval_metrics.checks import argument
from retrieval_metrics.inputs.items import Piece, Quote, Span
from retrieval_metrics.questions.linting.findings import Change, LintFinding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from retrieval_metrics.checks import QueryId
    from retrieval_metrics.questions.linting.subject import Subject
    from retrieval_metrics.questions.words.passages import Passages


def without_relevant(subject: Subject) -> Iterator[LintFinding]:
    """Yield the questions without a relevant document: those without any judgment are meant to have no answer."""
    for query, relevant in subject.relevant.items():
        judged = len(subject.graded[query])
        if not relevant and not judged:
            yield LintFinding(
                "unanswerable", query, "nothing is judged, so it counts as a question without an answer", {}
            )
        elif not relevant:
            yield LintFinding(
                "no_relevant",
                query,
                f"nothing is relevant to it ({judged} judged), so it is left out of every mean",
                {"judged": judged},
            )


def unknown_documents(subject: Subject) -> Iterator[LintFinding | str]:
    """Yield the judged ids that are not in the corpus."""
    if subject.passages is None:
        yield (
            "whether ids, quotes and spans are in the corpus, and what else answers, which needs " + argument("corpus")
        )
        return
    if not subject.passages.items:
        yield ("the texts of the passages, because the corpus has only ids; pass texts by id")
    for query, graded in subject.graded.items():
        for judged in graded:
            if not isinstance(judged, Piece) and judged not in subject.passages.ids:
                yield _unknown(subject, subject.passages, query, judged)


def _unknown(subject: Subject, passages: Passages, query: QueryId, document: Any) -> LintFinding:
    grade = subject.graded[query][document]
    spare = all(
        any(other in passages.ids and other != document and of_group[other] > 0 for other in of_group)
        for of_group in subject.groups(query)
        if document in of_group
    )
    change = None
    if grade <= 0:
        change = Change(f"{document!r}, which is not relevant and not in the corpus, is removed", document)
    elif spare:
        change = Change(f"{document!r}, which is not in the corpus, is removed from its alternatives", document)
    return LintFinding(
        "unknown_document",
        query,
        f"{document!r} (grade {grade:g}) is not in the corpus of {len(passages.ids):,}, so nothing finds it",
        {"document": document, "grade": grade},
        change,
    )


def impossible_groups(subject: Subject) -> Iterator[LintFinding]:
    """Yield the groups of several alternatives of which none is in the corpus."""
    if subject.passages is None:
        return
    for query in subject.graded:
        groups = subject.groups(query)
        for number, group in enumerate(groups, start=1):
            relevant = [judged for judged, grade in group.items() if grade > 0]
            if len(group) > 1 and relevant and all(_is_gone(judged, subject.passages) for judged in relevant):
                yield LintFinding(
                    "impossible_group",
                    query,
                    f"nothing in the corpus can satisfy group {number} of {len(groups)}: {', '.join(map(repr, group))}",
                    {"group": number, "alternatives": list(group)},
                )


def _is_gone(judged: Any, passages: Passages) -> bool:
    """Return whether the corpus is known not to have what is judged."""
    if isinstance(judged, Quote):
        return bool(passages.items) and not passages.places(judged.text) and passages.source_of(judged.text) is None
    if isinstance(judged, Span):
        return bool(passages.items) and not passages.has_source(judged.source)
    return not isinstance(judged, Piece) and judged not in passages.ids
