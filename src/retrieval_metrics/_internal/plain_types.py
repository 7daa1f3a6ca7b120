"""The types of ids, arrays and cutoffs that the whole package uses in annotations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy import typing as npt

    FloatArray: TypeAlias = npt.NDArray[np.float64]
    IntArray: TypeAlias = npt.NDArray[np.int64]
    BoolArray: TypeAlias = npt.NDArray[np.bool_]
    # How many of the first items count: one number for all queries, one for each query, or all items (None).
    Cut: TypeAlias = int | IntArray | None
    Gains: TypeAlias = Sequence[float | None] | npt.NDArray[Any]
    """One ranking as grades in rank order; None means not judged."""

QueryId: TypeAlias = str | int
DocumentId: TypeAlias = str | int
