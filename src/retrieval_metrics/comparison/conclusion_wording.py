"""What pairs of systems show, in sentences: one for all pairs and metrics of which the same is concluded."""

from __future__ import annotations

from math import isinf, isnan
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

from retrieval_metrics.reports import numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from retrieval_metrics.comparison.conclusions import Conclusion

ConclusionKind: TypeAlias = Literal[
    "better",
    "worse",
    "not_significant",
    "identical",
    "depends_on_unjudged",
    "not_comparable",
    "no_common_queries",
]
"""What is concluded; see `Conclusion`."""

MAX_NAMES = 4
"""The largest number of things named in a sentence; the tables have all of them."""


class ConclusionGroup(NamedTuple):
    """What a sentence speaks of in one metric: a system beside others, of all of which the same is concluded.

    Attributes:
        system: The system that all pairs have.
        these: The pairs, in the order in which the others are named.
        system_first: Whether the sentence speaks of that system beside the others, or of the others beside it.
    """

    system: str
    these: tuple[Conclusion, ...]
    system_first: bool = True

    @property
    def other_systems(self) -> list[str]:
        """The other systems."""
        return [each.baseline if each.system == self.system else each.system for each in self.these]

    @property
    def is_gain(self) -> bool:
        """Whether the subject of the sentence has the better values."""
        return (self.these[0].gain > 0) is ((self.these[0].system == self.system) is self.system_first)

    @property
    def sample_only(self) -> bool:
        """Whether it is a finding that holds on these queries only."""
        return self.these[0].kind in {"better", "worse"} and self.these[0].sample_only

    def in_order(self, others: Sequence[str]) -> ConclusionGroup:
        """Return the same with the others in another order."""
        by_name = dict(zip(self.other_systems, self.these, strict=True))
        return self._replace(these=tuple(by_name[other] for other in others))


def group_by_outcome(system: str, conclusions: Sequence[Conclusion], *, system_first: bool) -> list[ConclusionGroup]:
    """Return what is concluded of a system and others in one metric, a part for each kind, what is found first."""
    kinds: dict[tuple[int, bool, bool], list[Conclusion]] = {}
    for one in conclusions:
        gained = ConclusionGroup(system, (one,), system_first).is_gain
        kind = ("better" if gained else "worse") if one.kind in {"better", "worse"} else one.kind
        shared = one.sample_only if kind in {"better", "worse"} else _is_too_small(one)
        kinds.setdefault(
            (get_args(ConclusionKind).index(kind), not gained and one.depends_on_unjudged, shared), []
        ).append(one)
    return [ConclusionGroup(system, tuple(kinds[kind]), system_first) for kind in sorted(kinds)]


def combine_sentences(groups: Iterable[ConclusionGroup], *, with_suffix: bool = False) -> list[str]:
    """Return a sentence for all parts that differ only in their metric; the `whole` adds other grades and a margin."""
    alike: dict[tuple[Any, ...], list[ConclusionGroup]] = {}
    for part in groups:
        (one, *_), found = part.these, part.these[0].kind in {"better", "worse"}
        rest = one.rest if with_suffix else ""
        said = (
            part.is_gain if found or one.depends_on_unjudged else one.kind,
            found,
            part.sample_only,
            _said_of_few(part),
        )
        alike.setdefault((part.system, frozenset(part.other_systems), said, rest), []).append(part)
    return [
        f"{format_conclusion_groups([part.in_order(these[0].other_systems) for part in these])}{rest}."
        for (*_, rest), these in alike.items()
    ]


def format_conclusion_groups(parts: Sequence[ConclusionGroup]) -> str:
    """Return what pairs of one kind show, in each of some metrics."""
    (of, (one, *more), leads), others = parts[0], numbers.join_names(parts[0].other_systems, most=MAX_NAMES)
    subject, other = (of, others) if leads else (others, of)
    both, metrics = f"{subject} and {other}", numbers.join_names([part.these[0].metric for part in parts])
    if one.kind == "no_common_queries":
        shared = f"{others} have no query in common with {of}" if more else f"{both} have no query in common"
        return f"{shared} for which {metrics} {'is' if len(parts) == 1 else 'are'} defined"
    if one.kind == "not_comparable":
        alike = f"{others} are not comparable with {of}" if more else f"{both} are not comparable"
        return f"{alike} in {metrics}: they do not fill {'its budget' if len(parts) == 1 else 'their budgets'} alike"
    if one.kind == "identical":
        same = f"{others} have the same value as {of}" if more else f"{both} have the same value"
        return f"{same} for every query in {metrics}"
    if one.kind == "not_significant":
        each = f"between {of} and any of {others}" if leads else f"of {others} from {of}"
        return f"No clear difference {each if more else f'between {both}'} in {_said_of_sizes(parts, metrics)}"
    verb = "are" if more and not leads else "is"
    word = "better" if parts[0].is_gain else "worse"
    if one.depends_on_unjudged:
        return f"Whether {subject} {verb} {word} than {other} in {metrics} depends on what is unjudged"
    return f"{subject} {verb} {word} than {other} in {_said_of_differences(parts, metrics)}"


def _by_text(parts: Sequence[ConclusionGroup], texts: Iterable[str]) -> dict[str, str]:
    """Return the metrics of which each text is true, in words; nothing of an empty one."""
    found: dict[str, list[str]] = {}
    for part, text in zip(parts, texts, strict=True):
        found.setdefault(text, []).append(part.these[0].metric)
    return {text: numbers.join_names(metrics) for text, metrics in found.items() if text}


def _said_of_differences(parts: Sequence[ConclusionGroup], metrics: str) -> str:
    """Return metrics with their differences and intervals; of many, the smallest and the largest."""
    here = " on these queries" if parts[0].sample_only else ""
    by_size = _by_text(parts, map(_sizes_of, parts))
    if len(by_size) > MAX_NAMES:
        sizes = [abs(each.difference) for part in parts for each in part.these]
        by_size = {f"{numbers.three(min(sizes))} to {numbers.three(max(sizes))}": metrics}
    *first, last = [f"{names}{here}, by {size}" for size, names in by_size.items()]
    return f"{', in '.join(first)}, and in {last}" if first else last


def _sizes_of(part: ConclusionGroup) -> str:
    sizes = [abs(each.difference) for each in part.these]
    if len(part.these) > MAX_NAMES:
        return f"{numbers.three(min(sizes))} to {numbers.three(max(sizes))}"
    said = []
    for size, each in zip(sizes, part.these, strict=True):
        low, high = sorted(map(abs, each.interval))
        ends = "" if isnan(low) else f" ({numbers.three(low)} to {numbers.three(high)})"
        said.append(f"{numbers.three(size)}{' in every query' if low == high else ends}")
    return numbers.join_names(said if len(set(said)) > 1 else said[:1])


def _is_too_small(one: Conclusion) -> bool:
    """Return whether so few queries cannot show any difference."""
    return one.kind == "not_significant" and one.details.n_units < one.details.min_units


def _said_of_few(part: ConclusionGroup) -> str:
    """Return that so few queries cannot show any difference, if so."""
    if not _is_too_small(part.these[0]):
        return ""
    found = max((each.details for each in part.these), key=lambda each: each.n_units)
    units = (
        numbers.format_query_count(found.n)
        if found.clusters is None
        else numbers.format_count(found.n_units, "cluster")
    )
    return f": {units} cannot show any, however large; at least {found.min_units} are needed"


def _said_of_sizes(parts: Sequence[ConclusionGroup], metrics: str) -> str:
    """Return metrics with how large the differences may be, and which size would have been found."""
    if few := _said_of_few(parts[0]):
        return f"{metrics}{few}"
    ends = {
        part: [
            end if (each.system == part.system) is part.system_first else -end
            for each in part.these
            for end in each.interval
        ]
        for part in parts
    }
    name = numbers.level_name(parts[0].these[0].level)
    by_ends, several = _by_text(parts, [_ends_of(ends[part]) for part in parts]), len(parts[0].these) > 1
    if len(by_ends) > MAX_NAMES:
        by_ends, several = {_ends_of([end for each in ends.values() for end in each]): metrics}, True
    lead, then = (f"all {name}s within ", "within ") if several else (f"{name} ", "")
    *first, last = [f"{names} ({then if at else lead}{each})" for at, (each, names) in enumerate(by_ends.items())]
    said = f"{', in '.join(first)}, and in {last}" if first else last
    shown = [[one.details.mde().spread for one in part.these] for part in parts]
    by_size = _by_text(parts, [_range_of(sizes) for sizes in shown])
    if len(by_size) > MAX_NAMES:
        known = {part: sizes for part, sizes in zip(parts, shown, strict=True) if _range_of(sizes)}
        of = numbers.join_names([part.these[0].metric for part in known])
        by_size = {_range_of([size for sizes in known.values() for size in sizes]): of}
    sizes = " or ".join(f"{size} ({names})" if names != metrics else size for size, names in by_size.items())
    return f"{said}; a difference of {sizes} would have been found in four of five cases" if sizes else said


def _ends_of(ends: Sequence[float]) -> str:
    return f"{numbers.signed(min(ends))} to {numbers.signed(max(ends))}"


def _range_of(sizes: Sequence[float]) -> str:
    """Return the smallest to the largest size; nothing if one is not known."""
    if any(map(isinf, sizes)):
        return ""
    return " to ".join(dict.fromkeys(f"{size:.2g}" for size in (min(sizes), max(sizes))))
