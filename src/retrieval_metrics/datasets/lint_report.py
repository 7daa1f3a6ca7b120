"""The result of a lint: its findings, their severity, and how they are printed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, get_args

from retrieval_metrics._internal.optional_packages import to_data_frame
from retrieval_metrics.datasets import lint_wording as wording
from retrieval_metrics.datasets.lint_fixes import apply_fixes
from retrieval_metrics.inputs.questions import QuestionsT
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.tables import Printed, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pandas as pd

    from retrieval_metrics._internal.plain_types import QueryId
    from retrieval_metrics.datasets.lint_fixes import LintFix


Severity = Literal["error", "warning", "note"]

# The severities of findings, the most severe first.
SEVERITIES: tuple[Severity, ...] = get_args(Severity)

# The severity of each finding by its name, in the order of reports: `error` if it makes numbers wrong, `warning` if it
# makes them doubtful, else `note`.
SEVERITY_BY_FINDING: Mapping[str, Severity] = {
    "missing_text": "error",
    "no_relevant": "error",
    "short_quote": "error",
    "unknown_document": "error",
    "unknown_source": "error",
    "missing_quote": "error",
    "moved_span": "error",
    "impossible_group": "error",
    "conflicting_judgments": "error",
    "duplicate_question": "warning",
    "near_duplicate_question": "warning",
    "dependent_question": "warning",
    "short_question": "warning",
    "ambiguous_quote": "warning",
    "uncovered_span": "warning",
    "leaked_id": "warning",
    "cut_quote": "warning",
    "shared_file_name": "warning",
    "unjudged_duplicate": "warning",
    "possible_answer": "warning",
    "echo": "warning",
    "unanswered": "warning",
    "ignores_query": "warning",
    "unanswerable": "note",
    "forbidden": "note",
    "unjudged_at_top": "note",
    "cut_span": "note",
    "easy": "note",
    "few_sources": "note",
    "too_few_questions": "note",
}


@dataclass(frozen=True, slots=True)
class LintFinding:
    """A possible problem of a question, or of the whole set.

    Attributes:
        name: The name of the finding, such as `missing_quote`.
        query: The id of the question; None if it concerns the whole set.
        message: A sentence that says what was found, and where.
        evidence: The evidence, by name: the other question, the passages, the numbers.
        fix: The repair that `Lint.fixed` makes; None if a person must decide.
    """

    name: str
    query: QueryId | None
    message: str
    evidence: Mapping[str, Any] = field(default_factory=dict)
    fix: LintFix | None = None

    @property
    def severity(self) -> Severity:
        """`error`, `warning` or `note`."""
        return SEVERITY_BY_FINDING[self.name]


COLUMNS = ("name", "query", "severity", "message", "evidence", "fix")

# How many findings of one name are printed.
MAX_SHOWN = 3


class Lint(Printed, Generic[QuestionsT]):
    """The possible problems of an evaluation set.

    Printing shows the number of findings with each name, and the first of them.

    Attributes:
        questions: The evaluation set, as given.
        findings: The findings, the most severe first.
        skipped: What could not be checked and what that needs, one sentence each.
        n_excluded: How many documents were left out of the runs by `exclude=`.
    """

    def __init__(
        self,
        questions: QuestionsT,
        findings: Sequence[LintFinding],
        skipped: Sequence[str] = (),
        n_excluded: int = 0,
    ) -> None:
        """Take the findings of an evaluation set, in any order."""
        order = {name: position for position, name in enumerate(SEVERITY_BY_FINDING)}
        self.questions = questions
        self.findings = sorted(findings, key=lambda finding: order[finding.name])
        self.skipped = list(skipped)
        self.n_excluded = n_excluded

    @property
    def counts(self) -> dict[str, int]:
        """The number of findings with each name."""
        return dict(Counter(finding.name for finding in self.findings))

    def named(self, name: str) -> list[LintFinding]:
        """Return the findings with a name, or with a severity.

        Raises:
            ValueError: If the name is unknown.
        """
        if name in SEVERITY_BY_FINDING.values():
            return [finding for finding in self.findings if finding.severity == name]
        if name not in SEVERITY_BY_FINDING:
            raise ValueError(f"unknown finding {name!r}. Use one of {', '.join(SEVERITY_BY_FINDING)}")
        return [finding for finding in self.findings if finding.name == name]

    def fixed(self) -> QuestionsT:
        """Return a new set with all repairs that do not need a person to decide.

        A question that repeats another and is judged alike is removed. A quote that differs from its source in
        punctuation takes the words of the source, and a span moves to where its quote is now. Copies of relevant
        passages become their alternatives. An id that is not in the corpus is removed if an alternative remains, or if
        it was not relevant. Everything else stays for a person to decide.

        Returns:
            The new set; its `changes` say what was done, one sentence each. The old set does not change.
        """
        fixes_by_query: dict[QueryId, list[LintFix]] = {}
        for finding in self.findings:
            if finding.fix is not None and finding.query is not None:
                fixes_by_query.setdefault(finding.query, []).append(finding.fix)
        return apply_fixes(self.questions, fixes_by_query)

    def to_pandas(self) -> pd.DataFrame:
        """Return a DataFrame with one row per finding: `name`, `query`, `severity`, `message`, `evidence`, `fix`.

        Raises:
            ImportError: If pandas is not installed; the message contains the command.
        """
        return to_data_frame(self.rows(), COLUMNS)

    def rows(self) -> list[tuple[Any, ...]]:
        """Return one row per finding, as in `to_pandas`."""
        rows: list[tuple[Any, ...]] = []
        for finding in self.findings:
            fix = None if finding.fix is None else finding.fix.description
            evidence = dict(finding.evidence)
            rows.append((finding.name, finding.query, finding.severity, finding.message, evidence, fix))
        return rows

    def __len__(self) -> int:
        return len(self.findings)

    def __iter__(self) -> Iterator[LintFinding]:
        return iter(self.findings)

    def __repr__(self) -> str:
        n_by_severity = Counter(finding.severity for finding in self.findings)
        listed_counts = ", ".join(numbers.format_count(n_by_severity[severity], severity) for severity in SEVERITIES)
        return f"<Lint of {len(self.questions)} questions: {listed_counts}>"

    def _tables(self) -> list[Table]:
        rows = []
        notes = []
        for name, count in self.counts.items():
            rows.append([name, SEVERITY_BY_FINDING[name], str(count), wording.FINDING_MEANINGS[name]])
            notes += [wording.format_finding(finding) for finding in self.named(name)[:MAX_SHOWN]]
            if count > MAX_SHOWN:
                notes.append(wording.format_further_findings(count - MAX_SHOWN))
        n_fixes = sum(finding.fix is not None for finding in self.findings)
        if n_fixes:
            notes.append(wording.format_fixes(n_fixes))
        if self.n_excluded:
            notes.append(wording.format_excluded(self.n_excluded))
        notes += [wording.format_skipped(sentence) for sentence in self.skipped]
        title = wording.format_title(len(self.questions), len(self.findings))
        header = ["finding", "severity", "n", "meaning"] if rows else []
        return [Table(header, rows, notes, title, (0, 1, 3))]
