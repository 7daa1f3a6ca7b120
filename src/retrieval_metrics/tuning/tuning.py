"""The result of tuning: the choice, what it is worth, and how sure it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from retrieval_metrics.checks import data_frame, require
from retrieval_metrics.presentation import numbers
from retrieval_metrics.presentation.tables import Printed, Table
from retrieval_metrics.tuning.choice import Choice

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    import pandas as pd
    from matplotlib.figure import Figure


STABLE = 3
"""How many settings are named with the share of resamples that choose them."""
ALIKE = 4
"""How many settings are named that cannot be told from the winner."""


class Tuning(Choice, Printed):
    """The best of several settings, and what the choice is worth on new questions.

    Attributes:
        rule: How it was chosen: the metrics, the bounds, the level, the seed.
        winner: The setting with the best mean; the default if none is better.
        settings: All settings, the best first.
        as_good: The settings that cannot be told from the winner: they may be the best on new questions as well
            (`retrieval_metrics.statistics.chosen_settings`).
        questions: The number of questions.
        mean: The winner's mean on these questions, which is too good for having won.
        default_mean: The mean of the default on these questions.
        new_mean: What to expect of the choice on new questions.
        new_mean_interval: Its confidence interval.
        gain: The winner's gain over the default on these questions.
        new_gain: What to expect of the gain on new questions.
        new_gain_interval: Its confidence interval; it ends at 0 where the test does not find the winner better.
        p: The p value of the winner against the default, corrected for all settings; 1 if the default wins.
        evaluations: The evaluation of each setting, by name.
    """

    def _tables(self) -> list[Table]:
        level = f"{100 * self.level:g} %"
        rows = [
            ["winner", self.winner, numbers.value(self.mean), numbers.mean(self.new_mean, self.new_mean_interval)],
            ["default", self.default, numbers.value(self.default_mean), ""],
        ]
        if self.winner != self.default:
            ends = numbers.interval(self.new_gain_interval, difference=True)
            rows.append(["gain", "", numbers.signed(self.gain), f"{numbers.signed(self.new_gain)} {ends}"])
        title = f"{len(self.settings)} settings on {numbers.queries(self.questions)}, chosen by {self.metric}"
        notes = []
        stable = sorted(self.settings, key=lambda one: -one.chosen)[:STABLE]
        notes.append(f"chosen in the resamples: {', '.join(f'{one.name} {100 * one.chosen:.0f} %' for one in stable)}")
        if self.winner != self.default:
            tried = numbers.count(len(self.settings) - 1, "setting")
            notes.append(f"p {numbers.p_value(self.p)}, corrected for {tried}")
        if self.as_good:
            notes.append(f"cannot be told from the winner: {numbers.listed(list(self.as_good), ALIKE)}")
        excluded = sum(not one.allowed for one in self.settings)
        if excluded:
            notes.append(f"{numbers.count(excluded, 'setting')} beyond the bounds, not chosen from")
        means = [str(metric) for metric in self.settings[0].means if metric != self.metric]
        tables = [Table(["", "setting", "on these", f"on new questions, {level}"], rows, notes, title, (0, 1))]
        if means:
            both = [self[self.winner], self[self.default]]
            others = [
                [
                    name,
                    *(numbers.value(one.means[name]) for one in both),
                    numbers.signed(both[0].means[name] - both[1].means[name]),
                ]
                for name in means
            ]
            tables.append(Table(["other metrics", "winner", "default", "change"], others))
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
        return data_frame(rows)

    def plot(self, kind: Literal["settings", "grid"] = "settings") -> Figure:
        """Return a figure of the gains over the default.

        Args:
            kind: `settings`: the gain of each setting with its simultaneous interval, and what the choice is worth on
                new questions; of many, the best. `grid`: the gain by two parameters, as a heat map.

        Raises:
            ImportError: If matplotlib is not installed; the message holds the command.
            ValueError: If the kind is unknown, or `grid` is asked for and not exactly two parameters were varied.
        """
        require("matplotlib", "plot")
        from retrieval_metrics.tuning.pictures import drawn  # noqa: PLC0415  (matplotlib is an extra)

        return drawn(self, kind)

    def report(self, path: str | PathLike[str], *, title: str = "") -> None:
        """Write an HTML report: the conclusion, the gains, the grid of two parameters, and every setting.

        The file is self-contained, fetches nothing and needs no script. Reports of single queries are those of
        `compare(tuning.evaluations)`.

        Args:
            path: The file to write.
            title: The heading; if empty, what was tuned.
        """
        from retrieval_metrics.tuning.tuning_report import tuning_report  # noqa: PLC0415  (seldom asked for)

        tuning_report(self, self.tables, path, title)

    def save(
        self, path: str | PathLike[str], *, labels: Mapping[str, str | float] | None = None, rankings: bool = True
    ) -> None:
        """Save the evaluation of each setting and how to choose to a file that `load` reads.

        `load` chooses again from what was saved, which gives the same choice and the same numbers.

        Args:
            path: The JSON file; a further `.gz` or `.zst` compresses it.
            labels: Labels of your own, such as `{"commit": "4f2a91c"}`.
            rankings: False saves only the values of each question, which is far smaller.

        Raises:
            ValueError: If something cannot be written as JSON, such as a parameter that is an object; or if seconds
                are bounded, which are saved only with the rankings. Nothing is written then.
            OSError: If the file cannot be written; an existing file stays as it was.
        """
        from retrieval_metrics.tuning.kept import save_tuning  # noqa: PLC0415  (seldom asked for)

        save_tuning(self, path, labels, rankings=rankings)

    def __repr__(self) -> str:
        return f"<Tuning by {self.metric}: {self.winner} of {len(self.settings)} settings>"
