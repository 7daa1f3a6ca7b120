"""Aliases of plain types: ids and arrays."""

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt

    FloatArray: TypeAlias = npt.NDArray[np.float64]
    IntArray: TypeAlias = npt.NDArray[np.int64]
    BoolArray: TypeAlias = npt.NDArray[np.bool_]

    Cut: TypeAlias = int | IntArray | None
    """How many of the first items count: one number for all queries, one for each query, or all items (None)."""

    Gains: TypeAlias = Sequence[float | None] | npt.NDArray[Any]
    """One ranking as grades in rank order; None means not judged."""

QueryId: TypeAlias = str | int
DocumentId: TypeAlias = str | int
