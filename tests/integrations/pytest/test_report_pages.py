"""The HTML report as a browser shows it: failures first, every link works, nothing is fetched."""

from pathlib import Path

import pytest

from browsing import LOOKS, Browser, until
from retrieval_builds import Builds

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.browser

TEXTS = """
    import os
    import retrieval_metrics as rm

    QUERIES = {f"q{i}": f"what is <b>thing</b> number {i}?" for i in range(40)}
    QRELS = {query: {"d": 3, "e": 1} for query in QUERIES}
    LOST = int(os.environ.get("LOST", "0"))

    def search(text):
        ids = ["d", "e", "x"] if int(text.split()[-1].rstrip("?")) >= LOST else ["x", "y", "e"]
        return [rm.Retrieved(id, f"The text of <i>{id}</i>.") for id in ids]

    def test_words(retrieval_check):
        retrieval_check(QRELS, search, {"ndcg@10": 0.35, "mrr": None}, baseline=True, queries=QUERIES)

    def test_floor(retrieval_check):
        retrieval_check(QRELS, search, {"hit_rate@1": 0.1}, queries=QUERIES)
"""


@pytest.fixture
def page(builds: Builds) -> Path:
    builds.write(TEXTS)
    builds.run("--retrieval-update").assert_outcomes(passed=2)
    builds.run("--retrieval-report=report/retrieval.html", lost=12).assert_outcomes(passed=1, failed=1)
    return builds.path / "report" / "retrieval.html"


def read_text(browser: Browser) -> str:
    return str(browser.run("return document.body.innerText"))


def test_failures_come_first_and_every_query_can_be_opened(page: Path, browser: Browser) -> None:
    for look in LOOKS:
        browser.open(page, look)
        assert browser.requests() == {page.as_uri()}
        assert browser.errors() == []
        assert browser.run("return document.documentElement.scrollWidth") <= look.width
        text = read_text(browser)
        assert text.index("1 of 2 checks failed.") < text.index("ndcg@10 worse: 1.000 -> 0.741 (p < 0.001), 12 of 40")
        assert "q0 (what is <b>thing</b> number 0?)" in text
        links = browser.run("return [...document.links].map(link => [link.innerText, link.href])")
        assert links[0][0] == "All queries, before and after"
        browser.run("document.links[0].click()")
        until(lambda: browser.run("return document.readyState === 'complete' && location.href"), links[0][1])
        (opened,) = browser.requests()
        assert opened.endswith("/report/retrieval.checks/test_search.test_words.html")
        assert browser.errors() == []
        assert browser.run("return document.documentElement.scrollWidth") <= look.width
        text = read_text(browser)
        assert "now is worse than baseline in ndcg@10" in text
        assert "what is <b>thing</b> number 0?" in text


def test_the_page_of_a_check_without_a_baseline_is_that_of_its_evaluation(page: Path, browser: Browser) -> None:
    browser.open(page, LOOKS[0])
    browser.run("document.querySelectorAll('details').forEach(one => one.open = true)")
    links = browser.run("return [...document.links].map(link => [link.innerText, link.href])")
    ((_, address),) = [link for link in links if link[0] == "All queries"]
    browser.driver.get(address)
    assert browser.errors() == []
    assert "test_search.py::test_floor" in read_text(browser)
    assert "what is <b>thing</b> number 39?" in read_text(browser)
