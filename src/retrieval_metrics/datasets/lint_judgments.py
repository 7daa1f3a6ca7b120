"""Check the judgments of a set: their grades, and whether the judged documents are in the corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retrieval_metrics.datasets import lint_wording as wording
from retrieval_metrics.datasets.lint_fixes import LintFix
from retrieval_metrics.datasets.lint_report import LintFinding
from retrieval_metrics.evaluation.shared_file_names import find_shared_file_name
from retrieval_metrics.inputs.items import Piece
from retrieval_metrics.inputs.match_key import FILE_NAME
from retrieval_metrics.inputs.pieces import Quote, Span
from retrieval_metrics.matching.judged_names import find_nearest_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from retrieval_metrics._internal.plain_types import QueryId
    from retrieval_metrics.datasets.corpus_index import CorpusIndex
    from retrieval_metrics.datasets.lint_input import LintInput

# For how many unknown documents, and among how many ids, the nearest one is looked for, because each is compared.
MAX_NEAREST = 20
MAX_IDS_FOR_NEAREST = 20_000


def find_forbidden_judgments(subject: LintInput) -> Iterator[LintFinding]:
    """Yield how many judgments are below 0, because some files write -1 for what nobody judged."""
    n_judgments = 0
    n_questions = 0
    for grades in subject.graded.values():
        n_forbidden = sum(grade < 0 for grade in grades.values())
        n_judgments += n_forbidden
        if n_forbidden:
            n_questions += 1
    if n_judgments:
        message = wording.format_forbidden(n_judgments, n_questions)
        yield LintFinding("forbidden", None, message, {"judgments": n_judgments})


def find_queries_without_text(subject: LintInput) -> Iterator[LintFinding]:
    """Yield the judged queries that have no text."""
    for query in subject.qrels.queries:
        if query not in subject.texts:
            yield LintFinding("missing_text", query, wording.format_missing_text(query))


def find_questions_without_relevant(subject: LintInput) -> Iterator[LintFinding]:
    """Yield the questions without a relevant document, which are unanswerable on purpose if no grade is 0."""
    for query, relevant in subject.relevant.items():
        if relevant:
            continue
        grades = subject.graded[query].values()
        n_judged = len(grades)
        if all(grade < 0 for grade in grades):
            yield LintFinding("unanswerable", query, wording.format_unanswerable(n_judged), {})
        else:
            yield LintFinding("no_relevant", query, wording.format_no_relevant(n_judged), {"judged": n_judged})


def find_unknown_documents(subject: LintInput) -> Iterator[LintFinding | str]:
    """Yield the judged ids that are not in the corpus."""
    passages = subject.passages
    if passages is None:
        yield wording.CORPUS_SKIPPED
        return
    if not passages.items:
        yield wording.TEXTS_SKIPPED
    if not passages.ids:
        yield wording.IDS_SKIPPED
        return
    nearest_by_document: dict[Any, str | None] = {}
    for query, grades in subject.graded.items():
        for judged in grades:
            if isinstance(judged, Piece) or judged in passages.ids:
                continue
            if judged not in nearest_by_document and _may_search_nearest(passages, len(nearest_by_document)):
                nearest_by_document[judged] = find_nearest_name(judged, passages.ids)
            yield _unknown_document_finding(subject, passages, query, judged, nearest_by_document.get(judged))


def find_shared_file_names(subject: LintInput) -> Iterator[LintFinding]:
    """Yield that judged file names stand for several files of the corpus, if file names are compared."""
    if subject.passages is None or subject.match != FILE_NAME:
        return
    judged_names = {judged for grades in subject.graded.values() for judged in grades if isinstance(judged, str)}
    shared = find_shared_file_name(subject.passages.items, judged_names)
    if shared is not None:
        evidence = {"document": shared.name, "files": shared.n_files, "names": shared.n_names}
        yield LintFinding(
            "shared_file_name",
            None,
            wording.format_shared_file_name(shared.name, shared.n_files, shared.match),
            evidence,
        )


def _may_search_nearest(passages: CorpusIndex, n_searched: int) -> bool:
    return n_searched < MAX_NEAREST and len(passages.ids) <= MAX_IDS_FOR_NEAREST


def _unknown_document_finding(
    subject: LintInput, passages: CorpusIndex, query: QueryId, document: Any, nearest: str | None
) -> LintFinding:
    grade = subject.graded[query][document]
    is_relevant = grade > 0
    fix = None
    if not is_relevant or _has_known_alternatives(subject, passages, query, document):
        fix = LintFix(wording.format_unknown_document_fix(document, is_relevant=is_relevant), document)
    message = wording.format_unknown_document(document, grade, len(passages.ids), nearest)
    evidence = {"document": document, "grade": grade}
    if nearest is not None:
        evidence["nearest"] = nearest
    return LintFinding("unknown_document", query, message, evidence, fix)


def _has_known_alternatives(subject: LintInput, passages: CorpusIndex, query: QueryId, document: Any) -> bool:
    """Return whether each group with a document has another relevant one that is in the corpus."""
    for group in subject.groups(query):
        if document in group and not _has_known_relevant(group, passages, without=document):
            return False
    return True


def _has_known_relevant(group: dict[Any, float], passages: CorpusIndex, *, without: Any) -> bool:
    for judged, grade in group.items():
        if grade > 0 and judged in passages.ids and judged != without:
            return True
    return False


def find_impossible_groups(subject: LintInput) -> Iterator[LintFinding]:
    """Yield the groups of several alternatives of which none is in the corpus."""
    if subject.passages is None:
        return
    for query in subject.graded:
        groups = subject.groups(query)
        for number, group in enumerate(groups, start=1):
            relevant = [judged for judged, grade in group.items() if grade > 0]
            if len(group) > 1 and relevant and all(_is_missing(judged, subject.passages) for judged in relevant):
                message = wording.format_impossible_group(number, len(groups), group)
                yield LintFinding("impossible_group", query, message, {"group": number, "alternatives": list(group)})


def _is_missing(judged: Any, passages: CorpusIndex) -> bool:
    """Return whether what is judged is certainly not in the corpus."""
    if isinstance(judged, Quote):
        if not passages.items or passages.count_places(judged.text):
            return False
        return passages.find_source_of_quote(judged.text) is None
    if isinstance(judged, Span):
        return bool(passages.items) and not passages.has_source(judged.source)
    return not isinstance(judged, Piece) and judged not in passages.ids
