"""The page of a comparison, opened as the colleague opens it to whom it was sent."""

from pathlib import Path

import pytest

import retrieval_metrics as rm
from browsing import LOOKS, Browser, Look

pytestmark = pytest.mark.browser

QRELS = {f"q{at}": ["d"] for at in range(40)}
RUNS = {
    "a retriever with a long name <b>and a tag</b>": {query: ["d"] for query in QRELS},
    "old": {query: ["x", "d"] if at % 3 else ["x", "y"] for at, query in enumerate(QRELS)},
}
TEXTS = {"q0": "<script>document.title = 'run'</script>", "q3": "what a very long question " * 20}


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    rm.compare(QRELS, RUNS, ["mrr", "ndcg@10"]).report(path, title="Comparison", queries=TEXTS)
    return path


def brightness(browser: Browser, name: str) -> float:
    colour = browser.run(
        f"return getComputedStyle(document.body).{name} + '|' + getComputedStyle(document.documentElement).{name}"
    )
    own, _, root = colour.partition("|")
    if own.endswith(", 0)"):  # transparent: what lies behind it shows
        own = root
    if own.endswith(", 0)"):
        return 255.0
    numbers = own[own.index("(") + 1 : own.index(")")].split(",")
    return sum(map(float, numbers[:3])) / 3


@pytest.mark.parametrize("look", LOOKS, ids=lambda look: f"{look.width} {look.scheme}")
def test_it_fits_asks_for_nothing_and_runs_nothing(browser: Browser, page: Path, look: Look) -> None:
    browser.open(page, look)
    assert browser.requests() == {page.as_uri()}
    assert browser.errors() == []
    assert browser.run("return document.title") == "Comparison"
    assert browser.run("return document.documentElement.scrollWidth") <= look.width
    assert abs(brightness(browser, "color") - brightness(browser, "backgroundColor")) > 100  # it can be read


def test_what_it_shows_is_what_was_compared(browser: Browser, page: Path) -> None:
    browser.open(page, LOOKS[0])
    text = browser.run("return document.body.textContent")  # also of what is folded up
    assert "old is worse than a retriever with a long name <b>and a tag</b> in mrr and ndcg@10." in text
    assert "<script>document.title = 'run'</script>" in text
