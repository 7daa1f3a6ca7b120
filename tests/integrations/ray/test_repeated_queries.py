"""Queries that are in a result twice are found."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from ray_hosts import dataset, run_rows
from ray_retrieval_metrics import evaluate_dataset, to_evaluation
from ray_retrieval_metrics.repeated_queries import count_repeated_queries, split_into_parts

QRELS: Any = {"q1": {"a": 1, "b": 2}, "q2": {"c": 1}}

RUN: Any = {"q1": {"x": 3.0, "b": 2.0, "a": 1.0}, "q2": {"c": 1.0}}


def test_a_result_joined_with_itself_is_refused() -> None:
    results = evaluate_dataset(QRELS, dataset(*run_rows(RUN)), "mrr").materialize()
    with pytest.raises(ValueError, match="2 of 4 rows belong to a query that is in these results twice"):
        to_evaluation(results.union(results))
    with pytest.raises(ValueError, match=r"query 'q.' is in these results twice"):
        to_evaluation(results.union(results).repartition(1))


def test_queries_that_agree_in_half_of_their_digest_are_two() -> None:
    def part_row(*digests: tuple[int, int]) -> dict[str, bytes]:
        return {"part": 0, "digests": np.array(digests, np.uint64).tobytes(), "summary": b"block"}  # type: ignore[dict-item]  # a row

    rows = [part_row((1, 5), (2, 6)), part_row((1, 7), (3, 5))]
    assert count_repeated_queries(pa.Table.from_pylist(rows)) == {
        "summary": [b"", b"block", b"block"],
        "n_repeated": [0, 0, 0],
    }
    repeated = pa.Table.from_pylist([*rows, part_row((1, 5), (1, 8), (3, 5))])
    assert count_repeated_queries(repeated)["n_repeated"] == [2, 0, 0, 0]


def test_equal_queries_of_two_blocks_are_in_one_part() -> None:
    queries = [f"q{number}" for number in range(1000)]
    all_queries = split_into_parts(pa.chunked_array([queries]), 7, b"x")
    half_of_them = split_into_parts(pa.chunked_array([queries[::-1][:500]]), 7, b"x")
    assert all_queries["part"].to_pylist() == list(range(7))
    assert all_queries["summary"].to_pylist() == [b"x", *[b""] * 6]
    rows = pa.concat_tables([all_queries, half_of_them])
    parts = [rows.filter(pc.equal(rows["part"], part)) for part in range(7)]
    assert sum(count_repeated_queries(part)["n_repeated"][0] for part in parts) == 500
    with pytest.raises(ValueError, match=r"query 'q1' is in these results twice"):
        split_into_parts(pa.chunked_array([["q1", "q2", "q1"]]), 7, b"")
