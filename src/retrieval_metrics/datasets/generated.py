"""The result of a generation: the questions, the rejected ones with reasons, and the calls."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from retrieval_metrics._internal.optional_packages import to_data_frame
from retrieval_metrics.datasets.generation_wording import generation_notes
from retrieval_metrics.datasets.question_kinds import KINDS
from retrieval_metrics.inputs.pieces import Quote
from retrieval_metrics.inputs.qrels import judgments_by_query
from retrieval_metrics.reports.display_text import shorten
from retrieval_metrics.reports.tables import Printed, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from retrieval_metrics.datasets.call_budget import Calls
    from retrieval_metrics.datasets.candidate_checks import CheckResults
    from retrieval_metrics.datasets.evaluation_set import EvaluationSet


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
        sources: The documents it was to be written from.
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
        stop_reason: Why there are fewer questions than requested; None if there are not.
        requested: How many questions of each kind were requested.
        documents: How many documents the questions are made from, and how many the corpus has.
        clusters: How many clusters of content the questions are made from, and how many the corpus has.
        findings: The results of the checks.
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
        return dict(Counter(rejected.reason for rejected in self.rejected).most_common())

    def __len__(self) -> int:
        return len(self.questions)

    def __repr__(self) -> str:
        return f"<GeneratedQuestions: {len(self.questions)} questions, {len(self.rejected)} rejected>"

    def to_pandas(self) -> pd.DataFrame:
        """Return a DataFrame with one row per question, first those of the set and then the rejected ones.

        The columns are `query`, `question`, `kind`, `source`, `outcome` (`accepted`, or the reason), `message`,
        `bm25_rank`, `overlap`, `groups` (how many groups are needed), `quotes` and `answer`.

        Raises:
            ImportError: If pandas is not installed; the message contains the command.
        """
        return to_data_frame(self.rows(), COLUMNS)

    def rows(self) -> list[tuple[Any, ...]]:
        """Return one row per question, as in `to_pandas`."""
        texts: Mapping[Any, str] = self.questions.queries
        rows: list[tuple[Any, ...]] = []
        for query, groups in judgments_by_query(self.questions.qrels).items():
            provenance = self.questions.provenance[query]
            rows.append(
                (
                    query,
                    texts[query],
                    provenance.kind,
                    provenance.source,
                    "accepted",
                    None,
                    provenance.get("bm25_rank"),
                    provenance.get("overlap"),
                    len(groups),
                    _list_quotes(groups),
                    self.questions.answers.get(query),
                )
            )
        for rejected in self.rejected:
            sources = ", ".join(rejected.sources)
            row = (None, rejected.question, rejected.kind, sources, rejected.reason, rejected.message)
            rows.append(row + (None,) * (len(COLUMNS) - len(row)))
        return rows

    def _tables(self) -> list[Table]:
        n_made = Counter(provenance.kind for provenance in self.questions.provenance.values())
        n_rejected = Counter(rejected.kind for rejected in self.rejected)
        rows = []
        for kind, n_wanted in self.requested.items():
            rows.append([kind, str(n_made[kind]), str(n_wanted), str(n_rejected[kind]), KINDS[kind]])
        title = f"{len(self.questions):,} of {sum(self.requested.values()):,} requested questions"
        header = ["kind", "made", "requested", "rejected", "meaning"]
        tables = [Table(header, rows, generation_notes(self), title, words=(0, -1))]
        if self.rejected:
            tables.append(self._reason_table())
        return tables

    def _reason_table(self) -> Table:
        first_messages: dict[str, str] = {}
        for rejected in self.rejected:
            first_messages.setdefault(rejected.reason, rejected.message)
        rows = [[reason, str(count), shorten(first_messages[reason], 100)] for reason, count in self.reasons.items()]
        return Table(["rejected because", "n", "for example"], rows, words=(0, 2))


def _list_quotes(groups: Any) -> list[str]:
    quotes = []
    for group in groups:
        quotes += [judged.text for judged in group if isinstance(judged, Quote)]
    return quotes
