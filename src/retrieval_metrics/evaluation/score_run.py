"""Judge a run and compute the values of its metrics."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.evaluation.counts import count_issues
from retrieval_metrics.evaluation.scores import Origin, Scores
from retrieval_metrics.inputs.items import Retrieved
from retrieval_metrics.inputs.kept_rankings import MAX_COPIED_SCORES, copy_run
from retrieval_metrics.inputs.match_key import get_match_key
from retrieval_metrics.matching.guarded_scores import guard_long_rankings
from retrieval_metrics.matching.judge import judge
from retrieval_metrics.matching.near_misses import find_near_misses
from retrieval_metrics.metrics.base.refused_queries import require_accepted_queries
from retrieval_metrics.metrics.base.score import apply_rules_to_qrels, score

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from retrieval_metrics._internal.plain_types import FloatArray
    from retrieval_metrics.evaluation.scores import Column
    from retrieval_metrics.inputs.exclusion import Exclusion
    from retrieval_metrics.inputs.items import RunMapping
    from retrieval_metrics.inputs.match_key import Key
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.inputs.run import Run
    from retrieval_metrics.matching.judged_run import JudgedRun
    from retrieval_metrics.matching.matching_options import Matching
    from retrieval_metrics.metrics.base.metric import Metric
    from retrieval_metrics.metrics.base.rules import Rules

# How many rankings, and how many results of each, are looked up in a corpus, to tell whether it holds what they do.
MAX_CHECKED_RANKINGS = 100
MAX_CHECKED_IDS = 100


def score_run(
    qrels: Qrels,
    run: RunMapping | Run,
    metrics: Sequence[Metric],
    rules: Rules,
    match: str | Key | Matching = "id",
    *,
    scale: float | None = None,
    exclusion: Exclusion | None = None,
) -> Scores:
    """Return the scores of a run without warnings, because what looks wrong in a part may be normal in the whole."""
    qrels = apply_rules_to_qrels(qrels, rules)
    if scale is not None:
        qrels = qrels.with_largest_grade(scale)
    document_texts = qrels.document_texts
    corpus: Collection[Any] = qrels.corpus
    if not corpus and document_texts is not None:
        corpus = document_texts.document_ids
    if document_texts is not None or qrels.corpus:
        # Evaluations are kept and sent to other processes, so they hold no corpus.
        qrels = qrels.with_document_texts(None)
    n_excluded = None
    if exclusion is not None:
        # Imported here because few evaluations leave documents out.
        from retrieval_metrics.inputs.exclusion import remove_excluded

        run, n_excluded = remove_excluded(run, qrels, exclusion, get_match_key(match))
    # What is explained and saved later must be what was scored, whatever the caller does with the run.
    kept_run = copy_run(run, copy_items=match != "id" or qrels.has_pieces, max_scores=MAX_COPIED_SCORES)
    judged = judge(qrels, kept_run, match, rules.order)
    judged.n_excluded = n_excluded
    judged.corpus_size = _count_corpus(corpus, judged, kept_run, get_match_key(match))
    require_accepted_queries(judged, rules)
    # Before anything is guarded, because a guard adds up all scores whenever it is read.
    find_near_misses(judged, kept_run, match, document_texts)
    kept_run = guard_long_rankings(kept_run, judged)
    return score_judged_run(Origin(judged, kept_run, match), metrics, rules)


def score_judged_run(origin: Origin, metrics: Sequence[Metric], rules: Rules) -> Scores:
    """Return the scores of a judged run."""
    judged = origin.judged
    run = origin.run
    qrels = judged.qrels
    find_near_misses(judged, run, origin.match)
    columns: dict[tuple[Column, Metric], FloatArray] = {}
    for metric in metrics:
        scored = score(judged, metric, rules)
        columns["value", metric] = scored.values
        if scored.residual is not None:
            columns["residual", metric] = scored.residual
        if scored.lowest is not None and scored.highest is not None:
            columns["lowest", metric] = scored.lowest
            columns["highest", metric] = scored.highest
    scores = Scores(
        metrics=tuple(metrics),
        queries=tuple(qrels.queries),
        columns=columns,
        counts=count_issues(judged, run, metrics, rules),
        rules=rules,
        origin=origin,
        scale=qrels.largest_grade,
    )
    if rules.missing == "zero":
        return scores
    is_in_run = np.fromiter((query in run for query in qrels.queries), np.bool_, len(qrels))
    scored_rows = np.flatnonzero(is_in_run)
    return scores.select(scored_rows, count_issues(judged, run, metrics, rules, scored_positions=scored_rows))


def _count_corpus(corpus: Collection[Any], judged: JudgedRun, run: Mapping[Any, Any], key: Key) -> int:
    """Return how many documents a ranking can hold; 0 if that is unknown.

    It is the size of the corpus if the run retrieves its documents, each once. Of chunks no one knows how many there
    are, whether they have ids of their own or a document is retrieved several times.
    """
    if not corpus or len(judged.duplicates.query):
        return 0
    answered = np.flatnonzero(judged.n_retrieved)
    for position in answered[:MAX_CHECKED_RANKINGS].tolist():
        for element in islice(run[judged.qrels.queries[position]], MAX_CHECKED_IDS):
            if isinstance(element, Retrieved):
                is_document = element.id in corpus and key(element) in corpus
            else:
                is_document = element in corpus
            if not is_document:
                return 0
    return len(corpus) if len(answered) else 0
