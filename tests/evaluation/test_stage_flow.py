"""Which share of the relevant documents each stage left and lost."""

import pytest

import retrieval_metrics as rm
from retrieval_metrics.evaluation.stage_flow import find_stage_flow

QRELS = {"q1": ["a", "b"], "q2": ["c", "never"]}
RANKINGS = {
    "q1": {"search": ["a", "b"], "rerank": ["a"]},
    "q2": {"search": ["x", "c"], "rerank": ["x", "c"]},
}


def test_each_stage_has_what_it_left_and_lost() -> None:
    run = rm.retrieve(lambda text: RANKINGS[text], {query: query for query in QRELS})
    evaluation = rm.evaluate(QRELS, run, "recall@2")
    flow = find_stage_flow(evaluation.scores, evaluation.metrics[0])

    assert flow is not None
    lost = {}
    for stage in flow.stages:
        lost[stage.name] = [pytest.approx(loss.share) for loss in stage.losses]
    # Of four documents, "never" is not retrieved, the reranker drops b, and a and c are found.
    assert lost["search"] == [0.25]
    assert sum(loss.share for stage in flow.stages for loss in stage.losses) == pytest.approx(0.5)
    assert [stage.left for stage in flow.stages] == pytest.approx([0.75, 0.5])


def test_without_stages_there_is_no_flow() -> None:
    evaluation = rm.evaluate(QRELS, {"q1": ["a"], "q2": ["c"]}, "recall@1")

    assert find_stage_flow(evaluation.scores, evaluation.metrics[0]) is None
