"""The evaluation of a retriever after each of its steps."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import retrieval_metrics as rm
from planted_losses import planted

QRELS, STEPS, _ = planted(60)
RUN = rm.RetrievedRun(STEPS["reranked"], stages=STEPS)
METRICS = ["recall@10", "ndcg@10"]


def test_a_stage_holds_the_questions_that_reached_it_and_the_last_is_the_evaluation() -> None:
    run = rm.RetrievedRun(
        {"q1": ["d1"], "q2": []},
        {"q2": TimeoutError("too slow")},
        stages={"found": {"q1": ["x", "d1"]}, "joined": {}, "ranked": {"q1": ["d1"]}},
    )
    with pytest.warns(rm.RetrievalWarning, match="too slow"):
        result = rm.evaluate({"q1": ["d1"], "q2": {"d2": 2, "d3": 1}}, run, "mrr")
    stages = result.stages
    assert list(stages) == ["found", "ranked"]
    assert stages.unreached == ("joined",)
    assert stages.last is result
    assert stages["ranked"] is result
    assert stages["found"].per_query["mrr"] == {"q1": 0.5, "q2": 0.0}  # what failed has found nothing anywhere
    assert stages["found"].counts["failed"] == 1
    assert str(stages).startswith(str(result))
    assert stages.tables[-1].rows == [["found", "0.250", "0.500"], ["ranked", "0.500", "0.500"]]
    assert list(stages.tables[-1].notes) == [
        "first-stage retrievers (no losses attributed to them): found",
        "ceiling: the value if the stage's documents were in the best order",
        "no query reached joined",
    ]
    with pytest.raises(KeyError, match="the stages are 'found', 'ranked'"):
        stages["joined"]


def test_each_stage_has_the_numbers_of_its_run() -> None:
    stages = rm.evaluate(QRELS, RUN, METRICS).stages
    for name, run in STEPS.items():
        assert stages[name] == rm.evaluate(QRELS, run, METRICS)
    assert rm.compare(stages, metrics="recall@10", baseline="bm25").systems == tuple(STEPS)


def test_a_run_without_steps_has_no_stages() -> None:
    result = rm.evaluate(QRELS, STEPS["fused"], METRICS)
    for stages in (result.stages, rm.merge([result.totals()]).stages):
        assert not stages
        assert str(stages).startswith("the run has no stages")
        assert stages.first_stage == ()
        with pytest.raises(ValueError, match="the run has no stages"):
            stages.losses("recall@10")


def test_losses_are_saved_sliced_and_compared_and_keep_a_column_of_zeros(tmp_path: Path) -> None:
    result = rm.evaluate(QRELS, RUN, METRICS)
    before = result.stages.losses("recall@10")
    result.save(tmp_path / "result.json")
    again = rm.load(tmp_path / "result.json")
    assert again.stages.losses("recall@10") == before
    before.save(tmp_path / "losses.json")
    assert rm.load(tmp_path / "losses.json") == before
    half = result.group_by(lambda query: query in {"q1", "q2", "q3"} or None)[True]
    assert half.stages.losses("recall@10").per_query["found"] == half.per_query["recall@10"]
    assert half.stages["bm25"].queries == half.queries
    passed_on = rm.RetrievedRun(STEPS["filtered"], stages=STEPS | {"reranked": STEPS["filtered"]})
    after = rm.evaluate(QRELS, passed_on, METRICS).stages.losses("recall@10")
    assert (before.means["dropped:reranked"] > 0, after.means["dropped:reranked"]) == (True, 0)
    assert after.metrics == before.metrics
    compared = rm.compare({"before": before, "after": after}, metrics="dropped:reranked")
    assert compared.difference("dropped:reranked", "after", "before").mean < 0


def test_clusters_reach_the_stages() -> None:
    result = rm.evaluate(QRELS, RUN, METRICS, clusters=lambda query: int(query[1:]) // 2)
    assert result.stages.losses("recall@10").scores.clusters == result.scores.clusters
    for name, run in STEPS.items():
        alone = rm.evaluate(QRELS, run, METRICS, clusters=lambda query: int(query[1:]) // 2)
        assert result.stages[name].intervals() == alone.intervals()


def sort_by_grade(documents: list[str], grades: dict[str, int]) -> list[str]:
    return sorted(documents, key=lambda document: -grades.get(document, 0))


def test_the_ceiling_is_what_the_best_order_of_a_stage_reaches() -> None:
    stages = rm.evaluate(QRELS, RUN, [*METRICS, "mrr"]).stages
    for metric in (*METRICS, "mrr"):
        ceilings = stages.ceiling(metric)
        for name, run in STEPS.items():
            best = {query: sort_by_grade(run[query], QRELS[query]) for query in QRELS}
            assert ceilings[name] == rm.evaluate(QRELS, best, metric).means[metric]
            assert ceilings[name] >= stages[name].means[metric]
    items = {}
    for query, ids in STEPS["bm25"].items():
        with_repeat = enumerate([*ids, *ids[:1]])
        items[query] = [rm.Retrieved(f"chunk {number}", metadata={"of": document}) for number, document in with_repeat]
    chunks = rm.RetrievedRun(items, stages={"bm25": items})
    by_document = rm.evaluate(QRELS, chunks, "mrr", match="metadata:of").stages  # a second chunk adds nothing
    assert by_document.ceiling("mrr")["bm25"] == stages.ceiling("mrr")["bm25"]
    grouped: Any = {query: [[*judged]] for query, judged in QRELS.items()}
    unknown = rm.evaluate(grouped, RUN, "mrr").stages
    assert np.isnan([*unknown.ceiling("mrr").values()]).all()
    assert "at most" not in str(unknown)


def test_scores_of_others_are_no_part_of_the_stages() -> None:
    result = rm.evaluate(QRELS, RUN, METRICS).with_scores({"tokens": dict.fromkeys(QRELS, 5.0)})
    assert list(map(str, result.stages["bm25"].metrics)) == METRICS
    assert result.stages.tables[-1].header == ["stage", *METRICS, "recall@10 ceiling"]


def test_what_was_found_has_the_interval_of_recall() -> None:
    qrels = {f"q{number}": ["a"] for number in range(9)} | {"q9": ["a", "b"]}
    steps = {"s": {query: ["a", "b"] for query in qrels}, "r": {query: ["a"] for query in qrels}}
    run = rm.RetrievedRun(steps["r"], stages=steps)
    evaluation = rm.evaluate(qrels, run, "recall@2")
    losses = evaluation.stages.losses("recall@2")
    assert losses.means["found"] == evaluation.means["recall@2"]
    assert losses.intervals()["found"] == evaluation.intervals()["recall@2"]


def test_stages_as_a_frame_and_as_a_figure() -> None:
    stages: Any = {"found": {"q1": ["x", "a"], "q2": ["y"]}, "reranked": {"q1": ["a"], "q2": ["y"]}}
    run = rm.RetrievedRun(stages["reranked"], stages=stages)
    result = rm.evaluate({"q1": ["a"], "q2": ["b"]}, run, ["mrr", "recall@1"])
    frame = result.stages.to_pandas()
    assert frame.to_dict("index") == {
        "found": {"n": 2, "mrr": 0.25, "recall@1": 0.0},
        "reranked": {"n": 2, "mrr": 0.5, "recall@1": 0.5},
    }
    assert result.stages.plot("recall@1").axes[0].get_title(loc="left") == "recall@1 after each stage"


def test_an_evaluation_without_stages_prints_how_to_record_them() -> None:
    stages = rm.evaluate({"q": ["d"]}, {"q": ["d"]}, "mrr").stages
    assert repr(stages) == "<Stages: none>"
    assert str(stages).startswith("the run has no stages. Return one ranking per stage")
    assert "no stages" in stages._repr_html_()
