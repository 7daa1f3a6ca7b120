"""The figures of a choice show its numbers: as rows, over a number, and as a grid."""

import html
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.comparison.tuning_curves import find_curve
from retrieval_metrics.comparison.tuning_report import gain_rows
from tried_settings import data, grid_of


def test_the_grid_of_two_parameters_is_drawn_and_other_grids_are_refused() -> None:
    qrels, runs = data(2)
    tuning = grid_of(runs, qrels)
    picture = tuning.plot("grid")
    axes = picture.axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["1", "20", "60"]
    words = [text.get_text() for text in axes.texts]
    assert len(words) == 9
    assert sum("default" in word for word in words) == 1
    assert sum("winner" in word for word in words) == (tuning.winner != tuning.default)
    named = rm.tune(runs, qrels, "mrr", default="s0", parameters={"s0": {"a": 1}, "s1": {"a": 2}})
    with pytest.raises(ValueError, match="a grid needs two parameters that vary; here 1 do"):
        named.plot("grid")
    with pytest.raises(ValueError, match="there is no plot 'heat'"):
        tuning.plot("heat")


def test_the_same_gain_is_said_alike_in_the_list_and_in_the_grid() -> None:
    qrels = {f"q{number}": ["d"] for number in range(80)}

    def run(a: int, b: int) -> dict[str, list[str]]:
        found = {(0, 0): 51, (0, 1): 42, (1, 0): 38, (1, 1): 30}[a, b]
        return {query: ["d" if number < found else "x"] for number, query in enumerate(qrels)}

    tuning = rm.tune(run, qrels, "mrr", parameters={"a": [0, 1], "b": [0, 1]}, default={"a": 0, "b": 0})
    listed = {text.get_text() for text in tuning.plot().axes[0].texts}
    gains = {text.get_text().partition("\n")[0] for text in tuning.plot("grid").axes[0].texts}
    assert gains - listed == {"0"}  # 42 / 80 - 51 / 80 is a little more than -9 / 80


def test_a_default_that_wins_is_not_drawn_with_a_gain(tmp_path: Path) -> None:
    qrels, runs = data(1, 40)
    bad = {
        f"bad{number}": {query: ["y", *ranking[: number + 1]] for query, ranking in runs["s0"].items()}
        for number in range(3)
    }
    tuning = rm.tune({"s0": runs["s0"], **bad}, qrels, "mrr", default="s0")
    assert tuning.winner == "s0"
    labels = [label.get_text() for label in tuning.plot().axes[0].get_yticklabels()]
    assert sorted(labels) == sorted(bad)
    tuning.report(tmp_path / "tuning.html")
    page = (tmp_path / "tuning.html").read_text()
    assert ">expected on new questions<" not in page
    assert 'class="zero" x1="100%"' in page  # no gain is above 0


def test_many_settings_are_drawn_and_reported_in_a_readable_number(tmp_path: Path) -> None:
    qrels, runs = data(60, 20)
    tuning = rm.tune(runs, qrels, "mrr", default="s0")
    drawn = tuning.plot()
    assert len(drawn.axes[0].get_yticklabels()) == 13
    assert "47 settings with smaller means left out" in {text.get_text() for text in drawn.texts}
    tuning.report(tmp_path / "tuning.html", title="<K>")
    page = (tmp_path / "tuning.html").read_text()
    assert "<h1>&lt;K&gt;</h1>" in page
    assert page.index(html.escape(tuning.conclusion)) < page.index("All settings")
    assert all(f"<td class=l>{name}</td>" in page for name in runs)


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
def test_settings_that_take_no_part_are_not_drawn_as_losses() -> None:
    qrels = {f"q{number}": ["d.md"] for number in range(20)}

    def search(depth: int, *, stemming: bool) -> dict[str, list[str]]:
        name = "D.md" if depth == 3 else "d.md"
        return {query: [*(["x.md"] * (4 - depth)), name, f"{query}{stemming}"] for query in qrels}

    parameters: dict[str, list[Any]] = {"depth": [1, 2, 3, 4], "stemming": [False, True]}
    tuning = rm.tune(search, qrels, "mrr", parameters=parameters, default={"depth": 1, "stemming": False})
    assert {setting.name for setting in tuning.settings if setting.obstacle == "near_misses"} == {
        "depth=3, stemming=False",
        "depth=3, stemming=True",
    }
    cells = [text.get_text() for text in tuning.plot("grid").axes[0].texts]
    assert cells.count("not compared") == 2
    curve = find_curve(tuning)
    assert curve is not None
    assert [point.value for point in curve.lines["stemming=True"]] == [1, 2, 4]
    assert not any(row.name.startswith("depth=3") for row in gain_rows(tuning, 12).rows)
