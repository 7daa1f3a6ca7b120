"""The result of tuning: what is concluded, and how it is printed, reported, saved and loaded."""

import re
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

import retrieval_metrics as rm
from tried_settings import always, data, grid_of


def test_settings_that_differ_alike_on_every_question_have_known_numbers() -> None:
    qrels = {f"q{number}": ["d"] for number in range(20)}
    settings = {"old": always(["x", "d"]), "new": always(["d", "x"]), "bad": always(["x", "y", "z", "d"])}
    tuning = rm.tune(settings, qrels, "mrr", default="old", extra_metrics="recall@3")
    assert (tuning.winner, tuning.mean, tuning.default_mean, tuning.gain) == ("new", 1, 0.5, 0.5)
    assert (tuning.expected_mean, tuning.expected_mean_interval) == (1, (1, 1))
    assert (tuning.expected_gain, tuning.expected_gain_interval) == (0.5, (0.5, 0.5))
    assert [(setting.name, setting.gain, setting.selection_rate) for setting in tuning.settings] == [
        ("new", 0.5, 1),
        ("old", 0, 0),
        ("bad", -0.25, 0),
    ]
    assert tuning.indistinguishable == ()
    assert (
        tuning.conclusion == "new is better than old in mrr; expected gain on new questions +0.500 (observed +0.500)."
    )
    frame = tuning.to_pandas().set_index("setting")
    assert frame["difference"].to_dict() == {"new": 0.5, "old": 0, "bad": -0.25}
    assert frame["recall@3"].to_dict() == {"new": 1, "old": 1, "bad": 0}
    from_bad = str(rm.tune(settings, qrels, "mrr", default="bad", extra_metrics="recall@3"))
    assert re.search(r"recall@3 +1\.000 +0\.000 +\+1\.00", from_bad)
    assert "best in bootstrap resamples: new 100%, " in from_bad


def test_it_prints_what_was_chosen_and_draws_it() -> None:
    qrels, runs = data(5)
    tuning = rm.tune(runs, qrels, "mrr", default="s0")
    lines = str(tuning).splitlines()
    assert lines[0] == "5 settings, 40 queries, selected by mrr"
    assert lines[-1] == tuning.conclusion
    assert isinstance(tuning.plot(), Figure)


@pytest.mark.parametrize("rankings", [True, False])
def test_a_saved_tuning_is_the_same_choice_with_the_same_numbers(tmp_path: Path, *, rankings: bool) -> None:
    qrels, runs = data(2, 30, better=0.4)
    tuning = grid_of(runs, qrels, extra_metrics=["hit_rate@1", "ndcg@3"], at_least={"hit_rate@1": 0.01}, seed=3)
    path = tmp_path / "tuning.json.gz"
    tuning.save(path, labels={"commit": "4f2"}, rankings=rankings)
    loaded = rm.load(path)
    assert loaded == tuning
    assert loaded != grid_of(runs, qrels, extra_metrics=["hit_rate@1", "ndcg@3"], at_least={"hit_rate@1": 0.01}, seed=4)
    assert str(loaded) == str(tuning)
    assert loaded.rule == tuning.rule
    assert loaded.expected_gain_interval == tuning.expected_gain_interval
    assert loaded.to_pandas().equals(tuning.to_pandas())
    assert loaded[tuning.winner].parameters["weights"] == tuning[tuning.winner].parameters["weights"]


def test_what_cannot_be_saved_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    qrels, runs = data(2)
    questions = rm.EvaluationSet({query: query for query in qrels}, qrels)
    retrievers: dict[str, Any] = {name: runs[name].__getitem__ for name in runs}
    timed = rm.tune(retrievers, questions, "mrr", default="s0", at_most={"seconds": 10})
    timed.save(tmp_path / "whole.json")
    assert rm.load(tmp_path / "whole.json").rule.at_most == {"seconds": 10}
    with pytest.raises(ValueError, match="seconds are bounded"):
        timed.save(tmp_path / "small.json", rankings=False)
    makers = [lambda: runs["s0"], lambda: runs["s1"]]
    tuning = rm.tune(lambda make: make(), qrels, "mrr", parameters={"make": makers}, default={"make": makers[0]})
    with pytest.raises(ValueError, match="functions are not saved"):
        tuning.save(tmp_path / "small.json")
    assert not (tmp_path / "small.json").exists()


def test_settings_that_may_be_the_best_as_well_are_named() -> None:
    qrels, runs = data(5, 60)
    bad = {query: [document for document in runs["s0"][query] if document != "d"] for query in qrels}
    with pytest.warns(rm.RetrievalWarning, match="^bad: no retrieved document is judged"):
        tuning = rm.tune({**runs, "bad": bad}, qrels, "mrr", default="s0")
    assert "bad" not in tuning.indistinguishable
    assert tuning.winner not in tuning.indistinguishable
    assert set(tuning.indistinguishable) <= set(runs)
    assert len(tuning.indistinguishable) >= 3
    assert "not significantly different from the winner: " in str(tuning)
