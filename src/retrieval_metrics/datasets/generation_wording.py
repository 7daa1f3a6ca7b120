"""Format the notes about generated questions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from retrieval_metrics.reports import numbers

if TYPE_CHECKING:
    from retrieval_metrics.datasets.candidate_checks import CheckResults
    from retrieval_metrics.datasets.generated import GeneratedQuestions


# The last rank on the first page of results; questions whose evidence ranks lower are counted apart.
LAST_RANK_OF_PAGE = 10


def generation_notes(generated: GeneratedQuestions) -> list[str]:
    """Return the notes below the table of generated questions."""
    n_used_documents, n_documents = generated.documents
    n_used_clusters, n_clusters = generated.clusters
    coverage_note = (
        f"covers {n_used_documents:,} of {n_documents:,} documents and {n_used_clusters:,} of {n_clusters:,} content "
        "clusters"
    )
    notes = [
        coverage_note,
        *_other_answer_notes(generated.findings),
        _rank_note(generated),
        _answer_note(generated),
        str(generated.calls),
        model_note(generated.findings),
    ]
    if generated.stop_reason is not None:
        notes.append(f"fewer than requested: {generated.stop_reason}")
    if len(generated.questions):
        notes.append("written and checked by a model: have a person review a sample before you rely on it")
    return [note for note in notes if note]


def _other_answer_notes(findings: CheckResults) -> list[str]:
    notes = []
    if findings.n_other_answers or findings.n_refused:
        answers = "answers a question and is" if findings.n_other_answers == 1 else "answer a question and are"
        refused = "more was proposed but does not answer on its own"
        if findings.n_refused != 1:
            refused = "more were proposed but do not answer on their own"
        notes.append(
            f"{numbers.format_count(findings.n_other_answers, 'other passage')} also {answers} judged relevant; "
            f"{findings.n_refused:,} {refused}"
        )
    if findings.n_unknown:
        checks = numbers.format_count(findings.n_unknown, "check")
        notes.append(f"{checks} for other passages with the answer got no usable reply")
    return notes


def _rank_note(generated: GeneratedQuestions) -> str:
    """Return how BM25 ranks what answers the questions; "" if none has an answer."""
    n_answerable = 0
    n_first = 0
    n_on_page = 0
    for query, provenance in generated.questions.provenance.items():
        if query in generated.questions.unanswerable:
            continue
        rank: Any = provenance.get("bm25_rank") or math.inf
        n_answerable += 1
        if rank == 1:
            n_first += 1
        elif 1 < rank <= LAST_RANK_OF_PAGE:
            n_on_page += 1
    if not n_answerable:
        return ""
    return (
        f"BM25 ranks the answer first for {numbers.format_count(n_first, 'question')}, at ranks 2 to "
        f"{LAST_RANK_OF_PAGE} for {n_on_page:,}, and lower or not at all for {n_answerable - n_first - n_on_page:,}"
    )


def _answer_note(generated: GeneratedQuestions) -> str:
    answers = generated.questions.answers
    n_unsupported = generated.findings.n_unsupported
    if not answers and not n_unsupported:
        return ""
    verb = "has" if len(answers) == 1 else "have"
    note = f"{numbers.format_count(len(answers), 'question')} {verb} a reference answer supported by the quotes"
    if n_unsupported:
        note += f"; {numbers.format_count(n_unsupported, 'answer')} omitted (support not confirmed)"
    return note


def model_note(findings: CheckResults) -> str:
    """Return a warning about a model that gave one and the same answer to all checks; "" for any other model."""
    for answer in (True, False):
        n_contradicted = findings.count_contradicted(answer=answer)
        if n_contradicted:
            return (
                f"the model answered {'yes' if answer else 'no'} to all {findings.verdicts.total():,} check questions, "
                f"including {n_contradicted:,} where the opposite was expected, so its checks are uninformative"
            )
    return ""
