"""Write the sentences about conclusions: one sentence for all pairs and metrics with the same conclusion.

Functions called `format_...` always return text; those called `..._note` return an addition, empty where there is
nothing to add.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from math import isinf, isnan
from typing import TYPE_CHECKING

from retrieval_metrics.comparison.conclusion_groups import ConclusionGroup
from retrieval_metrics.comparison.suffix_wording import conclusion_suffix
from retrieval_metrics.reports import numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from retrieval_metrics.comparison.conclusions import Conclusion, ConclusionKind

# A sentence that names more than this is hard to read; the tables have all of them.
MAX_NAMES = 4


def format_conclusion(conclusion: Conclusion) -> str:
    """Return one conclusion as a sentence."""
    group = ConclusionGroup(conclusion.system, (conclusion,))
    return f"{_format_groups([group])}{conclusion_suffix(conclusion)}."


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
    obstacle: str
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
            obstacle=group.obstacle,
            suffix=conclusion_suffix(group.first) if with_suffix else "",
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
        return _format_not_comparable(names, group.obstacle)
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


# Why systems are not comparable, apart from budgets. The warnings before the sentence name the system and the ids.
OBSTACLES = {
    "foreign_ids": "the ids of one match no judgment and are unknown to the others",
    "near_misses": "ids that nearly match the judgments could change the conclusion",
    "unlocated": "the position of the items of one is unknown",
}


def _format_not_comparable(names: _Names, obstacle: str) -> str:
    budgets = "their budgets" if names.has_several_metrics else "its budget"
    explanation = OBSTACLES.get(obstacle, f"they do not fill {budgets} alike")
    reason = f"in {names.metrics}: {explanation}"
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
