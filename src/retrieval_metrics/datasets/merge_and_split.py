"""Split sets of questions without leakage, merge several sets, and select some questions of a set."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from retrieval_metrics._internal.grouping import group_pairs
from retrieval_metrics._internal.validation import common_id_type, integer
from retrieval_metrics.inputs.clusters import Clusters, iterate_relevant
from retrieval_metrics.inputs.documents import SourceDocuments
from retrieval_metrics.inputs.pieces import Metadata, Span
from retrieval_metrics.inputs.qrels import as_qrels, judgments_by_query
from retrieval_metrics.inputs.questions import Questions, QuestionsT

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Mapping, Sequence

    from retrieval_metrics._internal.plain_types import QueryId
    from retrieval_metrics.inputs.provenance import Provenance


def select_queries(questions: QuestionsT, queries: Collection[QueryId]) -> QuestionsT:
    """Return a set with the given queries alone, in the order of the set."""

    def select(by_query: Mapping[Any, Any]) -> dict[Any, Any]:
        return {query: value for query, value in by_query.items() if query in queries}

    return replace(
        questions,
        queries=select(questions.queries),
        qrels=select(judgments_by_query(questions.qrels)),
        provenance=select(questions.provenance),
        answers=select(questions.answers),
        conversation=select(questions.conversation),
    )


def split_queries(questions: Questions, shares: Sequence[float], seed: int) -> list[set[QueryId]]:
    """Return the ids of the questions of each part; see `EvaluationSet.split`."""
    if any(not share > 0 for share in shares) or not math.isclose(math.fsum(shares), 1, abs_tol=1e-9):
        raise ValueError(f"the shares of a split must be positive and add up to 1, got {', '.join(map(str, shares))}")
    clusters = _group_connected(questions)
    if len(clusters) < len(shares):
        raise ValueError(
            f"{len(questions)} questions cannot be split into {len(shares)} parts, because their sources and "
            f"judgments connect them to {len(clusters)} clusters that must stay together"
        )
    generator = random.Random(integer(seed, "seed"))
    generator.shuffle(clusters)
    clusters.sort(key=len, reverse=True)  # a stable sort: clusters of equal size stay in random order
    parts: list[set[QueryId]] = [set() for _ in shares]
    for number, cluster in enumerate(clusters):
        n_missing = [share * len(questions) - len(part) for share, part in zip(shares, parts, strict=True)]
        candidates = list(range(len(parts)))
        empty_parts = [index for index in candidates if not parts[index]]
        # Each empty part needs at least one of the remaining clusters.
        if len(empty_parts) == len(clusters) - number:
            candidates = empty_parts
        parts[max(candidates, key=n_missing.__getitem__)].update(cluster)
    return parts


def _group_connected(questions: Questions) -> list[list[QueryId]]:
    """Return the questions that must stay together: those of one source, and those with a judgment in common."""
    qrels = as_qrels(questions)
    keys_by_query: dict[QueryId, set[Hashable]] = {query: set() for query in qrels.queries}
    for index, judged in iterate_relevant(qrels):
        keys = keys_by_query[qrels.queries[index]]
        keys.add(("judged", judged))
        if isinstance(judged, (Span, Metadata)) and judged.source is not None:
            keys.add(("source", judged.source))
    for query, provenance in questions.provenance.items():
        if provenance.source is not None and query in keys_by_query:
            keys_by_query[query].add(("source", provenance.source))
    labels = Clusters(qrels.queries, [tuple(keys) for keys in keys_by_query.values()], by_source=False).labels
    if labels is None:
        return [[query] for query in qrels.queries]
    return list(group_pairs(zip(labels.tolist(), qrels.queries, strict=True)).values())


def merge_sets(set_class: type[QuestionsT], sets: Sequence[Questions]) -> QuestionsT:
    """Merge several sets; see `EvaluationSet.merge`."""
    queries = []
    answers = []
    for questions in sets:
        if not isinstance(questions, Questions):
            raise TypeError(f"an EvaluationSet can be merged only with EvaluationSets, got {type(questions).__name__}")
        queries.append(questions.queries)
        answers.append(questions.answers)
    texts = _merge_equal(queries, "query {!r} is", "rename one")
    judgments = [_judgments_of_queries(questions) for questions in sets]
    qrels = _merge_equal(judgments, "query {!r} is judged", "merge these judgments first, or rename one of the two")
    for query in texts:
        _require_equal_conversations(sets, query)
    merged_answers = _merge_equal(answers, "the answer to query {!r} is", "leave one of the two out")
    provenance: dict[Any, Provenance] = {}
    for questions in reversed(sets):  # the provenance in an earlier set replaces that in a later one
        provenance.update(questions.provenance)
    conversation: dict[Any, Any] = {}
    changes: dict[str, None] = {}
    for questions in sets:
        conversation.update(questions.conversation)
        changes |= dict.fromkeys(questions.changes)
    common_id_type(set(map(type, texts)), "query IDs of the sets together")
    return set_class(texts, qrels, provenance, tuple(changes), _merge_sources(sets), merged_answers, conversation)


def _judgments_of_queries(questions: Questions) -> dict[Any, Any]:
    """Return the judgments of the queries of a set, without those of queries that it lacks."""
    return {
        query: judgments
        for query, judgments in judgments_by_query(questions.qrels).items()
        if query in questions.queries
    }


def _require_equal_conversations(sets: Sequence[Questions], query: QueryId) -> None:
    conversations = [questions.conversation.get(query) for questions in sets if query in questions.queries]
    for conversation in conversations:
        if conversation != conversations[0]:
            raise ValueError(f"the conversation differs before query {query!r} in one set than in another; rename one")


def _merge_equal(mappings: Sequence[Mapping[Any, Any]], subject: str, remedy: str) -> dict[Any, Any]:
    """Return the values of several mappings by query; raise if two have different values for one query.

    Args:
        mappings: The mappings.
        subject: What has different values, with a place for the query, for the error message.
        remedy: What to do about it, for the error message.
    """
    merged: dict[Any, Any] = {}
    for mapping in mappings:
        for query, value in mapping.items():
            if merged.setdefault(query, value) != value:
                raise ValueError(
                    f"{subject.format(query)} {merged[query]!r} in one set and {value!r} in another; {remedy}"
                )
    return merged


def _merge_sources(sets: Sequence[Questions]) -> SourceDocuments | None:
    """Return the sources of all sets; None if no set has any."""
    texts: dict[str, str] = {}
    digests: dict[str, str] = {}
    has_sources = False
    for questions in sets:
        if questions.sources is None:
            continue
        has_sources = True
        for name, digest in questions.sources.digests.items():
            if digests.setdefault(name, digest) != digest:
                raise ValueError(f"the text of source {name!r} differs between the sets; rename it in one of them")
        texts.update(questions.sources.texts)
    return SourceDocuments(texts, digests) if has_sources else None
