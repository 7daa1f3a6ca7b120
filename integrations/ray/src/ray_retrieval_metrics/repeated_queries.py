"""Find queries that are in a result twice, from sixteen bytes per query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    import polars as pl
    from numpy import typing as npt

# The part of a message that says what is wrong with a repeated query.
REPEATED_NOTE = "is in these results twice, as when a result is joined with itself; every query must be there once"

# The columns of the rows that the workers exchange: the number of a part of all digests, these digests, the packed
# summary of a block (empty in most rows), and the number of repeated queries.
PART = "part"
DIGESTS = "digests"
SUMMARY = "summary"
N_REPEATED = "n_repeated"


def digest_queries(queries: pa.ChunkedArray) -> npt.NDArray[np.uint64]:
    """Return sixteen bytes per query, which differ even among a billion queries; raise if one is repeated."""
    import polars as pl

    ids = cast("pl.Series", pl.from_arrow(queries))
    is_repeated = ids.is_duplicated()
    if is_repeated.any():
        raise ValueError(f"query {ids.filter(is_repeated)[0]!r} {REPEATED_NOTE}")
    return np.column_stack([ids.hash(seed=0).to_numpy(), ids.hash(seed=1).to_numpy()])


def split_into_parts(queries: pa.ChunkedArray, n_parts: int, packed_summary: bytes) -> pa.Table:
    """Return a row for each part of the digests of a block; the first row also holds the summary for the driver."""
    digests = digest_queries(queries)
    part_of_query = (digests[:, 0] % np.uint64(n_parts)).astype(np.int64)
    order = np.argsort(part_of_query, kind="stable")
    ends = np.cumsum(np.bincount(part_of_query, minlength=n_parts))
    digests_by_part = np.split(digests[order], ends[:-1])
    no_summaries = [b""] * (n_parts - 1)
    return pa.table(
        {
            PART: pa.array(range(n_parts), pa.int64()),
            DIGESTS: pa.array([part_digests.tobytes() for part_digests in digests_by_part], pa.large_binary()),
            SUMMARY: pa.array([packed_summary, *no_summaries], pa.large_binary()),
        }
    )


def count_repeated_queries(rows: pa.Table) -> dict[str, list[Any]]:
    """Return the summaries in the rows of one part, and how many of its digests repeat another one."""
    if not len(rows):
        return {SUMMARY: [], N_REPEATED: []}
    digests = np.frombuffer(b"".join(rows[DIGESTS].to_pylist()), np.uint64).reshape(-1, 2)
    in_order = digests[np.lexsort((digests[:, 1], digests[:, 0]))]
    n_repeated = int((in_order[1:] == in_order[:-1]).all(axis=1).sum())
    summaries = [summary for summary in rows[SUMMARY].to_pylist() if summary]
    # The first row has the count, each further row a summary.
    return {SUMMARY: [b"", *summaries], N_REPEATED: [n_repeated, *[0] * len(summaries)]}
