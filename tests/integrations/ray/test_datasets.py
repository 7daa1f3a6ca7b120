"""Datasets that are empty, or whose blocks do not fit together."""

from collections.abc import Callable
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
import ray
from ray.data import Dataset

import retrieval_metrics as rm
from ray_hosts import dataset, run_rows
from ray_retrieval_metrics import evaluate_dataset, to_evaluation

QRELS: Any = {"q1": {"a": 1, "b": 2}, "q2": {"c": 1}}

RUN: Any = {"q1": {"x": 3.0, "b": 2.0, "a": 1.0}, "q2": {"c": 1.0}}


def table(**columns: list[Any]) -> pa.Table:
    return pa.table({"query": ["q1", "q1"], "document": ["a", "b"], "score": [2.0, 1.0], **columns})


@pytest.mark.parametrize(
    "run",
    [
        lambda: ray.data.from_items([]),
        lambda: ray.data.from_arrow(table().slice(0, 0)),
        lambda: dataset(*run_rows(RUN), 2).filter(lambda row: row["query_id"] == "nowhere"),
    ],
    ids=["nothing", "no rows", "a filter that leaves nothing"],
)
@pytest.mark.parametrize("partitions", [None, 2])
def test_an_empty_run_is_refused_as_in_the_core(run: Callable[[], Dataset], partitions: int | None) -> None:
    with pytest.raises(ValueError, match="the run is empty"):
        rm.evaluate(QRELS, {})
    with pytest.raises(ValueError, match="the run is empty"):
        to_evaluation(evaluate_dataset(QRELS, run(), partitions=partitions))


TEXT_IDS = pa.table({"query": ["q1"], "document": ["a"], "score": [2.0]})


MIXED = pd.DataFrame({"query": ["q1", 2], "document": ["a", "b"], "score": [2.0, 1.0]})


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (lambda: ray.data.from_arrow([TEXT_IDS, table(query=[1, 1])]), r"different types \(.*query.*string vs int64\)"),
        (
            lambda: ray.data.from_arrow([TEXT_IDS, table(document=[1, 2])]),
            r"different types \(.*document.*; convert them",
        ),
        (
            lambda: ray.data.from_arrow([TEXT_IDS, table(score=["2", "1"])]),
            r"different types \(.*score.*double vs string",
        ),
        (
            lambda: ray.data.from_pandas(MIXED),
            "ids in the run must be text .*holds values of several types",
        ),
        (lambda: ray.data.from_arrow([TEXT_IDS, table(document=pa.nulls(2))]), "of the run has no document: .*'q1'"),
        (lambda: ray.data.from_arrow([TEXT_IDS, table(score=pa.nulls(2))]), "has None as score, which is not a finite"),
    ],
)
def test_blocks_that_do_not_fit_together_are_one_sentence(run: Callable[[], Dataset], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message) as raised:
        to_evaluation(evaluate_dataset(QRELS, run(), "mrr", partitions=1))
    assert type(raised.value) in {TypeError, ValueError}
    assert len(str(raised.value)) < 300
    assert "\n" not in str(raised.value)
