"""Find what looks suspicious about an evaluation set, under any rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.scoring.metric import Metric
from retrieval_metrics.scoring.rules import STANDARD
from retrieval_metrics.scoring.score import score
from retrieval_metrics.statistics.means import Sums

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from retrieval_metrics.judging.judged_run import JudgedRun

TOP = 10
JUDGED = Metric("judged", TOP)


def lint(judged: JudgedRun, corpus: Collection[Any] | None, queries: Mapping[Any, str] | None) -> tuple[str, ...]:
    """Return what to check before you trust any number, one sentence each.

    Args:
        judged: The judgments and the run.
        corpus: The ids of all documents, if known.
        queries: The texts of the queries, if known.
    """
    found = (
        _one_relevant(judged),
        _without_relevant(judged),
        _not_in_corpus(judged, corpus),
        _repeated_queries(judged, queries),
        _judged_share(judged),
    )
    return tuple(filter(None, found))


def _one_relevant(judged: JudgedRun) -> str:
    if len(judged.qrels) == 1 or not (judged.n_relevant() == 1).all():
        return ""
    return (
        "every query has exactly one relevant document: recall, full recall and hit rate are the same number, average "
        "precision is the reciprocal rank, and precision@k cannot exceed 1/k"
    )


def _without_relevant(judged: JudgedRun) -> str:
    lacking = np.flatnonzero(judged.n_relevant() == 0)
    if not len(lacking):
        return ""
    return (
        f"{len(lacking)} of {len(judged.qrels)} queries have no relevant document, such as {_query(judged, lacking[0])}"
    )


def _not_in_corpus(judged: JudgedRun, corpus: Collection[Any] | None) -> str:
    if corpus is None:
        return ""
    qrels = judged.qrels
    known = set(corpus)
    lacking = [at for at in np.flatnonzero(qrels.document_grade > 0).tolist() if qrels.documents[at] not in known]
    if not lacking:
        return ""
    queries = len({int(qrels.document_query[at]) for at in lacking})
    return (
        f"{len(lacking)} relevant documents of {queries} queries are not in the corpus, so no retriever can find them, "
        f"such as {qrels.documents[lacking[0]]!r} of {_query(judged, qrels.document_query[lacking[0]])}"
    )


def _repeated_queries(judged: JudgedRun, queries: Mapping[Any, str] | None) -> str:
    """Compare the texts, or the ids if these are the texts, ignoring case, white space and final punctuation."""
    texts: Mapping[Any, Any] = {query: query for query in judged.qrels.queries} if queries is None else queries
    first: dict[str, Any] = {}
    repeated = []
    for query in judged.qrels.queries:
        text = texts.get(query)
        if isinstance(text, str):
            key = " ".join(text.casefold().split()).rstrip(" ?!.")
            if first.setdefault(key, query) != query:
                repeated.append((first[key], query))
    if not repeated:
        return ""
    one, other = repeated[0]
    return (
        f"{len(repeated)} of {len(judged.qrels)} queries repeat another, as {other!r} does {one!r}: a repeated "
        "question counts each time"
    )


def _judged_share(judged: JudgedRun) -> str:
    share = Sums.of_defined(score(judged, JUDGED, STANDARD).values)
    if not share.count or share.mean == 1:
        return ""
    return (
        f"{share.mean:.0%} of the first {TOP} retrieved documents are judged; the others count as not relevant, "
        "whether they are or not"
    )


def _query(judged: JudgedRun, at: int) -> str:
    return f"query {judged.qrels.queries[int(at)]!r}"
