"""The result of tuning: the choice, what it is worth, how sure it is, and how it is kept and reported."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from numbers import Real
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from retrieval_metrics._internal.validation import import_optional, to_data_frame
from retrieval_metrics.comparison.comparison_report import format_about_section
from retrieval_metrics.comparison.saved_results import encode_systems
from retrieval_metrics.files.saved_format import write_saved_file
from retrieval_metrics.files.saved_records import encode_record
from retrieval_metrics.reports import charts as draw
from retrieval_metrics.reports import numbers, page
from retrieval_metrics.reports.charts import ChartRow, ChartRows
from retrieval_metrics.reports.name_key import NameKey
from retrieval_metrics.reports.tables import Printed, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    import pandas as pd
    from matplotlib.figure import Figure

    from retrieval_metrics.comparison.difference import Difference
    from retrieval_metrics.evaluation.evaluation import Evaluation
    from retrieval_metrics.files.saved_format import LabelMapping
    from retrieval_metrics.statistics.means import Interval


# A choice among settings: the rule, the settings, and what the choice is worth.

LATENCY_COLUMN = "seconds"
"""The name of the time of a query among the bounds."""
MAX_NAMED_SETTINGS = 6
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
        feasible: Whether it keeps the bounds `at_least` and `at_most`.
        selection_rate: The share of resamples in which it is the best.
        difference: Its difference from the default, corrected for all settings; None of the default itself.
    """

    name: str
    parameters: Mapping[str, Any]
    means: Mapping[str, float]
    feasible: bool
    selection_rate: float
    difference: Difference | None

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
        found = self[self.winner].difference
        return found is not None and found.significant and found.mean > 0

    def __getitem__(self, name: str) -> TriedSetting:
        found = next((one for one in self.settings if one.name == name), None)
        if found is None:
            names = numbers.join_names([one.name for one in self.settings], MAX_NAMED_SETTINGS)
            raise KeyError(f"there is no setting {name!r}; there are {names}")
        return found

    @property
    def conclusion(self) -> str:
        """What to do, in a sentence."""
        if self.winner == self.default:
            return f"Keep {self.default}: no other setting has a better {self.metric} on these questions."
        gain = numbers.signed(self.expected_gain)
        if self.is_significant:
            here = numbers.signed(self.gain)
            said = f"{self.winner} is better than {self.default} in {self.metric}; expect {gain} on new questions"
            return f"{said}." if here == gain else f"{said}, not the {here} of these."
        found = self[self.winner].difference
        if found is not None and not self[self.default].feasible:
            unsure = "" if found.significant else ", which these questions cannot tell from 0"
            return (
                f"{self.default} is beyond the bounds; within them, {self.winner} has the best {self.metric}. Compared "
                f"with {self.default}, expect {gain} on new questions{unsure}."
            )
        if self.expected_gain > 0:
            return (
                f"Switching to {self.winner} is right on average ({gain} on new questions), but {self.n_questions:,} "
                f"questions cannot show that it is better than {self.default}."
            )
        return (
            f"Keep {self.default}: the gain of {self.winner} is no more than the best of {len(self.settings)} equal "
            "settings would have by chance."
        )


STABLE = 3
"""How many settings are named with the share of resamples that choose them."""
ALIKE = 4
"""How many settings are named that cannot be told from the winner."""


class Tuning(TuningResult, Printed):
    """The best of several settings, and what the choice is worth on new questions.

    Attributes:
        rule: How it was chosen: the metrics, the bounds, the level, the seed.
        winner: The setting with the best mean; the default if none is better.
        settings: All settings, the best first.
        indistinguishable: The settings that cannot be told from the winner: they may be the best on new questions as
            well (`retrieval_metrics.statistics.out_of_bag`).
        n_questions: The number of questions.
        mean: The winner's mean on these questions, which is too good for having won.
        default_mean: The mean of the default on these questions.
        expected_mean: What to expect of the choice on new questions.
        expected_mean_interval: Its confidence interval.
        gain: The winner's gain over the default on these questions.
        expected_gain: What to expect of the gain on new questions.
        expected_gain_interval: Its confidence interval; it ends at 0 where the test does not find the winner better.
        p: The p value of the winner against the default, corrected for all settings; 1 if the default wins.
        evaluations: The evaluation of each setting, by name.
    """

    def _tables(self) -> list[Table]:
        level = numbers.level_name(self.level)
        rows = [
            [
                "winner",
                self.winner,
                numbers.value(self.mean),
                numbers.mean(self.expected_mean, self.expected_mean_interval),
            ],
            ["default", self.default, numbers.value(self.default_mean), ""],
        ]
        if self.winner != self.default:
            ends = numbers.interval(self.expected_gain_interval, difference=True)
            rows.append(["gain", "", numbers.signed(self.gain), f"{numbers.signed(self.expected_gain)} {ends}"])
        title = (
            f"{len(self.settings)} settings on {numbers.format_query_count(self.n_questions)}, chosen by {self.metric}"
        )
        notes = []
        stable = sorted(self.settings, key=lambda one: -one.selection_rate)[:STABLE]
        shares = ", ".join(f"{one.name} {100 * one.selection_rate:.0f} %" for one in stable)
        notes.append(f"wins on similar questions: {shares}")
        if self.winner != self.default:
            tried = numbers.format_count(len(self.settings) - 1, "setting")
            notes.append(f"winner against default: p {numbers.p_value(self.p)}, corrected for {tried}")
        if self.indistinguishable:
            notes.append(f"may be as good as the winner: {numbers.join_names(list(self.indistinguishable), ALIKE)}")
        excluded = sum(not one.feasible for one in self.settings)
        if excluded:
            notes.append(f"{numbers.format_count(excluded, 'setting')} beyond the bounds, not chosen from")
        means = [str(metric) for metric in self.settings[0].means if metric != self.metric]
        header = ["", "setting", "on these questions", f"expected on new ones [{level}]"]
        tables = [Table(header, rows, notes, title, (0, 1))]
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
                "p_corrected": 1.0 if one.difference is None else one.difference.p_corrected,
                "selection_rate": one.selection_rate,
                "feasible": one.feasible,
            }
            for one in self.settings
        ]
        return to_data_frame(rows)

    def plot(self, kind: Literal["curve", "settings", "grid"] | None = None) -> Figure:
        """Return a figure of the gains over the default.

        Args:
            kind: `curve`: the gain over a parameter with three numbers or more, such as lambda, in their order and with
                simultaneous intervals; other parameters make lines. `settings`: the gain of each setting, and what the
                choice is worth on new questions; of many, the best. `grid`: the gain by two parameters, as a heat map.
                None: the curve if there is one, else the settings.

        Raises:
            ImportError: If matplotlib is not installed; the message holds the command.
            ValueError: If the kind is unknown, or there is no such parameter, or not exactly two for a grid.
        """
        import_optional("matplotlib", "plot")
        from retrieval_metrics.comparison.tuning_plots import tuning_figure  # noqa: PLC0415  (matplotlib is an extra)

        return tuning_figure(self, kind)

    def report(self, path: str | PathLike[str], *, title: str = "") -> None:
        """Write an HTML report: the conclusion, the gains, the grid of two parameters, and every setting.

        The file is self-contained, fetches nothing and needs no script. Reports of single queries are those of
        `compare(tuning.evaluations)`.

        Args:
            path: The file to write.
            title: The heading; if empty, what was tuned.
        """
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
        save_tuning(self, path, labels, rankings=rankings)

    def __repr__(self) -> str:
        return f"<Tuning by {self.metric}: {self.winner} of {len(self.settings)} settings>"


DRAWN = 12
"""The largest number of settings in the chart, the best; the table has all."""


def tuning_report(tuning: TuningResult, tables: Sequence[Table], path: str | PathLike[str], title: str) -> None:
    """Write the report; see `Tuning.report`."""
    try:
        by_two = [page.section("By the two parameters", page.table(_by_two(tuning)))]
    except ValueError:
        by_two = []
    key = NameKey([one.name for one in tuning.settings])
    parts = [
        page.paragraph(tuning.conclusion, lead=True),
        draw.grid(draw.rows(key(gain_rows(tuning, DRAWN)))),
        *([page.sentences(key.lines)] if key.lines else []),
        *map(page.table, tables[:-1]),  # the last is the conclusion, which leads
        *by_two,
        page.section("Every setting", page.table(_every(tuning))),
        *format_about_section({name: one.scores for name, one in list(tuning.evaluations.items())[:1]}, {}, None),
    ]
    page.write(path, title or f"Tuning of {len(tuning.settings):,} settings by {tuning.metric}", parts)


def _by_two(tuning: TuningResult) -> Table:
    held = grid(tuning)
    header = [f"{held.names[0]} \\ {held.names[1]}", *map(str, held.columns)]
    marked = {tuning.winner: " (winner)", tuning.default: " (default)"}
    rows = [
        [
            str(value),
            *("" if one is None else numbers.signed(one.gain) + marked.get(one.name, "") for one in row),
        ]
        for value, row in zip(held.rows, held.settings, strict=True)
    ]
    return Table(header, rows, [f"gain in {tuning.metric} over the default, on these questions"])


def _every(tuning: TuningResult) -> Table:
    header = ["setting", *tuning.rule.metrics, "gain", f"{numbers.level_name(tuning.level)}", "p", "chosen", ""]
    rows = []
    for one in tuning.settings:
        found, gained = one.difference, ["", "", ""]
        if found is not None:
            ends = numbers.interval(found.interval, difference=True)
            gained = [numbers.signed(found.mean), ends, numbers.p_value(found.p_corrected)]
        said = "default" if found is None else ""
        if one.name == tuning.winner:
            said = "winner"
        elif one.name in tuning.indistinguishable:
            said = f"{said}{', ' * bool(said)}may be as good"
        elif not one.feasible:
            said = f"{said}{', ' * bool(said)}beyond the bounds"
        means = [numbers.value(one.means[metric]) for metric in tuning.rule.metrics]
        rows.append([one.name, *means, *gained, f"{100 * one.selection_rate:.0f} %", said])
    notes = ["intervals and p values hold for all settings together; chosen: wins on similar questions"]
    return Table(header, rows, notes, words=(0, len(header) - 1))


def save_tuning(
    tuning: TuningResult, path: str | PathLike[str], labels: LabelMapping | None, *, rankings: bool
) -> None:
    """Write a tuning; see `Tuning.save`."""
    if not rankings and LATENCY_COLUMN in {**tuning.rule.at_least, **tuning.rule.at_most}:
        raise ValueError("seconds are bounded, and they are saved only with the rankings; leave out rankings=False")
    scores = {name: each.scores for name, each in tuning.evaluations.items()}
    rule = {name: encode_record(value, name) for name, value in asdict(tuning.rule).items()}
    write_saved_file(path, "tuning", {**encode_systems(scores, rankings=rankings), "rule": rule}, labels)


def gain_rows(tuning: TuningResult, most: int) -> ChartRows:
    """Return the gain of at most so many settings, the best, below what is expected on new questions."""
    tried = [(one.name, one.difference) for one in tuning.settings if one.difference is not None][:most]
    rows = [ChartRow(name, each.mean, each.interval, numbers.signed(each.mean)) for name, each in tried]
    if tuning.winner != tuning.default:  # to keep the default gains nothing
        gain = tuning.expected_gain
        rows.insert(
            0, ChartRow("expected on new questions", gain, tuning.expected_gain_interval, numbers.signed(gain), 1)
        )
    label = f"difference in {tuning.metric}, with its {numbers.level_name(tuning.level)}"
    return ChartRows.scaled(f"gain in {tuning.metric} over {tuning.default}", label, rows, gains=True)


FEWEST_NUMBERS, MOST_LINES = 3, 6
"""How many numbers a parameter needs for a curve, and how many lines can be told apart."""


class Curve(NamedTuple):
    """The settings over a parameter with numbers: a line for each value of the other parameters."""

    parameter: str
    lines: list[tuple[str, list[tuple[float, TriedSetting]]]]


def curve(tuning: TuningResult) -> Curve | None:
    """Return the settings over the parameter with the most numbers, in their order; None if there is no such curve."""
    numeric = {
        name: {value for value in values if isinstance(value, Real) and not isinstance(value, bool)}
        for name, values in _varied(tuning).items()
    }
    name = max(numeric, key=lambda one: len(numeric[one]), default=None)
    if name is None or len(numeric[name]) < FEWEST_NUMBERS:
        return None
    lines: dict[str, list[tuple[float, TriedSetting]]] = {}
    others = [one for one in _varied(tuning) if one != name]
    for one in tuning.settings:
        if (x := one.parameters.get(name)) in numeric[name]:
            words = ", ".join(f"{other}={one.parameters[other]}" for other in others if other in one.parameters)
            lines.setdefault(words, []).append((float(x), one))
    if len(lines) > MOST_LINES:
        return None
    return Curve(name, [(words, sorted(points, key=itemgetter(0))) for words, points in sorted(lines.items())])


def _varied(tuning: TuningResult) -> dict[str, list[Any]]:
    """Return the values of each parameter that has more than one."""
    values: dict[str, list[Any]] = {}
    for given in tuning.rule.parameters.values():
        for name, value in given.items():
            held = values.setdefault(name, [])
            if value not in held:
                held.append(value)
    return {name: held for name, held in values.items() if len(held) > 1}


TWO = 2


class Grid(NamedTuple):
    """The settings by two parameters.

    Attributes:
        names: The two parameters: that of the rows and that of the columns.
        rows: The values of the first.
        columns: The values of the second.
        settings: The setting of each pair of values; None where it was not tried.
    """

    names: tuple[str, str]
    rows: list[Any]
    columns: list[Any]
    settings: list[list[TriedSetting | None]]


def grid(tuning: TuningResult) -> Grid:
    """Return the settings by the two parameters that vary."""
    values = _varied(tuning)
    varied = list(values)
    if len(varied) != TWO:
        raise ValueError(f"a grid needs two parameters that vary; here {len(varied)} do; plot() draws every setting")
    rows, columns = values[varied[0]], values[varied[1]]
    settings: list[list[TriedSetting | None]] = [[None] * len(columns) for _ in rows]
    for one in tuning.settings:
        if varied[0] in one.parameters and varied[1] in one.parameters:
            settings[rows.index(one.parameters[varied[0]])][columns.index(one.parameters[varied[1]])] = one
    return Grid((varied[0], varied[1]), rows, columns, settings)
