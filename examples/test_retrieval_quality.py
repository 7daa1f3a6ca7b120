"""Test retrieval quality: BM25 over the Python language reference must not fall below a floor, nor get worse.

Run it with `uv run --all-extras pytest examples/test_retrieval_quality.py`. To see it fail, run `export DEGRADED=1`
first: then only the beginning of each passage is indexed, as by a model with a short input.
"""

import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import questions
from corpus import passages
from retrievers import BM25, Retriever

if TYPE_CHECKING:
    from pytest_retrieval_metrics import RetrievalCheck

FLOORS = {"ndcg@10": 0.35, "recall@10": 0.3}
BASELINE_OF = (3, 11)
"""The baseline was made with this Python; other versions reword some passages, so their judgments differ."""


@pytest.fixture(scope="session")
def retriever() -> Retriever:
    """Return an index of the reference, built once for all tests."""
    pieces = passages()
    if os.environ.get("DEGRADED"):
        pieces = [replace(piece, text=piece.text[:200]) for piece in pieces]
    return BM25(pieces)


def test_bm25_finds_what_the_questions_need(retrieval_check: "RetrievalCheck", retriever: Retriever) -> None:
    """The best passages come first, and no fewer are found than when the baseline was written."""
    retrieval_check(
        questions.qrels(passages()),
        retriever.search,
        at_least=FLOORS,
        baseline=sys.version_info[:2] == BASELINE_OF,
        queries=questions.queries(),
    )
