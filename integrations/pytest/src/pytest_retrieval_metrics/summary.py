"""All checks of a run, as the table in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_retrieval_metrics.records import failed, moved, title
from retrieval_metrics.adapting.printing import numbers, tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Records = Sequence[dict[str, Any]]

HEADER = ("test", "metric", "mean", "interval", "n", "floor", "difference", "p", "detects", "outcome")
WORDS = (0, 1, -1)
RATCHET = (
    "A baseline that is updated often drifts upwards: results that are good by chance become the standard.\n"
    "With the best of five builds as the baseline, about 10 % of unchanged builds fail instead of 3 %."
)
"""From `tests/benchmarks/gate.py`."""


def summary(records: Records, show: int) -> str:
    """Return the table of all checks as text, with the changed queries of undecided metrics."""
    lines = [tables.text(*table(records)), *undecided(records, show), *notes(records)]
    if replaced := [line for record in records for line in record["replaced"]]:
        lines += ["", "baselines written:", *replaced]
        if any(_rose(record) for record in records if record["replaced"]):
            lines += ["", RATCHET]
    return "\n".join(lines)


def _rose(record: dict[str, Any]) -> bool:
    """Whether a baseline was replaced by a higher one."""
    return any((row["difference"] or 0.0) > 0 for row in record["metrics"])


def ordered(records: Records) -> list[dict[str, Any]]:
    """Return the checks, failed ones first."""
    return sorted(records, key=lambda one: (not failed(one), one["test"], one["name"]))


def undecided(records: Records, show: int) -> Iterator[str]:
    """Yield the queries that changed for each metric that cannot be told from its baseline."""
    for record in records:
        for row in record["metrics"]:
            if row["outcome"] != "cannot tell":
                continue
            yield ""
            yield from (f"{title(record)}: {line}" for line in row["lines"])
            found = moved(record, row["metric"])
            for query, before, now in found[:show]:
                yield f"  {query}: {before:.4f} -> {now:.4f}"
            if len(found) > show:
                yield f"  and {len(found) - show} more that changed"


def notes(records: Records) -> Iterator[str]:
    """Yield notes on each check: how rounds vary, and what differs from the baseline."""
    for record in records:
        yield from (f"{title(record)}: {note}" for note in record["notes"])


def headline(records: Records) -> str:
    """Return in a sentence how many checks failed."""
    number, of = sum(map(failed, records)), len(records)
    if not number:
        return f"No check failed, of {of}"
    return "The check failed" if of == 1 else f"{number} of {of} checks failed"


def table(records: Records) -> tables.Table:
    """Return the table of all checks."""
    rows = [
        [
            title(one),
            row["metric"],
            _cell(row["mean"]),
            "-" if row["low"] is None else f"[{row['low']:.3f}, {row['high']:.3f}]",
            str(row["n"]),
            "-" if row["floor"] is None else f"{row['floor']:g}",
            "-" if row["difference"] is None else numbers.signed(row["difference"]),
            "-" if row["p"] is None else numbers.p_value(row["p"]),
            "-" if row["detects"] is None else f"{row['detects']:.2f}",
            row["outcome"],
        ]
        for one in records
        for row in one["metrics"]
    ]
    dashes = ["-"] * (len(HEADER) - 2)
    rows += [[title(one), *dashes, one["failure"].partition(":")[0]] for one in records if not one["metrics"]]
    levels = sorted({one["level"] for one in records})
    said_alpha = " or ".join(f"{alpha:.4g}" for alpha in sorted({one["alpha"] for one in records}))
    note = (
        f"interval: {', '.join(map(numbers.level_name, levels))}; "
        f"p: corrected for the metrics of a check, and worse if at most {said_alpha}; "
        "detects: the drop that fails in at least 80 % of builds, unknown if no query differs from the baseline"
    )
    return tables.Table(HEADER, rows, [note], "", WORDS)


def _cell(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.4f}"
