"""The settings of a tuning, ordered by their parameters: along one with numbers, or by two."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from operator import itemgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from retrieval_metrics.comparison.tuning_result import TriedSetting, TuningResult


# How many numbers a parameter needs for a curve.
MIN_NUMBERS = 3
# How many lines can be told apart.
MAX_LINES = 6


@dataclass(frozen=True, slots=True)
class Curve:
    """The settings over a parameter with numbers: a line for each combination of the other parameters.

    Attributes:
        parameter: The parameter.
        lines: The points of each line, by its name, in the order of the parameter.
    """

    parameter: str
    lines: dict[str, list[tuple[float, TriedSetting]]]


def find_curve(tuning: TuningResult) -> Curve | None:
    """Return the settings over the parameter with the most numbers, in their order; None if there is no such curve."""
    values_by_parameter = _varied_values(tuning)
    parameter = ""
    numbers: set[Any] = set()
    for name, values in values_by_parameter.items():
        numbers_of_parameter = {value for value in values if _is_number(value)}
        if len(numbers_of_parameter) > len(numbers):
            parameter = name
            numbers = numbers_of_parameter
    if len(numbers) < MIN_NUMBERS:
        return None
    lines: dict[str, list[tuple[float, TriedSetting]]] = {}
    other_parameters = [name for name in values_by_parameter if name != parameter]
    for setting in tuning.settings:
        value: Any = setting.parameters.get(parameter)
        if value in numbers:
            names = [name for name in other_parameters if name in setting.parameters]
            line = ", ".join(f"{name}={setting.parameters[name]}" for name in names)
            lines.setdefault(line, []).append((float(value), setting))
    if len(lines) > MAX_LINES:
        return None
    return Curve(parameter, {line: sorted(lines[line], key=itemgetter(0)) for line in sorted(lines)})


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
        column_parameter: That of the columns.
        rows: The values of the first.
        columns: The values of the second.
        settings: The setting of each pair of values; None where it was not tried.
    """

    row_parameter: str
    column_parameter: str
    rows: list[Any]
    columns: list[Any]
    settings: list[list[TriedSetting | None]]


def make_grid(tuning: TuningResult) -> Grid:
    """Return the settings by the two parameters that vary."""
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
