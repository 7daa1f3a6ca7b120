"""Aliases of the shapes in which judgments and runs are accepted."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from retrieval_metrics.checks import DocumentId
    from retrieval_metrics.inputs.pieces import Metadata, Piece, Quote, Span, Text
    from retrieval_metrics.inputs.retrieved import Retrieved

# A mapping is invariant in its keys, so "str or int" must be a union of mappings, not a mapping of a union.
NumberById: TypeAlias = Mapping[str, float] | Mapping[int, float]

Relevant: TypeAlias = "DocumentId | Piece"
"""What can be relevant: a document by its id, or a piece such as a quote."""

Grades: TypeAlias = (
    "NumberById | Mapping[Quote, float] | Mapping[Text, float] | Mapping[Span, float] | Mapping[Metadata, float]"
    " | Mapping[Piece, float] | Mapping[Relevant, float]"
)

Alternatives: TypeAlias = "Grades | Collection[Relevant]"
"""Alternatives of which one suffices: ids or pieces, with or without grades."""

Judgments: TypeAlias = "Grades | Collection[Relevant] | Sequence[Alternatives]"
"""The judgments of one query: ids or pieces, with or without grades, or groups that are all needed."""

Ranking: TypeAlias = "NumberById | Sequence[DocumentId] | Sequence[Retrieved]"
"""What was retrieved for one query: ids with scores, or ids or items, best first."""

QrelsMapping: TypeAlias = Mapping[str, Judgments] | Mapping[int, Judgments]
RunMapping: TypeAlias = Mapping[str, Ranking] | Mapping[int, Ranking]
QueryTexts: TypeAlias = Mapping[str, str] | Mapping[int, str]
