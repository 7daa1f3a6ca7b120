"""Compare systems: evaluate them, find their common ground, test all differences together."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, TypedDict, TypeGuard, Unpack, get_args

import numpy as np

from retrieval_metrics._internal.validation import (
    argument_name,
    format_argument,
    integer,
    positive_integer,
    positive_number,
    proportion,
    python_or_cli_text,
    warn,
)
from retrieval_metrics.comparison.comparison import Comparison
from retrieval_metrics.comparison.difference import Differences, PairedValues
from retrieval_metrics.comparison.system_ranking import judged_coverage_note
from retrieval_metrics.comparison.tests_of_pairs import (
    compute_differences,
    list_pairs,
    merge_clusters,
    select_ranking_metrics,
)
from retrieval_metrics.comparison.unjudged_bounds import bound_unjudged, measure_judged_coverage
from retrieval_metrics.evaluation.budget_coverage import measure_budget_use
from retrieval_metrics.evaluation.counts import count_given_scores, count_issues
from retrieval_metrics.evaluation.data_warnings import require_judged_documents
from retrieval_metrics.evaluation.evaluate import evaluate
from retrieval_metrics.evaluation.evaluation import Evaluation
from retrieval_metrics.evaluation.mean_limits import percentage_hint
from retrieval_metrics.evaluation.score_fingerprints import describe_match, describe_rule_differences
from retrieval_metrics.inputs.clusters import find_clusters
from retrieval_metrics.inputs.fingerprints import judgments_fingerprint
from retrieval_metrics.inputs.qrels import as_qrels
from retrieval_metrics.inputs.run import Run
from retrieval_metrics.matching.source_texts import with_source_texts
from retrieval_metrics.metrics.base.definition import divides_by_largest_grade
from retrieval_metrics.metrics.base.given_metrics import require_same_properties
from retrieval_metrics.metrics.base.metric import DEFAULT_METRICS, Metric, as_metrics
from retrieval_metrics.metrics.base.rules import UnjudgedRule
from retrieval_metrics.reports.numbers import format_query_count as queries_said

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from retrieval_metrics._internal.validation import QueryId
    from retrieval_metrics.evaluation.scores import Scores
    from retrieval_metrics.inputs.clusters import ClustersBy
    from retrieval_metrics.inputs.items import Key, RunMapping
    from retrieval_metrics.inputs.qrels import QuestionsOrQrels
    from retrieval_metrics.matching.ranking_order import Matching
    from retrieval_metrics.metrics.base.rules import Rules


# Compare systems that were evaluated: find their common ground, test all differences together, and keep one record.

LEVEL, RESAMPLES = 0.95, 10_000
UNJUDGED = ("bounds", *get_args(UnjudgedRule))
FINENESS = 5
"""With a choice from many pairs, the smallest p value is at most a fifth of what a finding needs."""


class ComparisonOptions(TypedDict, total=False):
    """How to compare; see `compare`."""

    baseline: str | None
    level: float
    resamples: int
    seed: int
    margin: float | None
    unjudged: str | None
    unretrieved_relevant: int | Mapping[QueryId, int] | None
    looks: int
    show_progress: bool


def compare_evaluations(
    evaluations: Mapping[str, Evaluation],
    metrics: str | Metric | Iterable[str | Metric] | None = None,
    **terms: Unpack[ComparisonOptions],
) -> Comparison:
    """Compare evaluations on the queries with the same id, text and judgments in all of them."""
    require_comparable(list(evaluations), terms)
    if terms.get("unjudged") not in {None, "bounds"}:
        refuse_fixed(["unjudged"])
    whole = {name: evaluation.scores for name, evaluation in evaluations.items()}
    wanted = None if metrics is None else as_metrics(metrics, computed=False)
    scores, common, notes = common_ground(whole, wanted)
    return compare_scores(scores, common, notes, **terms)


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
    """Compare scores on the same questions under the same rules; `notes` says what differs besides the rankings."""
    if any(one.origin is None or one.origin.judged.n_retrieved.any() for one in scores.values()):  # no rehearsal
        require_judged_documents(scores)
    _refuse_vain_margin(margin, metrics)
    clusters, ranked = merge_clusters(scores), select_ranking_metrics(metrics)
    budgets, aligned = measure_budget_use(scores, ranked), PairedValues.from_scores(scores, metrics, clusters)
    resamples = max(resamples, round(FINENESS * looks / (1 - level))) if looks > 1 else resamples
    differences = compute_differences(
        scores,
        aligned,
        ranked,
        baseline,
        level=1 - (1 - level) / looks,
        resamples=resamples,
        seed=seed,
        margin=margin,
        budgets=budgets,
        show_progress=show_progress,
    )
    if looks > 1:
        differences = Differences(
            replace(each, p_corrected=min(each.p_corrected * looks, 1.0), selected_from=looks) for each in differences
        )
    bounds = None
    if unjudged == "bounds":
        bounds = bound_unjudged(
            scores,
            aligned,
            ranked,
            differences,
            resamples=resamples,
            seed=seed,
            unretrieved_relevant=unretrieved_relevant,
        )
    return Comparison(
        scores=scores,
        metrics=metrics,
        paired_values=aligned,
        baseline=baseline,
        level=level,
        differences=differences,
        margin=margin,
        clusters=clusters,
        judged_coverage=measure_judged_coverage(scores, ranked),
        unjudged=bounds,
        notes=tuple(notes),
        budgets=budgets,
        resampling=(resamples, seed),
    )


def refuse_fixed(options: Iterable[str]) -> None:
    """Raise if there are options that decide how queries are scored, which is done."""
    if said := list(map(argument_name, options)):
        raise ValueError(
            f"{', '.join(said)} cannot be changed for evaluations; pass {'it' if len(said) == 1 else 'them'} to "
            + python_or_cli_text("evaluate(...)", "evaluate")
        )


def _refuse_vain_margin(margin: float | None, metrics: Iterable[Metric]) -> None:
    """Raise if no two values of any metric differ by a margin, which nothing can then exceed."""
    widest = max((one.definition.bounds[1] - one.definition.bounds[0] for one in metrics), default=inf)
    if margin is not None and margin > widest:
        raise ValueError(
            f"{argument_name('margin')} is {margin:g}, which nothing can exceed: the values of the metrics differ by "
            f"at most "
            f"{widest:g}{percentage_hint(margin, widest)}"
        )


def require_comparable(systems: Sequence[Any], terms: ComparisonOptions) -> None:
    """Raise before any work if systems cannot be compared on these terms."""
    for name in systems:
        if not isinstance(name, str):
            raise TypeError(f"the name of a system must be text, got {name!r} ({type(name).__name__})")
        if not name.strip():
            raise ValueError(f"the name of a system must not be empty, got {name!r}; sentences and charts name it")
    list_pairs(systems, terms.get("baseline"))
    proportion(terms.get("level", LEVEL), "level")
    positive_integer(terms.get("resamples", RESAMPLES), "resamples")
    if (seed := integer(terms.get("seed", 0), "seed")) < 0:
        raise ValueError(f"{argument_name('seed')} must be 0 or more, got {seed}")
    if (margin := terms.get("margin")) is not None:
        positive_number(margin, "margin")
    unjudged = terms.get("unjudged")
    if unjudged not in (None, *UNJUDGED):
        raise ValueError(f"{argument_name('unjudged')} must be one of {', '.join(UNJUDGED)}, or None, got {unjudged!r}")
    if terms.get("unretrieved_relevant") is not None and unjudged != "bounds":
        raise ValueError(
            f"{format_argument('unretrieved_relevant')} has a meaning only with {format_argument('unjudged', 'bounds')}"
            + python_or_cli_text(f", got unjudged={unjudged!r}")
        )


def compare(
    qrels: QuestionsOrQrels | Mapping[str, Evaluation],
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
        unretrieved_relevant: With `"bounds"`, how many further relevant documents a query may have that nobody judged
            or retrieved: a number for every query, or a mapping from query id to number. None assumes that there are
            none.
        rules: The rules, as in `evaluate`.
        match: What an id of the judgments is compared with, as in `evaluate`.
        ties: How equal scores are ordered, as in `evaluate`.
        level: Confidence level of the intervals; 1 - level is the accepted rate of false findings.
        resamples: Number of random choices of signs if the test cannot be exact.
        seed: Seed of the random choices; the same seed gives the same p values.
        documents: The documents that chunks were cut from, as in `evaluate`.
        show_progress: Show a progress bar of the test on stderr, if rich is installed.

    Returns:
        Means, differences and a verdict in words; print it, plot it, turn it into a DataFrame or a report.

    Raises:
        TypeError: If `runs` is not a mapping of names to runs, or as in `evaluate`.
        ValueError: If there are fewer than two runs, the baseline is not among them, `level` is not between 0 and 1, or
            as in `evaluate`.

    Warns:
        RetrievalWarning: As in `evaluate`, with the name of the system; and if the judged shares of systems differ by
            more than ten percentage points. Before a test that takes more than a minute, with an estimate.

    Example:
        >>> qrels = {f"q{i}": ["d"] for i in range(8)}
        >>> first = {query: ["d", "x"] for query in qrels}
        >>> second = {query: ["x", "d"] for query in qrels}
        >>> print(compare(qrels, {"second": second, "first": first}, "mrr").conclusions.get("mrr"))
        first is better than second in mrr, by 0.500 in every query.

    References:
        T. Sakai, N. Kando (2008). On information retrieval metrics designed for evaluation with incomplete relevance
        assessments.
        M. D. Smucker, J. Allan, B. Carterette (2007). A comparison of statistical significance tests for information
        retrieval evaluation.
        P. H. Westfall, S. S. Young (1993). Resampling-based multiple testing.
    """
    terms: ComparisonOptions = {
        "baseline": baseline,
        "margin": margin,
        "level": level,
        "resamples": resamples,
        "seed": seed,
        "unjudged": unjudged,
        "unretrieved_relevant": unretrieved_relevant,
        "show_progress": show_progress,
    }
    if _are_evaluations(qrels):
        if runs is not None:
            raise TypeError("evaluations have their own runs; pass only compare({name: evaluation, ...})")
        given = {
            "rules": rules != "standard",
            "match": match != "id",
            "ties": ties is not None,
            "documents": documents is not None,
            "clusters": clusters != "source",
        }
        refuse_fixed(name for name, is_given in given.items() if is_given)
        return compare_evaluations(qrels, None if metrics is DEFAULT_METRICS else metrics, **terms)
    truths: Any = qrels
    if not isinstance(runs, Mapping):
        got = type(runs).__name__
        raise TypeError(f"runs must map the name of each system to its run, got {got}; write {_by_name(qrels, runs)}")
    if isinstance(runs, Run) or any(isinstance(run, (list, tuple)) for run in runs.values()):
        raise TypeError(
            "runs must map the name of each system to its run, such as {'bm25': run, ...}; this is one run; "
            "compare(qrels, {'bm25': run, ...}) takes the judgments first"
        )
    if any(isinstance(run, Evaluation) for run in runs.values()):
        raise TypeError("evaluations have their own judgments; pass only compare({name: evaluation, ...})")
    require_comparable(list(runs), terms)
    truth = as_qrels(truths)
    options: dict[str, Any] = {
        "rules": rules,
        "match": with_source_texts(match, documents, truth, truths),
        "ties": ties,
        "clusters": find_clusters(qrels, truth, clusters),
        "unjudged": None if unjudged == "bounds" else unjudged,
    }
    scores = {
        name: evaluate_system(name, partial(evaluate, truth, run, metrics, **options)).scores
        for name, run in runs.items()
    }
    comparison = compare_scores(scores, next(iter(scores.values())).metrics, **terms)
    if said := judged_coverage_note(comparison):
        warn(said)
    return comparison


def _by_name(qrels: Any, runs: Any) -> str:
    """Return what to write where the second argument of `compare` is no mapping of runs."""
    if isinstance(qrels, Evaluation):
        return 'compare({"a": first, "b": second})'
    held = qrels.values() if runs is None and isinstance(qrels, Mapping) else ()
    if any(isinstance(getattr(one, "evaluation", None), Evaluation) for one in held):
        return "compare({name: one.evaluation for name, one in results.items()})"
    return 'compare(qrels, {"a": run, "b": other_run})'


def _are_evaluations(qrels: Any) -> TypeGuard[Mapping[str, Evaluation]]:
    """Return whether these are evaluations by name."""
    if not isinstance(qrels, Mapping) or not isinstance(next(iter(qrels.values()), None), Evaluation):
        return False
    for name, one in qrels.items():
        if not isinstance(one, Evaluation):
            raise TypeError(f"{name!r} must be an Evaluation as the others are, got {type(one).__name__}")
    return True


def evaluate_system(name: str, evaluate_it: Callable[[], Evaluation]) -> Evaluation:
    """Evaluate one system, and add its name to warnings and errors."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            evaluation = evaluate_it()
        except (TypeError, ValueError) as error:
            error.add_note(f"while evaluating the system {name!r}")
            raise
    for warning in caught:
        warn(f"{name}: {warning.message}", warning.category)
    return evaluation


def common_ground(
    scores: Mapping[str, Scores], metrics: tuple[Metric, ...] | None = None
) -> tuple[dict[str, Scores], tuple[Metric, ...], tuple[str, ...]]:
    """Return the scores on the queries that are the same in all evaluations, their common metrics, and what differs."""
    (first_name, first), *others = scores.items()
    said: list[str] = []
    kept = list(_judged_queries(first))
    for name, other in others:
        _require_same_rules(first_name, first, name, other)
        if _same_truth(first, other):
            continue
        ours, theirs = set(_judged_queries(first)), set(_judged_queries(other))
        reworded, rejudged = _reworded(first, other), _rejudged(first, other)
        both, n = f"in {first_name!r} and {name!r}", len(ours & theirs)
        said += _said({f"only in {first_name!r}": ours - theirs}, len(ours))
        said += _said({f"only in {name!r}": theirs - ours}, len(theirs))
        said += _said({f"worded differently {both}": reworded, f"judged differently {both}": rejudged - reworded}, n)
        same = theirs - reworded - rejudged
        kept = [query for query in kept if query in same]
    if not kept:
        raise ValueError(
            f"there is no query that is the same in {', '.join(map(repr, scores))}: {' '.join(said)} Evaluate the "
            "saved rankings again with the current questions"
            + python_or_cli_text(": evaluate(questions, rm.load(path).scores.origin.run)")
        )
    common, of_metrics = _common_metrics(scores, metrics)
    if said:
        said.append(f"Compared on {queries_said(len(kept))} that are the same in all.")
    return {name: _of(one, kept) for name, one in scores.items()}, common, (*said, *of_metrics)


def _judged_queries(scores: Scores) -> Sequence[QueryId]:
    """Return the judged queries, including those that the rules leave out because they are missing from the run."""
    return scores.queries if scores.origin is None else scores.origin.judged.qrels.queries


def _same_truth(one: Scores, other: Scores) -> bool:
    if one.origin is None or other.origin is None:
        return False
    return one.origin.judged.qrels is other.origin.judged.qrels


def _reworded(one: Scores, other: Scores) -> set[QueryId]:
    """Return the queries whose texts are known in both and differ."""
    ours, theirs = _texts(one), _texts(other)
    return {query for query in ours.keys() & theirs.keys() if ours[query] != theirs[query]}


def _texts(scores: Scores) -> Mapping[QueryId, str]:
    return {} if scores.origin is None else scores.origin.judged.qrels.texts


def _rejudged(one: Scores, other: Scores) -> set[QueryId]:
    """Return the queries whose judgments are known in both and differ."""
    if one.origin is None or other.origin is None:
        return set()
    ours, theirs = one.origin.judged.qrels, other.origin.judged.qrels
    if ours.has_same_columns(theirs):
        return set()
    found = set()
    for at, query in enumerate(ours.queries):
        if query in theirs.place:
            left, right = ours.judgments(at), theirs.judgments(theirs.place[query])
            # Equal values are equal judgments; unequal ones can be, as groups in another order are.
            if left != right and judgments_fingerprint(left) != judgments_fingerprint(right):
                found.add(query)
    return found


def _said(found: Mapping[str, Collection[QueryId]], of: int) -> list[str]:
    return [
        f"{len(which):,} of {queries_said(of)} {what}, such as {min(which, key=str)!r}."
        for what, which in found.items()
        if which
    ]


def _require_same_rules(one_name: str, one: Scores, other_name: str, other: Scores) -> None:
    differing = describe_rule_differences(one.rules, other.rules)
    ours, theirs = describe_match(one), describe_match(other)
    if ours is not None and theirs is not None and ours != theirs:
        differing.append(f"match is {ours} and {theirs}")
    if differing:
        names = f" ({one.rules.name} and {other.rules.name})" if one.rules.name != other.rules.name else ""
        raise ValueError(
            f"evaluations under different rules cannot be compared: in {one_name!r} and {other_name!r}{names} "
            f"{'; '.join(differing)}. Evaluate the rankings of one again under the rules of the other"
        )


def _common_metrics(
    scores: Mapping[str, Scores], wanted: tuple[Metric, ...] | None
) -> tuple[tuple[Metric, ...], list[str]]:
    first = next(iter(scores.values()))
    said = []
    every = dict.fromkeys(metric for one in scores.values() for metric in one.metrics)
    for one in scores.values():
        require_same_properties(first.metrics, one.metrics)
    scales = {one.scale for one in scores.values()} - {None}
    common = []
    for metric in every if wanted is None else wanted:
        lacking = [name for name, one in scores.items() if metric not in one.metrics]
        if lacking:
            said.append(f"{metric} was not computed in {', '.join(map(repr, lacking))}.")
        elif len(scales) > 1 and divides_by_largest_grade(metric):
            said.append(f"{metric} divides by the largest grade, which differs, so it is left out.")
        else:
            common.append(metric)
    if not common:
        raise ValueError(f"the evaluations have no metric in common: {' '.join(said)}")
    return tuple(sorted(common, key=first.metrics.index)) if wanted is None else tuple(
        first.metrics[first.metrics.index(metric)] for metric in common
    ), said


def _of(scores: Scores, queries: list[QueryId]) -> Scores:
    """Return the scores of those of the queries that were scored."""
    wanted = set(queries)
    rows = np.array([at for at, query in enumerate(scores.queries) if query in wanted], dtype=np.int64)
    if len(rows) == len(scores.queries):
        return scores
    counts = scores.counts
    if scores.origin is None:
        if all(metric.definition.is_given for metric in scores.metrics):
            counts = count_given_scores(scores.values[rows])
    else:
        among = scores.positions[rows]
        counts = count_issues(scores.origin.judged, scores.origin.run, scores.rules, kept=among, among=among)
    return scores.select(rows, counts)
