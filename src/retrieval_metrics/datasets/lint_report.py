"""The result of a lint: its findings, their severity, how they are printed, and the repairs that are safe."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, Literal

from retrieval_metrics._internal.optional_packages import to_data_frame
from retrieval_metrics.datasets import lint_wording as wording
from retrieval_metrics.datasets.merge_and_split import select_queries
from retrieval_metrics.inputs.qrels import as_qrels, judgments_by_query
from retrieval_metrics.inputs.questions import QuestionsT
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.tables import Printed, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pandas as pd

    from retrieval_metrics._internal.plain_types import QueryId
    from retrieval_metrics.inputs.items import Relevant


Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class FindingKind:
    """What all findings of one name have in common.

    Attributes:
        severity: `error` if it makes numbers wrong, `warning` if it makes them doubtful, else `note`.
        meaning: What such a finding says, in words.
    """

    severity: Severity
    meaning: str


# The kinds of findings by name, in the order in which a report lists them.
FINDING_KINDS: Mapping[str, FindingKind] = {
    "missing_text": FindingKind("error", "a query is judged but has no text, so it cannot be run and scores 0"),
    "no_relevant": FindingKind("error", "documents are judged, but none is relevant: treated as unanswerable"),
    "short_quote": FindingKind("error", "a quote is too short to be matched"),
    "unknown_document": FindingKind("error", "a judged document is not in the corpus, so it cannot be retrieved"),
    "unknown_source": FindingKind("error", "the source of a span is not in the corpus"),
    "missing_quote": FindingKind("error", "a quote is not in the corpus"),
    "moved_span": FindingKind("error", "a span no longer matches its text"),
    "impossible_group": FindingKind("error", "none of several alternatives is in the corpus"),
    "contradicting_judgments": FindingKind("error", "a duplicate question has different judgments"),
    "duplicate_question": FindingKind("warning", "another question has the same words"),
    "near_duplicate_question": FindingKind("warning", "another question has almost the same words"),
    "dependent_question": FindingKind("warning", "the question is not self-contained"),
    "short_question": FindingKind("warning", "the question is too short to be specific"),
    "ambiguous_quote": FindingKind("warning", "a quote occurs in several places"),
    "uncovered_span": FindingKind("warning", "part of a span is not in any passage"),
    "leaked_id": FindingKind("warning", "the question names the ID of a document that is relevant to it"),
    "cut_quote": FindingKind("warning", "a quote is in its source, but split across passages"),
    "shared_file_name": FindingKind("warning", "a judged file name stands for several files in different folders"),
    "unjudged_duplicate": FindingKind("warning", "an unjudged copy of a relevant passage"),
    "possible_answer": FindingKind("warning", "an unjudged passage overlaps with a relevant one"),
    "echo": FindingKind("warning", "the question repeats the words of its answer"),
    "unanswered": FindingKind("warning", "relevant documents are not retrieved, or barely"),
    "ignores_query": FindingKind("warning", "a run scores no better than chance, so it may ignore the query"),
    "unanswerable": FindingKind("note", "no judgments, or forbidden documents only: treated as unanswerable"),
    "forbidden": FindingKind("note", "grades below 0 mark forbidden documents"),
    "unjudged_at_top": FindingKind("note", "an unjudged document in the top 3 of every run"),
    "cut_span": FindingKind("note", "a span starts or ends inside a word"),
    "easy": FindingKind("note", "a relevant document ranks first with every retriever"),
    "few_sources": FindingKind("note", "the questions come from few documents"),
    "too_few_questions": FindingKind("note", "the target difference needs more questions"),
}


@dataclass(frozen=True, slots=True)
class LintFix:
    """A repair of one judgment, or of a whole question.

    Attributes:
        apply: What it does, as a sentence.
        judgment: The judgment to replace; None if the question is removed.
        by: The replacements; empty if the judgment is removed, several if they are alternatives.
    """

    apply: str
    judgment: Relevant | None = None
    by: tuple[Relevant, ...] = ()


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
        return FINDING_KINDS[self.name].severity


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
        order = {name: position for position, name in enumerate(FINDING_KINDS)}
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
        if name in {kind.severity for kind in FINDING_KINDS.values()}:
            return [finding for finding in self.findings if finding.severity == name]
        if name not in FINDING_KINDS:
            raise ValueError(f"unknown finding {name!r}. Use one of {', '.join(FINDING_KINDS)}")
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
        original = self.questions
        qrels = judgments_by_query(original.qrels)
        groups = as_qrels(original).groups()
        queries = set(qrels)
        changes = list(original.changes)
        for query, fixes in fixes_by_query.items():
            removal = _find_removal(fixes)
            if removal is not None:
                queries.discard(query)
            applied_fixes = fixes if removal is None else [removal]
            changes += [f"{query!r}: {fix.apply}" for fix in applied_fixes]
            qrels[query] = _fix_judgments(groups[query], fixes)
        return replace(select_queries(replace(original, qrels=qrels), queries), changes=tuple(changes))

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
            fix = None if finding.fix is None else finding.fix.apply
            evidence = dict(finding.evidence)
            rows.append((finding.name, finding.query, finding.severity, finding.message, evidence, fix))
        return rows

    def __len__(self) -> int:
        return len(self.findings)

    def __iter__(self) -> Iterator[LintFinding]:
        return iter(self.findings)

    def __repr__(self) -> str:
        n_by_severity = Counter(finding.severity for finding in self.findings)
        severities: tuple[Severity, ...] = ("error", "warning", "note")
        listed_counts = ", ".join(numbers.format_count(n_by_severity[severity], severity) for severity in severities)
        return f"<Lint of {len(self.questions)} questions: {listed_counts}>"

    def _tables(self) -> list[Table]:
        rows = []
        notes = []
        for name, count in self.counts.items():
            kind = FINDING_KINDS[name]
            rows.append([name, kind.severity, str(count), kind.meaning])
            notes += [wording.format_finding(finding) for finding in self.named(name)[:MAX_SHOWN]]
            if count > MAX_SHOWN:
                notes.append(wording.format_further_findings(count - MAX_SHOWN))
        n_fixes = sum(finding.fix is not None for finding in self.findings)
        if n_fixes:
            notes.append(wording.format_fixes(n_fixes))
        if self.n_excluded:
            notes.append(wording.format_excluded(self.n_excluded))
        notes += [f"skipped: {sentence}" for sentence in self.skipped]
        title = wording.format_title(len(self.questions), len(self.findings))
        header = ["finding", "severity", "n", "meaning"] if rows else []
        return [Table(header, rows, notes, title, (0, 1, 3))]


def _find_removal(fixes: Sequence[LintFix]) -> LintFix | None:
    """Return the fix that removes a question, which makes its other fixes needless; None if there is none."""
    for fix in fixes:
        if fix.judgment is None:
            return fix
    return None


def _fix_judgments(groups: Sequence[Mapping[Any, float]], fixes: Sequence[LintFix]) -> Any:
    """Return the judgments of a question with the fixes made: grades, or groups if there are alternatives."""
    for fix in fixes:
        groups = [_fix_group(group, fix) for group in groups]
    groups = [group for group in groups if group]
    grades: dict[Any, float] = {}
    for group in groups:
        grades.update(group)
    is_flat = len(grades) == len(groups) and all(len(group) == 1 for group in groups)
    return grades if is_flat else groups


def _fix_group(group: Mapping[Any, float], fix: LintFix) -> dict[Any, float]:
    fixed_group: dict[Any, float] = {}
    for judged, grade in group.items():
        replacements = fix.by if judged == fix.judgment else (judged,)
        for replacement in replacements:
            fixed_group[replacement] = max(grade, fixed_group.get(replacement, grade))
    return fixed_group
