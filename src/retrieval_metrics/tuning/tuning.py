"""The result of tuning: the choice, what it is worth, and how sure it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from retrieval_metrics.checks import require
from retrieval_metrics.presentation import numbers
from retrieval_metrics.presentation.printed import Printed
from retrieval_metrics.presentation.tables import Table
from retrieval_metrics.statistics.intervals import Interval

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from matplotlib.figure import Figure

    from retrieval_metrics.evaluation.evaluation import Evaluation
    from retrieval_metrics.results.difference import Difference
    from retrieval_metrics.statistics.out_of_bag import OutOfBag

SHOWN = 5
"""How many settings the printed table holds, besides the default."""
DRAWN = 15
"""How many settings a figure shows."""
STABLE = 3
"""How many settings are named with the share of resamples that choose them."""


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


@dataclass(frozen=True, kw_only=True, eq=False)
class Tuning(Printed):
    """The best of several settings, and what the choice is worth on new questions.

    Attributes:
        metric: The metric that they were chosen by.
        winner: The setting with the best mean; the default if none is better.
        default: The setting to keep unless another is better.
        settings: All settings, the best first.
        questions: The number of questions.
        mean: The winner's mean on these questions, which is too good for having won.
        default_mean: The mean of the default on these questions.
        new_mean: What to expect of the choice on new questions.
        new_mean_interval: Its confidence interval.
        gain: The winner's gain over the default on these questions.
        new_gain: What to expect of the gain on new questions.
        new_gain_interval: Its confidence interval; it ends at 0 where the test does not find the winner better.
        p: The p value of the winner against the default, corrected for all settings; 1 if the default wins.
        level: Confidence level.
        evaluations: The evaluation of each setting, by name.
    """

    metric: str
    winner: str
    default: str
    settings: tuple[TriedSetting, ...]
    questions: int
    mean: float
    default_mean: float
    new_mean: float
    new_mean_interval: Interval
    gain: float
    new_gain: float
    new_gain_interval: Interval
    p: float
    level: float
    evaluations: Mapping[str, Evaluation]

    @property
    def better(self) -> bool:
        """Whether the questions show that the winner is better than the default."""
        found = self[self.winner].difference
        return found is not None and found.significant and found.mean > 0

    def __getitem__(self, name: str) -> TriedSetting:
        return next(one for one in self.settings if one.name == name)

    @property
    def conclusion(self) -> str:
        """What to do, in a sentence."""
        if self.winner == self.default:
            return f"Keep {self.default}: no other setting has a better {self.metric} on these questions."
        gain = numbers.signed(self.new_gain, 3)
        if self.better:
            return (
                f"{self.winner} is better than {self.default} in {self.metric}; expect {gain} on new questions, not "
                f"the {numbers.signed(self.gain, 3)} of these."
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

    def _tables(self) -> list[Table]:
        level = f"{100 * self.level:g} %"
        ends = numbers.interval(self.new_mean_interval)
        rows = [
            ["winner", self.winner, f"{self.mean:.4f}", f"{self.new_mean:.4f} {ends}"],
            ["default", self.default, f"{self.default_mean:.4f}", ""],
        ]
        if self.winner != self.default:
            ends = numbers.interval(self.new_gain_interval, signed=True)
            rows.append(["gain", "", numbers.signed(self.gain), f"{numbers.signed(self.new_gain)} {ends}"])
        title = f"{len(self.settings)} settings on {numbers.queries(self.questions)}, chosen by {self.metric}"
        notes = []
        stable = sorted(self.settings, key=lambda one: -one.chosen)[:STABLE]
        notes.append(f"chosen in the resamples: {', '.join(f'{one.name} {100 * one.chosen:.0f} %' for one in stable)}")
        if self.winner != self.default:
            tried = len(self.settings) - 1
            notes.append(f"p {numbers.p_value(self.p)}, corrected for {tried} settings")
        excluded = sum(not one.allowed for one in self.settings)
        if excluded:
            notes.append(f"{numbers.count(excluded, 'setting')} beyond the bounds, not chosen from")
        means = [str(metric) for metric in self.settings[0].means if metric != self.metric]
        tables = [Table(["", "setting", "on these", f"on new questions, {level}"], rows, notes, title, (0, 1))]
        if means:
            both = [self[self.winner], self[self.default]]
            others = [[name, *(f"{one.means[name]:.4f}" for one in both)] for name in means]
            tables.append(Table(["other metrics", "winner", "default"], others))
        return [*tables, Table((), (), [self.conclusion])]

    def to_pandas(self) -> pd.DataFrame:
        """Return a DataFrame with one row per setting: parameters, means, and the difference from the default.

        Raises:
            ImportError: If pandas is not installed; the message holds the command.
        """
        rows = [
            {
                "setting": one.name,
                **one.parameters,
                **one.means,
                "difference": 0.0 if one.difference is None else one.difference.mean,
                "p": 1.0 if one.difference is None else one.difference.p_corrected,
                "chosen": one.chosen,
                "allowed": one.allowed,
            }
            for one in self.settings
        ]
        frame: pd.DataFrame = require("pandas", "to_pandas").DataFrame(rows)
        return frame

    def plot(self) -> Figure:
        """Draw the gain of each setting over the default, with its simultaneous interval, and what the choice is worth.

        Raises:
            ImportError: If matplotlib is not installed; the message holds the command.
        """
        require("matplotlib", "plot")
        from retrieval_metrics.presentation.plots.figure import figure  # noqa: PLC0415  (matplotlib is an extra)
        from retrieval_metrics.presentation.plots.rows import Row, rows_panel  # noqa: PLC0415  (likewise)

        tried = [(one.name, one.difference) for one in self.settings if one.difference is not None]
        found = [(name, each.mean, each.interval, 0) for name, each in tried[:DRAWN]]
        found.insert(0, ("expected on new questions", self.new_gain, self.new_gain_interval, 1))
        rows = [Row(*each, numbers.signed(each[1], 3)) for each in found]
        left = len(tried) - DRAWN
        note = f"{left:,} settings with smaller means are left out" if left > 0 else ""
        title = f"gain over {self.default}"
        panel = rows_panel(rows, title, f"difference in {self.metric}", differences=True)
        return figure([panel], title=self.conclusion, note=note)

    def __repr__(self) -> str:
        return f"<Tuning by {self.metric}: {self.winner} of {len(self.settings)} settings>"


def as_settled(
    *,
    metric: str,
    winner: str,
    default: str,
    settings: tuple[TriedSetting, ...],
    found: OutOfBag,
    questions: int,
    level: float,
    evaluations: Mapping[str, Evaluation],
    own: float,
    own_default: float,
) -> Tuning:
    """Return the choice, with the interval of the gain brought into line with the test."""
    difference = next((one.difference for one in settings if one.name == winner), None)
    low, high = found.gain_interval
    if difference is None:  # the default wins: its gain over itself is 0
        low, high = min(low, 0.0), max(high, 0.0)
    elif (low > 0) != difference.significant:  # the number and the decision disagree
        low = 0.0
    return Tuning(
        metric=metric,
        winner=winner,
        default=default,
        settings=tuple(sorted(settings, key=lambda one: -one.means[metric])),
        questions=questions,
        mean=own,
        default_mean=own_default,
        new_mean=found.mean,
        new_mean_interval=found.mean_interval,
        gain=own - own_default,
        new_gain=found.gain,
        new_gain_interval=Interval(low, max(high, low)),
        p=1.0 if difference is None else difference.p_corrected,
        level=level,
        evaluations=evaluations,
    )
