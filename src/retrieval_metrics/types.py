"""Type aliases shared by all stages."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from retrieval_metrics.inputs.pieces import Metadata, Piece, Quote, Span, Text
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.inputs.questions import Questions
    from retrieval_metrics.inputs.retrieved import Retrieved

    FloatArray: TypeAlias = npt.NDArray[np.float64]
    IntArray: TypeAlias = npt.NDArray[np.int64]
    BoolArray: TypeAlias = npt.NDArray[np.bool_]

    Cut: TypeAlias = int | IntArray | None
    """How many of the first items count: one number for all queries, one for each query, or all items (None)."""

    Gains: TypeAlias = Sequence[float | None] | npt.NDArray[Any]
    """One ranking as grades in rank order; None means not judged."""

QueryId: TypeAlias = str | int
DocumentId: TypeAlias = str | int

# A mapping is invariant in its keys, so "str or int" must be a union of mappings, not a mapping of a union.
Scores: TypeAlias = Mapping[str, float] | Mapping[int, float]

Relevant: TypeAlias = "DocumentId | Piece"
"""What can be relevant: a document by its id, or a piece such as a quote."""

Grades: TypeAlias = (
    "Scores | Mapping[Quote, float] | Mapping[Text, float] | Mapping[Span, float] | Mapping[Metadata, float]"
    " | Mapping[Piece, float] | Mapping[Relevant, float]"
)

Group: TypeAlias = "Grades | Collection[Relevant]"
"""Alternatives of which one suffices: ids or pieces, with or without grades."""

Judgments: TypeAlias = "Grades | Collection[Relevant] | Sequence[Group]"
"""The judgments of one query: ids or pieces, with or without grades, or groups that are all needed."""

Ranking: TypeAlias = "Scores | Sequence[DocumentId] | Sequence[Retrieved]"
"""What was retrieved for one query: ids with scores, or ids or items, best first."""

QrelsMapping: TypeAlias = Mapping[str, Judgments] | Mapping[int, Judgments]
RunMapping: TypeAlias = Mapping[str, Ranking] | Mapping[int, Ranking]
QueryTexts: TypeAlias = Mapping[str, str] | Mapping[int, str]

QuestionsOrQrels: TypeAlias = "Questions | Qrels | QrelsMapping"
"""The judgments of all queries, alone or with the questions' texts and provenance."""
