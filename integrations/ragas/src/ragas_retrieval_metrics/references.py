"""What is relevant, given to a metric instead of written into every row."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import retrieval_metrics as rm
from retrieval_metrics.adapting import as_qrels

if TYPE_CHECKING:
    from ragas_retrieval_metrics.names import By
    from ragas_retrieval_metrics.row import Row
    from retrieval_metrics.adapting import QrelsMapping


class References:
    """The judgments of all queries, by the text of the query."""

    def __init__(self, qrels: rm.Qrels) -> None:
        self._qrels = qrels
        self._place = {query: place for place, query in enumerate(self._qrels.queries)}

    @classmethod
    def of(cls, qrels: QrelsMapping | rm.Qrels | rm.EvaluationSet | None, by: By) -> References | None:
        """Read judgments, keyed by `user_input`; None where there are none.

        Raises:
            ValueError: If what is compared is left open, so that ids could silently be compared with texts, if quotes
                are to be compared with ids, or two queries of an `EvaluationSet` have the same text.
        """
        if qrels is None:
            return None
        if by == "auto":
            raise ValueError(
                "with qrels= say what they hold: by='ids' or by='texts'; by='auto' looks at the columns of a row"
            )
        truth = as_references(qrels)
        if by == "ids" and truth.has_pieces:
            piece = next(document for document in truth.documents if not isinstance(document, (str, int)))
            raise ValueError(f"the qrels hold {piece!r}, which is matched with texts; compare them with by='texts'")
        return cls(truth)

    def of_query(self, row: Row) -> Any:
        """Return the judgments of a row; None if its query is not judged.

        Raises:
            ValueError: If the row has no query.

        Warns:
            RetrievalWarning: If its query is not judged.
        """
        if row.user_input is None:
            raise ValueError("qrels are keyed by user_input, which this row does not have; pass user_input=...")
        place = self._place.get(row.user_input)
        if place is None:
            known = ", ".join(map(repr, islice(self._place, 3)))
            warnings.warn(
                f"the qrels say nothing of user_input {row.user_input!r}; they are keyed by the text of the query and "
                f"begin with {known}",
                rm.RetrievalWarning,
                stacklevel=2,
            )
            return None
        return self._qrels.judgments(place)

    def scaled(self, metric: rm.Metric) -> rm.Metric:
        """Return the metric with the top of the scale of all judgments, which one row does not show."""
        if "max_grade" not in metric.definition.parameters or "max_grade" in dict(metric.parameters):
            return metric
        top = self._qrels.largest_grade or 1.0
        return rm.Metric.of(metric.name, metric.k, **dict(metric.parameters), max_grade=top)


def as_references(qrels: QrelsMapping | rm.Qrels | rm.EvaluationSet) -> rm.Qrels:
    """Return judgments by the text of the query, in columns.

    Raises:
        ValueError: If two queries of an `EvaluationSet` have the same text and different judgments.
    """
    return as_qrels(_by_text(qrels) if isinstance(qrels, rm.EvaluationSet) else qrels)


def as_pieces(judgments: Any) -> Any:
    """Return judgments that hold texts as pieces of the core: a string is the whole text of a reference.

    Raises:
        TypeError: If something is neither a string, an `rm.Text` nor an `rm.Quote`.
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
    if not isinstance(text, str):
        raise TypeError(f"by='texts' compares texts: a reference is a str, an rm.Text or an rm.Quote, got {text!r}")
    return rm.Text(text)


def as_items(texts: Any) -> list[rm.Retrieved]:
    """Return retrieved texts as items of the core, in which a text that comes again is a repeat.

    Raises:
        TypeError: If they have no order, or one is no text.
    """
    if not isinstance(texts, Sequence) and not hasattr(texts, "tolist"):
        raise TypeError(f"retrieved_contexts must be a list of texts, best first, got {type(texts).__name__}")
    for rank, text in enumerate(texts, start=1):
        if not isinstance(text, str):
            raise TypeError(f"retrieved_contexts must hold texts, got {text!r} ({type(text).__name__}) at rank {rank}")
    return [rm.Retrieved(str(text), str(text)) for text in texts]


def scale_known(metric: rm.Metric, judgments: Any) -> rm.Metric:
    """Return the metric if the judgments of one row are enough to know the scale it needs.

    Raises:
        ValueError: If they are graded, since the largest grade of one row is not the top of the scale.
    """
    graded = isinstance(judgments, Mapping) or any(isinstance(group, Mapping) for group in judgments)
    if graded and "max_grade" in metric.definition.parameters and "max_grade" not in dict(metric.parameters):
        raise ValueError(
            f"{metric.name} needs the top of the scale of grades, which one row does not show; say it with "
            "max_grade=..., or give the metric all judgments with qrels=..."
        )
    return metric


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
