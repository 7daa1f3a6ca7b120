"""A check as plain data: passed between processes, kept in a history, and what its verdict does to the test."""

from __future__ import annotations

import warnings
from math import isfinite
from operator import itemgetter
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final

import pytest

from pytest_retrieval_metrics.approval import get_query_texts
from pytest_retrieval_metrics.gates import BASELINE, drop_p_value
from pytest_retrieval_metrics.settings import get_test_name, path_beside_test
from retrieval_metrics import History, RetrievalWarning, load
from retrieval_metrics.integration_api.pytest_support import questions_fingerprint
from retrieval_metrics.integration_api.text import Table, numbers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_retrieval_metrics.checking import CheckCall
    from pytest_retrieval_metrics.gates import Verdict
    from pytest_retrieval_metrics.settings import Settings
    from retrieval_metrics import Comparison, Evaluation

FAILING: Final = (
    "below_floor",
    "above_ceiling",
    "not_checked",
    "worse",
    "not_measured",
    "not_stored",
    "warning",
)
GRAVITY: Final = (*FAILING, "not_compared", "inconclusive", "stored", "passed")


def make_unmeasured_record(
    item: pytest.Item, call: CheckCall | None, settings: Settings, alpha: float, failure: str
) -> dict[str, Any]:
    """Return the record of a check before it is measured, if there was one; of texts, numbers, lists and dicts."""
    name, baseline = ("", None) if call is None else (call.name, call.baseline)
    history = path_beside_test(item, settings.history, name, ".jsonl") if settings.history else None
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
        "had_baseline": baseline is not None and baseline.known is not None,
        "history": None if history is None else str(history),
        "questions": None,
        "metrics": [],
        "queries": [],
        "notes": [],
        "spread": [],
        "replaced": [],
        "able": {},
        "evaluation": None,
        "comparison": None,
    }


def make_measurement(
    evaluation: Evaluation, comparison: Comparison | None, rows: list[dict[str, Any]], folder: str | None
) -> dict[str, Any]:
    """Return what a record holds of the measurement."""
    return {
        "questions": questions_fingerprint(evaluation.scores),
        "metrics": rows,
        "queries": query_rows(evaluation, comparison),
        "evaluation": put(evaluation, folder),
        "comparison": None if comparison is None else put(comparison, folder),
    }


def metric_rows(
    evaluation: Evaluation, verdicts: Sequence[Verdict], floors: Mapping[str, float | None], level: float
) -> list[dict[str, Any]]:
    """Return one row per metric, made of texts and numbers; None for missing ones."""
    rows = []
    for metric in map(str, evaluation.metrics):
        of_metric = sorted(
            (verdict for verdict in verdicts if verdict.metric == metric), key=lambda one: GRAVITY.index(one.outcome)
        )
        tested = next((verdict for verdict in of_metric if verdict.difference is not None), None)
        difference = None if tested is None else tested.difference
        low, high = evaluation.intervals(level)[metric]
        mean = evaluation.means[metric]
        rows.append(
            {
                "metric": metric,
                "outcome": of_metric[0].outcome if of_metric else "passed",
                "mean": number(mean),
                "low": number(low),
                "high": number(high),
                "n": evaluation.n[metric],
                "undefined": len(evaluation.queries) - evaluation.n[metric],
                "floor": floors.get(metric),
                "difference": None if difference is None else number(difference.mean),
                "p": None if difference is None else number(drop_p_value(difference)),
                "fails_at": None if tested is None else number(tested.fails_at),
                "lost": 0 if difference is None else difference.paired.losses,
                "won": 0 if difference is None else difference.paired.wins,
                "lines": [verdict.line for verdict in of_metric if verdict.figures],
                "said": "; ".join(verdict.said for verdict in of_metric if verdict.said),
            }
        )
    return rows


def query_rows(evaluation: Evaluation, comparison: Comparison | None) -> list[dict[str, Any]]:
    """Return one row per query with its values and those of the baseline, the largest losses first."""
    texts = get_query_texts(evaluation)
    before = {} if comparison is None else dict(comparison.evaluations[BASELINE].per_query)
    rows: list[dict[str, Any]] = []
    for query in evaluation.queries:
        now = {str(metric): number(evaluation.per_query[metric][query]) for metric in evaluation.metrics}
        was = {metric: number(before[metric][query]) for metric in now if query in before.get(metric, {})}
        known = [change for metric in was if (change := changed(was[metric], now[metric])) is not None]
        text = {"text": texts[query]} if texts.get(query, query) != query else {}
        rows.append({"query": str(query), **text, "before": was, "now": now, "change": sum(known)})
    rows.sort(key=lambda row: (row["change"], sum(value or 0.0 for value in row["now"].values())))
    return rows


def changed(before: float | None, now: float | None) -> float | None:
    """Return the change of a value; None if it was or is undefined."""
    return None if before is None or now is None else now - before


def list_changed_queries(record: Mapping[str, Any], metric: str) -> list[tuple[str, float, float]]:
    """Return the queries of a record whose value changed, with both values, the largest losses first."""
    pairs = [(row, row["before"].get(metric), row["now"][metric]) for row in record["queries"]]
    found = [
        (named(row), before, now)
        for row, before, now in pairs
        if before is not None and now is not None and before != now
    ]
    return sorted(found, key=lambda one: one[2] - one[1])


def find_informative_queries(record: Mapping[str, Any], row: Mapping[str, Any], n: int) -> Table | None:
    """Return the most informative queries of a metric: those that changed, or the worst if it misses its bound."""
    changes = list_changed_queries(record, row["metric"])
    if changes:
        cells = [
            [query, numbers.value(was), numbers.value(now), numbers.signed(now - was)]
            for query, was, now in changes[:n]
        ]
        more = [f"and {len(changes) - n} more that changed"] if len(changes) > n else []
        return Table([f"query, by {row['metric']}", "before", "now", "difference"], cells, more)
    if row["outcome"] not in {"below_floor", "above_ceiling"}:
        return None
    falls = row["outcome"] == "below_floor"
    every = [(named(one), one["now"][row["metric"]]) for one in record["queries"]]
    values = sorted((pair for pair in every if pair[1] is not None), key=itemgetter(1), reverse=not falls)
    bad = [pair for pair in values if pair[1] != row["mean"] and (pair[1] < row["mean"]) == falls]
    worst = bad[:n] or ([] if falls else values[:n])
    if not worst:
        return None
    which, where = ("lowest", "below") if falls else ("highest", "above")
    said = f"the {len(worst)} {which} of {numbers.format_query_count(len(every))}, {len(bad)} of them {where} the mean"
    return Table([f"query, by {row['metric']}", "now"], [[query, numbers.value(now)] for query, now in worst], [said])


def named(row: Mapping[str, Any]) -> str:
    """Return a query with its text, if that differs from its id."""
    return f"{row['query']} ({row['text']})" if "text" in row else str(row["query"])


def format_title(record: Mapping[str, Any]) -> str:
    """Return the name of a check in a list of all tests."""
    return f"{record['test']} {record['name']}".strip()


def has_failed(record: Mapping[str, Any]) -> bool:
    """Return whether the check failed its test; a failure that pytest expected, or of a skipped test, is none."""
    return bool(record["failure"]) and not record["ended"]


def number(value: float) -> float | None:
    """Return a number as JSON holds it."""
    return float(value) if isfinite(value) else None


def add_to_junit(item: pytest.Item, record: Mapping[str, Any]) -> None:
    """Add a record to the properties of its test for `--junitxml`; a test that runs again replaces its own."""
    found: dict[str, Any] = {}
    prefix = f"{record['name']}: " if record["name"] else ""
    for row in record["metrics"]:
        metric = row["metric"]
        found[f"{prefix}{metric}"] = row["mean"]
        for query, before, now in list_changed_queries(record, metric):
            found[f"{prefix}{metric}: {query}"] = numbers.change(before, now)
    kept = [pair for pair in item.user_properties if pair[0] not in found]
    item.user_properties[:] = [*kept, *found.items()]


def put(found: Evaluation | Comparison, folder: str | None) -> str | None:
    """Write an evaluation or a comparison to the folder, and return the file; None if there is no folder."""
    if folder is None:
        return None
    path = Path(folder) / f"{token_hex(8)}.json"
    try:
        found.save(path)
    except ValueError:  # a function given as match, or metadata that JSON cannot hold: the numbers are enough
        found.save(path, rankings=False)
    return str(path)


def read_record(path: str | None) -> Any:
    """Return what was written there; None if nothing was."""
    return None if path is None else load(path)


def append_to_history(records: Sequence[dict[str, Any]], label: str) -> None:
    """Append the results of each check to its history."""
    errors = []
    for record in records:
        if record["history"] is None or record["evaluation"] is None:
            continue
        path = Path(record["history"])
        try:
            evaluation = read_record(record["evaluation"])
            path.parent.mkdir(parents=True, exist_ok=True)
            History(path).add(evaluation, label or None)
        except (ValueError, OSError) as error:
            errors.append(f"{path.name}: {error}")
    if errors:
        raise ValueError("; ".join(errors))


def get_effect(verdict: Verdict, settings: Settings) -> str:
    """Return how a verdict ends the test: as configured, or `pass` if nothing is wrong."""
    asked = {"inconclusive": settings.inconclusive, "not_compared": settings.not_compared}
    return "fail" if verdict.outcome in FAILING else asked.get(verdict.outcome, "pass")


def warn_about_verdicts(
    test: str, verdicts: Sequence[Verdict], met: Sequence[warnings.WarningMessage], settings: Settings
) -> Warning | None:
    """Warn, and return the first warning that pytest is told to raise, so that nothing is stored before."""
    said = [RetrievalWarning(f"{test}: {_whole(one)}") for one in verdicts if get_effect(one, settings) == "warn"]
    raised = None
    for warning in (*said, *(one.message for one in met)):
        try:
            warnings.warn(warning, stacklevel=4)
        except Warning as error:  # filterwarnings = error
            raised = raised or error
    return raised


def end_test(verdicts: Sequence[Verdict], failure: str, settings: Settings) -> None:
    """End the test if it fails or is skipped."""
    __tracebackhide__ = True
    if failure:
        pytest.fail(failure, pytrace=False)
    if left := [verdict for verdict in verdicts if get_effect(verdict, settings) == "skip"]:
        pytest.skip("; ".join(map(_whole, left)))


def _whole(verdict: Verdict) -> str:
    return "; ".join(part for part in (verdict.line, verdict.said) if part)
