"""Judgments passed to a metric instead of written into every row."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

import retrieval_metrics as rm
from ragas_retrieval_metrics.retrieved import RetrievedDataset

if TYPE_CHECKING:
    from ragas_retrieval_metrics.names import By
    from ragas_retrieval_metrics.rows import Row
    from retrieval_metrics.types import QrelsMapping


Judged: TypeAlias = "QrelsMapping | rm.Qrels | rm.EvaluationSet | RetrievedDataset"
"""The values of `qrels=`: judgments by the text of the query, or objects with such judgments."""


class References:
    """The judgments of all queries, by the text of the query.

    Attributes:
        given: The object from which they were read.
        truth: The judgments in columns.
        retrieved: The retrieved items per query, with offsets and sources, if a dataset has them.
        errors: The exceptions of the retriever, by query id, if a dataset has them.
        provenance: Where the questions come from, by query id, if it is known.
        match: How what was retrieved is matched: with the texts of the sources, if the questions keep them.
    """

    def __init__(self, truth: rm.Qrels, given: Judged) -> None:
        self.given = given
        self.retrieved: Mapping[str, Sequence[rm.Retrieved]] = {}
        self.errors: Mapping[Any, Exception] = {}
        self.provenance: Mapping[Any, rm.Provenance] = {}
        self.match: str | rm.Matching = "id"
        self._names: Mapping[str, Any] = {}
        self.truth = truth
        if isinstance(given, RetrievedDataset):
            questions, run = _of_conversion(given)
            texts: Mapping[Any, str] = questions.queries
            self.retrieved = {text: run[query] for query, text in texts.items() if query in run}
            self.errors = run.errors
        if isinstance(given, (RetrievedDataset, rm.EvaluationSet)):
            self._names = {text: query for query, text in _questions(given).queries.items()}
            self.provenance = _questions(given).provenance
            if (kept := _questions(given).sources) is not None and kept.texts:
                self.match = rm.Matching(sources=kept.texts)

    @classmethod
    def of(cls, qrels: Judged | References | None, by: By) -> References | None:
        """Read judgments, keyed by `user_input`; None if there are none.

        Raises:
            ValueError: If `by` is `auto`, so that ids could silently be compared with texts, if quotes would be
                compared with ids, or two queries of an `EvaluationSet` have the same text.
        """
        if qrels is None:
            return None
        if by == "auto":
            raise ValueError(
                "with qrels=, pass by='ids' or by='texts', whichever they hold; by='auto' depends on the row"
            )
        read = qrels if isinstance(qrels, References) else cls(as_references(qrels), qrels)
        if by == "ids" and read.truth.has_pieces and not read.retrieved:
            piece = next(document for document in read.truth.documents if not isinstance(document, (str, int)))
            raise ValueError(f"qrels= holds {piece!r}, which is matched with texts; compare them with by='texts'")
        return read

    @cached_property
    def fingerprint(self) -> str:
        """A short text that differs between other judgments, for the names of metrics."""
        truth, found = self.truth, sha256()
        for part in (truth.queries, truth.documents):
            found.update("\n".join(map(repr, part)).encode(errors="backslashreplace"))
        for column in (truth.member_document, truth.member_group, truth.member_grade):
            found.update(column.tobytes())
        return found.hexdigest()[:8]

    def of_query(self, row: Row) -> Any:
        """Return the judgments of a row; None if its query is not judged.

        Raises:
            ValueError: If the row has no query.
        """
        if row.user_input is None:
            raise ValueError("qrels= is keyed by user_input, which this row does not have; pass user_input=...")
        place = self.truth.place.get(row.user_input)
        return None if place is None else self.truth.judgments(place)

    def items_of(self, row: Row) -> Sequence[rm.Retrieved] | None:
        """Return what was retrieved for a row; None if it is unknown, or a column of the row differs."""
        items = None if row.user_input is None else self.retrieved.get(row.user_input)
        if items is None:
            return None
        ids, texts = row.retrieved_context_ids, row.retrieved_contexts
        same = ids is None or list(ids) == [item.id for item in items]
        return items if same and (texts is None or list(texts) == [item.text or "" for item in items]) else None

    def name_of(self, row: Row) -> Any:
        """Return the id of the query of a row, or its text if it has none."""
        return self._names.get(row.user_input, row.user_input) if row.user_input is not None else None

    def warn_of_unjudged(self, queries: Sequence[str | None], stacklevel: int = 2) -> None:
        """Warn of queries without judgments."""
        known = ", ".join(map(repr, islice(self.truth.place, 3)))
        others = f", and {len(queries) - 1} more" if len(queries) > 1 else ""
        warnings.warn(
            f"qrels= has no user_input {queries[0]!r}{others}; they are keyed by the text of the query and "
            f"begin with {known}",
            rm.RetrievalWarning,
            stacklevel=stacklevel + 1,
        )


def as_references(qrels: Judged) -> rm.Qrels:
    """Return judgments by the text of the query, in columns.

    Raises:
        ValueError: If two queries of an `EvaluationSet` have the same text and different judgments.
    """
    if isinstance(qrels, (RetrievedDataset, rm.EvaluationSet)):
        return rm.Qrels(_by_text(_questions(qrels)))
    return qrels if isinstance(qrels, rm.Qrels) else rm.Qrels(qrels)


def _questions(given: RetrievedDataset | rm.EvaluationSet) -> rm.EvaluationSet:
    return _of_conversion(given)[0] if isinstance(given, RetrievedDataset) else given


def _of_conversion(dataset: RetrievedDataset) -> tuple[rm.EvaluationSet, rm.RetrievedRun]:
    if dataset.questions is None or dataset.run is None:
        raise ValueError(
            "this RetrievedDataset has only rows; create a whole one with from_langchain or from_llama_index"
        )
    return dataset.questions, dataset.run


def as_pieces(judgments: Any) -> Any:
    """Return judgments by texts as pieces of the core: a string is the whole text of a reference.

    Raises:
        TypeError: If something is neither a string, an `rm.Text` nor an `rm.Quote`; spans and metadata need more than
            the retrieved texts.
    """
    if isinstance(judgments, Mapping):
        return {_piece(text): grade for text, grade in judgments.items()}
    return [
        as_pieces(entry) if isinstance(entry, (Mapping, list, tuple, set, frozenset)) else _piece(entry)
        for entry in judgments
    ]


def _piece(text: Any) -> rm.Text | rm.Quote:
    if isinstance(text, (rm.Text, rm.Quote)):
        return text
    if isinstance(text, (rm.Span, rm.Metadata)):
        raise TypeError(
            f"{text!r} is compared with the place or the metadata of what was retrieved, which a row of ragas does "
            "not have; pass the dataset from from_langchain or from_llama_index to the metrics: qrels=dataset"
        )
    if not isinstance(text, str):
        raise TypeError(f"by='texts' compares texts: a reference must be a str, rm.Text or rm.Quote, got {text!r}")
    return rm.Text(text)


def as_items(texts: Any) -> list[rm.Retrieved]:
    """Return retrieved texts as items of the core, in which equal texts are repeats.

    Raises:
        TypeError: If they have no order, or one is not a text.
    """
    if not isinstance(texts, Sequence):
        raise TypeError(f"retrieved_contexts must be a list of texts, best first, got {type(texts).__name__}")
    for rank, text in enumerate(texts, start=1):
        if not isinstance(text, str):
            raise TypeError(f"retrieved_contexts must hold texts, got {text!r} ({type(text).__name__}) at rank {rank}")
    return [rm.Retrieved(str(text), str(text)) for text in texts]


def _by_text(questions: rm.EvaluationSet) -> dict[str, Any]:
    texts: dict[str, Any] = {}
    queries: dict[Any, str] = dict(questions.queries)
    qrels: dict[Any, Any] = dict(questions.qrels)
    for query, text in queries.items():
        if text in texts and texts[text] != qrels[query]:
            raise ValueError(
                f"two queries with different judgments have the same text {text!r}, which a row cannot tell apart"
            )
        texts[text] = qrels[query]
    return texts
