"""The result of tuning: what is concluded, and how it is printed, reported, saved and loaded."""

import re
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

import retrieval_metrics as rm
from tried_settings import always, data, grid_of


def test_settings_that_differ_alike_on_every_question_have_known_numbers() -> None:
    qrels = {f"q{at}": ["d"] for at in range(20)}
    settings = {"old": always(["x", "d"]), "new": always(["d", "x"]), "bad": always(["x", "y", "z", "d"])}
    found = rm.tune(settings, qrels, "mrr", default="old", extra_metrics="recall@3")
    assert (found.winner, found.mean, found.default_mean, found.gain) == ("new", 1, 0.5, 0.5)
    assert (found.expected_mean, found.expected_mean_interval) == (1, (1, 1))
    assert (found.expected_gain, found.expected_gain_interval) == (0.5, (0.5, 0.5))
    assert [(one.name, one.gain, one.selection_rate) for one in found.settings] == [
        ("new", 0.5, 1),
        ("old", 0, 0),
        ("bad", -0.25, 0),
    ]
    assert found.indistinguishable == ()
    assert found.conclusion == "new is better than old in mrr; expect +0.500 on new questions."
    frame = found.to_pandas().set_index("setting")
    assert frame["difference"].to_dict() == {"new": 0.5, "old": 0, "bad": -0.25}
    assert frame["recall@3"].to_dict() == {"new": 1, "old": 1, "bad": 0}
    from_bad = str(rm.tune(settings, qrels, "mrr", default="bad", extra_metrics="recall@3"))
    assert re.search(r"recall@3 +1\.000 +0\.000 +\+1\.00", from_bad)
    assert "wins on similar questions: new 100 %, " in from_bad


def test_a_gain_that_is_not_shown_is_worth_a_switch_or_is_chance() -> None:
    qrels = {f"q{at}": ["d"] for at in range(20)}
    old, new = always(["x", "d"]), always(["x", "d"])
    new |= {"q0": ["d"], "q1": ["d"], "q2": ["d"]}
    few = rm.tune({"old": old, "new": new}, qrels, "mrr", default="old")
    assert (few.winner, few.is_significant) == ("new", False)
    assert few.gain == pytest.approx(3 * 0.5 / 20)
    assert few.expected_gain_interval.low == 0 < few.expected_gain
    assert few.conclusion == (
        f"Switching to new is right on average (+{few.expected_gain:.4f} on new questions), but 20 questions cannot "
        f"show "
        "that it is better than old."
    )
    # One question decides, and says nothing of the others.
    old, new = always([*"abcefghij", "d"], 10), always(["x"], 10)
    old |= {"q0": ["x"]}
    new |= {"q0": ["d"]}
    one = rm.tune({"old": old, "new": new}, {f"q{at}": ["d"] for at in range(10)}, "mrr", default="old")
    assert (one.winner, one.is_significant) == ("new", False)
    assert one.expected_gain < 0
    assert one.conclusion == (
        "Keep old: the gain of new is no more than the best of 2 equal settings would have by chance."
    )


def test_it_prints_what_was_chosen_and_draws_it() -> None:
    qrels, runs = data(5)
    found = rm.tune(runs, qrels, "mrr", default="s0")
    lines = str(found).splitlines()
    assert lines[0] == "5 settings on 40 queries, chosen by mrr"
    assert lines[-1] == found.conclusion
    assert isinstance(found.plot(), Figure)


@pytest.mark.parametrize("rankings", [True, False])
def test_a_saved_tuning_is_the_same_choice_with_the_same_numbers(tmp_path: Path, *, rankings: bool) -> None:
    qrels, runs = data(2, 30, better=0.4)
    found = grid_of(runs, qrels, extra_metrics=["hit_rate@1", "ndcg@3"], at_least={"hit_rate@1": 0.01}, seed=3)
    path = tmp_path / "tuning.json.gz"
    found.save(path, labels={"commit": "4f2"}, rankings=rankings)
    loaded = rm.load(path)
    assert loaded == found
    assert loaded != grid_of(runs, qrels, extra_metrics=["hit_rate@1", "ndcg@3"], at_least={"hit_rate@1": 0.01}, seed=4)
    assert str(loaded) == str(found)
    assert loaded.rule == found.rule
    assert loaded.expected_gain_interval == found.expected_gain_interval
    assert loaded.to_pandas().equals(found.to_pandas())
    assert loaded[found.winner].parameters["weights"] == found[found.winner].parameters["weights"]


def test_what_cannot_be_saved_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    qrels, runs = data(2)
    asked = rm.EvaluationSet({query: query for query in qrels}, qrels)
    retrievers: dict[str, Any] = {name: runs[name].__getitem__ for name in runs}
    timed = rm.tune(retrievers, asked, "mrr", default="s0", at_most={"seconds": 10})
    timed.save(tmp_path / "whole.json")
    assert rm.load(tmp_path / "whole.json").rule.at_most == {"seconds": 10}
    with pytest.raises(ValueError, match="seconds are bounded"):
        timed.save(tmp_path / "small.json", rankings=False)
    makers = [lambda: runs["s0"], lambda: runs["s1"]]
    made = rm.tune(lambda make: make(), qrels, "mrr", parameters={"make": makers}, default={"make": makers[0]})
    with pytest.raises(ValueError, match="functions are not saved"):
        made.save(tmp_path / "small.json")
    assert not (tmp_path / "small.json").exists()


def test_settings_that_may_be_the_best_as_well_are_named() -> None:
    qrels, runs = data(5, 60)
    bad = {query: [f"y{at}" for at in range(5)] for query in qrels}
    found = rm.tune({**runs, "bad": bad}, qrels, "mrr", default="s0")
    assert "bad" not in found.indistinguishable
    assert found.winner not in found.indistinguishable
    assert set(found.indistinguishable) <= set(runs)
    assert len(found.indistinguishable) >= 3
    assert "may be as good as the winner: " in str(found)


def test_a_report_marks_where_gains_begin(tmp_path: Path) -> None:
    qrels, runs = data(5, 60)
    found = rm.tune(runs, qrels, "mrr", default="s0")
    found.report(tmp_path / "tuning.html")
    page = (tmp_path / "tuning.html").read_text()
    assert page.count('class="zero"') == 1 + sum(one.difference is not None for one in found.settings)


def test_a_default_beyond_the_bounds_is_left_and_the_loss_is_said() -> None:
    qrels = {f"q{at}": ["d"] for at in range(30)}
    runs: dict[str, Any] = {
        "slow": dict.fromkeys(qrels, ("d", "x")),
        "fast": {query: ("x", "d") if at % 3 else ("d",) for at, query in enumerate(qrels)},
        "nearly": {query: ("x", "d") if at % 3 else ("d", "x") for at, query in enumerate(qrels)},
    }
    found = rm.tune(runs, qrels, "mrr", default="slow", at_most={"map": 0.9})
    assert (found.winner, found.is_significant, found.indistinguishable) == ("fast", False, ("nearly",))
    assert found.expected_gain_interval.low < found.expected_gain < found.expected_gain_interval.high < 0
    assert found.conclusion == (
        "slow is beyond the bounds; within them, fast has the best mrr. Compared with slow, expect "
        f"{found.expected_gain:.3f} on new questions."
    )
    assert "corrected for 2 settings" in str(found)
    equal = rm.tune({"slow": runs["slow"], "same": runs["slow"]}, qrels, "mrr", default="slow", at_least={"mrr": 1})
    assert equal.conclusion.startswith("Keep slow")
    unsure = {**runs["slow"], "q0": ("x", "d")}
    little = rm.tune({"slow": runs["slow"], "other": unsure}, qrels, "mrr", default="slow", at_most={"map": 0.99})
    assert little.expected_gain_interval.high == 0
    assert little.conclusion.endswith("on new questions, which these questions cannot tell from 0.")
