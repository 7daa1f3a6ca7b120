"""Tuning: the choice, and a number for new questions that does not fool itself."""

import html
import itertools
import math
import random
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

import retrieval_metrics as rm
from retrieval_metrics.comparing.tuning import curve
from retrieval_metrics.statistics.chosen_settings import out_of_bag

Runs = dict[str, dict[str, list[str]]]


def data(settings: int, count: int = 40, seed: int = 0, better: float = 0.0) -> tuple[dict[str, list[str]], Runs]:
    """Questions, and settings that find "d" at a random rank; the last is better by chance of rank 1."""
    rng = random.Random(seed)
    qrels = {f"q{at}": ["d"] for at in range(count)}
    runs: Runs = {f"s{at}": {} for at in range(settings)}
    for query, (name, run) in itertools.product(qrels, runs.items()):
        first = name == f"s{settings - 1}" and rng.random() < better
        run[query] = [f"x{at}" for at in range(0 if first else rng.randrange(5))] + ["d"]
    return qrels, runs


def test_a_better_setting_is_found_and_its_gain_is_that_of_new_questions() -> None:
    qrels, runs = data(6, 80, better=0.6)
    found = rm.tune(runs, qrels, "mrr", default="s0")
    assert (found.winner, found.better) == ("s5", True)
    assert found.p <= 0.05
    assert 0 < found.new_gain_interval.low < found.new_gain < found.new_gain_interval.high
    assert re.fullmatch(
        r"s5 is better than s0 in mrr; expect \+0\.\d+ on new questions, not the \+0\.\d+ of these\.", found.conclusion
    )
    assert found["s5"].chosen > 0.9
    difference = rm.compare(qrels, runs, "mrr", baseline="s0").difference("mrr", "s5")
    assert found.gain == pytest.approx(difference.mean)
    assert found.p == difference.p_corrected


def test_the_best_of_equal_settings_is_worth_nothing_on_new_questions() -> None:
    naive, honest, better = [], [], []
    for seed in range(30):
        qrels, runs = data(20, 40, seed)
        found = rm.tune(runs, qrels, "mrr", default="s0", resamples=200)
        naive.append(found.gain)
        honest.append(found.new_gain)
        better.append(found.better)
        assert found.better or found.new_gain_interval.low <= 0
    assert np.mean(naive) > 0.08
    assert abs(np.mean(honest)) < 0.03
    assert np.mean(better) <= 0.15


def test_equal_means_keep_the_default() -> None:
    qrels, runs = data(1)
    found = rm.tune({"a": runs["s0"], "b": runs["s0"]}, qrels, "mrr", default="b")
    assert (found.winner, found.gain, found.p) == ("b", 0, 1)
    assert found.conclusion == "Keep b: no other setting has a better mrr on these questions."
    assert found["b"].chosen == 1


def test_out_of_bag_scores_only_what_a_resample_left_out() -> None:
    # One question decides: in the resamples that hold it, the second wins and scores nothing on the others.
    found = out_of_bag([[0.0, 1.0]] + [[0.1, 0.0]] * 9, default=0, resamples=4_000)
    assert found.winner == 1
    assert found.gain < 0.0
    alike = out_of_bag(np.tile([[0.2, 0.5]], (12, 1)), default=0, clusters=[0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3])
    assert alike.gain == pytest.approx(0.3)
    assert alike.gain_interval == pytest.approx((0.3, 0.3))
    with pytest.raises(ValueError, match="no setting to choose but the default"):
        out_of_bag([[1.0]], default=0, keep=False)


def test_a_function_is_tried_with_every_combination_of_its_parameters() -> None:
    qrels, runs = data(2)
    found = rm.tune(
        partial(rm.fuse, runs),
        qrels,
        "mrr",
        parameters={"k": [1, 60], "weights": [(1, 1), (1, 0), (0, 1)]},
        default={"k": 60, "weights": (1, 1)},
        others="hit_rate@1",
    )
    assert len(found.settings) == 6
    assert found.default == "k=60, weights=(1, 1)"
    alone = rm.evaluate(qrels, rm.fuse(runs, weights=(1, 0)), "mrr").means["mrr"]
    assert found["k=60, weights=(1, 0)"].means["mrr"] == alone
    assert list(found.to_pandas().columns[:3]) == ["setting", "k", "weights"]
    assert "hit_rate@1" in str(found)


def test_retrievers_are_asked_once_each_and_evaluations_are_taken_as_they_are() -> None:
    qrels, runs = data(3)
    asked: list[str] = []

    def retriever(name: str) -> Any:
        def search(text: str) -> list[str]:
            asked.append(name)
            return runs[name][text]

        return search

    questions = rm.EvaluationSet({query: query for query in qrels}, qrels)
    of_retrievers = rm.tune({name: retriever(name) for name in runs}, questions, "mrr", default="s0")
    assert sorted(asked) == sorted(name for name in runs for _ in qrels)
    of_runs = rm.tune(runs, questions, "mrr", default="s0")
    evaluations = {name: rm.evaluate(questions, run, "mrr") for name, run in runs.items()}
    of_evaluations = rm.tune(evaluations, metric="mrr", default="s0")
    assert str(of_runs) == str(of_evaluations) == str(of_retrievers)


def test_bounds_leave_out_settings_the_default_included() -> None:
    qrels, runs = data(4, 60, better=0.5)
    free = rm.tune(runs, qrels, "mrr", default="s0")
    bound = free["s3"].means["mrr"] - 0.01
    held = rm.tune(runs, qrels, "mrr", default="s0", at_most={"mrr": bound})
    assert free.winner == "s3"
    assert held.winner != "s3"
    assert not held["s3"].allowed
    without = rm.tune(runs, qrels, "mrr", default="s0", at_least={"mrr": bound})
    assert without.winner == "s3"
    assert "3 settings beyond the bounds" in str(without)
    with pytest.raises(ValueError, match="no setting keeps the bounds"):
        rm.tune(runs, qrels, "mrr", default="s0", at_least={"mrr": 1.0})
    with pytest.raises(ValueError, match="seconds are known only of retrievers"):
        rm.tune(runs, qrels, "mrr", default="s0", at_most={"seconds": 1.0})


def always(ranking: list[str], count: int = 20) -> dict[str, list[str]]:
    return {f"q{at}": ranking for at in range(count)}


def test_settings_that_differ_alike_on_every_question_have_known_numbers() -> None:
    qrels = {f"q{at}": ["d"] for at in range(20)}
    settings = {"old": always(["x", "d"]), "new": always(["d", "x"]), "bad": always(["x", "y", "z", "d"])}
    found = rm.tune(settings, qrels, "mrr", default="old", others="recall@3")
    assert (found.winner, found.mean, found.default_mean, found.gain) == ("new", 1, 0.5, 0.5)
    assert (found.new_mean, found.new_mean_interval) == (1, (1, 1))
    assert (found.new_gain, found.new_gain_interval) == (0.5, (0.5, 0.5))
    assert [(one.name, one.gain, one.chosen) for one in found.settings] == [
        ("new", 0.5, 1),
        ("old", 0, 0),
        ("bad", -0.25, 0),
    ]
    assert found.as_good == ()
    assert found.conclusion == "new is better than old in mrr; expect +0.500 on new questions."
    frame = found.to_pandas().set_index("setting")
    assert frame["difference"].to_dict() == {"new": 0.5, "old": 0, "bad": -0.25}
    assert frame["recall@3"].to_dict() == {"new": 1, "old": 1, "bad": 0}
    from_bad = str(rm.tune(settings, qrels, "mrr", default="bad", others="recall@3"))
    assert re.search(r"recall@3 +1\.000 +0\.000 +\+1\.00", from_bad)
    assert "chosen in the resamples: new 100 %, " in from_bad


def test_a_gain_that_is_not_shown_is_worth_a_switch_or_is_chance() -> None:
    qrels = {f"q{at}": ["d"] for at in range(20)}
    old, new = always(["x", "d"]), always(["x", "d"])
    new |= {"q0": ["d"], "q1": ["d"], "q2": ["d"]}
    few = rm.tune({"old": old, "new": new}, qrels, "mrr", default="old")
    assert (few.winner, few.better) == ("new", False)
    assert few.gain == pytest.approx(3 * 0.5 / 20)
    assert few.new_gain_interval.low == 0 < few.new_gain
    assert few.conclusion == (
        f"Switching to new is right on average (+{few.new_gain:.4f} on new questions), but 20 questions cannot show "
        "that it is better than old."
    )
    # One question decides, and says nothing of the others.
    old, new = always([*"abcefghij", "d"], 10), always(["x"], 10)
    old |= {"q0": ["x"]}
    new |= {"q0": ["d"]}
    one = rm.tune({"old": old, "new": new}, {f"q{at}": ["d"] for at in range(10)}, "mrr", default="old")
    assert (one.winner, one.better) == ("new", False)
    assert one.new_gain < 0
    assert one.conclusion == (
        "Keep old: the gain of new is no more than the best of 2 equal settings would have by chance."
    )


def test_the_interval_ends_at_0_where_the_questions_are_too_few_for_the_test() -> None:
    qrels = {f"q{at}": ["d"] for at in range(5)}
    runs = {"half": always(["x", "d"], 5), "whole": always(["d"], 5)}
    more = rm.tune(runs, qrels, "mrr", default="half")
    assert (more.winner, more.better, more.new_gain_interval) == ("whole", False, (0, 0.5))
    less = rm.tune(runs, qrels, "mrr", default="whole", at_most={"mrr": 0.9})
    assert (less.winner, less.new_gain, less.new_gain_interval) == ("half", -0.5, (-0.5, 0))


def test_a_mean_at_the_bound_keeps_it() -> None:
    qrels = {f"q{at}": ["d"] for at in range(20)}
    settings = {"old": always(["x", "d"]), "new": always(["d", "x"]), "bad": always(["x", "y", "z", "d"])}

    def allowed(**bounds: Any) -> list[str]:
        found = rm.tune(settings, qrels, "mrr", default="old", **bounds)
        return [one.name for one in found.settings if one.allowed]

    assert allowed(at_least={"mrr": 0.5}) == ["new", "old"]
    assert allowed(at_most={"mrr": 0.5}) == ["old", "bad"]
    assert allowed(at_least={"mrr": 0.5}, at_most={"mrr": 0.5}) == ["old"]
    assert allowed(at_least={"mrr": 0.26}, at_most={"map": 0.99}) == ["old"]
    held = rm.tune(settings, qrels, "mrr", default="old", at_most={"mrr": 0.5})
    assert {one.name: one.chosen for one in held.settings} == {"new": 0, "old": 1, "bad": 0}
    assert (held.winner, held.p, held.gain, held.new_gain_interval) == ("old", 1, 0, (0, 0))


def test_it_prints_what_was_chosen_and_draws_it() -> None:
    qrels, runs = data(5)
    found = rm.tune(runs, qrels, "mrr", default="s0")
    lines = str(found).splitlines()
    assert lines[0] == "5 settings on 40 queries, chosen by mrr"
    assert lines[-1] == found.conclusion
    assert isinstance(found.plot(), Figure)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"default": "z"}, ValueError, "the default, 'z', is not among the settings: s0"),
        ({"default": {"k": 1}}, TypeError, "default must be the name of a setting"),
        ({"default": "s0", "parameters": {"k": [1]}}, TypeError, "so parameters are those of each"),
        ({"default": "s0", "candidates": rm.fuse}, ValueError, "a function needs parameters"),
        ({"default": "s0", "questions": None}, TypeError, "need questions with judgments"),
        ({"default": "s0", "metric": "mrrr"}, ValueError, "mrrr"),
    ],
)
def test_what_cannot_be_tuned_is_refused(options: Any, error: type[Exception], message: str) -> None:
    qrels, runs = data(2)
    with pytest.raises(error, match=message):
        rm.tune(**{"candidates": runs, "questions": qrels, "metric": "mrr", **options})


def grid_of(runs: Runs, qrels: dict[str, list[str]], **options: Any) -> Any:
    return rm.tune(
        partial(rm.fuse, runs),
        qrels,
        "mrr",
        parameters={"k": [1, 20, 60], "weights": [(1, 1), (1, 0), (0, 1)]},
        default={"k": 60, "weights": (1, 1)},
        **options,
    )


@pytest.mark.parametrize("rankings", [True, False])
def test_a_saved_tuning_is_the_same_choice_with_the_same_numbers(tmp_path: Path, *, rankings: bool) -> None:
    qrels, runs = data(2, 30, better=0.4)
    found = grid_of(runs, qrels, others=["hit_rate@1", "ndcg@3"], at_least={"hit_rate@1": 0.01}, seed=3)
    path = tmp_path / "tuning.json.gz"
    found.save(path, labels={"commit": "4f2"}, rankings=rankings)
    loaded = rm.load(path)
    assert loaded == found
    assert loaded != grid_of(runs, qrels, others=["hit_rate@1", "ndcg@3"], at_least={"hit_rate@1": 0.01}, seed=4)
    assert str(loaded) == str(found)
    assert loaded.rule == found.rule
    assert loaded.new_gain_interval == found.new_gain_interval
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
    assert "bad" not in found.as_good
    assert found.winner not in found.as_good
    assert set(found.as_good) <= set(runs)
    assert len(found.as_good) >= 3
    assert "cannot be told from the winner: " in str(found)


def test_the_grid_of_two_parameters_is_drawn_and_other_grids_are_refused() -> None:
    qrels, runs = data(2)
    found = grid_of(runs, qrels)
    picture = found.plot("grid")
    axes = picture.axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["1", "20", "60"]
    words = [text.get_text() for text in axes.texts]
    assert len(words) == 9
    assert sum("default" in word for word in words) == 1
    assert sum("winner" in word for word in words) == (found.winner != found.default)
    named = rm.tune(runs, qrels, "mrr", default="s0", parameters={"s0": {"a": 1}, "s1": {"a": 2}})
    with pytest.raises(ValueError, match="a grid needs two parameters that vary; here 1 do"):
        named.plot("grid")
    with pytest.raises(ValueError, match="there is no plot 'heat'"):
        found.plot("heat")


def test_the_same_gain_is_said_alike_in_the_list_and_in_the_grid() -> None:
    qrels = {f"q{at}": ["d"] for at in range(80)}

    def run(a: int, b: int) -> dict[str, list[str]]:
        found = {(0, 0): 51, (0, 1): 42, (1, 0): 38, (1, 1): 30}[a, b]
        return {query: ["d" if at < found else "x"] for at, query in enumerate(qrels)}

    tuning = rm.tune(run, qrels, "mrr", parameters={"a": [0, 1], "b": [0, 1]}, default={"a": 0, "b": 0})
    listed = {text.get_text() for text in tuning.plot().axes[0].texts}
    gains = {text.get_text().partition("\n")[0] for text in tuning.plot("grid").axes[0].texts}
    assert gains - listed == {"0"}  # 42 / 80 - 51 / 80 is a little more than -9 / 80


def test_a_default_that_wins_is_not_drawn_with_a_gain(tmp_path: Path) -> None:
    qrels, runs = data(1, 40)
    bad = {f"bad{at}": {query: ["y", *ranking[: at + 1]] for query, ranking in runs["s0"].items()} for at in range(3)}
    found = rm.tune({"s0": runs["s0"], **bad}, qrels, "mrr", default="s0")
    assert found.winner == "s0"
    labels = [label.get_text() for label in found.plot().axes[0].get_yticklabels()]
    assert sorted(labels) == sorted(bad)
    found.report(tmp_path / "tuning.html")
    page = (tmp_path / "tuning.html").read_text()
    assert "expected on new questions" not in page
    assert 'class="zero" x1="100%"' in page  # no gain is above 0


def test_a_report_marks_where_gains_begin(tmp_path: Path) -> None:
    qrels, runs = data(5, 60)
    found = rm.tune(runs, qrels, "mrr", default="s0")
    found.report(tmp_path / "tuning.html")
    page = (tmp_path / "tuning.html").read_text()
    assert page.count('class="zero"') == 1 + sum(one.difference is not None for one in found.settings)


def test_many_settings_are_drawn_and_reported_in_a_readable_number(tmp_path: Path) -> None:
    qrels, runs = data(60, 20)
    found = rm.tune(runs, qrels, "mrr", default="s0")
    drawn = found.plot()
    assert len(drawn.axes[0].get_yticklabels()) == 25
    assert "35 settings with smaller means left out" in {text.get_text() for text in drawn.texts}
    found.report(tmp_path / "tuning.html", title="<K>")
    page = (tmp_path / "tuning.html").read_text()
    assert "<h1>&lt;K&gt;</h1>" in page
    assert page.index(html.escape(found.conclusion)) < page.index("Every setting")
    assert all(f"<td class=l>{name}</td>" in page for name in runs)


def test_progress_counts_the_settings(capsys: pytest.CaptureFixture[str]) -> None:
    qrels, runs = data(3)
    rm.tune(runs, qrels, "mrr", default="s0", show_progress=True)
    assert "3/3" in capsys.readouterr().err


def test_a_default_beyond_the_bounds_is_left_and_the_loss_is_said() -> None:
    qrels = {f"q{at}": ["d"] for at in range(30)}
    runs: dict[str, Any] = {
        "slow": dict.fromkeys(qrels, ("d", "x")),
        "fast": {query: ("x", "d") if at % 3 else ("d",) for at, query in enumerate(qrels)},
        "nearly": {query: ("x", "d") if at % 3 else ("d", "x") for at, query in enumerate(qrels)},
    }
    found = rm.tune(runs, qrels, "mrr", default="slow", at_most={"map": 0.9})
    assert (found.winner, found.better, found.as_good) == ("fast", False, ("nearly",))
    assert found.new_gain_interval.low < found.new_gain < found.new_gain_interval.high < 0
    assert found.conclusion == (
        "slow is beyond the bounds; within them, fast has the best mrr. Compared with slow, expect "
        f"{found.new_gain:.3f} on new questions."
    )
    assert "corrected for 2 settings" in str(found)
    equal = rm.tune({"slow": runs["slow"], "same": runs["slow"]}, qrels, "mrr", default="slow", at_least={"mrr": 1})
    assert equal.conclusion.startswith("Keep slow")
    unsure = {**runs["slow"], "q0": ("x", "d")}
    little = rm.tune({"slow": runs["slow"], "other": unsure}, qrels, "mrr", default="slow", at_most={"map": 0.99})
    assert little.new_gain_interval.high == 0
    assert little.conclusion.endswith("on new questions, which these questions cannot tell from 0.")


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"level": 95}, ValueError, "level must be strictly between 0 and 1, got 95"),
        ({"seed": "x"}, TypeError, "seed must be an integer, got 'x'"),
        ({"resamples": 0}, ValueError, "resamples must be a positive integer, got 0"),
        ({"at_least": {"map": "high"}}, TypeError, "at_least of map must be a number, got 'high'"),
        ({"at_most": {"map": math.nan}}, ValueError, "at_most of map must be a number, got nan"),
        ({"at_least": [("map", 0.2)]}, TypeError, "at_least must map names of metrics to numbers, got list"),
        ({"parameters": {"k": "abc"}}, TypeError, "the values of k must be a list, got 'abc'"),
        ({"parameters": {"k": [], "j": [1]}}, ValueError, "there is no value to try of k"),
        ({"default": {"j": 1}}, ValueError, "default must have a value of each of k, got {'j': 1}"),
    ],
)
def test_what_is_refused_is_refused_before_the_first_setting_is_tried(
    options: dict[str, Any], error: type[Exception], said: str
) -> None:
    def never(**_: Any) -> Any:
        pytest.fail("a setting was tried")

    with pytest.raises(error, match=re.escape(said)):
        rm.tune(never, {"q": ["d"]}, "mrr", **{"parameters": {"k": [1, 2]}, "default": {"k": 1}, **options})


def test_an_error_names_its_setting() -> None:
    with pytest.raises(TypeError, match="got NoneType") as caught:
        rm.tune(lambda **_: None, {"q": ["d"]}, "mrr", parameters={"k": [1, 2]}, default={"k": 1})
    assert caught.value.__notes__ == ["this is the setting 'k=1'"]
    found = rm.tune({"a": {"q": ["d"]}, "b": {"q": ["x"]}}, {"q": ["d"]}, "mrr", default="a")
    with pytest.raises(KeyError, match="there is no setting 'c'; there are a and b"):
        found["c"]


def lambdas(*, sizes: Sequence[int] = (20,), repeats: int = 30) -> rm.types.Tuning:
    """Return the choice of a number: the nearer to 0.5, the more questions have their document first."""

    def made(lambda_mult: float, fetch_k: int) -> dict[str, list[str]]:
        right = repeats * (1 - abs(lambda_mult - 0.5)) - (fetch_k == 10)
        return {f"q{at}": ["d", "x"] if at < right else ["x", "d"] for at in range(repeats)}

    qrels = {f"q{at}": ["d"] for at in range(repeats)}
    grid: dict[str, Any] = {"lambda_mult": [1.0, 0.1, 0.5, 0.9], "fetch_k": list(sizes)}
    return rm.tune(made, qrels, "mrr", default={"lambda_mult": 1.0, "fetch_k": sizes[0]}, parameters=grid)


@pytest.mark.parametrize("sizes", [(20,), (20, 10)])
def test_a_number_is_drawn_as_a_curve_in_its_order_with_whole_intervals(sizes: tuple[int, ...]) -> None:
    tuning = lambdas(sizes=sizes)
    axes = tuning.plot().axes[0]
    found = curve(tuning)
    assert found is not None
    assert found.parameter == "lambda_mult"
    assert [name for name, _ in found.lines] == ([""] if len(sizes) == 1 else ["fetch_k=10", "fetch_k=20"])
    for _, points in found.lines:
        assert [x for x, _ in points] == [0.1, 0.5, 0.9, 1.0]
    low, high = axes.get_ylim()
    for one in tuning.settings:
        if one.difference is not None:
            assert low < one.difference.interval.low
            assert one.difference.interval.high < high
    assert {"winner", "default"} <= {text.get_text() for text in axes.texts}


def test_without_three_numbers_there_is_no_curve() -> None:
    qrels, runs = data(3)
    named = rm.tune(runs, qrels, "mrr", default="s0")
    assert curve(named) is None
    assert named.plot().axes
    with pytest.raises(ValueError, match="needs a parameter with three numbers"):
        named.plot("curve")
