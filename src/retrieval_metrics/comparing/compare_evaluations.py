"""Compare systems that were evaluated: find their common ground, test all differences together, and keep one record."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, get_args

from retrieval_metrics.checks import argument, in_python, integer, named, positive_integer, positive_number, proportion
from retrieval_metrics.comparing.common_ground import common_ground
from retrieval_metrics.comparing.comparison import Comparison
from retrieval_metrics.comparing.paired_tests import common_clusters, pairs_of, ranking_metrics, tested
from retrieval_metrics.comparing.unjudged import ignorance
from retrieval_metrics.comparing.unjudged_bounds import bounds_of_unjudged
from retrieval_metrics.results.difference import Aligned, Differences
from retrieval_metrics.results.room import budgets_used
from retrieval_metrics.scoring.metric import as_metrics
from retrieval_metrics.scoring.rules import UnjudgedRule

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from retrieval_metrics.checks import QueryId
    from retrieval_metrics.evaluation.evaluation import Evaluation
    from retrieval_metrics.results.scores import Scores
    from retrieval_metrics.scoring.metric import Metric

LEVEL, RESAMPLES = 0.95, 10_000
UNJUDGED = ("bounds", *get_args(UnjudgedRule))
FINENESS = 5
"""With a choice from many pairs, the smallest p value is at most a fifth of what a finding needs."""


class Terms(TypedDict, total=False):
    """How to compare; see `compare`.

    If the systems were chosen by what they showed, such as the best and the worst of thirty, `looks` is the number of
    pairs they were chosen from; p values and intervals are then corrected for it too (Bonferroni).
    """

    baseline: str | None
    level: float
    resamples: int
    seed: int
    margin: float | None
    unjudged: str | None
    unseen: int | Mapping[QueryId, int] | None
    looks: int
    show_progress: bool


def compare_evaluations(
    evaluations: Mapping[str, Evaluation],
    metrics: str | Metric | Iterable[str | Metric] | None = None,
    **terms: Unpack[Terms],
) -> Comparison:
    """Compare evaluations on the queries with the same id, text and judgments in all of them.

    Args:
        evaluations: The evaluations, by name.
        metrics: The metrics to compare; None takes all that they have in common.
        **terms: How to compare them.

    Raises:
        TypeError: As in `compare`.
        ValueError: If they have no query or no metric in common or different rules, or as in `compare`.
    """
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
    unseen: int | Mapping[QueryId, int] | None = None,
    looks: int = 1,
    show_progress: bool = False,
) -> Comparison:
    """Compare scores on the same questions under the same rules; `notes` says what differs besides the rankings."""
    clusters, ranked = common_clusters(scores), ranking_metrics(metrics)
    budgets, aligned = budgets_used(scores, ranked), Aligned.of(scores, metrics, clusters)
    resamples = max(resamples, round(FINENESS * looks / (1 - level))) if looks > 1 else resamples
    differences = tested(
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
            replace(each, p_corrected=min(each.p_corrected * looks, 1.0), looks=looks) for each in differences
        )
    bounds = None
    if unjudged == "bounds":
        bounds = bounds_of_unjudged(scores, aligned, ranked, differences, resamples=resamples, seed=seed, unseen=unseen)
    return Comparison(
        scores=scores,
        metrics=metrics,
        aligned=aligned,
        baseline=baseline,
        level=level,
        differences=differences,
        margin=margin,
        clusters=clusters,
        ignorance=ignorance(scores, ranked),
        unjudged=bounds,
        notes=tuple(notes),
        budgets=budgets,
        drawn=(resamples, seed),
    )


def refuse_fixed(options: Iterable[str]) -> None:
    """Raise if there are options that decide how queries are scored, which is done.

    Raises:
        ValueError: If there are.
    """
    if said := list(map(named, options)):
        raise ValueError(
            f"{', '.join(said)} cannot be changed for evaluations; pass {'it' if len(said) == 1 else 'them'} to "
            + in_python("evaluate(...)", "evaluate")
        )


def require_comparable(systems: Sequence[Any], terms: Terms) -> None:
    """Raise before any work if systems cannot be compared on these terms.

    Raises:
        TypeError: If the name of a system is not text, or a term is of another type.
        ValueError: If there are fewer than two systems, none has the baseline's name, a term is out of range, or
            relevant documents that nobody retrieved are assumed where no bounds are computed.
    """
    for name in systems:
        if not isinstance(name, str):
            raise TypeError(f"the name of a system must be text, got {name!r} ({type(name).__name__})")
        if not name.strip():
            raise ValueError(f"the name of a system must not be empty, got {name!r}; sentences and charts name it")
    pairs_of(systems, terms.get("baseline"))
    proportion(terms.get("level", LEVEL), "level")
    positive_integer(terms.get("resamples", RESAMPLES), "resamples")
    if (seed := integer(terms.get("seed", 0), "seed")) < 0:
        raise ValueError(f"{named('seed')} must be 0 or more, got {seed}")
    if (margin := terms.get("margin")) is not None:
        positive_number(margin, "margin")
    unjudged = terms.get("unjudged")
    if unjudged not in (None, *UNJUDGED):
        raise ValueError(f"{named('unjudged')} must be one of {', '.join(UNJUDGED)}, or None, got {unjudged!r}")
    if terms.get("unseen") is not None and unjudged != "bounds":
        raise ValueError(
            f"{argument('unseen')} has a meaning only with {argument('unjudged', 'bounds')}"
            + in_python(f", got unjudged={unjudged!r}")
        )
