"""The built site in a browser: on a phone and on a desk, by day and by night, and with no network."""

import importlib.util
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from browsing import LOOKS, Browser, Look, until

ROOT = Path(__file__).parent.parent.parent
DESK = Look(1400, "light")

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        importlib.util.find_spec("sphinx") is None, reason="the dependency group docs is not installed: --group docs"
    ),
]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "html"
    command = [sys.executable, str(ROOT / "docs" / "build.py"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("look", LOOKS, ids=lambda look: f"{look.width}-{look.scheme}")
def test_every_page_fits_and_loads_nothing_from_elsewhere(site: Path, browser: Browser, look: Look) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 25
    for page in pages:
        browser.open(page, look)
        assert browser.run("return innerWidth") == look.width
        wide = browser.run("return document.documentElement.scrollWidth")
        assert wide <= look.width, f"{page.name} is {wide} pixels wide"
        ground = browser.run("return getComputedStyle(document.body).backgroundColor")
        shade = sum(int(part) for part in ground.strip("rgba()").split(",")[:3]) / (3 * 255)
        assert (shade < 0.5) == (look.scheme == "dark"), f"{page.name} is {ground} for a reader of {look.scheme} pages"
        requests = browser.requests()
        assert page.as_uri() in requests  # the log works
        assert not {url for url in requests if not url.startswith(site.as_uri())}


def test_a_page_of_the_api_begins_with_its_names_which_lead_to_their_entries(site: Path, browser: Browser) -> None:
    for page in sorted((site / "api").glob("*.html")):
        browser.open(page, DESK)
        described = browser.run(
            "return [...document.querySelectorAll('article dl.py > dt.sig')]"
            ".filter(entry => !entry.parentElement.parentElement.closest('dl.py')).map(entry => entry.id)"
        )
        listed = browser.run(
            "return [...document.querySelectorAll('article section > ul.names > li > p:first-child > a')]"
            ".map(link => decodeURIComponent(link.hash.slice(1)))"
        )
        assert listed == described
        assert described or page.stem == "index"


def test_what_is_folded_in_the_api_opens_at_a_click(site: Path, browser: Browser) -> None:
    browser.open(site / "api" / "compare.html", DESK)
    state = "return document.querySelector('details.rest dl').checkVisibility()"
    assert not browser.run(state)
    browser.run("document.querySelector('details.rest > summary').click()")
    until(lambda: browser.run(state), expected=True)


def test_the_sidebar_groups_the_pages_of_the_api_by_topic(site: Path, browser: Browser) -> None:
    browser.open(site / "api" / "compare.html", DESK)
    topics = "[...document.querySelectorAll('.sidebar-tree details')]"
    assert browser.run(f"return {topics}.filter(d => d.open).map(d => d.querySelector('summary').innerText)") == [
        "Decide"
    ]
    links = browser.run(f"return {topics}.flatMap(d => [...d.querySelectorAll('a')]).map(a => a.href)")
    for page in (site / "api").glob("*.html"):
        assert page.stem in {"index", "compare"} or page.as_uri() in links


@pytest.mark.parametrize("width", [390, 1280])
def test_the_first_screen_says_what_it_is_for_whom_and_how_it_starts(site: Path, browser: Browser, width: int) -> None:
    browser.open(site / "index.html", Look(width, "light"))
    sentence, install, tabs, code = browser.run(
        "const bottom = (query) => document.querySelector(query).getBoundingClientRect().bottom;"
        "return ['article h1 + p', 'article .highlight-sh', 'article .tab-set > label', 'article .highlight-python']"
        ".map(bottom)"
    )
    first = browser.run("return document.querySelector('article h1 + p').innerText")
    assert all(framework in first for framework in ("LlamaIndex", "LangChain", "Ragas", "pytest"))
    assert sentence < install < tabs < code < 800


def test_formulas_are_set(site: Path, browser: Browser) -> None:
    browser.open(site / "api" / "one-ranking.html", DESK)
    heights = browser.run(
        "return [...document.querySelectorAll('math[display=block]')].map(m => m.getBoundingClientRect().height)"
    )
    assert len(heights) >= 5
    assert min(heights) > 10
    assert max(heights) > 30  # a fraction is taller than a line


def searched(site: Path, browser: Browser, words: str) -> Iterator[list[str]]:
    """Search the site, and yield the pages that are listed until half a minute is over."""
    from selenium.webdriver.common.by import By

    browser.open(site / "index.html", DESK)
    box = browser.driver.find_element(By.CSS_SELECTOR, "input[name=q]")
    box.send_keys(words)
    box.submit()
    end = time.monotonic() + 30
    while time.monotonic() < end:
        listed = browser.run("return [...document.querySelectorAll('ul.search li a')].map(link => link.href)")
        yield [link.partition("?")[0].partition("#")[0] for link in listed]
        time.sleep(0.1)


@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("hit rate", "reference/metrics/hit_rate"),
        ("hit rate", "api/one-ranking"),  # where the function is described
        ("why is my NDCG above 1", "reference/metrics/ndcg"),
        ("re-chunk", "guides/rechunking"),
        ("CI", "reference/glossary"),  # a confidence interval
        ("ground truth", "reference/glossary"),
        ("ranx", "guides/coming-from"),
        ("is the bare string", "guides/errors"),
    ],
)
def test_the_search_works_without_a_server(site: Path, browser: Browser, words: str, page: str) -> None:
    entry = (site / f"{page}.html").as_uri()
    assert any(entry in links for links in searched(site, browser, words))


@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("hit rate", "reference/metrics/hit_rate"),
        ("NDCG", "reference/metrics/ndcg"),
        ("why is my NDCG above 1", "reference/metrics/ndcg"),
        ("re-chunk", "guides/rechunking"),
        ("CI", "tutorial/5-gate"),
        ("gate a build", "guides/command-line"),
        ("how many questions do I need", "guides/planning"),
        ("no answers labelled", "guides/questions"),
        ("confidence interval", "guides/evaluating"),
        ("reranker", "guides/mmr"),
        ("synthetic questions", "guides/generating-questions"),
        ("save results", "guides/over-time"),
        ("flaky", "integrations/pytest"),
        ("agent", "guides/agents"),
        ("pytrec_eval", "guides/coming-from"),
        ("langfuse", "integrations/other_tools"),
        ("compare two embeddings", "guides/comparing"),
        ("judged@10", "guides/evaluating"),
        ("LaTeX", "guides/files"),
        ("export csv", "guides/files"),
        ("margin", "guides/comparing"),
        ("deepeval", "integrations/other_tools"),
        ("latex", "guides/files"),
        ("OpenAI embeddings", "guides/running-retrievers"),
        ("SimpleDirectoryReader", "integrations/llama_index"),
        ("file name", "integrations/llama_index"),
        ("distances", "guides/errors"),
        ("chunk ids", "guides/rechunking"),
        ("MRR", "reference/metrics/mrr"),
        ("recall at k", "reference/metrics/recall"),
        ("gate", "guides/command-line"),
        ("significance", "guides/comparing"),
        ("trec_eval", "guides/coming-from"),
        ("golden dataset", "guides/questions"),
        ("MMR", "guides/mmr"),
        ("ragas", "integrations/ragas"),
        ("LangChain", "integrations/langchain"),
        ("rm.compare", "api/compare"),
        ("rm.EvaluationSet", "api/evaluation-set"),
        # As people ask: the words of an entry in any order and form, among others.
        ("use an LLM as a judge", "guides/labelling"),
        ("why is my NDCG higher than trec_eval's", "guides/coming-from"),
        ("Ragas context_precision differs", "integrations/ragas"),
        ("plot for a paper", "guides/plots"),
        ("is the reranker worth it", "guides/comparing"),
        ("p-value", "guides/comparing"),
        ("I have no ground truth", "guides/questions"),
        ("recall is always 0", "guides/errors"),
        ("overfitting", "guides/tuning"),
        ("install", "tutorial/index"),
    ],
)
def test_the_page_that_a_reader_wants_is_found_first(site: Path, browser: Browser, words: str, page: str) -> None:
    first = next(links for links in searched(site, browser, words) if links)[0]
    assert first == (site / f"{page}.html").as_uri()


def test_the_pictures_of_metrics_are_drawn(site: Path, browser: Browser) -> None:
    for page in sorted((site / "reference" / "metrics").glob("*.html")):
        for look in LOOKS:
            browser.open(page, look)
            wide, high, colour = browser.run(
                "const s = document.querySelector('figure.metric svg'), b = s.getBoundingClientRect();"
                "return [b.width, b.height, getComputedStyle(s.querySelector('text')).fill]"
            )
            assert 300 < wide <= look.width
            assert high > 200
            shade = sum(map(int, colour.removeprefix("rgb(").strip(")").split(","))) / (3 * 255)
            assert (shade > 0.5) == (look.scheme == "dark"), f"{page.name}: letters of {colour} on a {look.scheme} page"


def test_the_contents_for_language_models_name_every_page(site: Path) -> None:
    contents = (site / "llms.txt").read_text(encoding="utf-8")
    missing = [
        page.name
        for page in site.rglob("*.html")
        if page.name not in {"index.html", "genindex.html", "search.html", "py-modindex.html"}
        and page.parent.name != "examples"
        and f"({page.relative_to(site).as_posix()})" not in contents
    ]
    assert not missing


@pytest.mark.parametrize("look", [LOOKS[0], LOOKS[3]], ids=lambda look: f"{look.width}-{look.scheme}")
@pytest.mark.parametrize(
    "page",
    [
        *("index", "tutorial/3-compare", "concepts", "guides/comparing", "guides/labelling", "reference/metrics/ndcg"),
        *("integrations/pytest", "explanation/statistics", "examples/report", "examples/labelling", "guides/plots"),
        *("search", "api/index", "api/compare"),
    ],
)
def test_axe_finds_nothing_that_some_readers_cannot_use(site: Path, browser: Browser, page: str, look: Look) -> None:
    browser.open(site / f"{page}.html", look)
    assert browser.violations() == []
