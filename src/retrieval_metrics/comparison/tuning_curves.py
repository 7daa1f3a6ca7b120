"""Arrange the settings of a tuning by their parameters: as curves over a number, or as a grid of two parameters."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from retrieval_metrics.comparison.tuning_result import TriedSetting, TuningResult


# A curve over fewer numbers says no more than a list of settings.
MIN_NUMBERS = 3
# More lines in one figure cannot be told apart.
MAX_LINES = 6


class CurvePoint(NamedTuple):
    """A setting on a curve, and its value of the parameter."""

    value: float
    setting: TriedSetting


@dataclass(frozen=True, slots=True)
class Curve:
    """The settings over a parameter with numbers: a line for each combination of the other parameters.

    Attributes:
        parameter: The parameter.
        lines: The points of each line, by its name, in the order of the parameter.
    """

    parameter: str
    lines: dict[str, list[CurvePoint]]


def find_curve(tuning: TuningResult) -> Curve | None:
    """Return the settings over the parameter with the most numbers, in the order of the numbers.

    None if that parameter has too few numbers, or the other parameters make too many lines.
    """
    values_by_parameter = _varied_values(tuning)
    curve_parameter = ""
    numbers: set[Any] = set()
    for parameter, values in values_by_parameter.items():
        numbers_of_parameter = {value for value in values if _is_number(value)}
        if len(numbers_of_parameter) > len(numbers):
            curve_parameter = parameter
            numbers = numbers_of_parameter
    if len(numbers) < MIN_NUMBERS:
        return None
    points_by_line: dict[str, list[CurvePoint]] = {}
    other_parameters = [parameter for parameter in values_by_parameter if parameter != curve_parameter]
    for setting in tuning.settings:
        value: Any = setting.parameters.get(curve_parameter)
        if value in numbers and setting.obstacle is None:
            line_name = _format_other_parameters(setting, other_parameters)
            points_by_line.setdefault(line_name, []).append(CurvePoint(float(value), setting))
    if len(points_by_line) > MAX_LINES:
        return None
    lines = {name: sorted(points_by_line[name], key=attrgetter("value")) for name in sorted(points_by_line)}
    return Curve(curve_parameter, lines)


def _format_other_parameters(setting: TriedSetting, parameters: list[str]) -> str:
    """Return these parameters of a setting with their values, which name its line."""
    named = [parameter for parameter in parameters if parameter in setting.parameters]
    return ", ".join(f"{parameter}={setting.parameters[parameter]}" for parameter in named)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _varied_values(tuning: TuningResult) -> dict[str, list[Any]]:
    """Return the values of each parameter that has more than one."""
    values_by_parameter: dict[str, list[Any]] = {}
    for parameters in tuning.rule.parameters.values():
        for parameter, value in parameters.items():
            values = values_by_parameter.setdefault(parameter, [])
            if value not in values:
                values.append(value)
    return {parameter: values for parameter, values in values_by_parameter.items() if len(values) > 1}


@dataclass(frozen=True, slots=True)
class Grid:
    """The settings by two parameters.

    Attributes:
        row_parameter: The parameter of the rows.
        column_parameter: The parameter of the columns.
        rows: The values of the row parameter.
        columns: The values of the column parameter.
        settings: The setting of each pair of values; None where it was not tried.
    """

    row_parameter: str
    column_parameter: str
    rows: list[Any]
    columns: list[Any]
    settings: list[list[TriedSetting | None]]


def make_grid(tuning: TuningResult) -> Grid:
    """Return the settings by the two parameters that vary.

    Raises:
        ValueError: If not exactly two parameters vary.
    """
    values_by_parameter = _varied_values(tuning)
    if len(values_by_parameter) != 2:
        raise ValueError(
            f"a grid needs two parameters that vary; here {len(values_by_parameter)} do; plot() draws every setting"
        )
    row_parameter, column_parameter = values_by_parameter
    rows = values_by_parameter[row_parameter]
    columns = values_by_parameter[column_parameter]
    settings: list[list[TriedSetting | None]] = [[None] * len(columns) for _ in rows]
    for setting in tuning.settings:
        if row_parameter in setting.parameters and column_parameter in setting.parameters:
            row = rows.index(setting.parameters[row_parameter])
            column = columns.index(setting.parameters[column_parameter])
            settings[row][column] = setting
    return Grid(row_parameter, column_parameter, rows, columns, settings)
