"""What a reranker selects: positions of candidates with their scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy import typing as npt

# How many numbers `repr` prints before "...".
MAX_SHOWN = 8


@dataclass(frozen=True, eq=False, repr=False)
class Selection:
    """The selected candidates, best first.

    Iterating over it yields the positions as Python integers, so `[documents[i] for i in selection]` is the reranked
    list. Two selections are equal if all their positions and scores are.

    Attributes:
        indices: Positions in the list of candidates, in the order of selection; int64, shape (m,).
        scores: The score of each candidate when it was selected; float64, shape (m,). They may rise from one to the
            next, because each belongs to a different step.

    Example:
        >>> selection = Selection(np.array([2, 0]), np.array([0.5, 0.125]))
        >>> selection
        Selection(indices=[2, 0], scores=[0.5, 0.125])
        >>> [["a", "b", "c"][i] for i in selection], len(selection)
        (['c', 'a'], 2)
    """

    indices: npt.NDArray[np.int64]
    scores: npt.NDArray[np.float64]

    __hash__ = None  # type: ignore[assignment]  # arrays can change, so a selection is not a key

    @classmethod
    def of(cls, indices: npt.ArrayLike, scores: npt.ArrayLike) -> Selection:
        """Return the selection of some positions with their scores, given in any form."""
        return cls(np.asarray(indices, dtype=np.int64), np.asarray(scores, dtype=np.float64))

    def __len__(self) -> int:
        return len(self.indices)

    def __iter__(self) -> Iterator[int]:
        return iter(self.indices.tolist())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Selection):
            return NotImplemented
        return np.array_equal(self.indices, other.indices) and np.array_equal(self.scores, other.scores)

    def __repr__(self) -> str:
        indices = [str(index) for index in self.indices[:MAX_SHOWN]]
        scores = [f"{score:.4g}" for score in self.scores[:MAX_SHOWN]]
        ellipsis = ", ..." if len(self) > MAX_SHOWN else ""
        return f"Selection(indices=[{', '.join(indices)}{ellipsis}], scores=[{', '.join(scores)}{ellipsis}])"
