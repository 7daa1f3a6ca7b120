"""The commands for saved files: check, history and report."""

from __future__ import annotations

from itertools import zip_longest
from math import isclose
from typing import TYPE_CHECKING, Any

import retrieval_metrics as rm
from retrieval_metrics.command_line import output
from retrieval_metrics.command_line.arguments import (
    Target,
    add_modules_to,
    add_reading_to,
    add_result_to,
    add_texts_to,
    texts_of,
)
from retrieval_metrics.command_line.named_files import kind_of
from retrieval_metrics.command_line.values import metrics as metric_names
from retrieval_metrics.comparing.compare import RESAMPLES, compare_evaluations
from retrieval_metrics.history import table_of
from retrieval_metrics.keeping.document import of_record, read_document
from retrieval_metrics.keeping.saved import refuse_wrong_values
from retrieval_metrics.presentation.tables import Table

if TYPE_CHECKING:
    import argparse
    from collections.abc import Collection, Iterator, Mapping

    from retrieval_metrics.comparing.comparison import Comparison


def add_to_check(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    parser.add_argument("saved", metavar="SAVED", nargs="+", help="a file written by --save or a method save")
    add_result_to(parser)
    add_modules_to(parser)


def run_check(given: argparse.Namespace) -> bool:
    """Run the command; return whether every file is what was saved."""
    rows, failures = [], []
    for path in given.saved:
        try:
            held = rm.load(path)
            checked = sum(_checked(name, scores, path) for name, scores in _scores_of(held).items())
            differences = _differences_checked(held, path)
        except ValueError as error:
            failures.append(str(error))
            rows.append([path, "-", "-", "-"])
        else:
            rows.append([path, type(held).__name__, f"{checked:,}", f"{differences:,}"])
    header = ["file", "holds", "values checked", "differences checked"]
    files = [dict(zip(header, row, strict=True)) for row in rows]
    shown = output.Shown([Table(header, rows, words=(0, 1))], {"files": files, "failures": failures}, files)
    return output.finish(shown, given.format, given.output, failures)


def _differences_checked(held: Any, path: str) -> int:
    """Return how many differences follow from the values."""
    if not isinstance(held, rm.Comparison):
        return 0
    try:
        return refuse_wrong_differences(held, same_versions=read_document(path).is_of_these_versions)
    except ValueError as error:
        raise ValueError(f"{path} is damaged at differences: {error}") from error


def _scores_of(held: Any) -> Mapping[str, rm.types.Scores]:
    """Return the scores of each system that a file holds."""
    if isinstance(held, rm.Comparison):
        return held.scores
    if isinstance(held, rm.Evaluation) and isinstance(held.record, rm.types.Scores):
        return {"": held.record}
    if isinstance(held, rm.types.Tuning):
        return {name: each.scores for name, each in held.evaluations.items()}
    return {}


def _checked(name: str, scores: rm.types.Scores, path: str) -> int:
    """Return how many values follow from the saved rankings."""
    try:
        refuse_wrong_values(scores, few=None)
    except ValueError as error:
        raise ValueError(f"{path} is damaged at values{' of ' * bool(name)}{name}: {error}") from error
    return 0 if scores.origin is None or scores.origin.rounds > 1 else scores.values.size


# `retrieval-metrics history add|show|plot`.


def add_to_history(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    add = _action(actions, "add", "append the numbers of a saved evaluation", _add)
    add.add_argument("saved", metavar="SAVED", help="a file written by evaluate --save or Evaluation.save")
    add_modules_to(add)
    add.add_argument("--label", metavar="TEXT", help="the label of the entry (default: its label commit, or a number)")
    show = _action(actions, "show", "print every entry, and where the questions or the rules changed", _show)
    add_result_to(show)
    plot = _action(actions, "plot", "draw a metric over time", _plot)
    plot.add_argument("-m", "--metric", action="extend", type=metric_names, metavar="METRIC", help="default: the first")
    plot.add_argument("-o", "--output", type=Target, metavar="FILE", required=True, help="an image: .svg, .png or .pdf")


def _action(actions: Any, name: str, what: str, act: Any) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = actions.add_parser(name, help=what, description=what[0].upper() + what[1:] + ".")
    parser.add_argument("history", metavar="HISTORY", help="the file of the history, such as retrieval.jsonl")
    parser.set_defaults(act=act)
    return parser


def run_history(given: argparse.Namespace) -> bool:
    """Run the action; the exit code of a history is always 0."""
    done: bool = given.act(given)
    return done


def _add(given: argparse.Namespace) -> bool:
    rm.History(given.history).add(given.saved, given.label)
    return True


def _show(given: argparse.Namespace) -> bool:
    entries = rm.History(given.history).entries()
    if not entries:
        raise ValueError(f"{given.history} has no entries; add one with history add")
    listed: list[dict[str, Any]] = []
    records: list[dict[str, Any]] = []
    for entry in entries:
        of = {"label": entry.label, "date": entry.date.isoformat()}
        by = {"questions": entry.questions, "rules": entry.rules}
        ends, n = entry.intervals, entry.n
        metrics = {
            name: {"mean": mean, "interval": list(ends[name]), "n": n[name]} for name, mean in entry.means.items()
        }
        listed.append({**of, "metrics": metrics, **by, "saved": entry.saved})
        records += [
            {**of, "metric": name, "mean": mean, "low": ends[name].low, "high": ends[name].high, "n": n[name], **by}
            for name, mean in entry.means.items()
        ]
    shown = output.Shown([table_of(entries)], {"entries": listed}, records)
    return output.finish(shown, given.format, given.output)


def _plot(given: argparse.Namespace) -> bool:
    wanted = given.metric or [None]
    if len(wanted) > 1:
        raise ValueError("history plot draws one metric; run it once for each")
    rm.History(given.history).plot(wanted[0]).savefig(given.output)
    return True


# `retrieval-metrics report SAVED -o REPORT`.


def add_to_report(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    parser.add_argument(
        "saved", metavar="SAVED", help="a file written by --save, Evaluation.save, Comparison.save or Tuning.save"
    )
    parser.add_argument("-o", "--output", type=Target, metavar="FILE", required=True, help="where to write the report")
    parser.add_argument("--title", default="", help="the heading of the report")
    add_texts_to(parser)
    add_modules_to(parser)
    add_reading_to(parser)


def run_report(given: argparse.Namespace) -> bool:
    """Run the command; the exit code of a report is always 0."""
    saved = rm.load(given.saved)
    if isinstance(saved, rm.types.Tuning):
        if (given.queries, given.corpus) != (None, None):
            raise ValueError("the report of a tuning shows no single queries, so it takes no --queries and no --corpus")
        saved.report(given.output, title=given.title)
        return True
    if not isinstance(saved, (rm.Evaluation, rm.Comparison)):
        raise ValueError(f"{given.saved} cannot be reported: it holds {kind_of(saved)}")  # noqa: TRY004  (of the file)
    saved.report(given.output, title=given.title, **texts_of(given))
    return True


ROUNDING = 1e-9
"""Another processor may add the same numbers in another order."""
DRAWN = frozenset({"interval", "critical", "p_randomisation", "p_corrected", "margin", "p_values"})
"""What depends on random choices of signs, and so on the versions that drew them."""
NOTHING = ("nothing", None)


def refuse_wrong_differences(comparison: Comparison, *, same_versions: bool) -> int:
    """Return how many differences follow from the values of a saved comparison."""
    resamples, seed = comparison.drawn or (RESAMPLES, 0)
    bounds = comparison.unjudged
    again = compare_evaluations(
        comparison.evaluations,
        comparison.metrics,
        baseline=comparison.baseline,
        level=comparison.level,
        resamples=resamples,
        seed=seed,
        margin=comparison.margin,
        looks=max((each.looks for each in comparison.differences), default=1),
        unjudged="bounds" if bounds is not None and bounds.unseen == 0 else None,
    )
    passed_over = frozenset[str]() if same_versions and comparison.drawn is not None else DRAWN
    for said, found in zip_longest(comparison.differences, again.differences):
        one = said or found
        _refuse_unequal(said, found, f"{one.system} - {one.baseline} in {one.metric}", passed_over)
    names = ["ignorance", "budgets", *(["unjudged"] if again.unjudged is not None else [])]
    for name in names:
        _refuse_unequal(getattr(comparison, name), getattr(again, name), name, passed_over)
    return len(comparison.differences)


def _refuse_unequal(said: Any, found: Any, what: str, passed_over: Collection[str]) -> None:
    pairs = zip_longest(*(_numbers(of_record(one, what), "", passed_over) for one in (said, found)), fillvalue=NOTHING)
    for (place, ours), (where, theirs) in pairs:
        if place != where or not _equal(ours, theirs):
            raise ValueError(f"{place or where} of {what} is {ours!r}, but the values in the file give {theirs!r}")


def _equal(ours: Any, theirs: Any) -> bool:
    if isinstance(ours, float) and isinstance(theirs, float):
        return isclose(ours, theirs, rel_tol=ROUNDING, abs_tol=ROUNDING)
    return bool(ours == theirs)


def _numbers(record: Any, name: str, passed_over: Collection[str]) -> Iterator[tuple[str, Any]]:
    """Yield every number and text of a record as JSON holds it, with the name of the field that it belongs to."""
    if isinstance(record, dict):
        for key, each in record.items():
            if key not in passed_over:
                of_a_kind = key in {"tuple", "mapping"} or "array" in record
                yield from _numbers(each, name if of_a_kind else key, passed_over)
    elif isinstance(record, list):
        for each in record:
            yield from _numbers(each, name, passed_over)
    else:
        yield name, record
