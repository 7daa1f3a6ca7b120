"""Every plot of the gallery: its words lie inside it and apart from each other, and its colours are told apart."""

from __future__ import annotations

import re
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.text import Annotation, Text

import retrieval_metrics as rm
from plot_gallery import alone, comparison, plots, plots_of_names
from retrieval_metrics.reports.charts import COLOURS, GAIN, LOSS_COLOUR, TIED_COLOUR, line_style
from retrieval_metrics.reports.plots import spread_apart

if TYPE_CHECKING:
    from functools import partial
    from pathlib import Path

    from matplotlib.figure import Figure

    Drawing = tuple[str, partial[Figure]]

PIXELS_OF_A_PHONE = 85
# What remains of linear red, green and blue for a reader without red, green or blue cones (Machado et al. 2009).
VISIBLE_LIGHT = {
    "all": np.eye(3),
    "no red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "no green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "no blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def words_of(figure: Figure) -> list[Text]:
    texts = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]
    return [text for text in texts if not isinstance(text, Annotation) or text.get_text()]


def shown(figure: Figure) -> list[tuple[str, np.ndarray]]:
    """The words of a figure with the corners of their boxes in inches, without ticks outside the axes' limits."""
    figure.draw_without_rendering()
    hidden = set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in [*axis.get_major_ticks(), *axis.get_minor_ticks()]:
                inside = low - 1e-9 <= tick.get_loc() <= high + 1e-9
                hidden |= set() if inside and tick.label1.get_visible() else {tick.label1}
                hidden.add(tick.label2)
    words = []
    for text in words_of(figure):
        if text not in hidden and text.axes not in {axes for axes in figure.axes if not axes.get_visible()}:
            box = text.get_window_extent()
            words.append((text.get_text(), np.array([box.x0, box.y0, box.x1, box.y1]) / figure.dpi))
    return words


def html_of(figure: Figure) -> str:
    return str(figure._repr_html_())


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> list[Drawing]:
    """The plots of the gallery, whose comparisons take as long as they."""
    return list(plots(tmp_path_factory.mktemp("plots")))


@pytest.mark.parametrize("across", [1, 2])
def test_no_word_leaves_its_figure_or_lies_on_another(across: int, drawn: list[Drawing]) -> None:
    for name, draw in drawn:
        if across > 1 and draw.func is alone:  # its one panel has been looked at
            continue
        check(f"{name}, {across} across", draw(across=across))


def check(name: str, figure: Figure) -> None:
    words = shown(figure)
    width, height = figure.get_size_inches()
    for text, (left, low, right, high) in words:
        assert left >= -0.02, f"{name}: {text!r} is cut at the left"
        assert right <= width + 0.02, f"{name}: {text!r} is cut at the right"
        assert low >= -0.02, f"{name}: {text!r} is cut below"
        assert high <= height + 0.02, f"{name}: {text!r} is cut above"
    for (first, first_box), (second, second_box) in combinations(words, 2):
        overlap = np.minimum(first_box[2:], second_box[2:]) - np.maximum(first_box[:2], second_box[:2])
        rotated = "…" in first and "…" in second  # the boxes of rotated labels overlap, their letters do not
        assert rotated or (overlap < 0.04).any(), f"{name}: {first!r} lies on {second!r}"
    for axes in figure.axes:
        assert axes.get_visible()
        assert axes.has_data(), f"{name} has an empty panel"


def test_names_of_any_length_and_number_fit() -> None:
    """Of 2, 5, 12 and 30 systems with names of 10, 40 and 60 letters, for a phone and a screen in turns."""
    for index, (name, draw) in enumerate(plots_of_names()):
        across = 1 + index % 2
        figure = draw(across=across)
        check(f"{name}, {across} across", figure)
        height = figure.get_figheight()
        assert height < 16 if across == 2 else height < 30, f"{name} is {height:.1f} inches tall"
        letters = int(name.rpartition("-")[2])
        if letters > 10 and "differences" not in name and "wins" not in name:
            assert any(re.match(r"#\d+: ", text) for text, _ in shown(figure)), f"{name} has no key"


def test_a_phone_shows_every_letter_large_enough() -> None:
    figure = comparison(3, 120).plot(across=1)
    assert figure.get_figwidth() * PIXELS_OF_A_PHONE < 400
    assert min(float(text.get_fontsize()) for text in words_of(figure)) * PIXELS_OF_A_PHONE / 72 >= 11


def test_a_figure_is_stacked_where_a_notebook_is_narrow_and_keeps_what_was_changed() -> None:
    figure = comparison(3, 120).plot()
    figure.axes[0].set_title("mine", loc="left")
    before = figure.get_size_inches().tolist()
    page = html_of(figure)
    assert re.search(r'<picture><source media="\(max-width: \d+px\)" srcset="data:image/png;base64,', page)
    assert 'alt="dense is better than' in page
    assert figure.get_size_inches().tolist() == before
    assert figure.axes[0].get_title(loc="left") == "mine"
    assert "<picture>" not in html_of(comparison(3, 120).plot(across=2))


def test_systems_gains_and_losses_have_a_colour_each_that_everybody_can_tell_apart() -> None:
    colours = [*COLOURS, GAIN, LOSS_COLOUR]
    for first, second in combinations(colours, 2):
        for reader, matrix in VISIBLE_LIGHT.items():
            distance = np.linalg.norm(lab(matrix @ linear(first)) - lab(matrix @ linear(second)))
            assert distance > 14, f"{first} and {second} look alike to a reader who sees {reader}"
    for colour in [*colours, TIED_COLOUR]:
        light = float(linear(colour) @ [0.2126, 0.7152, 0.0722])
        assert min(1.05 / (light + 0.05), (light + 0.05) / 0.05) > 2.6
    assert len({line_style(index) for index in range(12)}) == 12
    assert len({line_style(index).marker for index in range(12)}) == 12


def linear(colour: str) -> np.ndarray:
    part = np.array(to_rgb(colour))
    return np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)


def lab(light: np.ndarray) -> np.ndarray:
    """CIELAB of linear light, in which 2.3 is the least distance that is seen."""
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    xyz = np.array(to_xyz) @ np.clip(light, 0, 1) / [0.9505, 1, 1.089]
    root = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * root[1] - 16, 500 * (root[0] - root[1]), 200 * (root[1] - root[2])])


def test_one_figure_answers_which_is_better_and_how_sure() -> None:
    compared = comparison(2, 120)
    texts = [texts for texts, _ in shown(compared.plot())]
    text = " ".join(" ".join(texts).split())
    difference = compared.difference("ndcg@10")
    assert compared.conclusions.get("ndcg@10").sentence in text
    assert f"{difference.paired.wins} won" in text
    assert f"{difference.paired.losses} lost" in text
    (query, change), *_ = difference.largest_changes(1)
    assert f"{query} {change:+.2f}" in text or f"{query} {change:+.3f}" in text
    assert "▼" in text


def test_queries_that_moved_alike_are_named_in_one_order_everywhere(tmp_path: Path) -> None:
    qrels = {f"q{index}": ["d"] for index in range(12)}
    old: dict[str, list[str]] = {}
    new: dict[str, list[str]] = {}
    for index, query in enumerate(qrels):
        needed, other = (old, new) if index < 8 else (new, old)
        needed[query] = ["d"]
        other[query] = ["x"]
    compared = rm.compare(qrels, {"old": old, "new": new}, "mrr", baseline="old")
    assert [query for query, _ in compared.difference("mrr").largest_changes(3)] == ["q0", "q1", "q2"]
    assert "q0 -1.00, q1 -1.00, q2 -1.00" in [text for text, _ in shown(compared.plot("differences"))]
    compared.report(tmp_path / "report.html")
    assert '<div class="moved last">q0 -1.00, q1 -1.00, q2 -1.00</div>' in (tmp_path / "report.html").read_text()


def test_a_file_name_in_place_of_a_plot_is_told_how_to_save() -> None:
    with pytest.raises(ValueError, match=r"no plot 'x.png'; .*; to write a file: \.plot\(\)\.savefig\('x.png'\)"):
        comparison(2, 20).plot("x.png")  # type: ignore[arg-type]


def test_a_lower_value_can_be_the_better_one() -> None:
    values = {
        "slow": {f"q{index}": 2.0 + index % 3 for index in range(12)},
        "fast": {f"q{index}": 1.0 for index in range(12)},
    }
    evaluations = {
        name: rm.Evaluation.from_scores({"seconds": scores}, bounds=(0, 10), lower_is_better="seconds")
        for name, scores in values.items()
    }
    figure = rm.compare(evaluations).plot("differences")
    won = [patch for patch in figure.axes[0].patches if patch.get_facecolor()[:3] == to_rgb(GAIN)]
    assert won[0].get_data()[0].min() == -3  # type: ignore[attr-defined]  # the largest gain is a fall
    assert "12 won" in " ".join(text for text, _ in shown(figure))


def test_of_many_pairs_the_clearest_are_drawn_and_the_figure_says_so() -> None:
    compared = comparison(6, 120)
    figure = compared.plot("differences", "recall@10")
    assert len(figure.axes) == 6
    assert "6 of 15 pairs of systems, those told apart most clearly" in [text for text, _ in shown(figure)]


def test_precision_and_recall_are_those_at_each_cut_off() -> None:
    compared = comparison(2, 8)
    line = compared.plot("precision_recall").axes[0].get_lines()[0]
    evaluation = compared.evaluations["BM25"]
    precision = evaluation.at_cutoffs("precision")
    recall = evaluation.at_cutoffs("recall")
    drawn = dict(zip(np.asarray(line.get_xdata()).tolist(), np.asarray(line.get_ydata()).tolist(), strict=True))
    assert drawn.keys() == set(recall.values())
    assert list(drawn.values())[-1] == list(precision.values())[-1]


@pytest.mark.parametrize("seed", range(5))
def test_names_at_the_ends_of_lines_never_overlap(seed: int) -> None:
    generator = np.random.default_rng(seed)
    places = generator.random(10)
    sizes = np.full(10, 0.09)
    spread = spread_apart(places.tolist(), sizes.tolist(), (0, 1))
    ordered = sorted(spread.values())
    assert min(np.diff(ordered)) > 0.09 - 1e-6
    assert ordered[0] >= 0.045 - 1e-6
    assert ordered[-1] <= 0.955 + 1e-6
    assert sorted(spread, key=spread.__getitem__) == np.argsort(places, kind="stable").tolist()
