"""A choice among settings: the rule, the settings, and what the choice is worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from retrieval_metrics.presentation import numbers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics.evaluation.evaluation import Evaluation
    from retrieval_metrics.results.difference import Difference
    from retrieval_metrics.statistics.means import Interval

SECONDS = "seconds"
"""The name of the time of a query among the bounds."""
NAMED = 6
"""How many settings an error names."""


@dataclass(frozen=True, kw_only=True)
class TuningRule:
    """How to choose among settings; with their evaluations, it gives the choice.

    Attributes:
        metrics: The metric to choose by, and further ones to be shown.
        default: The setting to keep unless another is better.
        parameters: The parameters of each setting, if a function made it.
        at_least: The least mean of a metric.
        at_most: The largest mean of a metric, or of the seconds of a query.
        level: Confidence level.
        resamples: Number of resamples for the number on new questions.
        seed: Seed of the resamples and of the tests.
    """

    metrics: tuple[str, ...]
    default: str
    parameters: Mapping[str, Mapping[str, Any]]
    at_least: Mapping[str, float]
    at_most: Mapping[str, float]
    level: float
    resamples: int
    seed: int


class TriedSetting(NamedTuple):
    """One of the settings.

    Attributes:
        name: Its name.
        parameters: Its parameters, if it was made by a function.
        means: Its mean in every metric, on these questions.
        allowed: Whether it keeps the bounds `at_least` and `at_most`.
        chosen: The share of resamples in which it is the best.
        difference: Its difference from the default, corrected for all settings; None of the default itself.
    """

    name: str
    parameters: Mapping[str, Any]
    means: Mapping[str, float]
    allowed: bool
    chosen: float
    difference: Difference | None

    @property
    def gain(self) -> float:
        """How much more its mean is than that of the default, on these questions."""
        return 0.0 if self.difference is None else self.difference.mean


@dataclass(frozen=True, kw_only=True, eq=False)
class Choice:
    """What is known of a choice, without the ways of showing it; `Tuning` says what each attribute is."""

    rule: TuningRule
    winner: str
    settings: tuple[TriedSetting, ...]
    as_good: tuple[str, ...]
    questions: int
    mean: float
    default_mean: float
    new_mean: float
    new_mean_interval: Interval
    gain: float
    new_gain: float
    new_gain_interval: Interval
    p: float
    evaluations: Mapping[str, Evaluation]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Choice):
            return NotImplemented
        # All else follows from these.
        return self.rule == other.rule and list(self.evaluations.items()) == list(other.evaluations.items())

    def __hash__(self) -> int:
        return hash((self.rule.metrics, self.rule.default, tuple(self.evaluations)))

    @property
    def metric(self) -> str:
        """The metric that they were chosen by."""
        return self.rule.metrics[0]

    @property
    def default(self) -> str:
        """The setting to keep unless another is better."""
        return self.rule.default

    @property
    def level(self) -> float:
        """Confidence level of the intervals."""
        return self.rule.level

    @property
    def better(self) -> bool:
        """Whether the questions show that the winner is better than the default."""
        found = self[self.winner].difference
        return found is not None and found.significant and found.mean > 0

    def __getitem__(self, name: str) -> TriedSetting:
        found = next((one for one in self.settings if one.name == name), None)
        if found is None:
            names = numbers.listed([one.name for one in self.settings], NAMED)
            raise KeyError(f"there is no setting {name!r}; there are {names}")
        return found

    @property
    def conclusion(self) -> str:
        """What to do, in a sentence."""
        if self.winner == self.default:
            return f"Keep {self.default}: no other setting has a better {self.metric} on these questions."
        gain = numbers.signed(self.new_gain)
        if self.better:
            here = numbers.signed(self.gain)
            said = f"{self.winner} is better than {self.default} in {self.metric}; expect {gain} on new questions"
            return f"{said}." if here == gain else f"{said}, not the {here} of these."
        found = self[self.winner].difference
        if found is not None and not self[self.default].allowed:
            unsure = "" if found.significant else ", which these questions cannot tell from 0"
            return (
                f"{self.default} is beyond the bounds; within them, {self.winner} has the best {self.metric}. Compared "
                f"with {self.default}, expect {gain} on new questions{unsure}."
            )
        if self.new_gain > 0:
            return (
                f"Switching to {self.winner} is right on average ({gain} on new questions), but {self.questions:,} "
                f"questions cannot show that it is better than {self.default}."
            )
        return (
            f"Keep {self.default}: the gain of {self.winner} is no more than the best of {len(self.settings)} equal "
            "settings would have by chance."
        )
