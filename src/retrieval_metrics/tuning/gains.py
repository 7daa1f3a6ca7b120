"""What the chart of the settings shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrieval_metrics.presentation import numbers
from retrieval_metrics.presentation.charts import ChartRow, Rows

if TYPE_CHECKING:
    from retrieval_metrics.tuning.choice import Choice


def gains(tuning: Choice, most: int) -> Rows:
    """Return the gain of at most so many settings, the best, below what is expected on new questions."""
    tried = [(one.name, one.difference) for one in tuning.settings if one.difference is not None][:most]
    rows = [ChartRow(name, each.mean, each.interval, numbers.signed(each.mean)) for name, each in tried]
    if tuning.winner != tuning.default:  # to keep the default gains nothing
        gain = tuning.new_gain
        rows.insert(0, ChartRow("expected on new questions", gain, tuning.new_gain_interval, numbers.signed(gain), 1))
    label = f"difference in {tuning.metric}, with its {numbers.level_name(tuning.level)}"
    return Rows.of(f"gain in {tuning.metric} over {tuning.default}", label, rows, gains=True)
