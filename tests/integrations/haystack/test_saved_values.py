"""What the evaluator returns is saved with the state of a pipeline."""

import json
import math

import retrieval_metrics as rm
from haystack_integrations.components.evaluators.retrieval_metrics.saved_values import (
    PipelineEvaluation,
    UndefinedValue,
)


def test_an_undefined_value_is_saved_as_an_object_without_content() -> None:
    undefined = UndefinedValue.if_nan(math.nan)
    assert isinstance(undefined, UndefinedValue)
    assert undefined.to_dict() == {}
    assert math.isnan(UndefinedValue.from_dict({}))
    assert UndefinedValue.if_nan(0.5) == 0.5


def test_an_evaluation_comes_back_to_the_last_bit() -> None:
    evaluation = rm.evaluate({"a": ["d1"], "b": ["d2"]}, {"a": ["d3", "d1"], "b": ["d4"]}, ["mrr", "ndcg@5"])
    saved = json.loads(json.dumps(PipelineEvaluation.from_evaluation(evaluation).to_dict()))
    assert PipelineEvaluation.from_dict(saved).means == evaluation.means
