"""Rankings that are cut above a cutoff which others reach are found."""

from __future__ import annotations

import retrieval_metrics as rm
from retrieval_metrics.evaluation.unequal_depth import common_depth_notes, find_unequal_depth


def test_rankings_cut_above_a_cutoff_that_others_reach_are_found() -> None:
    qrels = {f"q{number}": ["d0"] for number in range(4)}
    deep = {query: [f"d{rank}" for rank in range(100)] for query in qrels}
    cut = {query: ranking[:20] for query, ranking in deep.items()}
    metrics = [rm.Metric("recall", 50), rm.Metric("recall", 20), rm.Metric("map")]
    scores = {name: rm.evaluate(qrels, run, metrics).scores for name, run in {"deep": deep, "cut": cut}.items()}
    unequal_depth = find_unequal_depth(scores, metrics)
    assert unequal_depth is not None
    assert (unequal_depth.shallow, unequal_depth.deepest) == ("cut", "deep")
    assert (unequal_depth.shallow_depth, unequal_depth.deepest_depth) == (20, 100)
    assert unequal_depth.cutoffs == {"recall@50": 50}
    assert find_unequal_depth(scores, metrics[1:]) is None


def test_a_cutoff_that_no_system_reaches_is_noted_once_for_all() -> None:
    qrels = {f"q{number}": ["d0"] for number in range(4)}
    metrics = [rm.Metric("recall", 10), rm.Metric("mrr", 3)]
    scores = {}
    for name, depth in {"a": 4, "b": 3, "c": 10}.items():
        run = {query: [f"d{rank}" for rank in range(depth)] for query in qrels}
        scores[name] = rm.evaluate(qrels, run, metrics).scores
    short = {"a": scores["a"], "b": scores["b"]}
    (note,) = common_depth_notes(short, metrics)
    assert "recall@10 equals recall@4" in note
    assert common_depth_notes(short, metrics[1:]) == []
    # One system reaches the cutoff, so the sentence about unequal depths says more.
    assert find_unequal_depth(scores, metrics) is not None
    assert common_depth_notes(scores, metrics) == []
