"""Judgments that are passed as `qrels=`, by the text of the query, instead of standing in the rows."""

from __future__ import annotations

from functools import cached_property
from hashlib import sha256
from itertools import islice
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import retrieval_metrics as rm
from ragas_retrieval_metrics.retrieved_dataset import RetrievedDataset
from retrieval_metrics.integration_api import warn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragas_retrieval_metrics.metric_names import By
    from ragas_retrieval_metrics.rows import Row
    from retrieval_metrics.types import Judgments, QrelsMapping, QueryId

# How much of the digest of judgments stands in the name of a metric.
N_FINGERPRINT_DIGITS = 8

# How many judged queries a warning about unjudged ones names.
MAX_SHOWN_QUERIES = 3

# The values of `qrels=`: judgments by the text of the query, or objects with such judgments.
JudgmentSource: TypeAlias = "QrelsMapping | rm.Qrels | rm.EvaluationSet | RetrievedDataset"


class References:
    """The judgments of all queries, by the text of the query.

    Attributes:
        source: The object from which they were read.
        qrels: The judgments in columns.
        retrieved: What was retrieved for each query, by its text; empty unless a converted dataset knows it.
        errors: The queries whose retriever failed, by query id.
        provenance: Where the questions come from, by query id.
        match: How judgments and retrieved documents are matched.
    """

    def __init__(self, qrels: rm.Qrels, source: JudgmentSource) -> None:
        self.source = source
        self.qrels = qrels
        self.retrieved: Mapping[str, Sequence[rm.Retrieved]] = {}
        self.errors: Mapping[Any, Exception] = {}
        self.provenance: Mapping[Any, rm.Provenance] = {}
        self.match: str | rm.Matching = "id"
        self._query_ids: Mapping[str, Any] = {}
        if isinstance(source, RetrievedDataset):
            self._take_retrieved(source)
        if isinstance(source, (RetrievedDataset, rm.EvaluationSet)):
            self._take_questions(_questions_in(source))

    def _take_retrieved(self, dataset: RetrievedDataset) -> None:
        run = _require_run(dataset)
        texts: Mapping[Any, str] = _require_questions(dataset).queries
        retrieved: dict[str, Sequence[rm.Retrieved]] = {}
        for query, text in texts.items():
            if query in run:
                retrieved[text] = run[query]
        self.retrieved = retrieved
        self.errors = run.errors

    def _take_questions(self, questions: rm.EvaluationSet) -> None:
        self._query_ids = {text: query for query, text in questions.queries.items()}
        self.provenance = questions.provenance
        if questions.sources is not None and questions.sources.texts:
            self.match = rm.Matching(sources=questions.sources.texts)

    @classmethod
    def read(cls, qrels: JudgmentSource | References | None, by: By) -> References | None:
        """Read judgments, keyed by `user_input`; None if there are none."""
        if qrels is None:
            return None
        references = qrels if isinstance(qrels, References) else cls(_read_qrels(qrels), qrels)
        if by == "ids" and references.qrels.has_pieces and not references.retrieved:
            piece = next(document for document in references.qrels.documents if not isinstance(document, (str, int)))
            raise ValueError(f"qrels= holds {piece!r}, which is matched with texts; compare them with by='texts'")
        return references

    @property
    def has_query_ids(self) -> bool:
        """Whether queries have ids beside their texts."""
        return bool(self._query_ids)

    @cached_property
    def fingerprint(self) -> str:
        """A short digest of the judgments, for the names of metrics."""
        digest = sha256()
        for ids in (self.qrels.queries, self.qrels.documents):
            digest.update("\n".join(map(repr, ids)).encode(errors="backslashreplace"))
        for column in (self.qrels.member_document, self.qrels.member_group, self.qrels.member_grade):
            digest.update(column.tobytes())
        return digest.hexdigest()[:N_FINGERPRINT_DIGITS]

    def kind(self, by: By) -> By:
        """Return what is compared, `ids` or `texts`; `auto` takes texts if the judgments are pieces of text."""
        if by != "auto":
            return by
        return "texts" if self.qrels.has_pieces else "ids"

    def judgments_for(self, row: Row) -> Judgments | None:
        """Return the judgments of a row; None if its query is not judged."""
        if row.user_input is None:
            raise ValueError("qrels= is keyed by user_input, which this row does not have; pass user_input=...")
        position = self.qrels.place.get(row.user_input)
        return None if position is None else self.qrels.judgments(position)

    def retrieved_for(self, row: Row) -> Sequence[rm.Retrieved] | None:
        """Return the items retrieved for a row; None if they are unknown, or a column of the row was changed since."""
        if row.user_input is None:
            return None
        items = self.retrieved.get(row.user_input)
        if items is None:
            return None
        ids = row.retrieved_context_ids
        if ids is not None and list(ids) != [item.id for item in items]:
            return None
        texts = row.retrieved_contexts
        if texts is not None and list(texts) != [item.text or "" for item in items]:
            return None
        return items

    def query_id(self, row: Row) -> QueryId | None:
        """Return the id of the query of a row, or its text if it has none."""
        if row.user_input is None:
            return None
        query: QueryId = self._query_ids.get(row.user_input, row.user_input)
        return query

    def warn_about_unjudged(self, queries: Sequence[str | None]) -> None:
        """Warn about queries without judgments."""
        first_judged = ", ".join(map(repr, islice(self.qrels.place, MAX_SHOWN_QUERIES)))
        more_note = f", and {len(queries) - 1} more" if len(queries) > 1 else ""
        warn(
            f"qrels= has no user_input {queries[0]!r}{more_note}; they are keyed by the text of the query and "
            f"begin with {first_judged}",
            host="ragas",
        )


def _read_qrels(source: JudgmentSource) -> rm.Qrels:
    if isinstance(source, (RetrievedDataset, rm.EvaluationSet)):
        return rm.Qrels(_judgments_by_text(_questions_in(source)))
    return source if isinstance(source, rm.Qrels) else rm.Qrels(source)


def _questions_in(source: RetrievedDataset | rm.EvaluationSet) -> rm.EvaluationSet:
    return _require_questions(source) if isinstance(source, RetrievedDataset) else source


def _require_questions(dataset: RetrievedDataset) -> rm.EvaluationSet:
    if dataset.questions is None or dataset.run is None:
        _refuse_bare_rows()
    return dataset.questions


def _require_run(dataset: RetrievedDataset) -> rm.RetrievedRun:
    if dataset.questions is None or dataset.run is None:
        _refuse_bare_rows()
    return dataset.run


def _refuse_bare_rows() -> NoReturn:
    raise ValueError("this RetrievedDataset has only rows; create a whole one with from_langchain or from_llama_index")


def _judgments_by_text(questions: rm.EvaluationSet) -> dict[str, Any]:
    judgments_by_text: dict[str, Any] = {}
    queries: dict[Any, str] = dict(questions.queries)
    qrels: dict[Any, Any] = dict(questions.qrels)
    for query, text in queries.items():
        if text in judgments_by_text and judgments_by_text[text] != qrels[query]:
            raise ValueError(
                f"two queries with different judgments have the same text {text!r}, which a row cannot distinguish"
            )
        judgments_by_text[text] = qrels[query]
    return judgments_by_text
