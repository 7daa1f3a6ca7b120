"""A saved comparison is loaded as it was: every number to the bit, every answer."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given

import retrieval_metrics as rm
from retrieval_metrics.files.saved_format import add_digest
from saved_inputs import assert_same_queries, inputs, quick

pytestmark = pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")


@pytest.mark.thorough
@quick
@given(inputs())
def test_a_comparison(tmp_path: Any, judged_run: Any) -> None:
    qrels, run = judged_run
    runs = {"a": run, "b": {query: list(ranking)[::-1] for query, ranking in run.items()}}
    try:
        comparison = rm.compare(qrels, runs, ["mrr", "recall@3"])
    except ValueError as error:
        assume("no system retrieved a judged document" not in str(error))
        raise
    comparison.save(tmp_path / "comparison.json")
    loaded = rm.load(tmp_path / "comparison.json")
    assert comparison == loaded
    assert str(comparison) == str(loaded)
    assert str(comparison.differences) == str(loaded.differences)
    assert comparison.to_pandas().equals(loaded.to_pandas())
    for ours, theirs in zip(comparison.differences, loaded.differences, strict=True):
        assert np.array_equal(ours.values, theirs.values)
        assert ours.paired == pytest.approx(theirs.paired) or str(ours.paired) == str(theirs.paired)
        assert list(ours.queries) == list(theirs.queries)
    for name in runs:
        assert_same_queries(comparison.evaluations[name], loaded.evaluations[name])


def test_a_comparison_differs_from_one_with_anything_else() -> None:
    qrels = {f"q{number}": ["d"] for number in range(8)}
    good, bad = (dict.fromkeys(qrels, ranking) for ranking in (["d"], ["x", "d"]))
    comparison = rm.compare(qrels, {"good": good, "bad": bad}, "mrr")
    assert comparison == rm.compare(qrels, {"good": good, "bad": bad}, "mrr")
    assert hash(comparison) == hash(rm.compare(qrels, {"good": good, "bad": bad}, "mrr"))
    different = [
        rm.compare(qrels, {"bad": bad, "good": good}, "mrr"),  # the pair is another
        rm.compare(qrels, {"good": good, "bad": {**bad, "q0": ["d"]}}, "mrr"),
        rm.compare(qrels, {"good": good, "bad": bad}, ["mrr", "map"]),
        rm.compare(qrels, {"good": good, "bad": bad}, "mrr", margin=0.1),
        rm.compare(qrels, {"good": good, "bad": bad}, "mrr", level=0.9),
        rm.compare(qrels, {"good": good, "bad": bad}, "mrr", unjudged="bounds"),
    ]
    assert comparison not in different
    assert comparison != str(comparison)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda content: content["differences"].pop(),
            r"at differences: those of .* are in .*, and the metrics",
        ),
        (lambda content: content["differences"].clear(), "at differences: there are none"),
        (
            lambda content: content["differences"][0].update(selected_from=None),
            "selected_from of Difference must be",
        ),
        (lambda content: content["differences"][0]["paired"].update(mean=[]), "mean of PairedDifference must be float"),
        (lambda content: content["judged_coverage"]["shares"].update(bad=None), "got None for 'bad'"),
        (lambda content: content["systems"]["bad"]["counts"].pop("failed"), "rules and counts: there is no 'failed'"),
        (lambda content: content["systems"]["bad"]["counts"].update(ties={}), "the number of ties is {}"),
        (lambda content: content["metrics"][0].update(metric="\ud800"), "has a metric that is not known here"),
    ],
)
def test_a_field_of_another_kind_is_named_when_the_file_is_read(change: Any, message: str, tmp_path: Path) -> None:
    qrels = {f"q{number}": ["d"] for number in range(8)}
    good, bad = (dict.fromkeys(qrels, ranking) for ranking in (["d"], ["x", "d"]))
    path = tmp_path / "comparison.json"
    rm.compare(qrels, {"good": good, "bad": bad}, ["mrr", "recall@1"]).save(path)
    content = json.loads(path.read_text())
    del content["digest"]
    change(content)
    path.write_bytes(add_digest(json.dumps(content).encode()))
    with pytest.raises(ValueError, match=rf"comparison\.json .*{message}"):
        rm.load(path)
