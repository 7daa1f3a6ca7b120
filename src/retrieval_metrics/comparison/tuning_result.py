"""Define the result of tuning: the choice, its expected gain on new questions, and how sure it is."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import isnan, nan
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from retrieval_metrics._internal.optional_packages import import_optional, to_data_frame
from retrieval_metrics._internal.validation import UnknownKeyError
from retrieval_metrics.comparison.comparison_file import encode_systems
from retrieval_metrics.comparison.tuning_bounds import LATENCY_COLUMN
from retrieval_metrics.comparison.tuning_report import write_tuning_report
from retrieval_metrics.comparison.tuning_wording import format_tuning_conclusion, tuning_notes
from retrieval_metrics.files.saved_format import write_saved_file
from retrieval_metrics.files.saved_records import encode_record
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.tables import Printed, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    import pandas as pd
    from matplotlib.figure import Figure

    from retrieval_metrics.comparison.difference import Difference
    from retrieval_metrics.comparison.id_obstacles import Obstacle
    from retrieval_metrics.evaluation.evaluation import Evaluation
    from retrieval_metrics.statistics.mean_intervals import Interval


# How many settings an error names.
MAX_NAMED_SETTINGS = 6


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
        feasible: Whether it keeps the bounds `at_least` and `at_most`.
        selection_rate: The share of resamples in which it is the best.
        difference: Its difference from the default, corrected for all settings; None of the default itself.
        obstacle: Why it takes no part in the choice: its ids match no judgment (`"foreign_ids"`), nearly match
            (`"near_misses"`), or are shifted by one (`"shifted_ids"`), or its items cannot be located (`"unlocated"`),
            or it retrieved nothing (`"no_results"`), or `exclude=` left nothing out of it (`"unused_exclusion"`); None
            if it takes part.
    """

    name: str
    parameters: Mapping[str, Any]
    means: Mapping[str, float]
    feasible: bool
    selection_rate: float
    difference: Difference | None
    obstacle: Obstacle | None = None

    @property
    def gain(self) -> float:
        """How much more its mean is than that of the default, on these questions."""
        return 0.0 if self.difference is None else self.difference.mean


@dataclass(frozen=True, kw_only=True, eq=False)
class TuningResult:
    """What is known of a choice, without the ways of showing it; `Tuning` says what each attribute is."""

    rule: TuningRule
    winner: str
    settings: tuple[TriedSetting, ...]
    indistinguishable: tuple[str, ...]
    n_questions: int
    mean: float
    default_mean: float
    expected_mean: float
    expected_mean_interval: Interval
    gain: float
    expected_gain: float
    expected_gain_interval: Interval
    p: float
    evaluations: Mapping[str, Evaluation]
    warnings: tuple[str, ...]
    doubtful: tuple[str, ...]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TuningResult):
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
    def is_significant(self) -> bool:
        """Whether the questions show that the winner is better than the default."""
        difference = self[self.winner].difference
        return difference is not None and difference.significant and difference.mean > 0

    def __getitem__(self, name: str) -> TriedSetting:
        for setting in self.settings:
            if setting.name == name:
                return setting
        names = numbers.join_names([setting.name for setting in self.settings], MAX_NAMED_SETTINGS)
        raise UnknownKeyError(f"no setting {name!r}; the settings are {names}")

    @property
    def conclusion(self) -> str:
        """Which setting to use, and why, in a sentence."""
        return format_tuning_conclusion(self)


class Tuning(TuningResult, Printed):
    """The best of several settings, and its expected gain on new questions.

    Attributes:
        rule: How it was chosen: the metrics, the bounds, the level, the seed.
        winner: The setting with the best mean; the default if none is better.
        settings: All settings, the best first.
        indistinguishable: The settings that do not differ significantly from the winner: they may be the best on new
            questions as well (`retrieval_metrics.statistics.out_of_bag`).
        n_questions: The number of questions.
        mean: The winner's mean on these questions, which is optimistic because it was selected on them.
        default_mean: The mean of the default on these questions.
        expected_mean: The winner's estimated mean on new questions.
        expected_mean_interval: Its confidence interval.
        gain: The winner's gain over the default on these questions.
        expected_gain: The estimated gain on new questions.
        expected_gain_interval: Its confidence interval; it ends at 0 where the test does not find the winner better.
        p: The p value of the winner against the default, corrected for all settings; 1 if the default wins.
        evaluations: The evaluation of each setting, by name.
        warnings: What is wrong with the data of settings: of the winner, the default, those left out, then others.
        doubtful: The winner and the default, if there are warnings about them.
    """

    def _tables(self) -> list[Table]:
        conclusion = Table((), (), [self.conclusion])
        further_metrics = [str(metric) for metric in self.settings[0].means if metric != self.metric]
        if not further_metrics:
            return [self._choice_table(), conclusion]
        return [self._choice_table(), self._further_means_table(further_metrics), conclusion]

    def _choice_table(self) -> Table:
        # Every resample of a single question contains it, so nothing is known of others.
        is_known = not isnan(self.expected_mean)
        expected_mean = "-"
        if is_known:
            expected_mean = numbers.format_mean(self.expected_mean, self.expected_mean_interval)
        rows = [
            ["winner", self.winner, numbers.format_value(self.mean), expected_mean],
            ["default", self.default, numbers.format_value(self.default_mean), ""],
        ]
        if self.winner != self.default:
            expected_gain = "-"
            if is_known:
                interval = numbers.format_interval(self.expected_gain_interval, difference=True)
                expected_gain = f"{numbers.format_signed(self.expected_gain)} {interval}"
            rows.append(["gain", "", numbers.format_signed(self.gain), expected_gain])
        questions = numbers.format_query_count(self.n_questions)
        title = f"{len(self.settings)} settings, {questions}, selected by {self.metric}"
        level = numbers.level_name(self.level)
        header = ["", "setting", "observed", f"expected on new questions [{level}]"]
        return Table(header, rows, tuning_notes(self), title, (0, 1))

    def _further_means_table(self, metrics: Sequence[str]) -> Table:
        winner_means = self[self.winner].means
        default_means = self[self.default].means
        rows = []
        for metric in metrics:
            change = numbers.format_signed(winner_means[metric] - default_means[metric])
            rows.append(
                [
                    metric,
                    numbers.format_value(winner_means[metric]),
                    numbers.format_value(default_means[metric]),
                    change,
                ]
            )
        return Table(["other metrics", "winner", "default", "change"], rows)

    def to_pandas(self) -> pd.DataFrame:
        """Return a DataFrame with one row per setting: parameters, means, and the difference from the default.

        Of a setting that takes no part in the choice, the difference and its p value are NaN.

        Raises:
            ImportError: If pandas is not installed; the message contains the command.
        """
        rows = []
        for setting in self.settings:
            difference = setting.difference
            gain = 0.0
            p_corrected = 1.0
            if setting.obstacle is not None:  # the numbers would say how its ids match
                gain = nan
                p_corrected = nan
            elif difference is not None:
                gain = difference.mean
                p_corrected = difference.p_corrected
            rows.append(
                {
                    "setting": setting.name,
                    **setting.parameters,
                    **setting.means,
                    "difference": gain,
                    "p_corrected": p_corrected,
                    "selection_rate": setting.selection_rate,
                    "feasible": setting.feasible,
                    "obstacle": setting.obstacle or "",
                }
            )
        return to_data_frame(rows)

    def plot(self, kind: Literal["curve", "settings", "grid"] | None = None) -> Figure:
        """Return a figure of the gains over the default.

        Args:
            kind: `curve`: the gain over a parameter with three numbers or more, such as lambda, in their order and with
                simultaneous intervals; other parameters make lines. `settings`: the gain of each setting, and what the
                choice is worth on new questions; of many, the best. `grid`: the gain by two parameters, as a heat map.
                None: the curve if there is one, else the settings.

        Raises:
            ImportError: If matplotlib is not installed; the message contains the command.
            ValueError: If the kind is unknown, or there is no such parameter, or not exactly two for a grid.
        """
        import_optional("matplotlib", "plot")
        from retrieval_metrics.comparison.tuning_plots import tuning_figure

        return tuning_figure(self, kind)

    def report(self, path: str | PathLike[str], *, title: str = "") -> None:
        """Write an HTML report: the conclusion, the gains, the grid of two parameters, and every setting.

        The file is self-contained, fetches nothing and needs no script. Reports of single queries are those of
        `compare(tuning.evaluations)`.

        Args:
            path: The file to write.
            title: The heading; if empty, what was tuned.
        """
        write_tuning_report(self, self.tables, path, title)

    def save(
        self, path: str | PathLike[str], *, labels: Mapping[str, str | float] | None = None, rankings: bool = True
    ) -> None:
        """Save the evaluation of each setting and how to choose to a file that `load` reads.

        `load` chooses again from what was saved, which gives the same choice and the same numbers.

        Args:
            path: The JSON file; a further `.gz` or `.zst` compresses it.
            labels: Labels of your own, such as `{"commit": "4f2a91c"}`.
            rankings: False saves only the values of each question, and the warnings about the data without examples;
                it is far smaller.

        Raises:
            ValueError: If something cannot be written as JSON, such as a parameter that is an object; or if seconds
                are bounded, which are saved only with the rankings. Nothing is written then.
            OSError: If the file cannot be written; an existing file stays as it was.
        """
        if not rankings and LATENCY_COLUMN in {**self.rule.at_least, **self.rule.at_most}:
            raise ValueError("seconds are bounded, and they are saved only with the rankings; leave out rankings=False")
        scores = {name: evaluation.scores for name, evaluation in self.evaluations.items()}
        rule = {name: encode_record(value, name) for name, value in asdict(self.rule).items()}
        write_saved_file(path, "tuning", {**encode_systems(scores, rankings=rankings), "rule": rule}, labels)

    def __repr__(self) -> str:
        return f"<Tuning by {self.metric}: {self.winner} of {len(self.settings)} settings>"
