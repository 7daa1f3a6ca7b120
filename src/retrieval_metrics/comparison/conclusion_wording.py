"""Write the sentences about conclusions: one sentence for all pairs and metrics with the same conclusion.

Functions called `format_...` always return text; those called `..._note` return an addition, empty where there is
nothing to add.
"""

from __future__ import annotations

from collections import defaultdict
from math import isclose, isinf, isnan
from typing import TYPE_CHECKING, NamedTuple

from retrieval_metrics.comparison.conclusion_groups import ConclusionGroup
from retrieval_metrics.comparison.suffix_wording import ROUNDING, conclusion_suffix
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


class _SentenceKey(NamedTuple):
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


class _Names(NamedTuple):
    """The systems and metrics of a sentence, as it names them."""

    system: str
    other_systems: str
    any_other_system: str
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
        any_other_system=numbers.join_names(group.other_systems, most=MAX_NAMES, conjunction="or"),
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
    condition = f"on which {names.metrics} {verb} defined"
    if names.has_several_others:
        return f"{names.other_systems} share no query with {names.system} {condition}"
    return f"{names.pair} share no query {condition}"


# Why systems are not comparable, apart from budgets. The warnings before the sentence name the system and the IDs.
OBSTACLES = {
    "no_results": "one system retrieved nothing for any query",
    "foreign_ids": "many or all of one system's IDs match no judgment",
    "shifted_ids": "one system's IDs or rankings seem to be shifted by one",
    "near_misses": "IDs or values that nearly match the judgments could change the conclusion",
    "unlocated": "one system's results could not be located in their sources",
    "unused_exclusion": "one system kept the documents that exclude= should remove",
}


def _format_not_comparable(names: _Names, obstacle: str) -> str:
    explanation = OBSTACLES.get(obstacle)
    if explanation is not None:
        systems = f"{names.pair} are not comparable"
        if names.has_several_others:
            systems = f"{names.other_systems} are not comparable with {names.system}"
        return f"{systems} in {names.metrics}: {explanation}"
    # A system that fills much less of a budget than another does not fill it, so this is true of each reason.
    budgets = "the budgets" if names.has_several_metrics else "the budget"
    if names.has_several_others:
        reason = f"in each pair, at least one system does not fill {budgets}"
        return f"{names.other_systems} are not comparable with {names.system} in {names.metrics}: {reason}"
    return f"{names.pair} are not comparable in {names.metrics}: they do not both fill {budgets}"


def _format_identical(names: _Names) -> str:
    where = f"in {names.metrics} on every query"
    if names.has_several_others:
        return f"{names.other_systems} have the same values as {names.system} {where}"
    return f"{names.pair} have identical values {where}"


def _format_not_significant(groups: Sequence[ConclusionGroup], names: _Names) -> str:
    if not names.has_several_others:
        sentence = f"No significant difference between {names.pair} in"
    elif names.system_first:
        sentence = f"{names.system} does not differ significantly from {names.any_other_system} in"
    else:
        sentence = f"{names.other_systems} do not differ significantly from {names.system} in"
    too_few = _too_few_note(groups[0])
    if too_few:
        return f"{sentence} {names.metrics}{too_few}"
    # A negated verb takes "or"; "No significant difference in A, and in B" has none.
    conjunction = "or" if names.has_several_others else "and"
    return f"{sentence} {_format_intervals(groups, names.metrics, conjunction)}"


def _format_better_or_worse(groups: Sequence[ConclusionGroup], names: _Names) -> str:
    has_plural_subject = names.has_several_others and not names.system_first
    verb = "are" if has_plural_subject else "is"
    comparative = "better" if groups[0].is_gain else "worse"
    comparison = f"{names.subject} {verb} {comparative} than {names.reference} in"
    if groups[0].first.depends_on_unjudged:
        return f"{comparison} {names.metrics} as judged, but this depends on unjudged documents"
    return f"{comparison} {_format_differences(groups, names.metrics)}"


def _metrics_by_text(groups: Sequence[ConclusionGroup], texts: Iterable[str]) -> dict[str, str]:
    """Return the metrics for which each text is true, in words; empty texts are left out."""
    metrics: defaultdict[str, list[str]] = defaultdict(list)
    for group, text in zip(groups, texts, strict=True):
        if text:
            metrics[text].append(group.metric)
    return {text: numbers.join_names(names) for text, names in metrics.items()}


def _join_clauses(clauses: Sequence[str], conjunction: str = "and") -> str:
    *leading, last = clauses
    if not leading:
        return last
    return f"{', in '.join(leading)}, {conjunction} in {last}"


def _format_differences(groups: Sequence[ConclusionGroup], metrics: str) -> str:
    """Return metrics with their differences and intervals; of many, the smallest and the largest."""
    metrics_by_size = _metrics_by_text(groups, map(_format_sizes, groups))
    has_lists = any(map(_lists_sizes, groups))
    if len(metrics_by_size) > MAX_NAMES:
        sizes: list[float] = []
        for group in groups:
            sizes += _sizes(group)
        has_lists = False
        metrics_by_size = {
            f"{numbers.format_three_digits(min(sizes))} to {numbers.format_three_digits(max(sizes))}": metrics
        }
    scope = " in this sample" if groups[0].is_sample_only else ""
    clauses = _join_clauses([f"{names}{scope} by {size}" for size, names in metrics_by_size.items()])
    return f"{clauses}, respectively" if has_lists else clauses


def _sizes(group: ConclusionGroup) -> list[float]:
    return [abs(conclusion.difference) for conclusion in group.conclusions]


def _format_sizes(group: ConclusionGroup) -> str:
    """Return the differences of a group with their intervals; of many, the smallest and the largest."""
    if len(group.conclusions) > MAX_NAMES:
        sizes = _sizes(group)
        return f"{numbers.format_three_digits(min(sizes))} to {numbers.format_three_digits(max(sizes))}"
    texts = list(map(_format_size, group.conclusions))
    return numbers.join_names(texts) if _lists_sizes(group) else texts[0]


def _lists_sizes(group: ConclusionGroup) -> bool:
    """Return whether each system of a group has a difference of its own, in the order in which they are named."""
    return len(group.conclusions) <= MAX_NAMES and len(set(map(_format_size, group.conclusions))) > 1


def _format_size(conclusion: Conclusion) -> str:
    size = numbers.format_three_digits(abs(conclusion.difference))
    low, high = sorted(map(abs, conclusion.interval))
    if isclose(low, high, rel_tol=ROUNDING):
        return f"{size} on every query"
    if isnan(low):
        return size
    interval = f"{numbers.format_three_digits(low)} to {numbers.format_three_digits(high)}"
    return f"{size} ({numbers.level_name(conclusion.level)} {interval})"


def _too_few_note(group: ConclusionGroup) -> str:
    """Return that so few queries, or clusters, cannot show a difference of any size."""
    if not group.first.has_too_few_units:
        return ""
    largest = max((conclusion.details for conclusion in group.conclusions), key=lambda difference: difference.n_units)
    if largest.clusters is None:
        units = numbers.format_query_count(largest.n)
    else:
        units = numbers.format_count(largest.n_units, "cluster")
    return f": with {units}, no difference can be significant, however large; at least {largest.min_units} are needed"


def _format_intervals(groups: Sequence[ConclusionGroup], metrics: str, conjunction: str) -> str:
    """Return metrics with the intervals and MDEs of their differences; of many, the smallest to the largest."""
    metrics_by_text = _metrics_by_text(groups, map(_format_interval_and_mde, groups))
    if len(metrics_by_text) <= MAX_NAMES:
        return _join_clauses([f"{names} ({text})" for text, names in metrics_by_text.items()], conjunction)
    all_ends: list[float] = []
    for group in groups:
        all_ends += _interval_ends(group)
    interval_name = numbers.level_name(groups[0].first.level)
    return f"{metrics} ({interval_name}s within {_format_ends(all_ends)}{_mde_range_note(groups, metrics)})"


def _format_interval_and_mde(group: ConclusionGroup) -> str:
    """Return `95% CI -0.3 to +0.1; MDE 0.2`, without an MDE that is unknown."""
    interval_name = numbers.level_name(group.first.level)
    ends = _format_ends(_interval_ends(group))
    interval = f"{interval_name}s within {ends}" if len(group.conclusions) > 1 else f"{interval_name} {ends}"
    effect_range = _range_note(_detectable_effects(group))
    return f"{interval}; MDE {effect_range}" if effect_range else interval


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


def _mde_range_note(groups: Sequence[ConclusionGroup], metrics: str) -> str:
    """Return the smallest to the largest MDE of many metrics, with the metrics that have one if not all have."""
    metrics_with_mde = []
    all_effects: list[float] = []
    for group in groups:
        effects = _detectable_effects(group)
        if _range_note(effects):
            metrics_with_mde.append(group.metric)
            all_effects += effects
    if not all_effects:
        return ""
    names = numbers.join_names(metrics_with_mde)
    scope = "" if names == metrics else f" in {names}"
    return f"; MDE {_range_note(all_effects)}{scope}"


def _detectable_effects(group: ConclusionGroup) -> list[float]:
    """Return the effects that are detected with a power of 80% if they are spread over the queries as observed."""
    return [conclusion.details.mde().spread for conclusion in group.conclusions]


def _range_note(effects: Sequence[float]) -> str:
    """Return the smallest to the largest effect; empty if one is unknown."""
    if any(map(isinf, effects)):
        return ""
    smallest = numbers.format_two_digits(min(effects))
    largest = numbers.format_two_digits(max(effects))
    if smallest == largest:
        return smallest
    return f"{smallest} to {largest}"
