"""The result of a lint: findings to print, count, put into a DataFrame, and repair."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic

from retrieval_metrics.checks import data_frame, grouped
from retrieval_metrics.inputs.qrels import as_qrels, judgments_by_query
from retrieval_metrics.inputs.questions import QuestionsT
from retrieval_metrics.presentation import numbers
from retrieval_metrics.presentation.tables import Printed, Table
from retrieval_metrics.questions.linting.findings import MEANING
from retrieval_metrics.questions.parting import only

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pandas as pd

    from retrieval_metrics.questions.linting.findings import Change, LintFinding, Severity


COLUMNS = ("name", "query", "severity", "message", "evidence", "repair")
SHOWN = 3
"""The number of findings with one name that are printed."""


class Lint(Printed, Generic[QuestionsT]):
    """The possible problems of an evaluation set.

    Printing shows the number of findings with each name, and the first of them.

    Attributes:
        questions: The evaluation set, as given.
        findings: The findings, the most severe first.
        unchecked: What could not be checked and what that needs, one sentence each.
    """

    def __init__(self, questions: QuestionsT, findings: Sequence[LintFinding], unchecked: Sequence[str] = ()) -> None:
        order = {name: place for place, name in enumerate(MEANING)}
        self.questions = questions
        self.findings = sorted(findings, key=lambda finding: order[finding.name])
        self.unchecked = list(unchecked)

    @property
    def counts(self) -> dict[str, int]:
        """The number of findings with each name."""
        return dict(Counter(finding.name for finding in self.findings))

    def of(self, name: str) -> list[LintFinding]:
        """Return the findings with a name, or with a severity.

        Raises:
            ValueError: If the name is unknown.
        """
        if name in {severity for severity, _ in MEANING.values()}:
            return [finding for finding in self.findings if finding.severity == name]
        if name not in MEANING:
            raise ValueError(f"there is no finding {name!r}; the findings are {', '.join(MEANING)}")
        return [finding for finding in self.findings if finding.name == name]

    def repaired(self) -> QuestionsT:
        """Return a new set with all repairs that do not need a person to decide.

        A question that repeats another and is judged alike is removed. A quote that differs from its source in
        punctuation takes the words of the source, and a span moves to where its quote is now. Copies of relevant
        passages become their alternatives. An id that is not in the corpus is removed if an alternative remains, or if
        it was not relevant. Everything else stays for a person to decide.

        Returns:
            The new set; its `changes` say what was done, one sentence each. The old set does not change.
        """
        done = grouped(
            (finding.query, finding.change)
            for finding in self.findings
            if finding.change is not None and finding.query is not None
        )
        old = self.questions
        judged = judgments_by_query(old.qrels)
        kept = {query for query in judged if all(change.judgment is not None for change in done.get(query, ()))}
        made = [f"{query!r}: {change.done}" for query, changes in done.items() for change in _effective(changes)]
        groups = as_qrels(old).groups()
        qrels = judged | {query: _repaired(groups[query], changes) for query, changes in done.items()}
        return replace(only(replace(old, qrels=qrels), kept), changes=(*old.changes, *made))

    def to_pandas(self) -> pd.DataFrame:
        """Return a DataFrame with one row per finding: `name`, `query`, `severity`, `message`, `evidence`, `repair`.

        Raises:
            ImportError: If pandas is not installed; the message holds the command.
        """
        return data_frame(self.rows(), COLUMNS)

    def rows(self) -> list[tuple[Any, ...]]:
        """Return one row per finding, as in `to_pandas`."""
        return [
            (found.name, found.query, found.severity, found.message, dict(found.evidence), _done(found))
            for found in self.findings
        ]

    def __len__(self) -> int:
        return len(self.findings)

    def __iter__(self) -> Iterator[LintFinding]:
        return iter(self.findings)

    def __repr__(self) -> str:
        found = Counter(finding.severity for finding in self.findings)
        severities: tuple[Severity, ...] = ("error", "warning", "note")
        counted = ", ".join(numbers.count(found[severity], severity) for severity in severities)
        return f"<Lint of {len(self.questions)} questions: {counted}>"

    def _tables(self) -> list[Table]:
        rows = [[name, MEANING[name][0], str(count), MEANING[name][1]] for name, count in self.counts.items()]
        notes = []
        for name, count in self.counts.items():
            notes += [
                f"{name}{'' if finding.query is None else f' {finding.query!r}'}: {finding.message}"
                for finding in self.of(name)[:SHOWN]
            ]
            if count > SHOWN:
                notes.append(f"  and {count - SHOWN} more, in .to_pandas()")
        repairs = sum(finding.change is not None for finding in self.findings)
        if repairs:
            notes.append(
                f"{numbers.count(repairs, 'repair')} {'is' if repairs == 1 else 'are'} safe: .repaired() makes them"
            )
        notes += [f"unchecked: {sentence}" for sentence in self.unchecked]
        title = f"{numbers.count(len(self.questions), 'question')}, {numbers.count(len(self.findings), 'finding')}"
        return [Table(["finding", "severity", "n", "meaning"] if rows else [], rows, notes, title, (0, 1, 3))]


def _done(finding: LintFinding) -> str | None:
    return None if finding.change is None else finding.change.done


def _effective(changes: Sequence[Change]) -> Sequence[Change]:
    """Return the changes of a question that are made; if it is removed, no others are."""
    return [change for change in changes if change.judgment is None][:1] or changes


def _repaired(groups: Sequence[Mapping[Any, float]], changes: Sequence[Change]) -> Any:
    """Return the judgments of a question with the changes applied: grades, or groups if there are alternatives."""
    for change in changes:
        groups = [_changed(group, change) for group in groups]
    groups = [group for group in groups if group]
    grades = {judged: grade for group in groups for judged, grade in group.items()}
    return grades if len(grades) == len(groups) and all(len(group) == 1 for group in groups) else groups


def _changed(group: Mapping[Any, float], change: Change) -> dict[Any, float]:
    changed: dict[Any, float] = {}
    for judged, grade in group.items():
        for now in change.by if judged == change.judgment else (judged,):
            changed[now] = max(grade, changed.get(now, grade))
    return changed
