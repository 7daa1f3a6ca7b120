"""A file with the numbers of every evaluation, to see when a metric became better or worse."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import datetime
from math import isclose, isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from retrieval_metrics._internal.append_log import AppendLog
from retrieval_metrics._internal.validation import import_optional, python_or_cli_text
from retrieval_metrics._internal.version import __version__
from retrieval_metrics.comparison.compare import ComparisonOptions, compare_evaluations
from retrieval_metrics.evaluation.evaluation import Evaluation
from retrieval_metrics.evaluation.score_fingerprints import (
    questions_fingerprint,
    rankings_fingerprint,
    rules_fingerprint,
)
from retrieval_metrics.files.saved_format import format_current_time, validate_labels
from retrieval_metrics.metrics.base.metric import match_metric_name
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.tables import Printed, Table
from retrieval_metrics.statistics.means import Interval
from retrieval_metrics.storage.load import load

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    import pandas as pd
    from matplotlib.figure import Figure

    from retrieval_metrics.comparison.comparison import Comparison
    from retrieval_metrics.metrics.base.metric import Metric


class History(Printed):
    """The numbers of all evaluations added so far, oldest first, in an append-only file.

    The file is small: means, intervals and fingerprints, and the path of the saved evaluation. Several processes can
    add entries at the same time, and a crash loses at most the entry being written. With `*.jsonl merge=union` in
    `.gitattributes`, git merges the histories of two branches by itself.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> import retrieval_metrics as rm
        >>> history = rm.History(Path(mkdtemp()) / "retrieval.jsonl")
        >>> history.add(rm.evaluate({"q1": ["d7"]}, {"q1": ["d3", "d7"]}, "mrr"), "monday")
        >>> history.add(rm.evaluate({"q1": ["d7"]}, {"q1": ["d7", "d3"]}, "mrr"), "tuesday")
        >>> [(entry.label, entry.mean("mrr")) for entry in history.entries()]
        [('monday', 0.5), ('tuesday', 1.0)]
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        """Set the path of the file, such as `retrieval.jsonl`; the first entry creates it.

        Raises:
            ValueError: If the name is that of a compressed file, to which nothing can be appended.
        """
        self.path = Path(path)
        self._journal = AppendLog(path, "history")

    def add(
        self,
        evaluation: Evaluation | str | PathLike[str],
        label: str | None = None,
        *,
        save: str | PathLike[str] | None = None,
    ) -> None:
        """Append the numbers of an evaluation.

        Args:
            evaluation: The evaluation, or the path of a saved one, which the entry then refers to.
            label: Its label, such as a commit; None takes the evaluation's label `commit`, or a number that is not
                taken.
            save: The file in which to save the evaluation too, so that you can compare it query by query later.

        Raises:
            TypeError: If it is not an evaluation.
            ValueError: If the evaluation was merged from totals, the saved file holds no evaluation, the path of the
                history is that of another file, or git left a conflict in it.
            OSError: If the file cannot be written.
        """
        saved = save
        if isinstance(evaluation, (str, os.PathLike)):
            saved, evaluation = evaluation, load(evaluation)
        if not isinstance(evaluation, Evaluation):
            raise TypeError(f"a history can hold only evaluations, got {type(evaluation).__name__}")
        given = evaluation.labels.get("commit") if label is None else label
        relative = None if saved is None else _relative(Path(saved), self.path)
        line = line_of(evaluation, "" if given is None else str(given), relative, evaluation.labels)
        if save is not None:
            evaluation.save(save)
        self._journal.append_after(lambda content: line if given is not None else {**line, "label": _number(content)})

    def entries(self) -> list[Entry]:
        """Return all entries, oldest first.

        Raises:
            ValueError: If the file is not a history, is of a newer version, or is damaged before its last line.

        Warns:
            RetrievalWarning: If the last line is incomplete, as after a crash; it is left out.
        """
        lines = self._journal.read_entries()
        return [entry_of(line, f"{self.path}, entry {number}") for number, line in enumerate(lines, start=1)]

    def table(self) -> pd.DataFrame:
        """Return a DataFrame with one row per entry and metric.

        Raises:
            ImportError: If pandas is not installed; the message holds the command.
        """
        rows = [
            {
                "label": entry.label,
                "date": entry.date,
                "metric": metric,
                "mean": mean,
                "low": entry.intervals[metric].low,
                "high": entry.intervals[metric].high,
                "n": entry.n[metric],
                "questions": entry.questions,
                "rules": entry.rules,
            }
            for entry in self.entries()
            for metric, mean in entry.means.items()
        ]
        frame: pd.DataFrame = import_optional("pandas", "table").DataFrame(rows)
        return frame

    def plot(self, metric: str | Metric | None = None, *, across: int | None = None) -> Figure:
        """Return a figure of a metric over time, with intervals and breaks where the questions or the rules changed.

        Args:
            metric: The metric; None takes the first of the last entry.
            across: The width of the figure, in panels of other figures; None takes two, and one where a notebook is
                narrow.

        Raises:
            ImportError: If matplotlib is not installed; the message holds the command.
            ValueError: If there is no entry, or none has the metric.
        """
        import_optional("matplotlib", "plot")
        from retrieval_metrics.storage.history_plot import history_figure  # noqa: PLC0415  (brings matplotlib)

        entries = self.entries()
        if not entries:
            add = python_or_cli_text("add one with add(evaluation, label)", "history add adds one")
            raise ValueError(f"{self.path} has no entries yet; {add}")
        return history_figure(entries, metric or next(iter(entries[-1].means)), across)

    def load(self, label: str) -> Evaluation:
        """Return the saved evaluation of the newest entry with a label.

        Raises:
            KeyError: If there is no such entry.
            ValueError: If the evaluation was not saved, or the file holds another one by now.
        """
        found = _newest(self.entries(), label)
        if found.saved is None:
            raise ValueError(
                f"entry {label!r} of {self.path} has only means; add(evaluation, label, save=path) also saves the "
                "evaluation, so that you can compare it query by query"
            )
        evaluation: Evaluation = load(self.path.parent / found.saved)
        if unlike := found.unlike(evaluation):
            raise ValueError(
                f"{found.saved} does not hold the evaluation of entry {label!r} of {self.path}: {unlike}; was another "
                "one saved over it? Each entry needs a file of its own"
            )
        return evaluation

    def compare(self, baseline: str, system: str, *, planned: bool = False, **options: Any) -> Comparison:
        """Compare two saved evaluations query by query; `Comparison.notes` says what else differs between them.

        Who picks two entries of many picks those that differ most by chance. So p values and intervals are corrected
        for all pairs of different results on the questions and rules of the later one: with 30, for 435 pairs.

        Args:
            baseline: The label of the earlier one; if several have it, the newest.
            system: The label of the later one.
            planned: Whether it was clear which two to compare before either was evaluated; then there was no choice.
            **options: Other arguments of `compare` for evaluations, such as `margin` and `level`.

        Raises:
            KeyError: If there is no entry with such a label.
            TypeError: If there is no such option.
            ValueError: As in `load` and `compare`.
        """
        known = {"metrics", *ComparisonOptions.__annotations__} - {"baseline", "looks"}
        if others := sorted(options.keys() - known):
            raise TypeError(f"there is no option {others[0]!r}; there are {', '.join(sorted(known))}")
        evaluations = {baseline: self.load(baseline), system: self.load(system)}
        entries = self.entries()
        looks = 1 if planned else pairs_of_results(entries, _newest(entries, system))
        return compare_evaluations(evaluations, baseline=baseline, looks=looks, **options)

    def _tables(self) -> Sequence[Table]:
        return [entries_table(self.entries())]

    def __repr__(self) -> str:
        return f"<History {self.path}: {len(self.entries())} entries>"


def entries_table(entries: Sequence[Entry]) -> Table:
    """Return entries as a printable table, with notes where the questions or the rules changed."""
    metrics = list(dict.fromkeys(metric for entry in entries for metric in entry.means))
    rows, before = [], None
    for entry in entries:
        cells = (_cell(entry, metric) for metric in metrics)
        rows.append([f"{entry.date:%Y-%m-%d %H:%M}", entry.label, *cells, changed(before, entry)])
        before = entry
    return Table(["date", "label", *metrics, "changed"], rows, said_of_looks(entries), words=(0, 1, -1))


def changed(before: Entry | None, entry: Entry) -> str:
    """Return in words what differs from the entry before, so that the means are not comparable."""
    return "" if before is None else " and ".join(entry.differs_from(before))


def said_of_looks(entries: Sequence[Entry]) -> list[str]:
    """Return the note on how often the questions of the last entry were used; nothing without an entry."""
    if not entries:
        return []
    number = looks_at(entries, entries[-1])
    said = numbers.format_count(number, "look", "looks")
    others = len(entries) - number
    have = "has" if others == 1 else "have"
    elsewhere = f" ({others:,} of the {len(entries):,} entries {have} others)" if others else ""
    return [f"{said} at these questions{elsewhere}; the more looks, the more likely the top result is luck"]


def looks_at(entries: Sequence[Entry], entry: Entry) -> int:
    """Return how many of the entries have the questions and judgments of one of them."""
    return sum(each.questions == entry.questions for each in entries)


def pairs_of_results(entries: Sequence[Entry], entry: Entry) -> int:
    """Return how many pairs of different results there are with the questions and rules of an entry; at least 1."""
    alike = [each for each in entries if not each.differs_from(entry)]
    unknown = sum(each.rankings is None for each in alike)
    results = len({each.rankings for each in alike} - {None}) + unknown
    return max(results * (results - 1) // 2, 1)


def _newest(entries: Sequence[Entry], label: str) -> Entry:
    found = next((entry for entry in reversed(entries) if entry.label == label), None)
    if found is None:
        known = ", ".join(repr(entry.label) for entry in entries[-5:])
        raise KeyError(f"no entry has the label {label!r}; the newest labels are {known or 'none'}")
    return found


def _cell(entry: Entry, metric: str) -> str:
    if metric not in entry.means:
        return "-"
    return numbers.mean(entry.means[metric], entry.intervals[metric])


def _number(content: bytes) -> str:
    """Return the label of an entry without one: its number, or the next that is not taken."""
    number = content.count(b'\n{"label": ') + 1
    while f'"label": "#{number}"'.encode() in content:
        number += 1
    return f"#{number}"


def _relative(saved: Path, history: Path) -> str:
    """Return a path relative to the folder of the history, so that both can be moved together."""
    try:
        return Path(os.path.relpath(saved.resolve(), history.resolve().parent)).as_posix()
    except ValueError:  # on another drive of Windows
        return str(saved.resolve())


# An entry of a history: the numbers of an evaluation, and fingerprints of its data.

ROUNDING = 1e-9
"""Another processor may add the same numbers in another order."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An evaluation in a history.

    Attributes:
        label: Its label, such as a commit or a model.
        date: When it was added.
        means: The mean of each metric.
        intervals: The 95 % interval of each mean.
        n: The number of queries for which each metric is defined.
        questions: The fingerprint of the questions and their judgments.
        rules: The fingerprint of the rules.
        rankings: The fingerprint of what was retrieved; None if the evaluation does not have it.
        saved: The file in which it was saved, as a path relative to the history; None if it was not saved.
        labels: The labels of the evaluation.
        version: The version of this package.
    """

    label: str
    date: datetime
    means: Mapping[str, float]
    intervals: Mapping[str, Interval]
    n: Mapping[str, int]
    questions: str
    rules: str
    rankings: str | None
    saved: str | None
    labels: Mapping[str, Any]
    version: str

    def mean(self, metric: str | Metric) -> float | None:
        """Return the mean of a metric, in any spelling; None if it was not computed."""
        return self.means.get(match_metric_name(metric, self.means))

    def unlike(self, evaluation: Evaluation) -> str:
        """Return what an evaluation has otherwise than the entry, in words; empty if it may be that of the entry."""
        other = entry_of(line_of(evaluation, self.label, self.saved, {}), "the evaluation")
        for metric, mean in self.means.items():
            there = other.means.get(metric)
            if there is None:
                return f"it has no {metric}"
            if not isclose(mean, there, rel_tol=ROUNDING) and not (isnan(mean) and isnan(there)):
                one, two = numbers.format_distinct(there, mean)
                return f"its {metric} is {one} and not {two}"
        if self.version == other.version:  # another version may take fingerprints in another way
            for what in ("questions", "rules", "rankings"):
                if getattr(self, what) != getattr(other, what):
                    return f"its {what} are others"
        return ""

    def differs_from(self, other: Entry) -> list[str]:
        """Return what differs, the questions with their judgments or the rules; the means are then not comparable."""
        return [what for what in ("questions", "rules") if getattr(self, what) != getattr(other, what)]


def line_of(evaluation: Evaluation, label: str, saved: str | None, labels: Mapping[str, Any]) -> dict[str, Any]:
    """Return an evaluation as a line of a history."""
    intervals = evaluation.intervals()
    scores = evaluation.scores
    return {
        "label": label,
        "date": format_current_time(),
        "metrics": {
            name: [_or_null(mean), *map(_or_null, intervals[name]), evaluation.n[name]]
            for name, mean in evaluation.means.items()
        },
        "questions": questions_fingerprint(scores),
        "rules": rules_fingerprint(scores),
        "rankings": rankings_fingerprint(scores),
        "saved": saved,
        "labels": validate_labels(labels),
        "version": __version__,
    }


def entry_of(line: Mapping[str, Any], where: str) -> Entry:
    """Return the entry of a line."""
    try:
        metrics = {name: [_or_nan(one) for one in held] for name, held in line["metrics"].items()}
        return Entry(
            label=str(line["label"]),
            date=datetime.fromisoformat(line["date"]),
            means={name: mean for name, (mean, *_) in metrics.items()},
            intervals={name: Interval(low, high) for name, (_, low, high, _) in metrics.items()},
            n={name: int(n) for name, (*_, n) in metrics.items()},
            questions=line["questions"],
            rules=line["rules"],
            rankings=line.get("rankings"),
            saved=line.get("saved"),
            labels=dict(line.get("labels", {})),
            version=str(line.get("version", "")),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        said = f"there is no {error}" if isinstance(error, KeyError) else str(error)
        raise ValueError(f"{where} is damaged: {said}") from error


def _or_null(number: float) -> float | None:
    return float(number) if number == number else None  # noqa: PLR0124  (NaN alone differs from itself)


def _or_nan(number: float | None) -> float:
    return float("nan") if number is None else number
