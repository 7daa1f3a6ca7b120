"""Which share of the relevant documents each stage left and lost."""

import pytest

import retrieval_metrics as rm
from retrieval_metrics.evaluation.evaluation_wording import LOSS_LABELS
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
    assert lost["search"] == [0.25, 0]
    assert sum(loss.share for stage in flow.stages for loss in stage.losses) == pytest.approx(0.5)
    assert [stage.left for stage in flow.stages] == pytest.approx([0.75, 0.5])


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
def test_what_an_error_lost_stands_apart_from_what_was_not_retrieved() -> None:
    rankings = {"q2": RANKINGS["q2"]}  # the search for q1 raises
    run = rm.retrieve(lambda text: rankings[text], {query: query for query in QRELS})
    evaluation = rm.evaluate(QRELS, run, "recall@2")
    flow = find_stage_flow(evaluation.scores, evaluation.metrics[0])

    assert flow is not None
    assert [loss.share for loss in flow.stages[0].losses] == [0.25, 0.5]
    assert flow.stages[0].losses[1].label == LOSS_LABELS["retriever_error"]
    assert flow.stages[0].left == 0.25


def test_without_stages_there_is_no_flow() -> None:
    evaluation = rm.evaluate(QRELS, {"q1": ["a"], "q2": ["c"]}, "recall@1")

    assert find_stage_flow(evaluation.scores, evaluation.metrics[0]) is None
