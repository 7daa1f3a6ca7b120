"""All checks of a run, as the table in the terminal."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any

from pytest_retrieval_metrics.failure import USUAL, fitting
from pytest_retrieval_metrics.records import failed, moved, title
from retrieval_metrics.adapting.printing import Table, numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Records = Sequence[dict[str, Any]]

HEADER = ("test", "metric", "mean", "interval", "n", "floor", "difference", "p", "fails at", "outcome")
OPTIONAL = {"floor", "difference", "p", "fails at"}
WORDS = (0, 1, -1)
LINES = 12
"""The number of lines for a check that did not fail."""
MANY = 50
"""A number of queries that lifts the limits of lines."""
MONTH = 30
"""How many builds a month is taken to have."""
HALF = 0.5
"""The p value of the test for a drop where the mean is as it was; above it, the mean has risen."""
FRAME = ("the title", "an empty line", "the header", "the legend")
DRIFT = (
    "A baseline that is often updated to what is good by chance drifts upwards: of the best of five builds, about 10 % "
    "of unchanged builds fail."
)
"""From `tests/benchmarks/gate.py`."""


def summary(records: Records, show: int) -> str:
    """Return the table of all checks as text, with what changed where nothing failed.

    What is said of a check has at most `LINES` lines with its rows of the table, unless more queries are asked for than
    usual. A check that failed is told of by its failure.
    """
    lines = table(records).text().splitlines()
    for record in records:
        written = [f"baseline written: {line}" if at == 0 else line for at, line in enumerate(record["replaced"])]
        said = [] if failed(record) else [*undecided(record, show), *notes([record]), *written]
        end = [DRIFT] if written and _rose(record) else []
        room = max(LINES - len(FRAME) - len(record["metrics"]) - len(end), 1)
        if show <= USUAL and len(said) > room:
            said = [*said[: room - 1], f"  and {len(said) - room + 1} more lines: --retrieval-show={MANY}"]
        lines += [*said, *end]
    return "\n".join(lines)


def _rose(record: dict[str, Any]) -> bool:
    """Whether a baseline was replaced by one that is better, but no more so than by chance."""
    by_chance = 1 - record["alpha"]
    return not record["deterministic"] and any(HALF < (row["p"] or 0.0) < by_chance for row in record["metrics"])


def ordered(records: Records) -> list[dict[str, Any]]:
    """Return the checks, failed ones first."""
    return sorted(records, key=lambda one: (not failed(one), one["test"], one["name"]))


def undecided(record: dict[str, Any], show: int) -> Iterator[str]:
    """Yield the queries that changed, if a metric cannot be told from its baseline; each once, for the first metric."""
    row = next((row for row in record["metrics"] if row["outcome"] == "cannot tell"), None)
    if row is None:
        return
    yield from (f"{title(record)}: {line}" for line in row["lines"])
    found = moved(record, row["metric"])
    yield from fitting(
        ([f"  {query}: {numbers.change(before, now)}"] for query, before, now in found[:show]),
        len(found),
        "that changed",
        None,
    )


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


def table(records: Records) -> Table:
    """Return the table of all checks, with the columns in which there is something."""
    rows = [
        [
            title(one),
            row["metric"],
            _cell(row["mean"]),
            "-" if row["low"] is None else f"[{numbers.value(row['low'])}, {numbers.value(row['high'])}]",
            str(row["n"]),
            "-" if row["floor"] is None else f"{row['floor']:g}",
            "-" if row["difference"] is None else numbers.signed(row["difference"]),
            "-" if row["p"] is None else numbers.p_value(row["p"]),
            "-" if row["fails_at"] is None else f"{row['fails_at']:.2f}",
            f"{row['outcome']} ({one['ended']})" if one["ended"] else row["outcome"],
        ]
        for one in records
        for row in one["metrics"]
    ]
    dashes = ["-"] * (len(HEADER) - 2)
    rows += [[title(one), *dashes, one["failure"].partition(":")[0]] for one in records if not one["metrics"]]
    kept = [at for at, name in enumerate(HEADER) if name not in OPTIONAL or any(row[at] != "-" for row in rows)]
    header = [HEADER[at] for at in kept]
    words = tuple(kept.index(at % len(HEADER)) for at in WORDS)
    levels = sorted({one["level"] for one in records})
    said = [", ".join(map(numbers.level_name, levels))]
    if "p" in header:
        alphas = " or ".join(f"{alpha:.4g}" for alpha in sorted({one["alpha"] for one in records}))
        most = max(records, key=itemgetter("alpha_of_build"))
        said += [f"worse if p is at most {alphas}", _said_of_alarms(most["alpha_of_build"], most["builds"])]
    if "fails at" in header:
        said.append("fails at: a drop that fails at least 80 % of builds, whichever queries lose")
    return Table(header, [[row[at] for at in kept] for row in rows], ["; ".join(said)], "", words)


def _said_of_alarms(alpha: float, builds: int) -> str:
    """Return how often the gate fails where nothing changed, over all baselines, and how to choose another rate."""
    month = 1 - (1 - alpha) ** MONTH
    said = (
        f"of unchanged builds at most {100 * alpha:.2g} % fail: up to {MONTH * alpha:.2g} of {MONTH} in a month, and "
        f"some in up to {100 * month:.2g} % of months"
    )
    if builds > 1:
        return said
    return f"{said} (with retrieval_builds={MONTH}: in {100 * alpha:.2g} %, but only larger drops fail)"


def _cell(value: float | None) -> str:
    return "undefined" if value is None else numbers.value(value)
