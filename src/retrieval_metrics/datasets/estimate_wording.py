"""Format an estimate from people's and a model's grades as tables with notes."""

from __future__ import annotations

from math import isinf, isnan
from typing import TYPE_CHECKING

from retrieval_metrics.comparison.rare_effect_wording import format_rare_effect
from retrieval_metrics.datasets.agreement_wording import mean_difference_text
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.tables import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.datasets.evaluate_with_labels import Look
    from retrieval_metrics.datasets.graded_sample import SampleGaps
    from retrieval_metrics.datasets.human_model_estimate import Estimate, EstimatedDifference

# The smallest number of labelled queries in the simulations; intervals from fewer are rough.
MIN_LABELLED = 15
# How often, in simulations, as many labels as were said to be needed were enough.
LABELS_NEEDED_ACCURACY = "sufficient in 71 to 97% of simulated samples; 55 to 89% in the worst setting"
# What the means estimate, with the number of queries.
TARGET = "mean over the population of which these {} queries are a random sample"


def estimate_tables(estimate: Estimate, differences: Sequence[EstimatedDifference]) -> list[Table]:
    """Return the tables of an estimate: the agreement of people and model, the means, and the listed differences."""
    tables = [Table((), (), _agreement_lines(estimate), "Human-model agreement"), _means_table(estimate)]
    if estimate.differences:
        tables.append(_differences_table(differences, estimate.level))
    return tables


def _agreement_lines(estimate: Estimate) -> list[str]:
    human_name, model_name = estimate.names
    agreement = estimate.agreement
    if agreement is None:
        return ["unknown: the humans or the model graded something other than documents by ID"]
    kappa = agreement.quadratic_kappa
    size = f"{numbers.format_count(agreement.n, 'document')}, {numbers.format_query_count(len(agreement.by_query))}"
    lines = [
        f"{human_name} vs {model_name}: quadratic-weighted kappa {numbers.format_mean(kappa.value, kappa.interval)}",
        f"{size}; raw agreement {agreement.raw_agreement.value:.0%}; {mean_difference_text(agreement)}",
    ]
    if agreement.relevant_from is not None:
        lines.append(f"relevant: grade ≥ {agreement.relevant_from:g}")
    if agreement.near_chance:
        lines.append(f"do not use {model_name}'s grades alone: agreement with {human_name} is {agreement.chance_note}")
    return lines


def _means_table(estimate: Estimate) -> Table:
    level = numbers.level_name(estimate.level)
    header = ["metric", "system", "mean", level, "human only", "model only", "eff. n"]
    rows = []
    for mean in estimate.estimated.values():
        corrected = mean.estimate
        model_mean = "-" if isnan(corrected.model) else numbers.format_value(corrected.model)
        rows.append(
            [
                mean.metric,
                mean.system,
                numbers.format_value(corrected.mean),
                numbers.format_interval(mean.interval(estimate.level)),
                numbers.format_value(corrected.human),
                model_mean,
                f"{corrected.effective_n:.0f}",
            ]
        )
    n_graded = len(estimate.sample)
    n_queries = len(estimate.sample.population)
    notes = [
        f"mean: estimate of the human-graded {TARGET.format(f'{n_queries:,}')}",
        "human only, model only: the mean from human or model grades alone",
        "eff. n: number of randomly sampled human-graded queries that would give the same precision without the model",
    ]
    optional_notes = [_no_help_note(estimate), _undefined_note(estimate)]
    if n_graded < MIN_LABELLED:
        optional_notes.append(f"only {n_graded} graded queries: CIs from fewer than {MIN_LABELLED} are approximate")
    notes += filter(None, optional_notes)
    notes += estimate.notes
    title = f"{n_graded:,} of {numbers.format_query_count(n_queries)} graded by humans"
    return Table(header, rows, notes, title, words=(0, 1))


def _no_help_note(estimate: Estimate) -> str:
    """Return a note about the means whose interval the model's grades do not narrow; "" if there are none."""
    unaided = [mean for mean in estimate.estimated.values() if not mean.estimate.helps]
    if len(unaided) == len(estimate.estimated):
        return "the model adds no precision over human grades"
    if not unaided:
        return ""
    names = numbers.join_names([f"{mean.metric} of {mean.system}" for mean in unaided])
    return f"the model adds no precision over human grades for {names}"


def _undefined_note(estimate: Estimate) -> str:
    """Return a note if a metric is undefined for some graded queries, about the one defined for the fewest; else ""."""
    least_defined = min(estimate.estimated.values(), key=lambda mean: mean.estimate.labelled)
    n_defined = least_defined.estimate.labelled
    n_graded = len(estimate.sample)
    if n_defined == n_graded:
        return ""
    return (
        f"{least_defined.metric} is defined for {n_defined} of the {n_graded} graded queries: "
        "the others have no document that humans graded relevant"
    )


def _differences_table(differences: Sequence[EstimatedDifference], level: float) -> Table:
    header = ["metric", "difference", "mean", numbers.level_name(level), "model only", "significant"]
    rows = []
    if len(differences) == 1:
        notes = [f"significant: the {numbers.level_name(level)} excludes 0"]
    else:
        notes = [f"significant: the CI corrected for {len(differences):,} differences excludes 0"]
    notes.append("mean: estimated from the differences per query, not from the means above")
    for difference in differences:
        rows.append(
            [
                difference.metric,
                f"{difference.system} - {difference.baseline}",
                numbers.format_signed(difference.mean),
                numbers.format_interval(difference.interval, difference=True),
                numbers.format_signed(difference.estimate.model),
                "yes" if difference.significant else "no",
            ]
        )
        notes += _limit_notes(difference)
    # One such note is enough for planning; `labels_needed(width)` gives the number for the other differences.
    for difference in differences:
        if not difference.significant:
            notes.append(_labels_needed_note(difference))
            break
    return Table(header, rows, notes, "Differences", words=(0, 1, 5))


def _limit_notes(difference: EstimatedDifference) -> list[str]:
    """Return the notes about what so few labels cannot show of a difference."""
    notes = []
    human_only = difference.estimate.human_only
    if difference.extrapolates and human_only is not None:
        interval = numbers.format_interval(difference.human_interval, difference=True)
        notes.append(
            f"{_subject(difference)}: on {numbers.format_query_count(difference.estimate.n_outside)}, the "
            "model-graded difference is far outside the range seen on the human-graded queries of the same "
            "stratum, so human grades cannot check it. The mean difference then counts as significant only if the "
            f"human-only estimate, {numbers.format_signed(human_only.mean)} {interval}, is also significant and has "
            "the same sign"
        )
    if difference.rare_effect_matters:
        rare_effect = format_rare_effect(
            numbers.format_query_count(difference.n),
            difference.estimate.span,
            difference.rare_effect,
            level=difference.level,
        )
        notes.append(f"{_subject(difference)}: {rare_effect}")
    return notes


def _labels_needed_note(difference: EstimatedDifference) -> str:
    """Return how many more queries people must grade to halve an interval."""
    width = abs(difference.interval.high - difference.interval.low)
    n_needed = difference.labels_needed(width / 2)
    goal = f"halving the CI of {_subject(difference)} (to ±{numbers.format_value(width / 4)})"
    if isinf(n_needed):
        return f"{goal} is impossible with these {difference.estimate.queries:,} queries, even if all are human-graded"
    more_queries = numbers.format_count(int(n_needed), "more query", "more queries")
    return f"{goal} takes human grades for {more_queries} ({LABELS_NEEDED_ACCURACY})"


def _subject(difference: EstimatedDifference) -> str:
    return f"{difference.system} - {difference.baseline} in {difference.metric}"


def look_note(look: Look, level: float) -> str:
    """Return the level of one of several looks at the labels, and the level that all keep together."""
    return (
        f"look {look.number} of {look.n_looks}: {100 * look.level:.3g}% level ({100 * level:.3g}% over all looks, "
        "group-sequential)"
    )


def model_graders_note(models: Sequence[str]) -> str:
    """Return a note that models gave the grades that were passed as people's."""
    graders = numbers.join_names(list(models))
    return f'{graders}: grades from a model, passed as human grades; "human" refers to them here'


def gap_notes(gaps: SampleGaps) -> list[str]:
    """Return notes about what an estimate leaves out, and how many of the documents that metrics see have no grade."""
    notes = []
    if gaps.n_outside_sample:
        ignored = numbers.format_query_count(gaps.n_outside_sample)
        notes.append(f"{ignored} graded by humans but not in the sample, ignored")
    if gaps.queries_without_grade:
        ungraded = numbers.format_query_count(len(gaps.queries_without_grade))
        example = numbers.format_example(len(gaps.queries_without_grade), repr(gaps.queries_without_grade[0]))
        verb = "is" if len(gaps.queries_without_grade) == 1 else "are"
        notes.append(
            f"{ungraded} of the sample got no human grades ({example}) and {verb} excluded, which biases the estimate "
            "if difficult queries are left out"
        )
    if gaps.n_without_model:
        ungraded = numbers.format_query_count(gaps.n_without_model)
        notes.append(f"{ungraded} without model grades, for which the mean of the others is used")
    for ungraded_documents in gaps.ungraded_documents:
        if ungraded_documents.n_ungraded:
            notes.append(
                f"{ungraded_documents.n_ungraded:,} of {ungraded_documents.n_retrieved:,} documents in the systems' "
                f"top {ungraded_documents.depth} results were not graded by {ungraded_documents.graders} and count as "
                "not relevant (to add earlier judgments, merge Labels.from_qrels(qrels, grader=...) "
                'with these labels; rm.compare(..., unjudged="bounds") bounds the effect of documents without grades)'
            )
    return notes
