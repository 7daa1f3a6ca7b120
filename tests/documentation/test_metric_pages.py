"""The computed parts of the metric pages: a picture, the formula, edge cases, names."""

import importlib.util
import re

import pytest

import retrieval_metrics as rm
from documentation_sources import module
from retrieval_metrics.metrics.base.registry import DEFINITIONS

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("sphinx") is None, reason="the dependency group docs is not installed: --group docs"
)

OURS = [name for name, definition in DEFINITIONS.items() if not definition.recipe]


def page_of(name: str) -> str:
    return str(module("_extensions/metric_pages.py").metric_page(name))


def rows(page: str) -> dict[str, list[str]]:
    """Return the cells of each row of the edge cases by the situation."""
    table = page.partition("## Edge cases")[2].partition("##")[0]
    lines = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("|")]
    return {cells[0]: cells[3:] for cells in lines}


@pytest.mark.parametrize("name", OURS)
def test_every_page_has_a_picture_a_formula_its_edges_and_its_name(name: str) -> None:
    page = page_of(name)
    label = re.search(r'aria-label="([^"]+)"', page)
    assert label is not None
    assert len(re.findall(r"\d\.\d\d", label[1])) >= 10  # a value for nearly every bar
    assert "\n\n" not in page[: page.index("</figure>")]  # a blank line would end the HTML
    assert page.count("$$") >= 2
    assert len(rows(page)) >= 7
    assert f"Write `{name}" in page


def test_the_values_are_those_of_the_rule_sets() -> None:
    table = rows(page_of("ndcg"))
    assert table["situation"] == ["standard", "trec_eval", "LlamaIndex", "Haystack", "AutoRAG", "MLflow"]
    assert table["a relevant document twice"] == ["0.613", "**error**", "**1**", "0.613", "**1**", "**0.765**"]
    assert table["query missing from the run"] == ["0", "**left out**", "**error**", "0", "0", "0"]


def test_the_picture_shows_what_evaluate_gives() -> None:
    growing = [
        rm.evaluate_ranking({"a": 3, "b": 1, "c": 1, "d": 2}, ["b", "x", "u", "a", "y", "c"], f"ndcg@{k}")[f"ndcg@{k}"]
        for k in range(1, 7)
    ]
    assert ", ".join(f"{value:.2f}" for value in growing) in page_of("ndcg")


def test_spellings_of_other_tools_are_listed() -> None:
    assert "`ndcg_cut_10` (trec_eval), `nDCG@10` (ir_measures), `ndcg_at_10` (MLflow)" in page_of("ndcg")
