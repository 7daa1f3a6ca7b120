"""The choice among settings, and what it gains on new questions."""

from typing import Any

import numpy as np
import pytest

import retrieval_metrics as rm
from tried_settings import always, data


def test_the_best_of_equal_settings_is_worth_nothing_on_new_questions() -> None:
    naive = []
    honest = []
    better = []
    for seed in range(30):
        qrels, runs = data(20, 40, seed)
        tuning = rm.tune(runs, qrels, "mrr", default="s0", resamples=200)
        naive.append(tuning.gain)
        honest.append(tuning.expected_gain)
        better.append(tuning.is_significant)
        assert tuning.is_significant or tuning.expected_gain_interval.low <= 0
    assert np.mean(naive) > 0.08
    assert abs(np.mean(honest)) < 0.03
    assert np.mean(better) <= 0.15


def test_equal_means_keep_the_default() -> None:
    qrels, runs = data(1)
    tuning = rm.tune({"a": runs["s0"], "b": runs["s0"]}, qrels, "mrr", default="b")
    assert (tuning.winner, tuning.gain, tuning.p) == ("b", 0, 1)
    assert tuning.conclusion == "Keep b: no other setting has a better observed mrr."
    assert tuning["b"].selection_rate == 1


def test_settings_that_failed_on_questions_are_named_in_the_conclusion() -> None:
    qrels = {f"q{number}": ["d"] for number in range(12)}
    errors: Any = {f"q{number}": TimeoutError("slow") for number in range(8)}
    flaky = rm.RetrievedRun({query: [] if query in errors else ["d"] for query in qrels}, errors)
    steady = {query: ["d"] for query in qrels}
    with pytest.warns(rm.RetrievalWarning, match="failed on 8 of 12"):
        tuning = rm.tune({"flaky": flaky, "steady": steady}, qrels, "mrr", default="flaky", resamples=200)
    assert (tuning.winner, tuning.doubtful) == ("steady", ("flaky",))
    assert tuning.warnings == ("flaky failed on 8 of 12 queries, which score 0.",)


def test_bounds_leave_out_settings_the_default_included() -> None:
    qrels, runs = data(4, 60, better=0.5)
    free = rm.tune(runs, qrels, "mrr", default="s0")
    bound = free["s3"].means["mrr"] - 0.01
    tuning = rm.tune(runs, qrels, "mrr", default="s0", at_most={"mrr": bound})
    assert free.winner == "s3"
    assert tuning.winner != "s3"
    assert not tuning["s3"].feasible
    without = rm.tune(runs, qrels, "mrr", default="s0", at_least={"mrr": bound})
    assert without.winner == "s3"
    assert "3 settings violate the constraints" in str(without)
    with pytest.raises(ValueError, match="no setting meets the constraint mrr >= 1; 's3' comes closest with mrr 0"):
        rm.tune(runs, qrels, "mrr", default="s0", at_least={"mrr": 1.0})
    with pytest.raises(ValueError, match="seconds are known only for retrievers"):
        rm.tune(runs, qrels, "mrr", default="s0", at_most={"seconds": 1.0})


def test_the_interval_ends_at_0_where_the_questions_are_too_few_for_the_test() -> None:
    qrels = {f"q{number}": ["d"] for number in range(5)}
    runs = {"half": always(["x", "d"], 5), "whole": always(["d"], 5)}
    tuning = rm.tune(runs, qrels, "mrr", default="half")
    assert (tuning.winner, tuning.is_significant, tuning.expected_gain_interval) == ("whole", False, (0, 0.5))
    less = rm.tune(runs, qrels, "mrr", default="whole", at_most={"mrr": 0.9})
    assert (less.winner, less.expected_gain, less.expected_gain_interval) == ("half", -0.5, (-0.5, 0))


def test_a_mean_at_the_bound_keeps_it() -> None:
    qrels = {f"q{number}": ["d"] for number in range(20)}
    settings = {"old": always(["x", "d"]), "new": always(["d", "x"]), "bad": always(["x", "y", "z", "d"])}

    def allowed(**bounds: Any) -> list[str]:
        tuned = rm.tune(settings, qrels, "mrr", default="old", **bounds)
        return [setting.name for setting in tuned.settings if setting.feasible]

    assert allowed(at_least={"mrr": 0.5}) == ["new", "old"]
    assert allowed(at_most={"mrr": 0.5}) == ["old", "bad"]
    assert allowed(at_least={"mrr": 0.5}, at_most={"mrr": 0.5}) == ["old"]
    assert allowed(at_least={"mrr": 0.26}, at_most={"map": 0.99}) == ["old"]
    tuning = rm.tune(settings, qrels, "mrr", default="old", at_most={"mrr": 0.5})
    assert {setting.name: setting.selection_rate for setting in tuning.settings} == {"new": 0, "old": 1, "bad": 0}
    assert (tuning.winner, tuning.p, tuning.gain, tuning.expected_gain_interval) == ("old", 1, 0, (0, 0))
