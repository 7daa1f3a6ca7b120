"""Keep the numbers of every evaluation in a file, to see when a metric became better or worse."""

from __future__ import annotations

import os
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from retrieval_metrics._internal.append_log import AppendLog
from retrieval_metrics._internal.optional_packages import import_optional
from retrieval_metrics._internal.validation import UnknownKeyError
from retrieval_metrics.comparison.compare import compare_evaluations
from retrieval_metrics.evaluation.evaluation import Evaluation
from retrieval_metrics.inputs.input_hints import refuse_open_file
from retrieval_metrics.reports.tables import Printed, Table
from retrieval_metrics.storage.history_entry import Entry, count_result_pairs, decode_entry, encode_entry
from retrieval_metrics.storage.history_table import entries_table
from retrieval_metrics.storage.load import load

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from os import PathLike

    import pandas as pd
    from matplotlib.figure import Figure

    from retrieval_metrics._internal.plain_types import QueryId
    from retrieval_metrics.comparison.comparison import Comparison
    from retrieval_metrics.metrics.base.metric import Metric


# The number of labels that the error about an unknown label names.
N_NEWEST_LABELS = 5


class PairOptions(TypedDict, total=False):
    """How to compare two entries; see `compare`. The entries are the systems, and the history tells the looks."""

    metrics: str | Metric | Iterable[str | Metric] | None
    level: float
    resamples: int
    seed: int
    margin: float | None
    unjudged: str | None
    unretrieved_relevant: int | Mapping[QueryId, int] | None
    show_progress: bool


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
        refuse_open_file(path, "History")
        self.path = Path(path)
        self._log = AppendLog(path, "history")

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
        saved_path = save
        if isinstance(evaluation, (str, os.PathLike)):
            saved_path = evaluation
            evaluation = load(evaluation)
        if not isinstance(evaluation, Evaluation):
            raise TypeError(f"a history can hold only evaluations, got {type(evaluation).__name__}")
        entry_label: str | float | None = label
        if entry_label is None:
            entry_label = evaluation.labels.get("commit")
        relative_path = None if saved_path is None else _make_relative(Path(saved_path), self.path)
        entry = Entry.of(evaluation, "" if entry_label is None else str(entry_label), relative_path, evaluation.labels)
        line = encode_entry(entry)
        if save is not None:
            evaluation.save(save)

        def make_line(content: bytes) -> dict[str, Any]:
            if entry_label is None:
                return {**line, "label": _choose_label(content)}
            return line

        self._log.append_after(make_line)

    def entries(self) -> list[Entry]:
        """Return all entries, oldest first.

        Raises:
            ValueError: If the file is not a history, is of a newer version, or is damaged before its last line.

        Warns:
            RetrievalWarning: If the last line is incomplete, as after a crash; it is left out.
        """
        lines = self._log.read_entries()
        return [decode_entry(line, f"{self.path}, entry {number}") for number, line in enumerate(lines, start=1)]

    def table(self) -> pd.DataFrame:
        """Return a DataFrame with one row per entry and metric.

        Where nothing can be concluded from the means of an entry, such as one whose ids match no judgment, they are NaN
        and `warnings` says why; `entries` has the numbers.

        Raises:
            ImportError: If pandas is not installed; the message contains the command.
        """
        rows = []
        for entry in self.entries():
            for metric, mean in entry.means.items():
                interval = entry.intervals[metric]
                row = {
                    "label": entry.label,
                    "date": entry.date,
                    "metric": metric,
                    "mean": mean if entry.is_measured else nan,
                    "low": interval.low if entry.is_measured else nan,
                    "high": interval.high if entry.is_measured else nan,
                    "n": entry.n[metric],
                    "questions": entry.questions,
                    "rules": entry.rules,
                    "warnings": "\n".join(entry.warnings),
                }
                rows.append(row)
        frame: pd.DataFrame = import_optional("pandas", "table").DataFrame(rows)
        return frame

    def plot(self, metric: str | Metric | None = None, *, across: int | None = None) -> Figure:
        """Return a figure of a metric over time, with intervals and breaks where the questions or the rules changed.

        Entries from whose means nothing can be concluded, such as one whose ids match no judgment, are "not measured".

        Args:
            metric: The metric; None takes the first of the last entry.
            across: The width of the figure, in panels of other figures; None takes two, and one where a notebook is
                narrow.

        Raises:
            ImportError: If matplotlib is not installed; the message contains the command.
            ValueError: If there is no entry, or none has the metric.
        """
        import_optional("matplotlib", "plot")
        from retrieval_metrics.storage.history_plot import history_figure

        entries = self.entries()
        if not entries:
            raise ValueError(f"{self.path} has no entries yet; add one with add(evaluation, label)")
        return history_figure(entries, metric or next(iter(entries[-1].means)), across)

    def load(self, label: str) -> Evaluation:
        """Return the saved evaluation of the newest entry with a label.

        Raises:
            KeyError: If there is no such entry.
            ValueError: If the evaluation was not saved, or the file holds another one by now.
        """
        entry = _find_newest_entry(self.entries(), label)
        if entry.saved is None:
            raise ValueError(
                f"entry {label!r} of {self.path} has only means; add(evaluation, label, save=path) also saves the "
                "evaluation, so that you can compare it query by query"
            )
        evaluation: Evaluation = load(self.path.parent / entry.saved)
        difference = entry.describe_difference(evaluation)
        if difference:
            raise ValueError(
                f"{entry.saved} does not hold the evaluation of entry {label!r} of {self.path}: {difference}; was "
                "another one saved over it? Each entry needs a file of its own"
            )
        return evaluation

    def compare(
        self, baseline: str, system: str, *, planned: bool = False, **options: Unpack[PairOptions]
    ) -> Comparison:
        """Compare two saved evaluations query by query; `Comparison.notes` says what else differs between them.

        The two entries that you pick out of many may be those that differ most by chance. So p values and intervals
        are corrected for all pairs of different results on the questions and rules of the later one: with 30 results,
        for 435 pairs.

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
        unknown = sorted(options.keys() - PairOptions.__annotations__.keys())
        if unknown:
            names = ", ".join(sorted(PairOptions.__annotations__))
            raise TypeError(f"unknown option {unknown[0]!r}; the options are {names}")
        evaluations = {baseline: self.load(baseline), system: self.load(system)}
        entries = self.entries()
        looks = 1 if planned else count_result_pairs(entries, _find_newest_entry(entries, system))
        return compare_evaluations(evaluations, baseline=baseline, looks=looks, **options)

    def _tables(self) -> Sequence[Table]:
        return [entries_table(self.entries())]

    def __repr__(self) -> str:
        return f"<History {self.path}: {len(self.entries())} entries>"


def _find_newest_entry(entries: Sequence[Entry], label: str) -> Entry:
    """Return the newest entry with a label; raise a KeyError if there is none."""
    for entry in reversed(entries):
        if entry.label == label:
            return entry
    newest_labels = ", ".join(repr(entry.label) for entry in entries[-N_NEWEST_LABELS:])
    state = f"the newest labels are {newest_labels}" if entries else "the history is empty"
    raise UnknownKeyError(f"no entry has the label {label!r}; {state}")


def _choose_label(content: bytes) -> str:
    """Return a label for an entry that has none: its number, or the next number that no other label has."""
    number = content.count(b'\n{"label": ') + 1
    while f'"label": "#{number}"'.encode() in content:
        number += 1
    return f"#{number}"


def _make_relative(saved: Path, history: Path) -> str:
    """Return a path relative to the folder of the history, so that both can be moved together."""
    try:
        return Path(os.path.relpath(saved.resolve(), history.resolve().parent)).as_posix()
    except ValueError:  # on another drive of Windows
        return str(saved.resolve())
