"""A judged chunk in a retrieved parent counts as found, or is said to be perhaps in it."""

import warnings
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm

PARENT = rm.Retrieved("P1", "all three", contains=("L0", "L1", "L2"))
RUN: Any = {"q1": [rm.Retrieved("x"), PARENT], "q2": [rm.Retrieved("L1"), PARENT]}
METRICS = ["recall", "mrr", "precision@2", "ndcg", "map"]


def warnings_of(qrels: Any, run: Any, **options: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        rm.evaluate(qrels, run, "recall", **options)
    return [str(warning.message) for warning in caught]


def test_chunks_count_at_the_rank_of_their_parent_and_once(tmp_path: Path) -> None:
    qrels: Any = {"q1": ["L0", "L2", "y"], "q2": ["L1"]}
    evaluation = rm.evaluate(qrels, RUN, METRICS)
    same: Any = {"q1": [["L0", "P1"], ["L2", "P1"], ["y"]], "q2": ["L1"]}
    assert evaluation.per_query == rm.evaluate(same, RUN, METRICS).per_query
    assert evaluation.per_query["recall"] == {"q1": 2 / 3, "q2": 1.0}
    assert evaluation.per_query["precision@2"] == {"q1": 0.5, "q2": 0.5}
    evaluation.save(tmp_path / "evaluation.json")
    assert rm.load(tmp_path / "evaluation.json").means == evaluation.means
    rm.write_run(RUN, tmp_path / "run.jsonl")
    assert rm.evaluate(qrels, rm.read_run(tmp_path / "run.jsonl"), METRICS).means == evaluation.means
    assert warnings_of(qrels, RUN) == []


def test_chunks_of_which_no_parent_speaks_may_be_contained() -> None:
    messages = warnings_of({"q1": ["l0", "l1", "x"], "q2": ["l2", "L1"]}, {**RUN, "q2": [PARENT, rm.Retrieved("l2")]})
    assert messages == []
    (message,) = warnings_of({"q1": ["l0", "l1", "x"], "q2": ["y"]}, RUN)
    assert message.startswith("3 judged chunks may be contained in retrieved parent documents; judge by quotes")


@pytest.mark.parametrize("match", ["source", "metadata:page"])
def test_what_is_matched_otherwise_has_no_chunks(match: str) -> None:
    item = rm.Retrieved("P1", source="a.md", metadata={"page": "3"}, contains=("L0",))
    with pytest.warns(rm.RetrievalWarning):
        assert rm.evaluate({"q": ["L0"]}, {"q": [item]}, "recall", match=match).means["recall"] == 0.0
