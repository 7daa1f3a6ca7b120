"""Results by metric are dicts that read every spelling and cannot be changed."""

import copy
import json
import pickle
from typing import Any

import pytest

import retrieval_metrics as rm

RESULT = rm.evaluate({"q1": ["d7"], "q2": ["d1"]}, {"q1": ["d3", "d7"], "q2": ["d1"]}, ["map", "ndcg@10"])


def test_they_are_written_as_json() -> None:
    assert json.loads(json.dumps(RESULT.means)) == {"map": 0.75, "ndcg@10": RESULT.means["ndcg@10"]}
    assert json.loads(json.dumps(RESULT.per_query))["map"] == {"q1": 0.5, "q2": 1.0}
    assert json.loads(json.dumps(RESULT.intervals()))["map"] == list(RESULT.intervals()["map"])


@pytest.mark.parametrize("spelling", ["ap", "AP", "map", rm.Metric("map")])
def test_every_spelling_is_read(spelling: Any) -> None:
    assert RESULT.means[spelling] == RESULT.means.get(spelling) == 0.75
    assert spelling in RESULT.means


def test_what_was_not_computed_is_said() -> None:
    with pytest.raises(KeyError, match="mrr was not computed; computed metrics: map, ndcg@10"):
        RESULT.means["rr"]
    with pytest.raises(ValueError, match="unknown metric 'mpa'"):
        RESULT.means["mpa"]
    assert RESULT.means.get("mrr") is None
    assert RESULT.means.get("no metric", 1.0) == 1.0
    assert "mrr" not in RESULT.means
    assert 7 not in RESULT.means  # type: ignore[comparison-overlap]  # the point of the line


@pytest.mark.parametrize(
    "change",
    [
        lambda means: means.update(map=1.0),
        lambda means: means.pop("map"),
        lambda means: means.popitem(),
        lambda means: means.clear(),
        lambda means: means.setdefault("mrr", 1.0),
        lambda means: means.__setitem__("map", 1.0),
        lambda means: means.__delitem__("map"),
        lambda means: means.__ior__({"map": 1.0}),
    ],
)
def test_they_cannot_be_changed(change: Any) -> None:
    with pytest.raises(TypeError, match=r"results cannot be changed; dict\(results\) returns a copy"):
        change(RESULT.means)
    assert RESULT.means["map"] == 0.75


def test_copies_are_equal_and_read_every_spelling_too() -> None:
    for duplicate in (copy.copy(RESULT.means), copy.deepcopy(RESULT.means), pickle.loads(pickle.dumps(RESULT.means))):
        assert duplicate == RESULT.means
        assert duplicate["ap"] == 0.75


def test_the_values_of_queries_cannot_be_changed() -> None:
    evaluation = rm.evaluate({"q": ["d"]}, {"q": ["d"]}, "mrr")
    with pytest.raises(TypeError, match="cannot be changed"):
        evaluation.per_query["mrr"]["q"] = 9.0
    assert pickle.loads(pickle.dumps(evaluation)).per_query["mrr"] == {"q": 1.0}


@pytest.mark.parametrize("name", ["means", "intervals"])
def test_the_results_of_systems_cannot_be_changed(name: str) -> None:
    comparison = rm.compare({"q": ["d"]}, {"a": {"q": ["d"]}, "b": {"q": ["x", "d"]}}, "mrr")
    results = getattr(comparison, name)["mrr"]
    before = dict(results)
    with pytest.raises(TypeError, match="cannot be changed"):
        results["a"] = 0.0
    assert getattr(pickle.loads(pickle.dumps(comparison)), name)["mrr"] == before
