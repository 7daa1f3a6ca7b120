"""The figures of a choice show its numbers: as rows, over a number, and as a grid."""

import html
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.comparison.tuning_result import curve
from tried_settings import data, grid_of


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


def test_many_settings_are_drawn_and_reported_in_a_readable_number(tmp_path: Path) -> None:
    qrels, runs = data(60, 20)
    found = rm.tune(runs, qrels, "mrr", default="s0")
    drawn = found.plot()
    assert len(drawn.axes[0].get_yticklabels()) == 13
    assert "47 settings with smaller means left out" in {text.get_text() for text in drawn.texts}
    found.report(tmp_path / "tuning.html", title="<K>")
    page = (tmp_path / "tuning.html").read_text()
    assert "<h1>&lt;K&gt;</h1>" in page
    assert page.index(html.escape(found.conclusion)) < page.index("Every setting")
    assert all(f"<td class=l>{name}</td>" in page for name in runs)


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
