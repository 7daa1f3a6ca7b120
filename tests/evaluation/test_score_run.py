"""The values behind an evaluation: the same numbers, and no warning of what a part may lack."""

import warnings

import numpy as np

import retrieval_metrics as rm
from retrieval_metrics.evaluation.score_run import score_run
from retrieval_metrics.inputs.qrels import Qrels
from retrieval_metrics.metrics.base.rules import STANDARD

QRELS = {"q1": {"d1": 2, "d2": 1}, "q2": {"d9": 1}}
RUN = {"q1": ["d2", "d1"], "q2": []}
METRICS = [rm.Metric.parse("ndcg@2"), rm.Metric.parse("mrr")]


def test_the_values_are_those_of_evaluate_without_its_warnings() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scores = score_run(Qrels(QRELS), RUN, METRICS, STANDARD)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        evaluation = rm.evaluate(QRELS, RUN, METRICS)
    assert np.array_equal(scores.values, evaluation.values, equal_nan=True)
    assert scores.counts == evaluation.counts


def test_a_part_is_scored_on_the_scale_of_the_whole() -> None:
    part = Qrels({"q2": {"d9": 1}})
    scores = score_run(part, {"q2": ["d9"]}, [rm.Metric.parse("err")], STANDARD, scale=2.0)
    # (2^1 - 1) / 2^2: the grade 1 of a scale up to 2
    assert scores.values.tolist() == [[0.25]]
