"""Every plot of the gallery: its words lie inside it and apart from each other, and its colours are told apart."""

from __future__ import annotations

import re
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pytest

from plot_gallery import alone, comparison, named, plots, plots_of_names, shown, words_of

if TYPE_CHECKING:
    from functools import partial

    from matplotlib.figure import Figure

    Drawing = tuple[str, partial[Figure]]

PIXELS_OF_A_PHONE = 85


def html_of(figure: Figure) -> str:
    return str(figure._repr_html_())


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> list[Drawing]:
    """The plots of the gallery, whose comparisons take as long as they."""
    return list(plots(tmp_path_factory.mktemp("plots")))


@pytest.mark.thorough
@pytest.mark.parametrize("across", [1, 2])
def test_no_word_leaves_its_figure_or_lies_on_another(across: int, drawn: list[Drawing]) -> None:
    for name, draw in drawn:
        if across > 1 and draw.func is alone:  # its one panel has been looked at
            continue
        check(f"{name}, {across} across", draw(across=across))


@pytest.mark.parametrize("across", [1, 2])
def test_no_word_of_a_comparison_leaves_its_figure_or_lies_on_another(across: int) -> None:
    check(f"{across} across", comparison(3, 120).plot(across=across))


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


def test_long_names_of_five_systems_fit_and_have_a_key() -> None:
    figure = named(5, 60).plot(across=2)
    check("named-5-60, 2 across", figure)
    assert figure.get_figheight() < 16
    assert any(re.match(r"#\d+: ", text) for text, _ in shown(figure))


@pytest.mark.thorough
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


@pytest.mark.thorough
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


def test_a_file_name_in_place_of_a_plot_is_told_how_to_save() -> None:
    with pytest.raises(ValueError, match=r"no plot 'x.png'; .*; to write a file: \.plot\(\)\.savefig\('x.png'\)"):
        comparison(2, 20).plot("x.png")  # type: ignore[arg-type]


def test_of_many_pairs_the_clearest_are_drawn_and_the_figure_says_so() -> None:
    compared = comparison(6, 120)
    figure = compared.plot("differences", "recall@10")
    assert len(figure.axes) == 6
    assert "6 of 15 pairs of systems, those with the smallest p values" in [text for text, _ in shown(figure)]
