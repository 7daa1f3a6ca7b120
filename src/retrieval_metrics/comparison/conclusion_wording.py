"""The sentences about conclusions: one for all pairs and metrics with the same conclusion.

Functions called `format_...` always return text; those called `..._note` return an addition, empty where there is
nothing to add.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from math import isinf, isnan
from typing import TYPE_CHECKING

from retrieval_metrics.comparison.conclusion_groups import ConclusionGroup
from retrieval_metrics.reports import numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from retrieval_metrics.comparison.conclusions import Conclusion, ConclusionKind
    from retrieval_metrics.statistics.noninferiority import MarginOutcome, MarginTest
    from retrieval_metrics.statistics.rare_changes import RareChange

# A sentence that names more than this is hard to read; the tables have all of them.
MAX_NAMES = 4
# Grades that shift a mean by less shift it by rounding only.
ROUNDING = 1e-9


# Conclusions.


def format_conclusion(conclusion: Conclusion) -> str:
    """Return one conclusion as a sentence."""
    group = ConclusionGroup(conclusion.system, (conclusion,))
    return f"{_format_groups([group])}{_suffix(conclusion)}."


def format_conclusions(conclusions: Iterable[Conclusion]) -> list[str]:
    """Return conclusions as sentences, one for all metrics in which two systems have the same conclusion."""
    groups = [ConclusionGroup(conclusion.system, (conclusion,)) for conclusion in conclusions]
    return combine_sentences(groups, with_suffix=True)


@dataclass(frozen=True, slots=True)
class _SentenceKey:
    """What groups share that are printed as one sentence, with their metrics listed."""

    system: str
    other_systems: frozenset[str]
    kind: ConclusionKind
    is_undecided_gain: bool
    is_sample_only: bool
    too_few_note: str
    suffix: str


def combine_sentences(groups: Iterable[ConclusionGroup], *, with_suffix: bool = False) -> list[str]:
    """Return one sentence for all groups that differ only in their metric.

    Args:
        groups: The groups.
        with_suffix: Whether to add what other grades and the margin mean for the first pair of each group.
    """
    groups_by_key: defaultdict[_SentenceKey, list[ConclusionGroup]] = defaultdict(list)
    for group in groups:
        key = _SentenceKey(
            system=group.system,
            other_systems=frozenset(group.other_systems),
            kind=group.subject_kind,
            is_undecided_gain=group.first.depends_on_unjudged and group.is_gain,
            is_sample_only=group.is_sample_only,
            too_few_note=_too_few_note(group),
            suffix=_suffix(group.first) if with_suffix else "",
        )
        groups_by_key[key].append(group)
    sentences = []
    for key, same_groups in groups_by_key.items():
        order = same_groups[0].other_systems
        ordered_groups = [group.with_order(order) for group in same_groups]
        sentences.append(f"{_format_groups(ordered_groups)}{key.suffix}.")
    return sentences


@dataclass(frozen=True, slots=True)
class _Names:
    """The systems and metrics of a sentence, as it names them."""

    system: str
    other_systems: str
    metrics: str
    system_first: bool
    has_several_others: bool
    has_several_metrics: bool

    @property
    def subject(self) -> str:
        return self.system if self.system_first else self.other_systems

    @property
    def reference(self) -> str:
        return self.other_systems if self.system_first else self.system

    @property
    def pair(self) -> str:
        return f"{self.subject} and {self.reference}"


def _format_groups(groups: Sequence[ConclusionGroup]) -> str:
    """Return groups that differ only in their metric as one statement, without the full stop."""
    group = groups[0]
    names = _Names(
        system=group.system,
        other_systems=numbers.join_names(group.other_systems, most=MAX_NAMES),
        metrics=numbers.join_names([group.metric for group in groups]),
        system_first=group.system_first,
        has_several_others=len(group.conclusions) > 1,
        has_several_metrics=len(groups) > 1,
    )
    kind = group.first.kind
    if kind == "no_common_queries":
        return _format_no_common_query(names)
    if kind == "not_comparable":
        return _format_not_comparable(names)
    if kind == "identical":
        return _format_identical(names)
    if kind == "not_significant":
        return _format_not_significant(groups, names)
    return _format_better_or_worse(groups, names)


def _format_no_common_query(names: _Names) -> str:
    verb = "are" if names.has_several_metrics else "is"
    condition = f"for which {names.metrics} {verb} defined"
    if names.has_several_others:
        return f"{names.other_systems} have no query in common with {names.system} {condition}"
    return f"{names.pair} have no query in common {condition}"


def _format_not_comparable(names: _Names) -> str:
    budgets = "their budgets" if names.has_several_metrics else "its budget"
    reason = f"in {names.metrics}: they do not fill {budgets} alike"
    if names.has_several_others:
        return f"{names.other_systems} are not comparable with {names.system} {reason}"
    return f"{names.pair} are not comparable {reason}"


def _format_identical(names: _Names) -> str:
    where = f"for every query in {names.metrics}"
    if names.has_several_others:
        return f"{names.other_systems} have the same value as {names.system} {where}"
    return f"{names.pair} have the same value {where}"


def _format_not_significant(groups: Sequence[ConclusionGroup], names: _Names) -> str:
    if not names.has_several_others:
        systems = f"between {names.pair}"
    elif names.system_first:
        systems = f"between {names.system} and any of {names.other_systems}"
    else:
        systems = f"of {names.other_systems} from {names.system}"
    sentence = f"No clear difference {systems} in"
    too_few = _too_few_note(groups[0])
    if too_few:
        return f"{sentence} {names.metrics}{too_few}"
    return f"{sentence} {_format_intervals(groups, names.metrics)}{_mde_note(groups, names.metrics)}"


def _format_better_or_worse(groups: Sequence[ConclusionGroup], names: _Names) -> str:
    has_plural_subject = names.has_several_others and not names.system_first
    verb = "are" if has_plural_subject else "is"
    comparative = "better" if groups[0].is_gain else "worse"
    comparison = f"{names.subject} {verb} {comparative} than {names.reference} in"
    if groups[0].first.depends_on_unjudged:
        return f"Whether {comparison} {names.metrics} depends on what is unjudged"
    return f"{comparison} {_format_differences(groups, names.metrics)}"


# Sizes and intervals of several metrics.


def _metrics_by_text(groups: Sequence[ConclusionGroup], texts: Iterable[str]) -> dict[str, str]:
    """Return the metrics for which each text is true, in words; empty texts are left out."""
    metrics: defaultdict[str, list[str]] = defaultdict(list)
    for group, text in zip(groups, texts, strict=True):
        if text:
            metrics[text].append(group.metric)
    return {text: numbers.join_names(names) for text, names in metrics.items()}


def _join_clauses(clauses: Sequence[str]) -> str:
    *leading, last = clauses
    if not leading:
        return last
    return f"{', in '.join(leading)}, and in {last}"


def _format_differences(groups: Sequence[ConclusionGroup], metrics: str) -> str:
    """Return metrics with their differences and intervals; of many, the smallest and the largest."""
    metrics_by_size = _metrics_by_text(groups, map(_format_sizes, groups))
    if len(metrics_by_size) > MAX_NAMES:
        sizes: list[float] = []
        for group in groups:
            sizes += _sizes(group)
        metrics_by_size = {
            f"{numbers.format_three_digits(min(sizes))} to {numbers.format_three_digits(max(sizes))}": metrics
        }
    scope = " on these queries" if groups[0].is_sample_only else ""
    return _join_clauses([f"{names}{scope}, by {size}" for size, names in metrics_by_size.items()])


def _sizes(group: ConclusionGroup) -> list[float]:
    return [abs(conclusion.difference) for conclusion in group.conclusions]


def _format_sizes(group: ConclusionGroup) -> str:
    """Return the differences of a group with their intervals; of many, the smallest and the largest."""
    if len(group.conclusions) > MAX_NAMES:
        sizes = _sizes(group)
        return f"{numbers.format_three_digits(min(sizes))} to {numbers.format_three_digits(max(sizes))}"
    texts = list(map(_format_size, group.conclusions))
    if len(set(texts)) == 1:
        return texts[0]
    return numbers.join_names(texts)


def _format_size(conclusion: Conclusion) -> str:
    size = numbers.format_three_digits(abs(conclusion.difference))
    low, high = sorted(map(abs, conclusion.interval))
    if low == high:
        return f"{size} in every query"
    if isnan(low):
        return size
    return f"{size} ({numbers.format_three_digits(low)} to {numbers.format_three_digits(high)})"


def _too_few_note(group: ConclusionGroup) -> str:
    """Return that so few queries, or clusters, cannot show a difference of any size."""
    if not group.first.has_too_few_units:
        return ""
    largest = max((conclusion.details for conclusion in group.conclusions), key=lambda difference: difference.n_units)
    if largest.clusters is None:
        units = numbers.format_query_count(largest.n)
    else:
        units = numbers.format_count(largest.n_units, "cluster")
    return f": {units} cannot show any, however large; at least {largest.min_units} are needed"


def _format_intervals(groups: Sequence[ConclusionGroup], metrics: str) -> str:
    """Return metrics with the intervals of their differences; of many, the smallest to the largest end."""
    ends_by_group = [_interval_ends(group) for group in groups]
    metrics_by_range = _metrics_by_text(groups, map(_format_ends, ends_by_group))
    has_several_intervals = len(groups[0].conclusions) > 1
    if len(metrics_by_range) > MAX_NAMES:
        all_ends: list[float] = []
        for ends in ends_by_group:
            all_ends += ends
        metrics_by_range = {_format_ends(all_ends): metrics}
        has_several_intervals = True
    interval_name = numbers.level_name(groups[0].first.level)
    prefix = f"{interval_name} "
    later_prefix = ""
    if has_several_intervals:
        prefix = f"all {interval_name}s within "
        later_prefix = "within "
    clauses = []
    for interval_range, names in metrics_by_range.items():
        clauses.append(f"{names} ({prefix}{interval_range})")
        prefix = later_prefix
    return _join_clauses(clauses)


def _interval_ends(group: ConclusionGroup) -> list[float]:
    """Return the ends of all intervals of a group, with the sign of the subject of the sentence."""
    ends: list[float] = []
    for conclusion in group.conclusions:
        low, high = conclusion.interval
        if group.is_about(conclusion):
            ends += [low, high]
        else:
            ends += [-low, -high]
    return ends


def _format_ends(ends: Sequence[float]) -> str:
    return f"{numbers.format_signed(min(ends))} to {numbers.format_signed(max(ends))}"


def _mde_note(groups: Sequence[ConclusionGroup], metrics: str) -> str:
    """Return the minimum detectable effects of metrics; of many, the smallest to the largest."""
    effects_by_group = [_detectable_effects(group) for group in groups]
    ranges = list(map(_range_note, effects_by_group))
    metrics_by_range = _metrics_by_text(groups, ranges)
    if len(metrics_by_range) > MAX_NAMES:
        metrics_by_range = _widest_range(groups, effects_by_group, ranges)
    if not metrics_by_range:
        return ""
    parts = []
    for effect_range, names in metrics_by_range.items():
        if names == metrics:
            parts.append(effect_range)
        else:
            parts.append(f"{effect_range} ({names})")
    return f"; a difference of {' or '.join(parts)} would have been found in four of five cases"


def _detectable_effects(group: ConclusionGroup) -> list[float]:
    """Return the effects that are detected with a power of 80 % if they are spread over the queries as observed."""
    return [conclusion.details.mde().spread for conclusion in group.conclusions]


def _widest_range(
    groups: Sequence[ConclusionGroup], effects_by_group: Sequence[list[float]], ranges: Sequence[str]
) -> dict[str, str]:
    """Return the range of all effects with the metrics that have one."""
    metrics = []
    all_effects: list[float] = []
    for group, effects, effect_range in zip(groups, effects_by_group, ranges, strict=True):
        if effect_range:
            metrics.append(group.metric)
            all_effects += effects
    return {_range_note(all_effects): numbers.join_names(metrics)}


def _range_note(effects: Sequence[float]) -> str:
    """Return the smallest to the largest effect; empty if one is unknown."""
    if any(map(isinf, effects)):
        return ""
    smallest = f"{min(effects):.2g}"
    largest = f"{max(effects):.2g}"
    if smallest == largest:
        return smallest
    return f"{smallest} to {largest}"


# What unjudged documents and the margin add to a sentence.


def _suffix(conclusion: Conclusion) -> str:
    return f"{_unjudged_note(conclusion)}{_margin_note(conclusion)}"


def format_graded_documents(depth: int | None, unretrieved_relevant: int) -> str:
    """Return in words which documents are given other grades, within a depth or in the whole ranking."""
    scope = "that were retrieved" if depth is None else f"among the first {depth}"
    text = f"the unjudged {scope}"
    if unretrieved_relevant:
        text += f" and of up to {unretrieved_relevant:,} more relevant ones per query that nobody retrieved"
    return text


def _unjudged_note(conclusion: Conclusion) -> str:
    """Return what other grades of the unjudged documents could make of a difference."""
    bounds = conclusion.unjudged_bounds
    if bounds is None:
        return ""
    documents = format_graded_documents(bounds.depth, bounds.unretrieved_relevant)
    interval = f"{numbers.format_signed(bounds.interval.low)} to {numbers.format_signed(bounds.interval.high)}"
    if conclusion.depends_on_unjudged:
        judged = numbers.format_signed(conclusion.difference)
        return f": as judged the difference is {judged}, with other grades of {documents} it could be {interval}"
    if bounds.changes_conclusion:
        return f"; with other grades of {documents} the difference could be {interval}"
    if not bounds.n_queries:
        return f", and nothing is {documents.removeprefix('the ')}"
    if conclusion.kind == "not_significant":
        effect = "show one"
    elif conclusion.kind == "identical":
        effect = "show a clear difference"
    else:
        effect = "change that"
    return f", and no grades of {documents} would {effect}"


def _margin_note(conclusion: Conclusion) -> str:
    """Return whether the system is worse by more than the margin, and what the bound of the loss is."""
    outcome = conclusion.noninferiority
    margin = conclusion.margin
    margin_test = conclusion.details.margin
    if outcome is None or margin is None or margin_test is None:
        return ""
    if conclusion.kind == "worse":
        return _loss_note(outcome, margin)
    if outcome != "noninferior":
        return _not_shown_note(conclusion, margin, margin_test)
    if conclusion.kind == "better":
        return ""
    # The two-sided interval, which is wider, does not show it.
    is_only_one_sided = conclusion.gain_interval.low <= -margin
    test = " one-sided," if is_only_one_sided else ""
    return f";{test} {conclusion.system} is no worse by more than {margin:g}"


def _loss_note(outcome: MarginOutcome, margin: float) -> str:
    """Return whether the loss of a system that is worse exceeds the margin."""
    if outcome == "inferior":
        return f", by more than {margin:g}"
    if outcome == "noninferior":
        return f", but not by more than {margin:g}"
    return f"; whether by more than {margin:g} is open"


def _not_shown_note(conclusion: Conclusion, margin: float, margin_test: MarginTest) -> str:
    """Return that a loss of more than the margin is not excluded, and why."""
    difference = conclusion.details
    if conclusion.kind == "better":
        text = f"; that rare losses make it worse by more than {margin:g} is not ruled out"
    else:
        text = f"; that {conclusion.system} is no worse by more than {margin:g} is not shown"
    if margin_test.low > -margin and difference.rare_effect.mean_shift >= margin:
        units = "queries" if difference.clusters is None else "independent queries"
        return f"{text}, which takes about {margin_test.min_units} {units}"
    if margin_test.low <= -difference.max_difference < conclusion.gain_interval.low:
        return f"{text}: the loss lies on so few queries that the test, which allows for skewness, cannot bound it"
    has_lower_bound_from_grades = conclusion.lowest_difference < margin_test.low - ROUNDING
    grades = " and with other grades" if has_lower_bound_from_grades else ""
    largest_loss = numbers.format_three_digits(-conclusion.lowest_difference)
    return f"{text}: one-sided{grades}, it may be worse by up to {largest_loss}"


# Rare effects.


def format_rare_effect(
    n: int, max_difference: float, rare: RareChange, *, query_change: str = "differ", mean_change: str = "by"
) -> str:
    """Return which rare effects so many queries may have missed, as a statement without the full stop.

    Args:
        n: The number of queries.
        max_difference: The largest possible difference in one query.
        rare: The share of all queries that may be affected, and the effect on the mean.
        query_change: What an affected query may do, such as `be worse`.
        mean_change: What the mean may do, such as `lower by`.
    """
    return (
        f"{numbers.format_query_count(n)} cannot show what is rare: "
        f"up to {100 * rare.share:.2g} % of all queries could {query_change} by {max_difference:.3g}, "
        f"and the mean {mean_change} {rare.mean_shift:.2g}"
    )


def rare_effect_note(conclusion: Conclusion) -> str:
    """Return which rare effects the queries of a conclusion may have missed, in a sentence."""
    if not conclusion.rare_effect_matters:
        return ""
    higher_is_better = conclusion.details.higher_is_better
    if conclusion.may_be_within_margin or conclusion.kind == "better":
        query_change = "be worse"
        mean_change = "lower by" if higher_is_better else "higher by"
    elif conclusion.kind == "worse":
        query_change = "be better"
        mean_change = "higher by" if higher_is_better else "lower by"
    else:
        query_change = "differ"
        mean_change = "by"
    effect = format_rare_effect(
        conclusion.n,
        conclusion.details.max_difference,
        conclusion.details.rare_effect,
        query_change=query_change,
        mean_change=mean_change,
    )
    return f"{effect}."


def rare_effect_notes(conclusions: Sequence[Conclusion]) -> list[str]:
    """Return the rare effects that conclusions may have missed, each once; those of some metrics name them."""
    metrics_by_note: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for conclusion in conclusions:
        if conclusion.rare_effect_note:
            metrics_by_note[conclusion.rare_effect_note][conclusion.metric] = None
    n_metrics = len({conclusion.metric for conclusion in conclusions})
    notes = []
    for note, metrics in metrics_by_note.items():
        if len(metrics) == n_metrics:
            notes.append(note)
        else:
            notes.append(f"In {numbers.join_names(list(metrics))}, {note}")
    return notes
