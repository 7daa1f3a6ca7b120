"""Find queries that are in several blocks: the workers bring equal digests together and compare them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    import numpy.typing as npt
    import polars as pl

TWICE = "is in these results twice, as when a result is joined with itself; every query must be there once"
PART, DIGESTS, HELD, REPEATED = "part", "digests", "held", "repeated"


def digests_of(queries: pa.ChunkedArray) -> npt.NDArray[np.uint64]:
    """Return sixteen bytes for each query of a block, shape (queries, 2): of a billion queries, no two have the same.

    Raises:
        ValueError: If a query is there twice.
    """
    import polars as pl  # noqa: PLC0415  (the core has read the rows with it)

    ids = cast("pl.Series", pl.from_arrow(queries))
    if (twice := ids.is_duplicated()).any():
        raise ValueError(f"query {ids.filter(twice)[0]!r} {TWICE}")
    return np.column_stack([ids.hash(seed=0).to_numpy(), ids.hash(seed=1).to_numpy()])


def in_parts(queries: pa.ChunkedArray, parts: int, held: bytes) -> pa.Table:
    """Return a row for each part of the digests of a block; the first also holds what is to reach the driver.

    Args:
        queries: The ids of the queries of the block.
        parts: The number of parts; equal queries of two blocks are in the same.
        held: What is to reach the driver.

    Raises:
        ValueError: If a query is in the block twice.
    """
    digests = digests_of(queries)
    part = (digests[:, 0] % np.uint64(parts)).astype(np.int64)
    order = np.argsort(part, kind="stable")
    split = np.split(digests[order], np.cumsum(np.bincount(part, minlength=parts))[:-1])
    return pa.table(
        {
            PART: pa.array(range(parts), pa.int64()),
            DIGESTS: pa.array([each.tobytes() for each in split], pa.large_binary()),
            HELD: pa.array([held, *[b""] * (parts - 1)], pa.large_binary()),
        }
    )


def repeats_in(rows: pa.Table) -> dict[str, list[Any]]:
    """Return what the blocks held, and how many rows of this part belong to a query that was there before."""
    if not len(rows):
        return {HELD: [], REPEATED: []}
    found = np.frombuffer(b"".join(rows[DIGESTS].to_pylist()), np.uint64).reshape(-1, 2)
    found = found[np.lexsort((found[:, 1], found[:, 0]))]
    repeated = int((found[1:] == found[:-1]).all(axis=1).sum())
    held = [each for each in rows[HELD].to_pylist() if each]
    return {HELD: [b"", *held], REPEATED: [repeated, *[0] * len(held)]}
