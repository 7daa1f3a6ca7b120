"""Write the summary of all checks of a run: the table, the lines in the terminal, and the changed queries."""

from __future__ import annotations

from collections import Counter
from operator import itemgetter
from typing import TYPE_CHECKING

from pytest_retrieval_metrics.change_wording import DEFAULT_N_QUERIES, fit_blocks
from pytest_retrieval_metrics.check_records import (
    find_worst_queries,
    format_title,
    has_failed,
    list_changed_queries,
)
from pytest_retrieval_metrics.gate_wording import format_outcome, share_causes
from retrieval_metrics.integration_api.text import Table, numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_retrieval_metrics.check_records import CheckRecord, MetricRow

HEADER = ("test", "metric", "mean", "interval", "n", "floor", "difference", "p", "MDE", "outcome")

# The columns that are left out if all of their cells are empty.
OPTIONAL_COLUMNS = frozenset(("floor", "difference", "p", "MDE"))

# The columns that hold text; the others hold numbers.
TEXT_COLUMNS = ("test", "metric", "outcome")

# The number of lines for a check that did not fail, and those around the lines that can be left out: the title, an
# empty line, the header and the legend.
MAX_LINES = 12
N_FRAME_LINES = 4

# A number of queries that lifts the limits of lines.
MANY_QUERIES = 50

# The number of queries per metric in the reports of all checks; the HTML page of a check has all.
MAX_TABLE_QUERIES = 10

# How many builds a month is taken to have.
BUILDS_PER_MONTH = 30

# The p value of the test for a drop where the mean is as it was; above it, the mean has risen.
P_OF_NO_CHANGE = 0.5

# Digits after which the rounding of a difference shows.
N_DIGITS = 12

# The share is from `tests/benchmarks/gate.py`.
DRIFT_NOTE = (
    "Updating the baseline after lucky builds biases it upwards: against the best of five builds, about 10% of "
    "unchanged builds fail."
)


def format_passed(records: Sequence[CheckRecord]) -> str:
    """Return a line on a build in which no check failed and nothing was stored, and further lines on its checks."""
    if any(map(has_failed, records)) or any(map(_is_stored, records)):
        return ""
    lines = [_format_passed_line(records)]
    for record in records:
        title = format_title(record)
        lines += [f"{title}: {note}" for note in record["notes"]]
        for row in record["metrics"]:
            if row["outcome"] == "not_compared":
                lines += [f"{title}: {line}" for line in row["lines"]]
        changes = ", ".join(_format_inconclusive_changes(record))
        if changes:
            lines.append(f"{title}: lower than the baseline, not significantly: {changes}{_format_advice(record)}")
    return "\n".join(lines)


def _format_advice(record: CheckRecord) -> str:
    """Return how a check fails on losses too few to be significant; empty if it cannot."""
    has_losses = any(row["outcome"] == "inconclusive" and row["lost"] for row in record["metrics"])
    is_repeated = bool(record["spread"])  # of the rounds of a retriever that varies
    if not has_losses or is_repeated:
        return ""
    return "; if the retriever never varies, deterministic=True fails on any loss"


def _is_stored(record: CheckRecord) -> bool:
    return any(row["outcome"] == "stored" for row in record["metrics"])


def _format_passed_line(records: Sequence[CheckRecord]) -> str:
    """Return how many checks passed, the means of a single one, and the metrics that lack values."""
    n_by_ending = Counter(record["ended"] or "passed" for record in records)
    checks = numbers.format_count(len(records), "check")
    if len(n_by_ending) == 1:
        parts = [f"retrieval quality: {checks} {next(iter(n_by_ending))}"]
    else:
        endings = ", ".join(f"{n} {ending}" for ending, n in n_by_ending.items())
        parts = [f"retrieval quality: {checks}: {endings}"]
    if len(records) == 1 and records[0]["metrics"]:
        parts.append(", ".join(f"{row['metric']} {_format_mean(row['mean'])}" for row in records[0]["metrics"]))
    for record in records:
        for row in record["metrics"]:
            if row["undefined"]:
                parts.append(f"{format_title(record)}: {row['metric']} defined for {_format_n(row)} queries")
    return "; ".join([*parts, "-v shows the table"])


def _format_inconclusive_changes(record: CheckRecord) -> Iterator[str]:
    """Yield the old and new mean of each metric with an inconclusive drop."""
    for row in record["metrics"]:
        if row["outcome"] == "inconclusive" and row["difference"] and row["mean"] is not None:
            before = round(row["mean"] - row["difference"], N_DIGITS)
            yield (
                f"{row['metric']} {numbers.format_change(before, row['mean'])} "
                f"({numbers.format_query_count(row['lost'])} worse, {row['won']} better)"
            )


def format_summary(records: Sequence[CheckRecord], show: int) -> str:
    """Return the table of all checks as text, with the changed queries and baselines of checks that did not fail."""
    lines = make_table(records).text().splitlines()
    for record in records:
        replaced = list(record["replaced"])
        if replaced:
            replaced[0] = f"baseline written: {replaced[0]}"
        record_lines: list[str] = []
        if not has_failed(record):
            record_lines = [*format_notes([record]), *format_inconclusive_queries(record, show), *replaced]
        last_lines = [DRIFT_NOTE] if replaced and _has_risen_by_chance(record) else []
        room = max(MAX_LINES - N_FRAME_LINES - len(record["metrics"]) - len(last_lines), 1)
        if show <= DEFAULT_N_QUERIES and len(record_lines) > room:
            n_left_out = len(record_lines) - room + 1
            record_lines = [
                *record_lines[: room - 1],
                f"  and {n_left_out} more lines: --retrieval-show={MANY_QUERIES}",
            ]
        lines += [*record_lines, *last_lines]
    return "\n".join(lines)


def _has_risen_by_chance(record: CheckRecord) -> bool:
    """Return whether a mean is higher than in the replaced baseline, but no more than by chance."""
    if record["deterministic"]:
        return False
    by_chance = 1 - record["alpha"]
    return any(P_OF_NO_CHANGE < (row["p"] or 0.0) < by_chance for row in record["metrics"])


def format_inconclusive_queries(record: CheckRecord, show: int) -> Iterator[str]:
    """Yield the lines on the first metric with an inconclusive drop, and on the queries that changed in it."""
    row = next((row for row in record["metrics"] if row["outcome"] == "inconclusive"), None)
    if row is None:
        return
    for line in row["lines"]:
        yield f"{format_title(record)}: {line}"
    changes = list_changed_queries(record, row["metric"])
    blocks = [[f"  {change.query}: {numbers.format_change(change.before, change.now)}"] for change in changes[:show]]
    yield from fit_blocks(blocks, len(changes), "that changed", None)


def format_notes(records: Sequence[CheckRecord]) -> Iterator[str]:
    """Yield notes on each check: how rounds vary, and what differs from the baseline."""
    for record in records:
        for note in [*record["notes"], *record["spread"]]:
            yield f"{format_title(record)}: {note}"


def format_headline(records: Sequence[CheckRecord]) -> str:
    """Return in a sentence how many checks failed."""
    n_failed = sum(map(has_failed, records))
    if not n_failed:
        return f"{numbers.format_count(len(records), 'check')}, none failed"
    return "The check failed" if len(records) == 1 else f"{n_failed} of {len(records)} checks failed"


def list_failure_lines(record: CheckRecord) -> list[str]:
    """Return the lines of the metrics of a failed check that did not pass."""
    lines = []
    for row in record["metrics"]:
        if row["outcome"] not in {"passed", "stored"}:
            lines += row["lines"]
    return [line for line in share_causes(lines) if line]


def format_outcomes(record: CheckRecord) -> str:
    """Return the outcome of each metric of a check."""
    outcomes = [f"{row['metric']} {format_outcome(row['outcome'])}" for row in record["metrics"]]
    return ", ".join(outcomes) or "not measured"


def make_query_table(record: CheckRecord, row: MetricRow, n: int) -> Table | None:
    """Return the most informative queries of a metric: those that changed, or the worst if it misses its bound."""
    heading = f"query, by {row['metric']}"
    changes = list_changed_queries(record, row["metric"])
    if changes:
        cells = []
        for change in changes[:n]:
            values = [numbers.format_value(change.before), numbers.format_value(change.now)]
            cells.append([change.query, *values, numbers.format_signed(change.difference)])
        notes = [f"and {len(changes) - n} more that changed"] if len(changes) > n else []
        return Table([heading, "before", "now", "difference"], cells, notes)
    worst = find_worst_queries(record, row, n)
    if worst is None:
        return None
    extreme = "lowest" if worst.is_floor else "highest"
    side = "below" if worst.is_floor else "above"
    verb = "is" if worst.n_beyond_mean == 1 else "are"
    note = (
        f"the {len(worst.queries)} {extreme} of {numbers.format_query_count(worst.n_queries)}; "
        f"{worst.n_beyond_mean} of the {worst.n_queries:,} {verb} {side} the mean"
    )
    return Table([heading, "now"], [[query, numbers.format_value(value)] for query, value in worst.queries], [note])


def make_query_tables(record: CheckRecord) -> list[Table]:
    """Return the most informative queries of each metric that has some."""
    tables = []
    for row in record["metrics"]:
        table = make_query_table(record, row, MAX_TABLE_QUERIES)
        if table is not None:
            tables.append(table)
    return tables


def make_table(records: Sequence[CheckRecord]) -> Table:
    """Return the table of all checks, with the columns in which there is something."""
    rows = []
    for record in records:
        rows += [_make_cells(record, row) for row in record["metrics"]]
    for record in records:
        if not record["metrics"]:
            dashes = ["-"] * (len(HEADER) - 2)
            rows.append([format_title(record), *dashes, record["failure"].partition(":")[0]])
    columns = []
    for index, name in enumerate(HEADER):
        if name not in OPTIONAL_COLUMNS or any(row[index] != "-" for row in rows):
            columns.append(index)
    header = [HEADER[index] for index in columns]
    cells = [[row[index] for index in columns] for row in rows]
    text_columns = tuple(header.index(name) for name in TEXT_COLUMNS)
    return Table(header, cells, ["; ".join(_format_legend(records, header))], "", text_columns)


def _make_cells(record: CheckRecord, row: MetricRow) -> list[str]:
    interval = "-"
    if row["low"] is not None and row["high"] is not None:
        interval = f"[{numbers.format_value(row['low'])}, {numbers.format_value(row['high'])}]"
    ending = f" ({record['ended']})" if record["ended"] else ""
    return [
        format_title(record),
        row["metric"],
        _format_mean(row["mean"]),
        interval,
        _format_n(row),
        _format_floors(row),
        "-" if row["difference"] is None else numbers.format_signed(row["difference"]),
        "-" if row["p"] is None else numbers.format_p_value(row["p"]),
        "-" if row["mde"] is None else numbers.format_two_digits(row["mde"]),
        format_outcome(row["outcome"]) + ending,
    ]


def _format_floors(row: MetricRow) -> str:
    """Return the floor of the mean of a metric, and that single queries have floors of their own."""
    floors = []
    if row["floor"] is not None:
        floors.append(f"{row['floor']:g}")
    if row["has_query_floors"]:
        floors.append("per query")
    return ", ".join(floors) or "-"


def _format_legend(records: Sequence[CheckRecord], header: Sequence[str]) -> Iterator[str]:
    levels = sorted({record["level"] for record in records})
    yield ", ".join(map(numbers.level_name, levels))
    if "p" in header:
        alphas = sorted({record["alpha"] for record in records})
        yield f"worse: p at most {' or '.join(f'{alpha:.4g}' for alpha in alphas)}"
        largest = max(records, key=itemgetter("alpha_of_build"))
        yield _format_false_alarms(largest["alpha_of_build"], largest["builds"])
    if "MDE" in header:
        yield "MDE: change for the worse detected with 80% power, however distributed over queries"


def _format_false_alarms(alpha: float, builds: int) -> str:
    """Return the share of unchanged builds that fail over all baselines, and the setting that lowers it."""
    share = f"false-alarm rate at most {100 * alpha:.2g}% per build"
    if builds > 1:
        return share
    month = BUILDS_PER_MONTH
    return f"{share} (set retrieval_builds={month} to bound it over {month} builds, which raises the MDE)"


def _format_n(row: MetricRow) -> str:
    """Return how many queries have a value, and of how many if some have none."""
    return f"{row['n']} of {row['n'] + row['undefined']}" if row["undefined"] else str(row["n"])


def _format_mean(mean: float | None) -> str:
    return "undefined" if mean is None else numbers.format_value(mean)
