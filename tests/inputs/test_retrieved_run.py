"""A retrieved run keeps the stages and the failures of its retriever."""

import pickle
from copy import deepcopy

import pytest

import retrieval_metrics as rm
from retrieval_metrics.inputs.stage_rankings import (
    RETURNED_STAGE,
)


def test_the_last_step_of_a_run_is_the_run() -> None:
    bm25 = {"q1": ["d1", "d2"], "q2": ["d3"]}
    last = {"q1": ["d2"], "q2": ["d3"]}
    run = rm.RetrievedRun(
        last, stages={"bm25": bm25, "reranked": {query: list(ranking) for query, ranking in last.items()}}
    )
    assert list(run.stages) == ["bm25", "reranked"]
    assert run.stages["reranked"] is run
    assert list(rm.RetrievedRun(last, stages={"bm25": bm25}).stages) == ["bm25", RETURNED_STAGE]
    failed = rm.RetrievedRun(last | {"q3": []}, {"q3": TimeoutError("slow")}, stages={"bm25": bm25, "reranked": last})
    assert list(failed.stages) == ["bm25", "reranked"]
    for copied in (pickle.loads(pickle.dumps(failed)), deepcopy(failed)):
        assert copied.stages == failed.stages
        assert copied.stages["reranked"] is copied
    with pytest.raises(ValueError, match="only the run can be 'returned'"):
        rm.RetrievedRun(last, stages={RETURNED_STAGE: bm25, "bm25": bm25})
    assert rm.RetrievedRun(last, stages={"bm25": bm25, RETURNED_STAGE: {"q1": ["d2"]}}).stages[RETURNED_STAGE] == last
    with pytest.raises(TypeError, match="stages must map the name of each stage to a run, got list for 'bm25'"):
        rm.RetrievedRun(last, stages={"bm25": ["d1"]})  # type: ignore[dict-item]
    assert rm.RetrievedRun(last).stages == {}


def test_a_run_from_a_file_is_a_step() -> None:
    columns = rm.Run.from_frame({"query": ["q1", "q1"], "document": ["d3", "d7"], "score": [2.0, 1.5]})
    run = rm.RetrievedRun(columns, stages={"bm25": columns, "reranked": {"q1": {"d7": 1.0}}})
    assert list(run.stages) == ["bm25", "reranked", RETURNED_STAGE]
    assert rm.RetrievedRun({"q1": {"d3": 2.0, "d7": 1.5}}, stages={"bm25": columns}).stages == {"bm25": dict(columns)}
