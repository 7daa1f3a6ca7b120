"""Group the conclusions about one system, so that each group can be printed as one sentence."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.comparison.conclusions import Conclusion, ConclusionKind

# The order of the sentences: significant differences first.
PRINT_ORDER: tuple[ConclusionKind, ...] = (
    "better",
    "worse",
    "not_significant",
    "identical",
    "depends_on_unjudged",
    "not_comparable",
    "no_common_queries",
)


class ConclusionGroup(NamedTuple):
    """Conclusions about one system in one metric that share their outcome.

    Attributes:
        system: The system that all pairs have.
        conclusions: The conclusions, in the order in which the other systems are named.
        system_first: Whether the sentence is about that system beside the others, or about the others beside it.
    """

    system: str
    conclusions: tuple[Conclusion, ...]
    system_first: bool = True

    @property
    def first(self) -> Conclusion:
        """The first conclusion, which stands for all: they share their outcome and their metric."""
        return self.conclusions[0]

    @property
    def metric(self) -> str:
        """The metric."""
        return self.first.metric

    @property
    def other_systems(self) -> list[str]:
        """The other systems."""
        return [self._other_system(conclusion) for conclusion in self.conclusions]

    def _other_system(self, conclusion: Conclusion) -> str:
        if conclusion.system == self.system:
            return conclusion.baseline
        return conclusion.system

    @property
    def is_gain(self) -> bool:
        """Whether the subject of the sentence has the better values."""
        return (self.first.gain > 0) is self.is_about(self.first)

    @property
    def is_sample_only(self) -> bool:
        """Whether it is a significant difference that holds for these queries only."""
        return self.first.is_better_or_worse and self.first.sample_only

    @property
    def obstacle(self) -> str:
        """Why the systems are not comparable; empty if they are."""
        return self.first.details.obstacle if self.first.kind == "not_comparable" else ""

    @property
    def subject_kind(self) -> ConclusionKind:
        """What is concluded about the subject of the sentence, which may be the baseline of the pair."""
        if not self.first.is_better_or_worse:
            return self.first.kind
        return "better" if self.is_gain else "worse"

    def is_about(self, conclusion: Conclusion) -> bool:
        """Return whether the subject of the sentence is the system of a conclusion, not its baseline."""
        return (conclusion.system == self.system) is self.system_first

    def with_order(self, names: Sequence[str]) -> ConclusionGroup:
        """Return the group with the other systems in another order."""
        by_name = dict(zip(self.other_systems, self.conclusions, strict=True))
        return self._replace(conclusions=tuple(by_name[name] for name in names))


class _OutcomeKey(NamedTuple):
    """What conclusions in one sentence share; its order is that of the sentences."""

    position: int
    is_undecided_loss: bool
    is_sample_only: bool
    has_too_few_units: bool
    obstacle: str


def group_by_outcome(system: str, conclusions: Sequence[Conclusion], *, system_first: bool) -> list[ConclusionGroup]:
    """Group the conclusions about one system in one metric by outcome, significant ones first."""
    groups: defaultdict[_OutcomeKey, list[Conclusion]] = defaultdict(list)
    for conclusion in conclusions:
        key = _outcome_key(ConclusionGroup(system, (conclusion,), system_first))
        groups[key].append(conclusion)
    return [ConclusionGroup(system, tuple(groups[key]), system_first) for key in sorted(groups)]


def _outcome_key(group: ConclusionGroup) -> _OutcomeKey:
    return _OutcomeKey(
        position=PRINT_ORDER.index(group.subject_kind),
        is_undecided_loss=group.first.depends_on_unjudged and not group.is_gain,
        is_sample_only=group.is_sample_only,
        has_too_few_units=group.first.has_too_few_units,
        obstacle=group.obstacle,
    )
