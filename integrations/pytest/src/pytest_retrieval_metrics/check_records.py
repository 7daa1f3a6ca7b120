"""Records of checks as plain data, which xdist passes between processes and reports and histories are made of."""

from __future__ import annotations

from math import isfinite
from operator import attrgetter
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, cast

from pytest_retrieval_metrics.baseline_gates import BASELINE, drop_p_value
from pytest_retrieval_metrics.change_wording import get_query_texts
from pytest_retrieval_metrics.file_names import get_test_name, path_beside_test
from pytest_retrieval_metrics.verdicts import MOST_SEVERE_FIRST
from retrieval_metrics import History, load
from retrieval_metrics.integration_api.pytest_support import evaluation_set_fingerprint
from retrieval_metrics.integration_api.text import numbers

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import Literal, NotRequired

    import pytest

    from pytest_retrieval_metrics.baseline_gates import UnitsAtRiskRecord
    from pytest_retrieval_metrics.check_call import CheckCall
    from pytest_retrieval_metrics.settings import Settings
    from pytest_retrieval_metrics.verdicts import Outcome, Verdict
    from retrieval_metrics import Comparison, Evaluation


class MetricRow(TypedDict):
    """A metric of a check, made of texts and numbers; a missing number is None."""

    metric: str
    outcome: Outcome
    mean: float | None
    low: float | None
    high: float | None
    n: int
    undefined: int
    floor: float | None
    has_query_floors: bool
    difference: float | None
    p: float | None
    mde: float | None
    lost: int
    won: int
    lines: list[str]
    details: str


class QueryRow(TypedDict):
    """A query of a check with its values, by metric, and those of the baseline."""

    query: str
    text: NotRequired[str]
    before: dict[str, float | None]
    now: dict[str, float | None]
    change: float


class CheckRecord(TypedDict):
    """A check, made of texts, numbers, lists and dicts."""

    test: str
    name: str
    within: str
    level: float
    alpha: float
    alpha_of_build: float
    builds: int
    deterministic: bool
    failure: str
    ended: Literal["", "xfailed", "skipped"]
    baseline: str | None
    had_baseline: bool
    history: str | None
    questions: str | None
    metrics: list[MetricRow]
    queries: list[QueryRow]
    notes: list[str]
    spread: list[str]
    replaced: list[str]
    units_at_risk: dict[str, UnitsAtRiskRecord]
    evaluation: str | None
    comparison: str | None


def make_unmeasured_record(
    item: pytest.Item, call: CheckCall | None, settings: Settings, alpha: float, failure: str
) -> CheckRecord:
    """Return the record of a check that is not measured yet; with no call, that of a test that checked nothing."""
    name = ""
    baseline = None
    if call is not None:
        name = call.name
        baseline = call.baseline
    history = None
    if settings.history:
        history = str(path_beside_test(item, settings.history, name, ".jsonl"))
    return {
        "test": item.nodeid,
        "name": name,
        "within": get_test_name(item),
        "level": settings.level,
        "alpha": alpha,
        "alpha_of_build": settings.alpha / settings.builds,
        "builds": settings.builds,
        "deterministic": call is not None and call.deterministic,
        "failure": failure,
        "ended": "",
        "baseline": None if baseline is None else str(baseline.path),
        "had_baseline": baseline is not None and baseline.evaluation is not None,
        "history": history,
        "questions": None,
        "metrics": [],
        "queries": [],
        "notes": [],
        "spread": [],
        "replaced": [],
        "units_at_risk": {},
        "evaluation": None,
        "comparison": None,
    }


def add_measurement(
    record: CheckRecord,
    evaluation: Evaluation,
    comparison: Comparison | None,
    rows: list[MetricRow],
    folder: str | None,
) -> None:
    """Add the results of a check to its record; whole evaluations are written to the folder, if there is one."""
    record["questions"] = evaluation_set_fingerprint(evaluation.scores)
    record["metrics"] = rows
    record["queries"] = make_query_rows(evaluation, comparison)
    record["evaluation"] = save_to_folder(evaluation, folder)
    if comparison is not None:
        record["comparison"] = save_to_folder(comparison, folder)


def make_metric_rows(
    evaluation: Evaluation,
    verdicts: Sequence[Verdict],
    floors: Mapping[str, float | None],
    query_floors: Collection[str],
    level: float,
) -> list[MetricRow]:
    """Return one row per metric."""
    rows = []
    intervals = evaluation.intervals(level)
    for metric in map(str, evaluation.metrics):
        metric_verdicts = [verdict for verdict in verdicts if verdict.metric == metric]
        metric_verdicts.sort(key=_severity_rank)
        row: MetricRow = {
            "metric": metric,
            "outcome": "passed",
            "mean": finite_or_none(evaluation.means[metric]),
            "low": finite_or_none(intervals[metric].low),
            "high": finite_or_none(intervals[metric].high),
            "n": evaluation.n[metric],
            "undefined": len(evaluation.queries) - evaluation.n[metric],
            "floor": floors.get(metric),
            "has_query_floors": metric in query_floors,
            "difference": None,
            "p": None,
            "mde": None,
            "lost": 0,
            "won": 0,
            "lines": [verdict.line for verdict in metric_verdicts if verdict.figures],
            "details": "; ".join(verdict.details for verdict in metric_verdicts if verdict.details),
        }
        if metric_verdicts:
            row["outcome"] = metric_verdicts[0].outcome
        _add_difference(row, metric_verdicts)
        rows.append(row)
    return rows


def _severity_rank(verdict: Verdict) -> int:
    return MOST_SEVERE_FIRST.index(verdict.outcome)


def _add_difference(row: MetricRow, verdicts: Sequence[Verdict]) -> None:
    """Add the first difference from the baseline that was measured, if there is one."""
    for verdict in verdicts:
        difference = verdict.difference
        if difference is not None and difference.measured:
            row["difference"] = finite_or_none(difference.mean)
            if difference.comparable:
                row["p"] = finite_or_none(drop_p_value(difference))
            row["mde"] = finite_or_none(verdict.mde)
            row["lost"] = difference.paired.losses
            row["won"] = difference.paired.wins
            return


def make_query_rows(evaluation: Evaluation, comparison: Comparison | None) -> list[QueryRow]:
    """Return one row per query with its values and those of the baseline, the largest losses first."""
    texts = get_query_texts(evaluation)
    values_before: Mapping[str, Mapping[Any, float]] = {}
    if comparison is not None:
        values_before = dict(comparison.evaluations[BASELINE].per_query)
    rows: list[QueryRow] = []
    for query in evaluation.queries:
        before: dict[str, float | None] = {}
        now: dict[str, float | None] = {}
        for metric in map(str, evaluation.metrics):
            now[metric] = finite_or_none(evaluation.per_query[metric][query])
            metric_before = values_before.get(metric, {})
            if query in metric_before:
                before[metric] = finite_or_none(metric_before[query])
        change = _total_change(before, now)
        if texts.get(query, query) == query:
            rows.append({"query": str(query), "before": before, "now": now, "change": change})
        else:
            rows.append({"query": str(query), "text": texts[query], "before": before, "now": now, "change": change})
    rows.sort(key=_change_and_total)
    return rows


def _total_change(before: Mapping[str, float | None], now: Mapping[str, float | None]) -> float:
    """Return the sum of the changes of all metrics that are defined before and now."""
    total: float = 0
    for metric, value_before in before.items():
        value_now = now[metric]
        if value_before is not None and value_now is not None:
            total += value_now - value_before
    return total


def _change_and_total(row: QueryRow) -> tuple[float, float]:
    return row["change"], sum(value or 0.0 for value in row["now"].values())


class ValueChange(NamedTuple):
    """A query, with its text if that is known, whose value changed."""

    query: str
    before: float
    now: float

    @property
    def difference(self) -> float:
        """The change of the value."""
        return self.now - self.before


def list_changed_queries(record: CheckRecord, metric: str) -> list[ValueChange]:
    """Return the queries of a record whose value changed, with both values, the largest losses first."""
    changes = []
    for row in record["queries"]:
        before = row["before"].get(metric)
        now = row["now"][metric]
        if before is not None and now is not None and before != now:
            changes.append(ValueChange(format_query_row(row), before, now))
    return sorted(changes, key=lambda change: change.difference)


class QueryValue(NamedTuple):
    """A query, with its text if that is known, and its value."""

    query: str
    value: float


class WorstQueries(NamedTuple):
    """The queries of a metric that misses its bound.

    Attributes:
        queries: The worst queries, with their values.
        is_floor: Whether the bound is a floor; otherwise it is a ceiling.
        n_queries: How many queries there are.
        n_beyond_mean: How many are worse than the mean.
    """

    queries: list[QueryValue]
    is_floor: bool
    n_queries: int
    n_beyond_mean: int


def find_worst_queries(record: CheckRecord, row: MetricRow, n: int) -> WorstQueries | None:
    """Return the worst queries of a metric that misses its bound; None if it misses none, or no query is worse."""
    mean = row["mean"]
    if row["outcome"] not in {"below_floor", "above_ceiling"} or mean is None:
        return None
    is_floor = row["outcome"] == "below_floor"
    values = []
    for query_row in record["queries"]:
        value = query_row["now"][row["metric"]]
        if value is not None:
            values.append(QueryValue(format_query_row(query_row), value))
    values.sort(key=attrgetter("value"), reverse=not is_floor)
    beyond_mean = [query for query in values if _is_beyond(query.value, mean, is_floor=is_floor)]
    worst = beyond_mean[:n]
    if not worst and not is_floor:
        worst = values[:n]
    if not worst:
        return None
    return WorstQueries(worst, is_floor, len(record["queries"]), len(beyond_mean))


def _is_beyond(value: float, mean: float, *, is_floor: bool) -> bool:
    """Return whether a value is below the mean, or above it if the bound is a ceiling."""
    if is_floor:
        return value < mean
    return value > mean


def format_query_row(row: QueryRow) -> str:
    """Return a query with its text, if that differs from its id."""
    if "text" in row:
        return f"{row['query']} ({row['text']})"
    return row["query"]


def format_title(record: CheckRecord) -> str:
    """Return the name of a check in a list of all tests."""
    return f"{record['test']} {record['name']}".strip()


def has_failed(record: CheckRecord) -> bool:
    """Return whether the check failed its test; in a test that was skipped or expected to fail, it did not."""
    return bool(record["failure"]) and not record["ended"]


def finite_or_none(number: float) -> float | None:
    """Return a number, or None if it is NaN or infinite, which JSON cannot hold."""
    if isfinite(number):
        return float(number)
    return None


def add_to_junit(item: pytest.Item, record: CheckRecord) -> None:
    """Add a record to the properties of its test for `--junitxml`; those of an earlier run of the test are replaced."""
    properties: dict[str, Any] = {}
    prefix = ""
    if record["name"]:
        prefix = f"{record['name']}: "
    for row in record["metrics"]:
        metric = row["metric"]
        properties[f"{prefix}{metric}"] = row["mean"]
        for change in list_changed_queries(record, metric):
            properties[f"{prefix}{metric}: {change.query}"] = numbers.format_change(change.before, change.now)
    other_properties = [(name, value) for name, value in item.user_properties if name not in properties]
    item.user_properties[:] = [*other_properties, *properties.items()]


def save_to_folder(result: Evaluation | Comparison, folder: str | None) -> str | None:
    """Write an evaluation or a comparison to the folder, and return the file; None if there is no folder."""
    if folder is None:
        return None
    path = Path(folder) / f"{token_hex(8)}.json"
    try:
        result.save(path)
    except ValueError:
        # A file cannot hold a function given as match, or an object in metadata; the numbers are enough.
        result.save(path, rankings=False)
    return str(path)


def load_saved(path: str | None) -> Evaluation | Comparison | None:
    """Return the evaluation or the comparison that `save_to_folder` wrote; None if there is no file."""
    if path is None:
        return None
    saved: Evaluation | Comparison = load(path)
    return saved


def append_to_history(records: Sequence[CheckRecord], label: str) -> None:
    """Append the results of each check to its history."""
    errors = []
    for record in records:
        if record["history"] is None or record["evaluation"] is None:
            continue
        path = Path(record["history"])
        try:
            evaluation = cast("Evaluation", load_saved(record["evaluation"]))
            path.parent.mkdir(parents=True, exist_ok=True)
            History(path).add(evaluation, label or None)
        except (ValueError, OSError) as error:
            errors.append(f"{path.name}: {error}")
    if errors:
        raise ValueError("; ".join(errors))
