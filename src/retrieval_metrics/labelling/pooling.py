"""Pool the documents that several systems retrieved."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from retrieval_metrics.checks import RetrievalWarning, positive_integer
from retrieval_metrics.comparing.compare import compare
from retrieval_metrics.inputs.qrels import as_qrels
from retrieval_metrics.inputs.questions import Questions
from retrieval_metrics.inputs.run import named_runs
from retrieval_metrics.judging.ranking_order import Rankings
from retrieval_metrics.labelling.pool import Pool
from retrieval_metrics.labelling.pooled import Pooled
from retrieval_metrics.presentation.tables import beginning
from retrieval_metrics.questions.words import Passages
from retrieval_metrics.scoring.metric import Metric, as_metric
from retrieval_metrics.scoring.rules import STANDARD

if TYPE_CHECKING:
    from retrieval_metrics.inputs.items import QueryTexts, RunMapping
    from retrieval_metrics.inputs.run import Run
    from retrieval_metrics.judging.ranking_order import Key, Matching


def pool(
    questions: Questions | QueryTexts,
    runs: Mapping[str, RunMapping | Run] | RunMapping | Run,
    corpus: Any = None,
    depth: int = 10,
    *,
    judged: bool = False,
    metric: str | Metric | None = None,
    match: str | Key | Matching = "id",
) -> Pool:
    """Return a pool of documents to grade: the first documents of several systems, without those already judged.

    If only the documents of one system are judged, other systems are at a disadvantage; a pool treats all of them alike
    (Sparck Jones and van Rijsbergen 1975).

    Args:
        questions: An `EvaluationSet`, or texts by query id if nothing is judged yet.
        runs: The run of each system, by the name of the system; or a single run.
        corpus: The texts: a mapping of ids to texts, a list of `Retrieved` or documents of a framework. None takes the
            texts of the retrieved items.
        depth: How many documents of each ranking are taken.
        judged: Keep the judged documents too, so that people grade the whole pool again.
        metric: Also compute how much a difference between two systems in this metric would change if a document had
            the highest grade, for `Pool.limited(n, "effect")`.
        match: What an id of the judgments is compared with, as in `evaluate`.

    Raises:
        TypeError: If `runs` or `questions` have another shape.
        ValueError: If no query of the runs has a text, a document has no id, or `metric` is set for a single system or
            for judgments that are not by id.

    Example:
        >>> runs = {"bm25": {"q1": ["d1", "d2"]}, "dense": {"q1": ["d2", "d3"]}}
        >>> found = pool({"q1": "why?"}, runs, {"d1": "one", "d2": "two", "d3": "three"})
        >>> [(item.document, item.why) for item in found]
        [('d1', 'bm25 1'), ('d2', 'bm25 2, dense 1'), ('d3', 'dense 2')]
    """
    if _holds_texts(runs):
        raise TypeError("the questions come first: exchange the first two arguments, pool(questions, runs)")
    texts = questions.queries if isinstance(questions, Questions) else questions
    if not isinstance(texts, Mapping) or not all(isinstance(text, str) for text in texts.values()):
        raise TypeError(f"questions must be an EvaluationSet or map query ids to texts, got {type(questions).__name__}")
    named = named_runs(runs, texts, "asked")
    k = positive_integer(depth, "depth")
    # Of quotes and spans, no document is known to be judged.
    known = as_qrels(questions).graded() if isinstance(questions, Questions) and not judged else {}
    ranks: dict[Any, dict[Any, dict[str, int]]] = {query: {} for query in texts}
    contents: dict[Any, str | None] = {}
    for name, run in named.items():
        rankings = Rankings(run, match, STANDARD.order)
        for query, ranking in rankings.of(texts):
            for rank, (document, item) in enumerate(rankings.first(ranking, k), start=1):
                if document is None:
                    raise ValueError(_without_id(name, query, rank, item))
                ranks[query].setdefault(document, {}).setdefault(name, rank)
                if item is not None and item.text is not None:
                    contents.setdefault(document, item.text)
    if not any(ranks.values()):
        raise ValueError(f"nothing was retrieved for any of the {len(texts)} queries, such as {next(iter(texts))!r}")
    if corpus is not None:
        by_id = Passages.of(corpus).by_id
        contents |= {
            document: by_id[document].text for held in ranks.values() for document in held if document in by_id
        }
    effects = {} if metric is None else _effects(named, questions, as_metric(metric), match)
    items = tuple(
        Pooled(query, document, contents.get(document), of_document, effects.get((query, document), _none(metric)))
        for query, held in ranks.items()
        for document, of_document in held.items()
        if document not in known.get(query, ())
    )
    sources = (
        {query: made.source for query, made in questions.provenance.items() if made.source is not None}
        if isinstance(questions, Questions)
        else {}
    )
    left_out = sum(document in known.get(query, ()) for query, held in ranks.items() for document in held)
    return Pool(items, dict(texts), tuple(named), k, left_out, sources)


def _holds_texts(given: Any) -> bool:
    """Return whether something holds questions, where a run is meant."""
    return isinstance(given, Questions) or (
        isinstance(given, Mapping) and bool(given) and all(isinstance(text, str) for text in given.values())
    )


def _without_id(system: str, query: Any, rank: int, item: Any) -> str:
    text = getattr(item, "text", None)
    begins = f" ({beginning(text)!r})" if text else ""
    return (
        f"the document at rank {rank} of query {query!r} in {system!r}{begins} has no id, under which its grade could "
        "be kept; give every chunk an id before it is indexed, or pass match=, which says what identifies one, such as "
        'match=lambda item: f"{item.source}@{item.start}"'
    )


def _none(metric: Any) -> float | None:
    return None if metric is None else 0.0


def _effects(runs: dict[str, Any], questions: Any, metric: Metric, match: Any) -> dict[tuple[Any, Any], float]:
    if len(runs) < 2 or not isinstance(questions, Questions):  # noqa: PLR2004  (two differ)
        raise ValueError("the effect of a grade on a difference needs two systems and an EvaluationSet with judgments")
    with warnings.catch_warnings():
        # Warnings about few judgments are no help here: they are the reason for pooling.
        warnings.simplefilter("ignore", RetrievalWarning)
        comparison = compare(questions, runs, metric, match=match, resamples=1)
    open_ = comparison.to_judge(10**9)
    return {(one.query, one.document): one.effect for one in open_}
