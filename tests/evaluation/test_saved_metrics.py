"""A metric in a file is its name, and what a reader must know beside it."""

from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.evaluation.saved_metrics import decode_metric, encode_metric


@pytest.mark.parametrize("name", ["ndcg@10", "rbp(p=0.5)", "recall@300chars", "precision(rel=2)@5"])
def test_a_known_metric_is_its_name(name: str) -> None:
    metric = rm.Metric.parse(name)
    assert encode_metric(metric) == {"metric": name}
    assert decode_metric({"metric": name}, "a.json") == metric


def test_a_metric_of_given_scores_has_its_bounds_and_its_direction() -> None:
    evaluation = rm.Evaluation.from_scores({"latency": {"q": 2.0}}, bounds=(0, None), lower_is_better="latency")
    (metric,) = evaluation.metrics
    entry = encode_metric(metric)
    assert entry == {"metric": "latency", "bounds": [0.0, None], "lower_is_better": True}
    decoded = decode_metric(entry, "a.json")
    assert decoded == metric
    assert (decoded.definition.bounds, decoded.definition.higher_is_better) == (metric.definition.bounds, False)


@pytest.mark.parametrize(("module", "advice"), [("mine", "first `import mine`"), ("__main__", "call define_metric")])
def test_a_metric_that_is_not_defined_here_names_who_defined_it(module: str, advice: str) -> None:
    entry: dict[str, Any] = {"metric": "my_own_metric@5", "module": module}
    with pytest.raises(ValueError, match=rf"a\.json .*'my_own_metric@5'.*{advice}"):
        decode_metric(entry, "a.json")
