"""Find documents that every run ranks high, and that nobody judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retrieval_metrics.datasets import lint_wording as wording
from retrieval_metrics.datasets.lint_report import LintFinding
from retrieval_metrics.matching.matching_options import Matching
from retrieval_metrics.matching.ranking_order import OrderedRankings
from retrieval_metrics.metrics.base.rules import STANDARD

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from retrieval_metrics.datasets.lint_input import LintInput


# A document that every run has among so many first ones is probably relevant.
N_FIRST = 3

# The smallest number of runs that can agree on a document.
MIN_RUNS = 2


def find_unjudged_at_top(subject: LintInput) -> Iterator[LintFinding | str]:
    """Yield the unjudged documents that every run ranks among the first three, one finding for each question."""
    has_pieces = subject.qrels.has_pieces
    runs = list(subject.runs)
    if has_pieces or len(runs) < MIN_RUNS:
        yield wording.format_agreement_skipped(has_pieces=has_pieces)
        return
    first_by_query = _find_first_documents(subject)
    if not _any_is_judged(subject, first_by_query):
        return  # the judgments are of other ids, or the runs of other questions
    for query, first_of_runs in first_by_query.items():
        documents = [
            document for document in _find_common_documents(first_of_runs) if document not in subject.graded[query]
        ]
        if documents:
            message = wording.format_unjudged_at_top(subject.texts[query], documents[0], N_FIRST, runs)
            evidence = {"document": documents[0], "documents": documents, "runs": runs}
            yield LintFinding("unjudged_at_top", query, message, evidence)


def _find_first_documents(subject: LintInput) -> dict[Any, list[list[Any]]]:
    """Return the first documents of each run, by query id."""
    first_by_query: dict[Any, list[list[Any]]] = {query: [] for query in subject.queries}
    for run in subject.runs.values():
        rankings = OrderedRankings(run, Matching(deduplicate=True), STANDARD.order)
        for query, ranking in rankings.iterate(first_by_query):
            first_by_query[query].append(rankings.ids(ranking)[:N_FIRST])
    return first_by_query


def _any_is_judged(subject: LintInput, first_by_query: Mapping[Any, Sequence[Sequence[Any]]]) -> bool:
    for query, first_of_runs in first_by_query.items():
        for documents in first_of_runs:
            if not subject.graded[query].keys().isdisjoint(documents):
                return True
    return False


def _find_common_documents(first_of_runs: Sequence[Sequence[Any]]) -> list[Any]:
    """Return the documents that all runs have among their first, in the order of the first run."""
    first_run, *other_runs = first_of_runs
    return [document for document in first_run if all(document in documents for documents in other_runs)]
