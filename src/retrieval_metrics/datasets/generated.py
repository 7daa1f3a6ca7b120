"""The result of a generation: the questions, the rejected ones with reasons, and the calls."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from retrieval_metrics._internal.validation import to_data_frame
from retrieval_metrics.datasets.prompts import KINDS
from retrieval_metrics.inputs.items import Quote
from retrieval_metrics.inputs.qrels import judgments_by_query
from retrieval_metrics.reports.tables import Printed, Table, shorten

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from retrieval_metrics.datasets.evaluation_set import EvaluationSet
    from retrieval_metrics.datasets.llm_client import Calls
    from retrieval_metrics.datasets.llm_questions import CheckResults


PAGE = 10
"""The lowest rank that is counted apart: the first page of what is found."""

COLUMNS = (
    "query",
    "question",
    "kind",
    "source",
    "outcome",
    "message",
    "bm25_rank",
    "overlap",
    "groups",
    "quotes",
    "answer",
)


@dataclass(frozen=True, slots=True)
class RejectedQuestion:
    """A rejected question, or an unusable reply.

    Attributes:
        reason: The reason in a few words, by which rejections are counted, such as `quote not found`.
        message: The reason in a sentence.
        kind: The kind of question that was asked for.
        sources: The documents that it was to be made from.
        question: The question; None if the reply held none.
        reply: The reply of the model, if it could not be used.
    """

    reason: str
    message: str
    kind: str
    sources: tuple[str, ...]
    question: str | None = None
    reply: str | None = None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class GeneratedQuestions(Printed):
    """Questions written by a model and verified against their corpus.

    Printing shows how many there are of each kind, and why others were rejected.

    Attributes:
        questions: The questions, with their judgments and provenance.
        rejected: The rejected questions, in the order of rejection.
        calls: The calls of the model.
        stop_reason: Why there are fewer questions than wanted; None if there are not.
        requested: How many questions of each kind were wanted.
        documents: How many documents they are made of, and how many there are.
        clusters: Likewise of clusters of content.
        findings: What the checks have found besides.
    """

    questions: EvaluationSet
    rejected: Sequence[RejectedQuestion]
    calls: Calls
    stop_reason: str | None
    requested: Mapping[str, int]
    documents: tuple[int, int]
    clusters: tuple[int, int]
    findings: CheckResults

    @property
    def reasons(self) -> dict[str, int]:
        """The number of rejected questions for each reason, the most frequent first."""
        return dict(Counter(one.reason for one in self.rejected).most_common())

    def __len__(self) -> int:
        return len(self.questions)

    def __repr__(self) -> str:
        return f"<GeneratedQuestions: {len(self.questions)} questions, {len(self.rejected)} rejected>"

    def to_pandas(self) -> pd.DataFrame:
        """Return a DataFrame with one row per question, first those of the set and then the rejected ones.

        The columns are `query`, `question`, `kind`, `source`, `outcome` (`accepted`, or the reason), `message`,
        `bm25_rank`, `overlap`, `groups` (how many groups are needed), `quotes` and `answer`.

        Raises:
            ImportError: If pandas is not installed; the message holds the command.
        """
        return to_data_frame(self.rows(), COLUMNS)

    def rows(self) -> list[tuple[Any, ...]]:
        """Return one row per question, as in `to_pandas`."""
        rows: list[tuple[Any, ...]] = []
        texts: Mapping[Any, str] = self.questions.queries
        for query, groups in judgments_by_query(self.questions.qrels).items():
            made = self.questions.provenance[query]
            quotes = [one.text for group in groups for one in group if isinstance(one, Quote)]
            measured = [made.get(name) for name in ("bm25_rank", "overlap")]
            known = (query, texts[query], made.kind, made.source, "accepted", None)
            rows.append((*known, *measured, len(groups), quotes, self.questions.answers.get(query)))
        rows += [
            (None, one.question, one.kind, ", ".join(one.sources), one.reason, one.message, *[None] * 5)
            for one in self.rejected
        ]
        return rows

    def _tables(self) -> list[Table]:
        made = Counter(made.kind for made in self.questions.provenance.values())
        rejected = Counter(one.kind for one in self.rejected)
        rows = []
        for kind, count in self.requested.items():
            rows.append([kind, str(made[kind]), str(count), str(rejected[kind]), KINDS[kind]])
        title = f"{len(self.questions):,} questions of {sum(self.requested.values()):,} wanted"
        header = ["kind", "made", "wanted", "rejected", "meaning"]
        tables = [Table(header, rows, self._notes(), title, (0, -1))]
        if self.rejected:
            first = {one.reason: one.message for one in reversed(self.rejected)}
            counted = [[reason, str(count), shorten(first[reason], 100)] for reason, count in self.reasons.items()]
            tables.append(Table(["rejected because", "n", "for example"], counted, (), "", (0, 2)))
        return tables

    def _notes(self) -> list[str]:
        (used, documents), (covered, clusters), findings = self.documents, self.clusters, self.findings
        notes = [
            f"made of {used:,} of {documents:,} documents, and of {covered:,} of {clusters:,} clusters of content",
        ]
        if findings.others or findings.refused:
            notes.append(
                f"{findings.others:,} other passages answer a question too and are judged; {findings.refused:,} more "
                "were named, but do not answer alone"
            )
        if findings.unseen:
            notes.append(
                f"{findings.unseen:,} times it is unknown which other passages answer, because no reply could be used"
            )
        ranks: list[Any] = [
            made.get("bm25_rank") or math.inf
            for query, made in self.questions.provenance.items()
            if query not in self.questions.unanswerable
        ]
        if ranks:
            first, page = sum(rank == 1 for rank in ranks), sum(1 < rank <= PAGE for rank in ranks)
            notes.append(
                f"BM25 ranks what answers them first for {first:,}, 2 to {PAGE} for {page:,}, and lower or not at all "
                f"for {len(ranks) - first - page:,}"
            )
        if self.questions.answers or findings.unsupported:
            left_out = f"; {findings.unsupported:,} were left out, because it could not be confirmed that they do"
            notes.append(
                f"{len(self.questions.answers):,} have a reference answer that says what their quotes say"
                f"{left_out if findings.unsupported else ''}"
            )
        notes.append(str(self.calls))
        if findings.of_the_model is not None:
            notes.append(findings.of_the_model)
        if self.stop_reason is not None:
            notes.append(f"there are fewer than wanted: {self.stop_reason}")
        if len(self.questions):
            notes.append("a model wrote them and a model checked them: have people read a sample before you rely on it")
        return notes
