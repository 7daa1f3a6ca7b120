"""Rows are cut and joined into batches of whole queries, and repeated documents of a query are found."""

from itertools import chain, pairwise
from typing import Any

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from retrieval_metrics.inputs.batch import Batch, find_first_duplicate, group_rows, regroup_by_query, split_by_query

rows = st.lists(st.tuples(st.sampled_from("pqr"), st.sampled_from("abcd")), max_size=12)


def as_columns(pairs: list[tuple[str, str]]) -> tuple[Any, Any, Any]:
    queries = pl.Series([query for query, _ in pairs], dtype=pl.String)
    documents = pl.Series([document for _, document in pairs], dtype=pl.String)
    return queries, documents, np.arange(len(pairs), dtype=np.float64)


def sort_into_queries(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the rows with those of a query together, in the order of the first row of each."""
    first_row = {query: row for row, (query, _) in reversed(list(enumerate(pairs)))}
    return sorted(pairs, key=lambda pair: first_row[pair[0]])


def documents_by_query(pairs: list[tuple[str, str]]) -> dict[str, list[str]]:
    documents: dict[str, list[str]] = {}
    for query, document in pairs:
        documents.setdefault(query, []).append(document)
    return documents


def read_batch(batch: Batch) -> dict[Any, Any]:
    ordered = batch._replace(scores=None)
    return {query: ordered.ranking(index) for index, query in enumerate(batch.queries)}


@given(rows.filter(bool))
def test_rows_of_a_query_stand_together_in_their_order(pairs: list[tuple[str, str]]) -> None:
    batch = group_rows(*as_columns(pairs))
    assert read_batch(batch) == documents_by_query(pairs)
    assert [batch.find_query(row) for row in range(len(pairs))] == [query for query, _ in sort_into_queries(pairs)]


@given(rows.filter(bool), st.lists(st.integers(0, 12), max_size=3).map(sorted))
def test_parts_are_cut_into_whole_queries_wherever_they_end(pairs: list[tuple[str, str]], ends: list[int]) -> None:
    pairs = sorted(pairs, key=lambda pair: pair[0])
    parts = [as_columns(pairs[start:end]) for start, end in pairwise([0, *ends, len(pairs)])]
    batches = list(split_by_query(parts))
    queries = list(chain.from_iterable(batch.queries for batch in batches))
    assert len(set(queries)) == len(queries)
    assert read_batch(regroup_by_query(batches)) == documents_by_query(pairs)


@given(rows)
def test_the_first_repeated_document_of_a_query_is_found(pairs: list[tuple[str, str]]) -> None:
    if not pairs:
        return
    batch = group_rows(*as_columns(pairs))
    row = find_first_duplicate(batch)
    sorted_pairs = sort_into_queries(pairs)
    repeated = [index for index, pair in enumerate(sorted_pairs) if pair in sorted_pairs[:index]]
    assert row == (repeated[0] if repeated else None)
