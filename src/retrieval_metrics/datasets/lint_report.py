"""What a lint looks at, what it finds, and how that is shown."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, Literal

from retrieval_metrics._internal.validation import group_pairs, python_or_cli_text, to_data_frame
from retrieval_metrics.datasets.bm25 import content_words
from retrieval_metrics.datasets.merge_and_split import select_queries
from retrieval_metrics.inputs.items import Quote, Span, Text
from retrieval_metrics.inputs.qrels import as_qrels, judgments_by_query
from retrieval_metrics.inputs.questions import QuestionsT
from retrieval_metrics.matching.judge import judge
from retrieval_metrics.matching.ranking_order import Matching
from retrieval_metrics.matching.words import words
from retrieval_metrics.metrics.base.rules import STANDARD
from retrieval_metrics.metrics.base.score import score
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.tables import Printed, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pandas as pd

    from retrieval_metrics._internal.validation import FloatArray, QueryId
    from retrieval_metrics.datasets.bm25 import CorpusIndex
    from retrieval_metrics.inputs.items import Relevant
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.matching.judged_run import JudgedRun
    from retrieval_metrics.metrics.base.metric import Metric


Severity = Literal["error", "warning", "note"]

MEANING: Mapping[str, tuple[Severity, str]] = {
    "no_relevant": (
        "error",
        "documents are judged and none is relevant, so the question counts as one without an answer",
    ),
    "short_quote": ("error", "a quote is so short that comparing refuses it"),
    "unknown_document": ("error", "a judged document is not in the corpus, so nothing can find it"),
    "unknown_source": ("error", "the source of a span is not in the corpus"),
    "missing_quote": ("error", "a quote is not in the corpus"),
    "moved_span": ("error", "a span no longer holds the text it held"),
    "impossible_group": ("error", "none of several alternatives is in the corpus"),
    "contradicting_judgments": ("error", "the same question is judged differently elsewhere"),
    "duplicate_question": ("warning", "another question has the same words"),
    "near_duplicate_question": ("warning", "another question has almost the same words"),
    "dependent_question": ("warning", "the question cannot be understood without the passage it was made of"),
    "short_question": ("warning", "the question has too few words to say what is wanted"),
    "ambiguous_quote": ("warning", "a quote occurs in several places"),
    "uncovered_span": ("warning", "the passages leave out a part of a span"),
    "leaked_id": ("warning", "the question names the id of a document that is relevant to it"),
    "cut_quote": ("warning", "a quote is in its source, but no passage holds all of it"),
    "unjudged_duplicate": ("warning", "a copy of a relevant passage is not judged"),
    "possible_answer": ("warning", "a passage that shares much of a relevant one is not judged"),
    "echo": ("warning", "the question repeats the words of its answer"),
    "unanswered": ("warning", "nothing relevant is found"),
    "unanswerable": (
        "note",
        "nothing is judged, or all of it is forbidden, so nothing is meant to answer the question",
    ),
    "forbidden": ("note", "grades below 0 say what must not come back"),
    "unjudged_at_top": ("note", "a document that every run ranks among the first three is not judged"),
    "cut_span": ("note", "a span begins or ends within a word"),
    "easy": ("note", "something relevant comes first whatever retrieves"),
    "few_sources": ("note", "the questions come from few documents"),
    "too_few_questions": ("note", "the wanted difference needs more questions"),
}
"""The severity and meaning of each finding: errors make numbers wrong, warnings make them doubtful."""


@dataclass(frozen=True, slots=True)
class LintFix:
    """A repair of one judgment, or of a whole question.

    Attributes:
        done: What it does, as a sentence.
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
        return MEANING[self.name][0]


COLUMNS = ("name", "query", "severity", "message", "evidence", "fix")
SHOWN = 3
"""The number of findings with one name that are printed."""


class Lint(Printed, Generic[QuestionsT]):
    """The possible problems of an evaluation set.

    Printing shows the number of findings with each name, and the first of them.

    Attributes:
        questions: The evaluation set, as given.
        findings: The findings, the most severe first.
        skipped: What could not be checked and what that needs, one sentence each.
    """

    def __init__(self, questions: QuestionsT, findings: Sequence[LintFinding], skipped: Sequence[str] = ()) -> None:
        order = {name: place for place, name in enumerate(MEANING)}
        self.questions = questions
        self.findings = sorted(findings, key=lambda finding: order[finding.name])
        self.skipped = list(skipped)

    @property
    def counts(self) -> dict[str, int]:
        """The number of findings with each name."""
        return dict(Counter(finding.name for finding in self.findings))

    def named(self, name: str) -> list[LintFinding]:
        """Return the findings with a name, or with a severity.

        Raises:
            ValueError: If the name is unknown.
        """
        if name in {severity for severity, _ in MEANING.values()}:
            return [finding for finding in self.findings if finding.severity == name]
        if name not in MEANING:
            raise ValueError(f"there is no finding {name!r}; the findings are {', '.join(MEANING)}")
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
        done = group_pairs(
            (finding.query, finding.fix)
            for finding in self.findings
            if finding.fix is not None and finding.query is not None
        )
        old = self.questions
        judged = judgments_by_query(old.qrels)
        kept = {query for query in judged if all(change.judgment is not None for change in done.get(query, ()))}
        made = [f"{query!r}: {change.apply}" for query, changes in done.items() for change in _effective(changes)]
        groups = as_qrels(old).groups()
        qrels = judged | {query: _repaired(groups[query], changes) for query, changes in done.items()}
        return replace(select_queries(replace(old, qrels=qrels), kept), changes=(*old.changes, *made))

    def to_pandas(self) -> pd.DataFrame:
        """Return a DataFrame with one row per finding: `name`, `query`, `severity`, `message`, `evidence`, `fix`.

        Raises:
            ImportError: If pandas is not installed; the message holds the command.
        """
        return to_data_frame(self.rows(), COLUMNS)

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
        counted = ", ".join(numbers.format_count(found[severity], severity) for severity in severities)
        return f"<Lint of {len(self.questions)} questions: {counted}>"

    def _tables(self) -> list[Table]:
        rows = [[name, MEANING[name][0], str(count), MEANING[name][1]] for name, count in self.counts.items()]
        notes = []
        for name, count in self.counts.items():
            notes += [
                f"{name}{'' if finding.query is None else f' {finding.query!r}'}: {finding.message}"
                for finding in self.named(name)[:SHOWN]
            ]
            if count > SHOWN:
                notes.append(f"  and {count - SHOWN} more, in {python_or_cli_text('.to_pandas()', '--format csv')}")
        repairs = sum(finding.fix is not None for finding in self.findings)
        if repairs:
            notes.append(
                f"{numbers.format_count(repairs, 'repair')} {'is' if repairs == 1 else 'are'} safe"
                + python_or_cli_text(": .fixed() makes them")
            )
        notes += [f"unchecked: {sentence}" for sentence in self.skipped]
        n_findings = numbers.format_count(len(self.findings), "finding")
        title = f"{numbers.format_count(len(self.questions), 'question')}, {n_findings}"
        return [Table(["finding", "severity", "n", "meaning"] if rows else [], rows, notes, title, (0, 1, 3))]


def _done(finding: LintFinding) -> str | None:
    return None if finding.fix is None else finding.fix.apply


def _effective(changes: Sequence[LintFix]) -> Sequence[LintFix]:
    """Return the changes of a question that are made; if it is removed, no others are."""
    return [change for change in changes if change.judgment is None][:1] or changes


def _repaired(groups: Sequence[Mapping[Any, float]], changes: Sequence[LintFix]) -> Any:
    """Return the judgments of a question with the changes applied: grades, or groups if there are alternatives."""
    for change in changes:
        groups = [_changed(group, change) for group in groups]
    groups = [group for group in groups if group]
    grades = {judged: grade for group in groups for judged, grade in group.items()}
    return grades if len(grades) == len(groups) and all(len(group) == 1 for group in groups) else groups


def _changed(group: Mapping[Any, float], change: LintFix) -> dict[Any, float]:
    changed: dict[Any, float] = {}
    for judged, grade in group.items():
        for now in change.by if judged == change.judgment else (judged,):
            changed[now] = max(grade, changed.get(now, grade))
    return changed


@dataclass(frozen=True)
class LintInput:
    """An evaluation set with its corpus and runs, as far as there are any.

    Attributes:
        texts: The text of each question, by query id.
        qrels: The judgments.
        passages: The corpus.
        runs: The runs, by name.
        sources: The document that each question comes from, as far as it is known.
    """

    texts: Mapping[Any, str]
    qrels: Qrels
    passages: CorpusIndex | None = None
    runs: Mapping[str, Any] = field(default_factory=dict)
    sources: Mapping[QueryId, str] = field(default_factory=dict)

    @cached_property
    def queries(self) -> list[QueryId]:
        """The ids of the questions that have a text."""
        return [query for query in self.qrels.queries if query in self.texts]

    @cached_property
    def words(self) -> dict[Any, list[str]]:
        """The words of each question."""
        return {query: words(self.texts[query]) for query in self.queries}

    @cached_property
    def content(self) -> dict[Any, list[str]]:
        """The stems of the content words of each question."""
        return {query: content_words(tokens) for query, tokens in self.words.items()}

    @cached_property
    def graded(self) -> dict[Any, dict[Any, float]]:
        """The grade of each judged document and piece, by query id."""
        return self.qrels.graded()

    @cached_property
    def relevant(self) -> dict[Any, dict[Any, float]]:
        """The grades of what is relevant to each question, by query id, in the order of the judgments."""
        return {
            query: {judged: grade for judged, grade in grades.items() if grade > 0}
            for query, grades in self.graded.items()
        }

    def groups(self, query: QueryId) -> list[dict[Any, float]]:
        """Return the groups of a question: alternatives with their grades; a flat judgment is a group of one."""
        return self._groups[query]

    @cached_property
    def _groups(self) -> dict[Any, list[dict[Any, float]]]:
        return self.qrels.groups()

    def text_of(self, judged: Any) -> str | None:
        """Return the text of what is judged, if it is known."""
        if isinstance(judged, (Quote, Text)):
            return judged.text
        if self.passages is None:
            return None
        if isinstance(judged, Span):
            source = self.passages.sources.get(judged.source)
            return None if source is None or judged.end > len(source) else source[judged.start : judged.end]
        item = self.passages.by_id.get(judged) if isinstance(judged, (str, int)) else None
        return None if item is None else item.text

    def values(self, metric: Metric) -> dict[str, FloatArray]:
        """Return a metric of each query, by run."""
        return {name: score(judged, metric, STANDARD).values for name, judged in self._judged.items()}

    @cached_property
    def _judged(self) -> dict[str, JudgedRun]:
        match: Any = "id"
        if self.qrels.has_pieces:
            match = Matching(sources=None if self.passages is None else self.passages.sources, min_quote_length=1)
        return {name: judge(self.qrels, run, match, STANDARD.order) for name, run in self.runs.items()}
