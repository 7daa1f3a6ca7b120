"""Compare systems: evaluate them, find their common ground, test all differences together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import inf
from numbers import Real
from typing import TYPE_CHECKING, Any, Protocol, TypedDict, Unpack, cast, get_args

from retrieval_metrics._internal.validation import integer, positive_integer, positive_number, proportion
from retrieval_metrics._internal.warn import warn
from retrieval_metrics.comparison.common_ground_wording import common_ground_notes
from retrieval_metrics.comparison.comparison import Comparison
from retrieval_metrics.comparison.comparison_wording import judged_coverage_note
from retrieval_metrics.comparison.difference import Differences
from retrieval_metrics.comparison.id_obstacles import mark_id_obstacles
from retrieval_metrics.comparison.judged_coverage import measure_judged_coverage
from retrieval_metrics.comparison.paired_values import PairedValues
from retrieval_metrics.comparison.system_warnings import repeat_warnings_once
from retrieval_metrics.comparison.tests_of_pairs import (
    compute_differences,
    list_pairs,
    merge_clusters,
    select_ranking_metrics,
)
from retrieval_metrics.evaluation.budget_coverage import measure_budget_use
from retrieval_metrics.evaluation.data_warning_wording import format_rebuilt_index
from retrieval_metrics.evaluation.data_warnings import require_judged_documents
from retrieval_metrics.evaluation.evaluate import evaluate
from retrieval_metrics.evaluation.evaluation import Evaluation
from retrieval_metrics.evaluation.useful_bounds import format_percentage_hint
from retrieval_metrics.files.judgment_paths import resolve_judgments
from retrieval_metrics.inputs.clusters import find_clusters
from retrieval_metrics.inputs.document_texts import with_document_texts, with_texts_of_runs
from retrieval_metrics.inputs.match_key import get_match_key
from retrieval_metrics.inputs.qrels import as_qrels
from retrieval_metrics.inputs.run import Run
from retrieval_metrics.matching.rebuilt_index import find_rebuilt_runs, judge_by_corpus_texts
from retrieval_metrics.matching.source_texts import with_source_texts
from retrieval_metrics.metrics.base.metric import DEFAULT_METRICS, Metric, as_metrics
from retrieval_metrics.metrics.base.rules import UnjudgedRule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics._internal.plain_types import QueryId
    from retrieval_metrics.evaluation.scores import Scores
    from retrieval_metrics.files.judgment_paths import JudgmentsOrPath
    from retrieval_metrics.inputs.clusters import ClustersBy
    from retrieval_metrics.inputs.documents import Documents
    from retrieval_metrics.inputs.exclusion import Exclude
    from retrieval_metrics.inputs.items import RunMapping
    from retrieval_metrics.inputs.match_key import Key
    from retrieval_metrics.matching.matching_options import Matching
    from retrieval_metrics.metrics.base.rules import Rules


LEVEL = 0.95
RESAMPLES = 10_000
UNJUDGED = ("bounds", *get_args(UnjudgedRule))
# If the two results were chosen from many pairs, the smallest possible p value is at most a fifth of what a significant
# difference needs.
MIN_RESAMPLES_PER_LOOK = 5


class HasEvaluation(Protocol):
    """The result of an integration that keeps the evaluation it was made from, such as LlamaIndex's."""

    @property
    def evaluation(self) -> Evaluation:
        """The evaluation."""


class ComparisonOptions(TypedDict, total=False):
    """How to compare; see `compare`."""

    baseline: str | None
    level: float
    resamples: int
    seed: int
    margin: float | None
    unjudged: str | None
    unretrieved_relevant: int | Mapping[QueryId, int] | None
    show_progress: bool


def compare_evaluations(
    evaluations: Mapping[str, Evaluation],
    metrics: str | Metric | Iterable[str | Metric] | None = None,
    *,
    looks: int = 1,
    **options: Unpack[ComparisonOptions],
) -> Comparison:
    """Compare evaluations on the queries with the same id, text and judgments in all of them.

    Args:
        evaluations: The evaluations by the name of the system.
        metrics: The metrics to compare; None takes all that the evaluations share.
        looks: As in `compare_scores`.
        options: As in `compare`.
    """
    # Imported here because comparing runs never needs it.
    from retrieval_metrics.comparison.common_ground import find_common_ground

    require_comparable(list(evaluations), options)
    if options.get("unjudged") not in {None, "bounds"}:
        refuse_fixed(["unjudged"])
    scores = {name: evaluation.scores for name, evaluation in evaluations.items()}
    requested_metrics = None if metrics is None else as_metrics(metrics, computed=False)
    common_ground = find_common_ground(scores, requested_metrics)
    notes = common_ground_notes(common_ground)
    return compare_scores(common_ground.scores, common_ground.metrics, notes, looks=looks, **options)


def compare_scores(
    scores: Mapping[str, Scores],
    metrics: tuple[Metric, ...],
    notes: Sequence[str] = (),
    *,
    baseline: str | None = None,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = 0,
    margin: float | None = None,
    unjudged: str | None = None,
    unretrieved_relevant: int | Mapping[QueryId, int] | None = None,
    looks: int = 1,
    show_progress: bool = False,
) -> Comparison:
    """Compare scores on the same questions under the same rules.

    Args:
        scores: The scores of each system.
        metrics: The metrics to compare.
        notes: Sentences on what differs between the evaluations besides the rankings.
        baseline: As in `compare`.
        level: As in `compare`.
        resamples: As in `compare`.
        seed: As in `compare`.
        margin: As in `compare`.
        unjudged: As in `compare`.
        unretrieved_relevant: As in `compare`.
        looks: The number of pairs of results from which these two were chosen by their values; 1 without a choice.
        show_progress: As in `compare`.
    """
    if not _is_rehearsal(scores):
        require_judged_documents(scores)
    _refuse_unreachable_margin(margin, metrics)
    clusters = merge_clusters(scores)
    ranking_metrics = select_ranking_metrics(metrics)
    budgets = measure_budget_use(scores, ranking_metrics)
    paired_values = PairedValues.from_scores(scores, metrics, clusters)
    if looks > 1:
        # With fewer choices of signs, no p value could be small enough once it is multiplied by the looks.
        resamples = max(resamples, round(MIN_RESAMPLES_PER_LOOK * looks / (1 - level)))

    def test_differences(values: PairedValues) -> Differences:
        differences = compute_differences(
            scores,
            values,
            ranking_metrics,
            baseline,
            level=1 - (1 - level) / looks,
            resamples=resamples,
            seed=seed,
            margin=margin,
            budgets=budgets,
            show_progress=show_progress,
        )
        return _correct_for_looks(differences, looks) if looks > 1 else differences

    differences = test_differences(paired_values)
    differences = mark_id_obstacles(differences, scores, ranking_metrics, paired_values, test_differences)
    bounds = None
    if unjudged == "bounds":
        # Imported here because only bounds need it.
        from retrieval_metrics.comparison.unjudged_bounds import bound_unjudged

        bounds = bound_unjudged(
            scores,
            paired_values,
            ranking_metrics,
            differences,
            resamples=resamples,
            seed=seed,
            unretrieved_relevant=unretrieved_relevant,
        )
    return Comparison(
        scores=scores,
        metrics=metrics,
        paired_values=paired_values,
        baseline=baseline,
        level=level,
        differences=differences,
        margin=margin,
        clusters=clusters,
        judged_coverage=measure_judged_coverage(scores, ranking_metrics),
        unjudged=bounds,
        notes=tuple(notes),
        budgets=budgets,
        resampling=(resamples, seed),
    )


def _is_rehearsal(scores: Mapping[str, Scores]) -> bool:
    """Return whether no system has retrieved anything, as in the check that `compare_retrievers` makes before calls."""
    for system_scores in scores.values():
        origin = system_scores.origin
        if origin is None or origin.judged.n_retrieved.any():
            return False
    return True


def _correct_for_looks(differences: Differences, looks: int) -> Differences:
    """Correct the p values for the choice of two results from `looks` pairs by their values."""
    corrected = []
    for difference in differences:
        p_corrected = min(difference.p_corrected * looks, 1.0)
        corrected.append(replace(difference, p_corrected=p_corrected, selected_from=looks))
    return Differences(corrected)


def refuse_fixed(options: Iterable[str]) -> None:
    """Raise if there are options that decide how queries are scored: evaluations have their scores already."""
    names = list(options)
    if names:
        pronoun = "it" if len(names) == 1 else "them"
        raise ValueError(f"{', '.join(names)} cannot be changed for evaluations; pass {pronoun} to evaluate(...)")


def _refuse_unreachable_margin(margin: float | None, metrics: Iterable[Metric]) -> None:
    """Raise if a margin is so large that no difference in any metric can exceed it."""
    if margin is None:
        return
    ranges = [metric.definition.bounds[1] - metric.definition.bounds[0] for metric in metrics]
    widest = max(ranges, default=inf)
    if margin > widest:
        raise ValueError(
            f"margin must be at most {widest:g}, the largest possible difference, got {margin:g}"
            f"{format_percentage_hint(margin, widest)}"
        )


def require_comparable(systems: Sequence[Any], options: ComparisonOptions) -> None:
    """Raise before any work if systems cannot be compared with these options."""
    for system in systems:
        if not isinstance(system, str):
            raise TypeError(f"the name of a system must be text, got {system!r} ({type(system).__name__})")
        if not system.strip():
            raise ValueError(f"the name of a system must not be empty, got {system!r}; sentences and charts name it")
    list_pairs(systems, options.get("baseline"))
    proportion(options.get("level", LEVEL), "level")
    positive_integer(options.get("resamples", RESAMPLES), "resamples")
    seed = integer(options.get("seed", 0), "seed")
    if seed < 0:
        raise ValueError(f"seed must be 0 or more, got {seed}")
    margin = options.get("margin")
    if margin is not None:
        positive_number(margin, "margin")
    unjudged = options.get("unjudged")
    if unjudged not in (None, *UNJUDGED):
        raise ValueError(f"unjudged must be one of {', '.join(UNJUDGED)}, or None, got {unjudged!r}")
    if options.get("unretrieved_relevant") is not None and unjudged != "bounds":
        raise ValueError(f"unretrieved_relevant= requires unjudged='bounds', got unjudged={unjudged!r}")


def compare(
    qrels: JudgmentsOrPath | Mapping[str, Evaluation] | Mapping[str, HasEvaluation],
    runs: Mapping[str, RunMapping | Run] | None = None,
    metrics: str | Metric | Iterable[str | Metric] = DEFAULT_METRICS,
    *,
    baseline: str | None = None,
    margin: float | None = None,
    clusters: ClustersBy = "source",
    unjudged: str | None = None,
    unretrieved_relevant: int | Mapping[QueryId, int] | None = None,
    rules: str | Rules = "standard",
    match: str | Key | Matching = "id",
    ties: str | None = None,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
    documents: Documents | None = None,
    exclude: Exclude | None = None,
    show_progress: bool = False,
) -> Comparison:
    """Score several systems on the same queries and test in which metrics they differ.

    Every difference is paired: system minus baseline, query by query, over the queries for which both are defined. It
    comes with a confidence interval, the p value of the randomisation test, the effect size (the mean difference in
    standard deviations of the differences), and the queries won, tied and lost. One joint test (see
    `retrieval_metrics.statistics.joint_sign_flips`) corrects the p values for all metrics, cutoffs and pairs of systems
    compared here, so ten metrics do not make a false positive ten times as likely, and correlated metrics cost little.
    The interval of a difference is simultaneous with all others and excludes 0 if and only if the corrected p value is
    significant. A sentence states the conclusion for each system and metric.

    Args:
        qrels: The judgments, as in `evaluate`. Or, in place of judgments and runs, evaluations by name, such as a saved
            one of last week and one of today, or results that have them as `.evaluation`. These are compared on the
            queries with the same id, text and judgments in all of them; `Comparison.notes` describes the others.
        runs: The run of each system, by the name of the system.
        metrics: Names such as `"ndcg@10"` or `["map", "mrr@10"]`. For evaluations, the default is all metrics that they
            share.
        baseline: The name of the system that all others are compared with; None compares every pair.
        margin: The largest acceptable loss, such as 0.02. The conclusion then also says for each metric whether a
            system is non-inferior or inferior, or that this is inconclusive, each at a one-sided level of 1 - level;
            see `retrieval_metrics.statistics.within_margins`.
        clusters: The clusters of the queries, as in `evaluate`; intervals and tests then use whole clusters.
        unjudged: Unjudged documents count as not relevant (None). `"bounds"` also computes the smallest and the largest
            value of every mean and difference over all possible grades of the unjudged documents, each metric among the
            documents up to its own cutoff; a conclusion then says whether such grades could change it. `"condensed"`
            removes unjudged documents from the rankings, as in `evaluate`, which favours systems with a lower judged@k
            (Sakai and Kando 2008).
        unretrieved_relevant: With `"bounds"`, how many further relevant documents a query may have that nobody judged
            or retrieved: a number for every query, or a mapping from query id to number. None assumes that there are
            none.
        rules: The rules, as in `evaluate`.
        match: What an id of the judgments is compared with, as in `evaluate`.
        ties: How equal scores are ordered, as in `evaluate`.
        level: Confidence level of the intervals; 1 - level is the accepted family-wise error rate.
        resamples: Number of random choices of signs if the test cannot be exact.
        seed: Seed of the random choices; the same seed gives the same p values.
        documents: The documents that chunks were cut from, as in `evaluate`.
        exclude: Documents to leave out of the rankings, as in `evaluate`.
        show_progress: Show a progress bar of the test on stderr, if rich is installed.

    Returns:
        Means, differences and conclusions; print it, plot it, or turn it into a DataFrame or a report.

    Raises:
        TypeError: If `runs` is not a mapping of names to runs, or as in `evaluate`.
        ValueError: If there are fewer than two runs, the baseline is not among them, `level` is not between 0 and 1, or
            as in `evaluate`.

    Warns:
        RetrievalWarning: As in `evaluate`, with the names of the systems unless it is about all; and if the judged
            shares of systems differ by more than ten percentage points. Before a test that takes more than a minute,
            with an estimate.

    Example:
        >>> qrels = {f"q{i}": ["d"] for i in range(8)}
        >>> first = {query: ["d", "x"] for query in qrels}
        >>> second = {query: ["x", "d"] for query in qrels}
        >>> print(compare(qrels, {"second": second, "first": first}, "mrr").conclusions.get("mrr"))
        first is better than second in mrr by 0.500 on every query.

    References:
        T. Sakai, N. Kando (2008). On information retrieval metrics designed for evaluation with incomplete relevance
        assessments.
        M. D. Smucker, J. Allan, B. Carterette (2007). A comparison of statistical significance tests for information
        retrieval evaluation.
        P. H. Westfall, S. S. Young (1993). Resampling-based multiple testing.
    """
    options: ComparisonOptions = {
        "baseline": baseline,
        "margin": margin,
        "level": level,
        "resamples": resamples,
        "seed": seed,
        "unjudged": unjudged,
        "unretrieved_relevant": unretrieved_relevant,
        "show_progress": show_progress,
    }
    evaluations = _find_evaluations(qrels)
    if evaluations is not None:
        if runs is not None:
            raise TypeError(_format_superfluous_runs(runs))
        scoring_options = {
            "rules": rules != "standard",
            "match": match != "id",
            "ties": ties is not None,
            "documents": documents is not None,
            "exclude": exclude is not None,
            "clusters": clusters != "source",
        }
        refuse_fixed(name for name, is_changed in scoring_options.items() if is_changed)
        return compare_evaluations(evaluations, None if metrics is DEFAULT_METRICS else metrics, **options)
    if runs is None:
        _refuse_unconverted_results(qrels)
    questions: Any = resolve_judgments(cast("JudgmentsOrPath", qrels))
    runs_by_name = _require_named_runs(questions, runs)
    require_comparable(list(runs_by_name), options)
    read_qrels = as_qrels(questions)
    if documents is not None:
        # Imported here because few comparisons are given documents.
        from retrieval_metrics.inputs.documents import keep_for_rereading

        documents = keep_for_rereading(documents)
    matching = with_source_texts(match, documents, read_qrels, questions)
    rebuilt = find_rebuilt_runs(read_qrels, runs_by_name.values(), matching)
    if rebuilt:
        names = list(runs_by_name)
        warn(format_rebuilt_index([names[position] for position in rebuilt]))
        read_qrels = judge_by_corpus_texts(read_qrels)
    read_qrels = with_document_texts(read_qrels, documents)
    read_qrels = with_texts_of_runs(read_qrels, runs_by_name.values(), get_match_key(matching))
    query_clusters = find_clusters(questions, read_qrels, clusters)
    scores = {}
    with repeat_warnings_once(len(runs_by_name)) as system_warnings:
        for name, run in runs_by_name.items():
            with system_warnings.record(name, f"while evaluating the system {name!r}"):
                evaluation = evaluate(
                    read_qrels,
                    run,
                    metrics,
                    rules=rules,
                    match=matching,
                    ties=ties,
                    clusters=query_clusters,
                    unjudged=None if unjudged == "bounds" else unjudged,
                    exclude=exclude,
                )
            scores[name] = evaluation.scores
    comparison = compare_scores(scores, next(iter(scores.values())).metrics, **options)
    note = judged_coverage_note(comparison)
    if note:
        warn(note)
    return comparison


def _require_named_runs(qrels: Any, runs: Any) -> Mapping[str, RunMapping | Run]:
    """Return the runs by name; raise if they are a single run, or evaluations."""
    if not isinstance(runs, Mapping):
        call = _format_intended_call(qrels)
        raise TypeError(f"runs must map the name of each system to its run, got {type(runs).__name__}; write {call}")
    if isinstance(runs, Run) or any(map(_is_ranking, runs.values())):
        raise TypeError(
            "runs must map the name of each system to its run, got a single run. Write "
            "compare(qrels, {'bm25': run, 'other name': another_run}), with the judgments first"
        )
    if any(isinstance(run, Evaluation) for run in runs.values()):
        raise TypeError("evaluations have their own judgments; pass only compare({name: evaluation, ...})")
    return runs


def _is_ranking(value: Any) -> bool:
    """Return whether a value under `runs` is a ranking of one query rather than the run of a system."""
    if isinstance(value, (list, tuple)):
        return True
    return isinstance(value, Mapping) and isinstance(next(iter(value.values()), None), Real)


def _format_superfluous_runs(runs: Any) -> str:
    """Return what is wrong with a second argument beside evaluations: runs, or metrics that are named by position."""
    if isinstance(runs, (str, Metric)):
        runs = [runs]
    if isinstance(runs, (list, tuple)) and all(isinstance(name, (str, Metric)) for name in runs):
        names = ", ".join(map(str, runs))
        return (
            f"evaluations hold the metrics with which they were made; for {names}, evaluate each system with "
            "metrics=[...] that name it, and pass only compare({name: evaluation, ...})"
        )
    return "evaluations have their own runs; pass only compare({name: evaluation, ...})"


def _refuse_unconverted_results(results: Any) -> None:
    """Raise if results of Ragas, which are not evaluations, are compared."""
    if not isinstance(results, Mapping):
        return
    for name, result in results.items():
        if type(result).__module__.partition(".")[0] == "ragas":
            raise TypeError(
                f"{name!r} is a {type(result).__name__} of Ragas, not an Evaluation; convert each result first: "
                "compare({name: ragas_retrieval_metrics.to_evaluation(result), ...})"
            )


def _format_intended_call(qrels: Any) -> str:
    """Return the call that was probably meant, if the second argument of `compare` is not a mapping of runs."""
    if isinstance(qrels, Evaluation):
        return 'compare({"a": first, "b": second})'
    return 'compare(qrels, {"a": run, "b": other_run})'


def _find_evaluations(qrels: Any) -> Mapping[str, Evaluation] | None:
    """Return the evaluations by name that are the first argument of `compare`; None if it is judgments.

    Raises:
        TypeError: If the first is an evaluation, or has one, and another does not; the message names it.
    """
    if not isinstance(qrels, Mapping) or _find_evaluation(next(iter(qrels.values()), None)) is None:
        return None
    evaluations = {}
    for name, result in qrels.items():
        evaluation = _find_evaluation(result)
        if evaluation is None:
            raise TypeError(f"{name!r} must be an Evaluation as the others are, got {type(result).__name__}")
        evaluations[name] = evaluation
    return evaluations


def _find_evaluation(result: Any) -> Evaluation | None:
    """Return an evaluation, or that of a result of an integration; None if it has none."""
    evaluation = result if isinstance(result, Evaluation) else getattr(result, "evaluation", None)
    return evaluation if isinstance(evaluation, Evaluation) else None
