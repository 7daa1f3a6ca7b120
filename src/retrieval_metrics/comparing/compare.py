"""Evaluate several systems on the same queries and compare them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeGuard

from retrieval_metrics.checks import RetrievalWarning
from retrieval_metrics.comparing.compare_evaluations import (
    RESAMPLES,
    compare_evaluations,
    compare_scores,
    refuse_fixed,
    require_comparable,
)
from retrieval_metrics.evaluation.evaluate import evaluate
from retrieval_metrics.evaluation.evaluation import Evaluation
from retrieval_metrics.inputs.qrels import as_qrels
from retrieval_metrics.inputs.question_clusters import clusters_of
from retrieval_metrics.inputs.run import Run
from retrieval_metrics.judging.judge import with_documents
from retrieval_metrics.scoring.metric import DEFAULT_METRICS, Metric

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from retrieval_metrics.checks import QueryId
    from retrieval_metrics.comparing.compare_evaluations import Terms
    from retrieval_metrics.comparing.comparison import Comparison
    from retrieval_metrics.inputs.items import RunMapping
    from retrieval_metrics.inputs.qrels import QuestionsOrQrels
    from retrieval_metrics.inputs.question_clusters import ClustersBy
    from retrieval_metrics.judging.ranking_order import Key, Matching
    from retrieval_metrics.scoring.rules import Rules


def compare(
    qrels: QuestionsOrQrels | Mapping[str, Evaluation],
    runs: Mapping[str, RunMapping | Run] | None = None,
    metrics: str | Metric | Iterable[str | Metric] = DEFAULT_METRICS,
    *,
    baseline: str | None = None,
    margin: float | None = None,
    clusters: ClustersBy = "source",
    unjudged: str | None = None,
    unseen: int | Mapping[QueryId, int] | None = None,
    semantics: str | Rules = "standard",
    match: str | Key | Matching = "id",
    ties: str | None = None,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
    documents: Any = None,
    show_progress: bool = False,
) -> Comparison:
    """Score several systems on the same queries and test in which metrics they differ.

    Every difference is paired: system minus baseline, query by query, over the queries for which both are defined. It
    comes with a confidence interval, the p value of the randomisation test, the effect size (the mean difference in
    standard deviations of the differences), and the queries won, tied and lost. One joint test (see
    `retrieval_metrics.statistics.joint_sign_flips`) corrects the p values for all metrics, cut-offs and pairs of
    systems compared here, so ten metrics do not make a false finding ten times as likely, and correlated metrics cost
    little. The interval of a difference is simultaneous with all others and excludes 0 exactly if the corrected p value
    finds a difference. A verdict states the conclusion for each system and metric in words.

    Args:
        qrels: The judgments, as in `evaluate`. Or, in place of judgments and runs, evaluations by name, such as a saved
            one of last week and one of today. These are compared on the queries with the same id, text and judgments in
            all of them; `Comparison.notes` describes the others.
        runs: The run of each system, by the name of the system.
        metrics: Names such as `"ndcg@10"` or `["map", "mrr@10"]`. For evaluations, the default is all metrics that they
            share.
        baseline: The name of the system that all others are compared with; None compares every pair.
        margin: The largest acceptable loss, such as 0.02. The verdict then also says per metric whether a system is "no
            worse by more than 0.02", "worse by more", or that the data cannot tell, each at a one-sided level of
            1 - level; see `retrieval_metrics.statistics.within_margins`.
        clusters: The clusters of the queries, as in `evaluate`; intervals and tests then use whole clusters.
        unjudged: Unjudged documents count as not relevant (None). `"bounds"` also computes the smallest and the largest
            value of every mean and difference over all possible grades of the unjudged documents, each metric among the
            documents up to its own cut-off; a conclusion then says whether such grades could change it. `"condensed"`
            removes unjudged documents from the rankings, as in `evaluate`, which favours systems whose documents are
            less judged (Sakai and Kando 2008).
        unseen: With `"bounds"`, how many further relevant documents a query may have that nobody judged or retrieved: a
            number for every query, or a mapping from query id to number. None assumes that there are none.
        semantics: The rules, as in `evaluate`.
        match: What an id of the judgments is compared with, as in `evaluate`.
        ties: How equal scores are ordered, as in `evaluate`.
        level: Confidence level of the intervals; 1 - level is the accepted rate of false findings.
        resamples: Number of random choices of signs if the test cannot be exact.
        seed: Seed of the random choices; the same seed gives the same p values.
        documents: The documents that chunks were cut from, as in `evaluate`.
        show_progress: Show a progress bar of the test on stderr; needs rich.

    Returns:
        Means, differences and a verdict in words; print it, plot it, turn it into a DataFrame or a report.

    Raises:
        TypeError: If `runs` is not a mapping of names to runs, or as in `evaluate`.
        ValueError: If there are fewer than two runs, the baseline is not among them, `level` is not between 0 and 1, or
            as in `evaluate`.
        ImportError: If `show_progress` is set and rich is not installed.

    Warns:
        RetrievalWarning: As in `evaluate`, with the name of the system; and if the judged shares of systems differ by
            more than ten percentage points. Before a test that takes more than a minute, with an estimate.

    Example:
        >>> qrels = {f"q{i}": ["d"] for i in range(8)}
        >>> first = {query: ["d", "x"] for query in qrels}
        >>> second = {query: ["x", "d"] for query in qrels}
        >>> print(compare(qrels, {"second": second, "first": first}, "mrr").conclusions.of("mrr"))
        first is better than second in mrr, by 0.500 in every query.

    References:
        T. Sakai, N. Kando (2008). On information retrieval metrics designed for evaluation with incomplete relevance
        assessments.
        M. D. Smucker, J. Allan, B. Carterette (2007). A comparison of statistical significance tests for information
        retrieval evaluation.
        P. H. Westfall, S. S. Young (1993). Resampling-based multiple testing.
    """
    terms: Terms = {
        "baseline": baseline,
        "margin": margin,
        "level": level,
        "resamples": resamples,
        "seed": seed,
        "unjudged": unjudged,
        "unseen": unseen,
        "show_progress": show_progress,
    }
    if _are_evaluations(qrels):
        if runs is not None:
            raise TypeError("evaluations have their own runs; pass only compare({name: evaluation, ...})")
        given = {
            "semantics": semantics != "standard",
            "match": match != "id",
            "ties": ties is not None,
            "documents": documents is not None,
            "clusters": clusters != "source",
        }
        refuse_fixed(name for name, is_given in given.items() if is_given)
        return compare_evaluations(qrels, None if metrics is DEFAULT_METRICS else metrics, **terms)
    truths: Any = qrels
    if not isinstance(runs, Mapping):
        raise TypeError(f"runs must map the name of each system to its run, got {type(runs).__name__}")
    if isinstance(runs, Run) or any(isinstance(run, (list, tuple)) for run in runs.values()):
        raise TypeError("runs must map the name of each system to its run, such as {'bm25': run, ...}; this is one run")
    if any(isinstance(run, Evaluation) for run in runs.values()):
        raise TypeError("evaluations have their own judgments; pass only compare({name: evaluation, ...})")
    require_comparable(list(runs), terms)
    truth = as_qrels(truths)
    options: dict[str, Any] = {
        "semantics": semantics,
        "match": with_documents(match, documents, truth, truths),
        "ties": ties,
        "clusters": clusters_of(qrels, truth, clusters),
        "unjudged": None if unjudged == "bounds" else unjudged,
    }
    scores = {}
    for name, run in runs.items():  # not a comprehension, which before Python 3.12 adds a stack frame
        scores[name] = evaluated_as(name, partial(evaluate, truth, run, metrics, **options)).scores
    comparison = compare_scores(scores, next(iter(scores.values())).metrics, **terms)
    if comparison.said_of_ignorance:
        warnings.warn(comparison.said_of_ignorance, RetrievalWarning, stacklevel=2)
    return comparison


def _are_evaluations(qrels: Any) -> TypeGuard[Mapping[str, Evaluation]]:
    """Return whether these are evaluations by name.

    Raises:
        TypeError: If only some are.
    """
    if not isinstance(qrels, Mapping) or not isinstance(next(iter(qrels.values()), None), Evaluation):
        return False
    for name, one in qrels.items():
        if not isinstance(one, Evaluation):
            raise TypeError(f"{name!r} must be an Evaluation as the others are, got {type(one).__name__}")
    return True


def evaluated_as(name: str, evaluate_it: Callable[[], Evaluation]) -> Evaluation:
    """Evaluate one system, and add its name to warnings and errors."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            evaluation = evaluate_it()
        except (TypeError, ValueError) as error:
            error.add_note(f"while evaluating the system {name!r}")
            raise
    for warning in caught:
        warnings.warn(f"{name}: {warning.message}", warning.category, stacklevel=3)
    return evaluation
