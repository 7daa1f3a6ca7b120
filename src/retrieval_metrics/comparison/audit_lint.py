"""Find what looks suspicious about judgments and a run, such as queries without a relevant document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.metrics.base.metric import Metric
from retrieval_metrics.metrics.base.rules import STANDARD
from retrieval_metrics.metrics.base.score import score
from retrieval_metrics.reports import numbers
from retrieval_metrics.statistics.sums import Sums

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from retrieval_metrics.matching.judged_run import JudgedRun


# The number of first documents of each ranking that are looked up in the judgments.
JUDGED_DEPTH = 10
JUDGED_METRIC = Metric("judged", JUDGED_DEPTH)


def lint_judged_run(
    judged: JudgedRun, corpus: Collection[Any] | None, queries: Mapping[Any, str] | None
) -> tuple[str, ...]:
    """Return what to check before you trust any number, one sentence each."""
    notes = (
        _single_relevant_note(judged),
        _no_relevant_note(judged),
        _corpus_note(judged, corpus),
        _repeated_queries_note(judged, queries),
        _judged_share_note(judged),
    )
    return tuple(note for note in notes if note)


def _single_relevant_note(judged: JudgedRun) -> str:
    if len(judged.qrels) == 1 or not (judged.n_relevant() == 1).all():
        return ""
    return (
        "every query has exactly one relevant document: recall, full recall and hit rate are the same number, average "
        "precision is the reciprocal rank, and precision@k cannot exceed 1/k"
    )


def _no_relevant_note(judged: JudgedRun) -> str:
    positions = np.flatnonzero(judged.n_relevant() == 0)
    if not len(positions):
        return ""
    return (
        f"{len(positions)} of {len(judged.qrels)} queries have no relevant document, such as "
        f"{_format_query(judged, positions[0])}"
    )


def _corpus_note(judged: JudgedRun, corpus: Collection[Any] | None) -> str:
    if corpus is None:
        return ""
    qrels = judged.qrels
    corpus_ids = set(corpus)
    missing = []
    for position in np.flatnonzero(qrels.document_grade > 0).tolist():
        if qrels.documents[position] not in corpus_ids:
            missing.append(position)
    if not missing:
        return ""
    n_queries = len({int(qrels.document_query[position]) for position in missing})
    are = "are"
    them = "them"
    if len(missing) == 1:
        are = "is"
        them = "it"
    documents = numbers.format_count(len(missing), "relevant document")
    query = _format_query(judged, qrels.document_query[missing[0]])
    example = numbers.format_example(len(missing), f"{qrels.documents[missing[0]]!r} of {query}")
    return (
        f"{documents} of {numbers.format_query_count(n_queries)} {are} not in the corpus ({example}), so no retriever "
        f"can find {them}"
    )


def _repeated_queries_note(judged: JudgedRun, queries: Mapping[Any, str] | None) -> str:
    """Return how many queries repeat the text of another, ignoring case, white space and final punctuation.

    Without texts, the ids of the queries are taken for their texts.
    """
    texts: Mapping[Any, Any] = queries if queries is not None else {query: query for query in judged.qrels.queries}
    first_by_text: dict[str, Any] = {}
    repeated_pairs = []
    for query in judged.qrels.queries:
        text = texts.get(query)
        if isinstance(text, str):
            normalised_text = " ".join(text.casefold().split()).rstrip(" ?!.")
            first_query = first_by_text.setdefault(normalised_text, query)
            if first_query != query:
                repeated_pairs.append((first_query, query))
    if not repeated_pairs:
        return ""
    first_query, repeated_query = repeated_pairs[0]
    return (
        f"{len(repeated_pairs)} of {len(judged.qrels)} queries repeat another ({repeated_query!r} repeats "
        f"{first_query!r}): a repeated question counts each time"
    )


def _judged_share_note(judged: JudgedRun) -> str:
    shares = Sums.from_defined_values(score(judged, JUDGED_METRIC, STANDARD).values)
    if not shares.count or shares.mean == 1:
        return ""
    return f"judged@{JUDGED_DEPTH} {shares.mean:.0%}; unjudged documents count as not relevant"


def _format_query(judged: JudgedRun, position: int) -> str:
    return f"query {judged.qrels.queries[int(position)]!r}"
