"""Names of the types that travel between the stages."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    FloatArray: TypeAlias = npt.NDArray[np.float64]
    IntArray: TypeAlias = npt.NDArray[np.int64]
    BoolArray: TypeAlias = npt.NDArray[np.bool_]

    Gains: TypeAlias = Sequence[float | None] | npt.NDArray[Any]
    """One ranking as grades in rank order; None is not judged."""

QueryId: TypeAlias = str | int
DocumentId: TypeAlias = str | int

# A mapping is invariant in its keys, so that "str or int" is a union of mappings, not a mapping of a union.
Grades: TypeAlias = Mapping[str, float] | Mapping[int, float]

Group: TypeAlias = Grades | Collection[DocumentId]
"""Alternatives of which one suffices: ids with grades, or ids."""

Judgments: TypeAlias = Grades | Collection[DocumentId] | Sequence[Group]
"""What is true for one query: graded ids, ids, or groups that are all needed."""

Ranking: TypeAlias = Grades | Sequence[DocumentId]
"""What was retrieved for one query: ids with scores, or ids best first."""

QrelsMapping: TypeAlias = Mapping[str, Judgments] | Mapping[int, Judgments]
RunMapping: TypeAlias = Mapping[str, Ranking] | Mapping[int, Ranking]
QueryTexts: TypeAlias = Mapping[str, str] | Mapping[int, str]
