"""The numbers that rerankers receive, checked and scaled, and what they return."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from reprlib import repr as shortened
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import numpy as np
from numpy import typing as npt

from retrieval_metrics._internal.validation import positive_integer, proportion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from retrieval_metrics._internal.validation import FloatArray


Vectors: TypeAlias = npt.NDArray[np.floating[Any]]  # float32 or float64
Indices: TypeAlias = npt.NDArray[np.intp]


def cutoff(k: int | None, n: int) -> int:
    """Return the number of candidates to select: `k`, or `n` if `k` is None or larger."""
    return n if k is None else min(positive_integer(k, "k", or_none=True), n)


def as_lambda(lambda_mult: float) -> float:
    """Return `lambda_mult` as a float from 0 to 1."""
    return proportion(lambda_mult, "lambda_mult", allow_zero=True, allow_one=True)


def matrix(values: npt.ArrayLike, what: str) -> Vectors:
    """Return vectors as the rows of an array, shape (n, d): float32 as float32, everything else as float64."""
    array = _from_lists(values)
    if array is None:
        array = _array(values, what)
    if array.shape == (0,):
        return array.reshape(0, 1)
    if array.ndim != 2 or array.shape[1] == 0:  # the two of (n, d)
        raise ValueError(f"{what} must be a list of vectors, shape (n, d), got shape {array.shape}")
    return array


def vector(values: npt.ArrayLike, what: str, d: int | None = None) -> FloatArray:
    """Return one vector, of `d` numbers if `d` is given, as a float64 array."""
    array = _array(values, what)
    if array.ndim != 1 or not array.size:
        raise ValueError(f"{what} must be one vector, shape (d,), got shape {array.shape}")
    if d is not None and len(array) != d:
        raise ValueError(f"{what} has {len(array)} dimensions but its candidates have {d}; embed both with one model")
    require_finite(array, what)
    return array.astype(np.float64)


def as_numbers(values: npt.ArrayLike, what: str, shape: tuple[int, ...] | None = None) -> Vectors:
    """Return finite numbers of a shape, or of any shape (n,): float32 as float32, everything else as float64."""
    array = _array(values, what)
    if shape is None and array.ndim != 1:
        raise ValueError(f"{what} must be a list of numbers, shape (n,), got shape {array.shape}")
    if shape is not None and array.shape != shape:
        raise ValueError(f"{what} must have shape {shape} for {shape[0]} candidates, got shape {array.shape}")
    require_finite(array, what)
    return array


def require_finite(array: Vectors, what: str, rows: Indices | None = None) -> None:
    """Raise if a number is NaN or infinite; if `array` holds some rows of another, `rows` are their indices there."""
    finite = np.isfinite(array)
    if finite.all():
        return
    place = np.argwhere(~finite)[0].tolist()
    received = array[tuple(place)]
    if rows is not None:
        place[0] = int(rows[place[0]])
    raise ValueError(f"{what}[{', '.join(map(str, place))}] is {received}, but every number must be finite")


def _from_lists(values: Any) -> Vectors | None:
    """Convert lists of Python numbers, in half of numpy's time; return None for anything else."""
    if not (isinstance(values, list) and values and isinstance(values[0], list) and values[0]):
        return None
    d = len(values[0])
    pack = struct.Struct(f"{d}d").pack
    try:
        packed = b"".join([pack(*row) for row in values])
    except (struct.error, TypeError, OverflowError):
        return None
    return np.frombuffer(packed, dtype=np.float64).reshape(len(values), d)


def _array(values: npt.ArrayLike, what: str) -> Vectors:
    try:
        array = np.asarray(values)
    except ValueError:  # rows of different lengths; numpy's message does not say which
        array = _row_by_row(values, what)
    if array.dtype.kind not in "fiub":
        array = _row_by_row(values, what)
    single = array.dtype.kind == "f" and array.dtype.itemsize <= np.dtype(np.float32).itemsize
    return np.asarray(array, dtype=np.float32 if single else np.float64, order="C")


def _row_by_row(values: Any, what: str) -> FloatArray:
    """Convert row by row what numpy cannot convert as a whole, or name the first invalid row."""
    if not isinstance(values, Iterable) or isinstance(values, str | bytes):
        raise TypeError(f"{what} must be numbers, got {shortened(values)}")
    rows: list[FloatArray] = []
    for index, row in enumerate(values):
        rows.append(_row(row, f"{what}[{index}]"))
        if rows[-1].shape != rows[0].shape:
            raise ValueError(
                f"{what}[{index}] has shape {rows[-1].shape} but {what}[0] has shape {rows[0].shape}; "
                "all must have the same length"
            )
    return np.array(rows, dtype=np.float64)


def _row(row: Any, what: str) -> FloatArray:
    if row is None:
        raise TypeError(f"{what} must be numbers, got None (a missing embedding?)")
    try:
        array = np.asarray(row)
        if array.dtype.kind in "fiub" or (array.dtype.kind == "O" and None not in array):
            return array.astype(np.float64)  # numpy would convert text to numbers and None to NaN
    except (TypeError, ValueError):
        pass
    raise TypeError(f"{what} must be numbers, got {shortened(row)}")


# Convert the scores or ranks of a retriever to relevance between 0 and 1, comparable with cosines.

DocumentT = TypeVar("DocumentT")


def scaled(scores: FloatArray) -> FloatArray:
    """Return the scores scaled so that the lowest is 0 and the highest 1; if all are equal, all are 1.

    Example:
        >>> scaled(np.array([10.0, 20.0, 12.5])).tolist()
        [0.0, 1.0, 0.25]
    """
    if not len(scores):
        return scores
    low, high = scores.min() / 2, scores.max() / 2  # halves: the difference of two large scores may overflow
    result: FloatArray = (scores / 2 - low) / (high - low) if low < high else np.ones_like(scores)
    return result


def by_rank(n: int) -> FloatArray:
    """Return a relevance that falls in equal steps from 1 for the first of `n` documents to 0 for the last.

    Example:
        >>> by_rank(3).tolist()
        [1.0, 0.5, 0.0]
    """
    return scaled(-np.arange(n, dtype=np.float64))


def relevance_by(
    kind: Literal["query", "score", "rank"], documents: Sequence[DocumentT], score_of: Callable[[DocumentT], float]
) -> FloatArray | None:
    """Return the relevance that `mmr` takes for the documents of a host, best first.

    Args:
        kind: `"score"` scales the scores of the documents to [0, 1], `"rank"` takes their order, and `"query"` leaves
            relevance to the vector of the query: None.
        documents: The documents.
        score_of: Returns the score of a document, or raises if it has none.

    Raises:
        ValueError: If the scores never fall and the last is above the first: distances, of which the smallest is best.

    Example:
        >>> relevance_by("rank", ["d1", "d7"], float)
        array([1., 0.])
    """
    if kind == "score":
        scores = np.array([score_of(document) for document in documents], dtype=np.float64)
        if len(scores) >= _TO_RISE and scores[-1] > scores[0] and (scores[1:] >= scores[:-1]).all():
            raise ValueError(
                f"relevance='score' takes the highest score for the best, but those of the {len(scores)} candidates, "
                f"best first, rise from {scores[0]:.4g} to {scores[-1]:.4g}: these look like distances; use "
                "relevance='rank', the order of the candidates, or score each with its negative distance"
            )
        return scaled(scores)
    return by_rank(len(documents)) if kind == "rank" else None


_TO_RISE = 3  # two candidates in the wrong order are no sign
_SHOWN = 8  # how many numbers `repr` prints before "..."


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
        indices = [str(index) for index in self.indices[:_SHOWN]]
        scores = [f"{score:.4g}" for score in self.scores[:_SHOWN]]
        more = ", ..." if len(self) > _SHOWN else ""
        return f"Selection(indices=[{', '.join(indices)}{more}], scores=[{', '.join(scores)}{more}])"
