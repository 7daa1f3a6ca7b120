"""Check how hard questions are: by runs or, without runs, by what BM25 finds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.checks import argument
from retrieval_metrics.questions.linting.findings import LintFinding
from retrieval_metrics.questions.linting.searching import FEWEST_PASSAGES, Search
from retrieval_metrics.questions.words import word_index
from retrieval_metrics.questions.words.wording import shortened
from retrieval_metrics.scoring.metric import Metric

if TYPE_CHECKING:
    from collections.abc import Iterator

    from retrieval_metrics.questions.linting.subject import Subject
    from retrieval_metrics.questions.words.passages import Passages

RECIPROCAL_RANK = Metric("mrr")
MOST_UNANSWERED, MANY = 0.25, 10
"""If BM25 finds nothing for more than this share of the questions, and for so many, that says something about BM25."""


def hard_and_easy(subject: Subject) -> Iterator[LintFinding | str]:
    """Yield the questions for which nothing relevant is found, and those for which it always comes first."""
    if subject.runs:
        yield from _by_runs(subject)
    elif subject.passages is None:
        yield (f"how hard the questions are, which needs {argument('runs')} or {argument('corpus')}")
    elif subject.passages.items:
        yield from _by_search(subject, subject.passages)


def _by_search(subject: Subject, passages: Passages) -> Iterator[LintFinding | str]:
    """Yield what BM25 finds, but not which questions have no answer if these are too many to be believed."""
    if not word_index.can_search():
        yield (
            f"how hard the questions are, which needs {argument('runs')} or: pip install 'retrieval-metrics[questions]'"
        )
        return
    search = Search(subject, passages)
    if not search.is_telling:
        yield (f"how hard the questions are, which needs at least {FEWEST_PASSAGES} passages")
        return
    found = list(search.findings())
    unanswered = sum(finding.name == "unanswered" for finding in found)
    judged = sum(bool(relevant) for relevant in subject.relevant.values())
    if unanswered < MANY or unanswered <= MOST_UNANSWERED * judged:
        yield from found
        return
    yield from (finding for finding in found if finding.name != "unanswered")
    yield (
        f"which questions have no answer, because BM25 hardly finds what is relevant to {unanswered:,} of {judged:,}: "
        f"they use other words, so pass {argument('runs')} of a retriever that matches meanings"
    )


def _by_runs(subject: Subject) -> Iterator[LintFinding]:
    """Yield the questions for which no run finds anything relevant, or every run ranks it first."""
    ranks = subject.values(RECIPROCAL_RANK)
    names = " and ".join(ranks)
    values = np.column_stack(list(ranks.values()))
    for query, of_query in zip(subject.qrels.queries, values, strict=True):
        if query not in subject.texts or np.isnan(of_query).any():
            continue
        text = shortened(subject.texts[query])
        if (of_query == 0).all():
            yield LintFinding(
                "unanswered",
                query,
                f"{names} finds nothing that is relevant to {text}: it may have no answer, or the judgments of another "
                "question",
                {"runs": list(ranks)},
            )
        elif (of_query == 1).all():
            yield LintFinding(
                "easy",
                query,
                f"{names} ranks something relevant to {text} first, so it does not tell retrievers apart",
                {"runs": list(ranks)},
            )
