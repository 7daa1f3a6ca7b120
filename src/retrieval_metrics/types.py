"""Names of the types that travel between the stages."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    FloatArray: TypeAlias = npt.NDArray[np.float64]
    IntArray: TypeAlias = npt.NDArray[np.int64]
    BoolArray: TypeAlias = npt.NDArray[np.bool_]

QueryId: TypeAlias = str | int
DocumentId: TypeAlias = str | int

Group: TypeAlias = Mapping[DocumentId, float] | Collection[DocumentId]
"""Alternatives of which one suffices: ids, or ids with grades."""

Judgments: TypeAlias = Mapping[DocumentId, float] | Collection[DocumentId] | Sequence[Group]
"""What is true for one query: graded ids, ids, or groups that are all needed."""

Ranking: TypeAlias = Mapping[DocumentId, float] | Sequence[DocumentId]
"""What was retrieved for one query: ids with scores, or ids best first."""
