"""Split question sets without leakage, merge them, and leave questions out."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from retrieval_metrics.checks import grouped, id_kind, integer
from retrieval_metrics.inputs.documents import Sources
from retrieval_metrics.inputs.items import Metadata, Span
from retrieval_metrics.inputs.qrels import as_qrels, judgments_by_query
from retrieval_metrics.inputs.question_clusters import Clusters
from retrieval_metrics.inputs.questions import Questions, QuestionsT

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Mapping, Sequence

    from retrieval_metrics.checks import QueryId


def only(questions: QuestionsT, queries: Collection[QueryId]) -> QuestionsT:
    """Return a set with the given queries alone, in the order of the set."""

    def kept(by_query: Mapping[Any, Any]) -> dict[Any, Any]:
        return {query: value for query, value in by_query.items() if query in queries}

    return replace(
        questions,
        queries=kept(questions.queries),
        qrels=kept(judgments_by_query(questions.qrels)),
        provenance=kept(questions.provenance),
        answers=kept(questions.answers),
        history=kept(questions.history),
    )


def parts(questions: Questions, shares: Sequence[float], seed: int) -> list[set[QueryId]]:
    """Return the ids of each part; `EvaluationSet.split` says how they are chosen."""
    if any(not share > 0 for share in shares) or not math.isclose(math.fsum(shares), 1, abs_tol=1e-9):
        raise ValueError(f"the shares of a split must be positive and add up to 1, got {', '.join(map(str, shares))}")
    clusters = _clusters(questions)
    if len(clusters) < len(shares):
        raise ValueError(
            f"{len(questions)} questions cannot be split into {len(shares)} parts, because their sources and "
            f"judgments connect them to {len(clusters)} clusters that must stay together"
        )
    chance = random.Random(integer(seed, "seed"))  # noqa: S311  (not a secret)
    chance.shuffle(clusters)
    clusters.sort(key=len, reverse=True)  # stable, so that equal ones stay in random order
    found: list[set[QueryId]] = [set() for _ in shares]
    for number, cluster in enumerate(clusters):
        lacking = [share * len(questions) - len(part) for share, part in zip(shares, found, strict=True)]
        empty = [at for at, part in enumerate(found) if not part]
        # Each empty part needs at least one of the remaining clusters.
        allowed = empty if len(clusters) - number == len(empty) else range(len(shares))
        found[max(allowed, key=lambda at: lacking[at])].update(cluster)
    return found


def _clusters(questions: Questions) -> list[list[QueryId]]:
    """Return the questions that must stay together: those of one source, and those with a judgment in common."""
    truth = as_qrels(questions)
    names: dict[QueryId, set[Hashable]] = {query: set() for query in truth.queries}
    for at, judged in zip(truth.document_query.tolist(), truth.documents, strict=True):
        names[truth.queries[at]].add(("judged", judged))
        if isinstance(judged, Span):
            names[truth.queries[at]].add(("source", judged.source))
        elif isinstance(judged, Metadata) and (source := dict(judged.values).get("source")) is not None:
            names[truth.queries[at]].add(("source", source))
    for query, made in questions.provenance.items():
        if made.source is not None and query in names:
            names[query].add(("source", made.source))
    labels = Clusters(truth.queries, [tuple(named) for named in names.values()], by_source=False).labels
    if labels is None:
        return [[query] for query in truth.queries]
    return list(grouped(zip(labels.tolist(), truth.queries, strict=True)).values())


def merged(kind: type[QuestionsT], sets: Sequence[Questions]) -> QuestionsT:
    """Merge several sets; see `EvaluationSet.merge`."""
    for each in sets:
        if not isinstance(each, Questions):
            raise TypeError(f"an EvaluationSet can be merged only with EvaluationSets, got {type(each).__name__}")
    texts = _agreeing([each.queries for each in sets], "query {!r} is", "rename one")
    judged = [
        {query: judgments for query, judgments in judgments_by_query(each.qrels).items() if query in each.queries}
        for each in sets
    ]
    qrels = _agreeing(judged, "query {!r} is judged", "merge these judgments first, or rename one of the two")
    for query in texts:
        said = [each.history.get(query) for each in sets if query in each.queries]
        if any(one != said[0] for one in said):
            raise ValueError(f"something else was said before query {query!r} in one set than in another; rename one")
    answers = _agreeing([each.answers for each in sets], "the answer to query {!r} is", "leave one of the two out")
    provenance = {query: made for each in reversed(sets) for query, made in each.provenance.items()}
    history = {query: said for each in sets for query, said in each.history.items()}
    changes = dict.fromkeys(change for each in sets for change in each.changes)
    id_kind(set(map(type, texts)), "query ids of the sets together")
    return kind(texts, qrels, provenance, tuple(changes), _together(sets), answers, history)


def _agreeing(sets: Sequence[Mapping[Any, Any]], what: str, advice: str) -> dict[Any, Any]:
    """Return what several sets have of each query; what differs is refused in the words of `what` and `advice`."""
    found: dict[Any, Any] = {}
    for each in sets:
        for query, value in each.items():
            if found.setdefault(query, value) != value:
                raise ValueError(f"{what.format(query)} {found[query]!r} in one set and {value!r} in another; {advice}")
    return found


def _together(sets: Sequence[Questions]) -> Sources | None:
    kept = [each.sources for each in sets if each.sources is not None]
    digests: dict[str, str] = {}
    for sources in kept:
        for name, digest in sources.digests.items():
            if digests.setdefault(name, digest) != digest:
                raise ValueError(f"the text of source {name!r} differs between the sets; rename it in one of them")
    texts = {name: text for sources in kept for name, text in sources.texts.items()}
    return Sources(texts, digests) if kept else None
