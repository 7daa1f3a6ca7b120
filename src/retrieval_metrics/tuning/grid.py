"""The gains by two parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from retrieval_metrics.tuning.choice import Choice, TriedSetting

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


def grid(tuning: Choice) -> Grid:
    """Return the settings by the two parameters that vary.

    Raises:
        ValueError: If not exactly two parameters vary.
    """
    values: dict[str, list[Any]] = {}
    for given in tuning.rule.parameters.values():
        for name, value in given.items():
            held = values.setdefault(name, [])
            if value not in held:
                held.append(value)
    varied = [name for name, held in values.items() if len(held) > 1]
    if len(varied) != TWO:
        raise ValueError(f"a grid needs two parameters that vary; here {len(varied)} do; plot() draws every setting")
    rows, columns = values[varied[0]], values[varied[1]]
    settings: list[list[TriedSetting | None]] = [[None] * len(columns) for _ in rows]
    for one in tuning.settings:
        if varied[0] in one.parameters and varied[1] in one.parameters:
            settings[rows.index(one.parameters[varied[0]])][columns.index(one.parameters[varied[1]])] = one
    return Grid((varied[0], varied[1]), rows, columns, settings)
