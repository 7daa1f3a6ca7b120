"""Figures draw the numbers of the comparison they come from."""

from pathlib import Path

import numpy as np
import pytest
from matplotlib.patches import StepPatch

import retrieval_metrics as rm
from reported import QRELS, RUNS, texts_of


def test_the_outline_of_the_differences_is_the_differences_sorted(comparison: rm.Comparison) -> None:
    figure = comparison.plot("differences", "recall@2")
    assert len(figure.axes) == 3
    difference = comparison.difference("recall@2", "third", "old")
    won, lost = (patch.get_data()[0] for patch in figure.axes[1].patches if isinstance(patch, StepPatch))
    assert (won + lost).tolist() == sorted(difference.values.tolist(), reverse=True)
    assert (won >= 0).all()
    assert (lost <= 0).all()


def test_wins_are_written_beside_their_bars(comparison: rm.Comparison) -> None:
    paired = comparison.difference("mrr@10", "third", "old").paired
    written = texts_of(comparison.plot("wins"))
    assert f"{paired.wins} / {paired.ties} / {paired.losses}" in written


def test_the_means_have_a_panel_per_metric_and_their_intervals(comparison: rm.Comparison) -> None:
    figure = comparison.plot("intervals")
    assert [axes.get_title(loc="left") for axes in figure.axes] == list(comparison.means)
    order = [place.system for place in comparison.ranking.by_metric["mrr@10"]]  # in all panels
    for axes, (metric, means) in zip(figure.axes, comparison.means.items(), strict=True):
        lines = [np.asarray(line.get_xdata()).tolist() for line in axes.get_lines()]
        assert [line[0] for line in lines if len(line) == 1] == [means[system] for system in order]
        ends = [line for line in lines if len(line) == 2]
        assert np.allclose(ends, [comparison.intervals[metric][system] for system in order])


def test_long_names_have_numbers_and_stand_below() -> None:
    names = [f"{number} {'a name of sixty characters, which no row has room for '}"[:60] for number in range(12)]
    comparison = rm.compare(QRELS, dict.fromkeys(names, RUNS["old"]), "mrr", baseline=names[0])
    figure = comparison.plot("intervals")
    written = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert written == [f"#{number}" for number in range(1, 13)]
    below = " ".join(figure.get_supxlabel().split())
    assert all(f"#{number}: {' '.join(name.split())}" in below for number, name in enumerate(names, start=1))
    lines = "\n".join(written).splitlines()
    assert max(map(len, lines)) <= 20


def test_a_long_name_has_one_number_in_all_pictures_of_a_result(tmp_path: Path) -> None:
    early, late = (f"the retriever whose relevant results come {when}" for when in ("early", "late"))
    qrels = {f"q{number}": ["d", "e"] for number in range(20)}
    ranking_by_name = {
        early: ["d", "x", "y", "z"],
        late: ["x", "y", "d", "e"],
    }  # each is the best in one of the metrics
    runs = {name: dict.fromkeys(qrels, tuple(ranking)) for name, ranking in ranking_by_name.items()}
    comparison = rm.compare(qrels, runs, ["mrr", "recall@4"])
    keys = {f"#1: {early}", f"#2: {late}"}
    for metric in ("mrr", "recall@4"):
        for kind in ("overview", "differences", "cutoffs"):
            below = " ".join(comparison.plot(kind, metric=metric).get_supxlabel().split())
            assert all(key in below for key in keys), (metric, kind)
    comparison.report(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert all(f">{key}<" in text for key in keys)


@pytest.mark.parametrize("kind", ["overview", "intervals", "differences", "wins", "cutoffs", "precision_recall"])
def test_every_kind_can_be_drawn_and_names_the_systems(comparison: rm.Comparison, kind: str, tmp_path: Path) -> None:
    figure = comparison.plot(kind)  # type: ignore[arg-type]  # the kinds as a test's parameter are plain str
    figure.savefig(tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 5_000
    assert any(r"<new> \$1\$" in text for text in texts_of(figure))


def test_what_cannot_be_drawn_is_an_error(comparison: rm.Comparison, evaluation: rm.Evaluation) -> None:
    with pytest.raises(ValueError, match="no plot 'pie'; the plots are overview, intervals, differences, wins"):
        comparison.plot("pie")  # type: ignore[arg-type]  # the point of the line
    with pytest.raises(ValueError, match="no plot 'wins'; the plots are overview, intervals, cutoffs"):
        evaluation.plot("wins")  # type: ignore[arg-type]  # the point of the line
    with pytest.raises(KeyError, match="map was not computed"):
        comparison.plot("differences", "map")
    with pytest.raises(ValueError, match="none of map has a cutoff; name a metric, such as 'ndcg'"):
        rm.evaluate(QRELS, RUNS["old"], "map").plot("cutoffs")
