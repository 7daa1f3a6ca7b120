"""The pages of reports, opened and used as the colleague uses them to whom they were sent."""

from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from browsing import LOOKS, Browser, Look, until

pytestmark = pytest.mark.browser

HOSTILE = [
    "<script>document.title = 'run'</script>",
    "</script><script>document.title = 'run'</script>",
    "<img src=x onerror=\"document.title='run'\">",
    "<!--<script>",
    "\x1b[31mred\x1b[0m",
    "\u202eright to left\u202c",
    "\u05e9\u05dc\u05d5\u05dd abc \u0645\u0631\u062d\u0628\u0627",
    "\U0001f600 family \U0001f468\u200d\U0001f469\u200d\U0001f467",
    "half a pair \ud83d",
    "\x00 null and \x7f delete",
    "{{7*7}} ${alert(1)} `x`",
    "' onclick='document.title=1' \" onclick=\"x\"",
    "javascript:document.title='run'",
    "&lt;b&gt; &amp; &#x3c;",
    "\u2028 line \u2029 paragraph",
]
N = 40
QRELS = {f"q{index}": ["d"] for index in range(N)}
NAMES = "a retriever with a long name <b>and a tag</b>", "old"


def hostile_ranking(index: int) -> list[rm.Retrieved]:
    """Return hostile texts, and for two of three queries the needed document."""
    second = rm.Retrieved("d", "what is \U0001f600 needed") if index % 3 else rm.Retrieved(HOSTILE[index % 14], "y")
    return [rm.Retrieved("x", HOSTILE[index % len(HOSTILE)], HOSTILE[index % 7], score=1.5), second]


RUNS: dict[str, dict[str, list[rm.Retrieved]]] = {
    NAMES[0]: {query: [rm.Retrieved("d", "what is \U0001f600 needed", "<source>")] for query in QRELS},
    NAMES[1]: {query: hostile_ranking(index) for index, query in enumerate(QRELS)},
}
TEXTS = {"q3": "what a very long question " * 20} | {f"q{index}": HOSTILE[index] for index in range(4, len(HOSTILE))}


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    kinds = {query: ("even", "odd")[index % 2] for index, query in enumerate(QRELS)}
    rm.compare(QRELS, RUNS, ["mrr", "ndcg@10"]).report(path, title="Comparison", queries=TEXTS, slices=kinds)
    return path


@pytest.fixture(scope="module")
def quotes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the report of an evaluation by quotes, with emoji before the needed words."""
    path = tmp_path_factory.mktemp("report") / "quotes.html"
    text = "\U0001f600\U0001f468\u200d\U0001f469 first. The \u201cneeded\u201d\nwords stand here. Last."
    run = {"found": [rm.Retrieved("a", text), rm.Retrieved("b", "nothing")], "lost": [rm.Retrieved("b", "nothing")]}
    qrels = {query: [rm.Quote('the "needed" words stand')] for query in run}
    rm.evaluate(qrels, run, ["recall@2", "mrr"]).report(path)
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


def listed(browser: Browser) -> list[str]:
    """Return the ids of the queries that are listed, in order."""
    ids: list[str] = browser.run(
        "return [...document.querySelectorAll('.query > summary .id')].map(e => e.textContent)"
    )
    return ids


def choose(browser: Browser, label: str, option: str) -> None:
    browser.run(
        "const labels = [...document.querySelectorAll('.controls label')];"
        "const label = labels.find(e => e.firstChild.textContent === arguments[0]);"
        "const box = label.querySelector('select');"
        "box.value = [...box.options].find(e => e.textContent === arguments[1]).value;"
        "box.dispatchEvent(new Event('change'));",
        label,
        option,
    )


def press(browser: Browser, key: str) -> None:
    browser.run("document.body.dispatchEvent(new KeyboardEvent('keydown', {key: arguments[0], bubbles: true}))", key)


def shows(browser: Browser, script: str, expected: Any) -> None:
    until(lambda: browser.run(script), expected)


@pytest.mark.parametrize("look", LOOKS, ids=lambda look: f"{look.width} {look.scheme}")
def test_it_fits_asks_for_nothing_and_runs_nothing(
    browser: Browser, page: Path, look: Look, request: pytest.FixtureRequest
) -> None:
    browser.open(page, look)
    assert browser.requests() == {page.as_uri()}
    browser.run("document.querySelectorAll('.query').forEach(e => { e.open = true; })")
    shows(browser, "return document.querySelectorAll('.opened').length", N)
    assert browser.errors() == []
    assert browser.run("return document.title") == "Comparison"
    assert browser.run("return document.documentElement.scrollWidth") <= look.width
    assert abs(brightness(browser, "color") - brightness(browser, "backgroundColor")) > 100  # it can be read
    assert browser.run("return document.querySelectorAll('img, iframe, b, [onclick], [onerror]').length") == 0
    smallest = browser.run(
        "return Math.min(...[...document.body.querySelectorAll('*')].filter(e => e.textContent && !e.closest('script'))"
        ".map(e => parseFloat(getComputedStyle(e).fontSize)))"
    )
    assert smallest >= 11
    browser.run("document.getElementById('queries').scrollIntoView()")
    browser.keep(request.node.name)


def test_hostile_texts_are_shown_as_they_are(browser: Browser, page: Path) -> None:
    browser.open(page, LOOKS[0])
    browser.run("document.querySelectorAll('.query').forEach(e => { e.open = true; })")
    shows(browser, "return document.querySelectorAll('.opened').length", N)
    # Half a pair does not travel from the browser to the test, so it is shown as what stands for it.
    script = "return [...document.querySelectorAll('.text, .words')].map(e => e.textContent.toWellFormed())"
    shown = set(browser.run(script))
    for text in HOSTILE:
        if "\ud83d" not in text:
            assert text in shown
    assert any(text.startswith("half a pair") for text in shown)


def test_what_it_shows_is_what_was_compared(browser: Browser, page: Path) -> None:
    browser.open(page, LOOKS[0])
    text = browser.run("return document.body.textContent.toWellFormed()")  # also of what is folded up
    assert "old is worse than #1 in mrr" in text  # a long name is a number with a key
    assert "#1: a retriever with a long name <b>and a tag</b>" in text


def test_without_its_script_the_page_can_be_read(browser: Browser, page: Path) -> None:
    browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.open(page, LOOKS[0])
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    text = browser.run("return document.getElementById('queries').textContent")
    assert browser.run("return document.querySelectorAll('#queries summary').length") == N
    assert all(f" {query}" in text for query in QRELS)
    assert "Relevant, grade 1: d" in text
    assert "not retrieved" in text


def test_queries_are_sorted_filtered_and_searched(browser: Browser, page: Path) -> None:
    browser.open(page, LOOKS[2])
    choose(browser, "first", NAMES[0])
    choose(browser, "second", "old")
    assert len(listed(browser)) == N
    assert [int(name[1:]) % 3 for name in listed(browser)[:14]] == [0] * 14  # old misses these altogether
    choose(browser, "order", "as given")
    assert listed(browser) == list(QRELS)
    choose(browser, "show", "zero")
    assert listed(browser) == [f"q{index}" for index in range(0, N, 3)]
    choose(browser, "slice", "odd")
    assert listed(browser) == [f"q{index}" for index in range(3, N, 6)]
    assert browser.run("return document.querySelector('.count').textContent") == "7 of 40 queries"
    choose(browser, "slice", "all slices")
    choose(browser, "show", "second system better")
    assert listed(browser) == []
    choose(browser, "show", "all queries")
    choose(browser, "outcome", "not retrieved")
    assert len(listed(browser)) == 14
    choose(browser, "outcome", "all outcomes")
    browser.run(
        "const box = document.querySelector('input'); box.value = 'VERY LONG'; box.dispatchEvent(new Event('input'))"
    )
    shows(browser, "return document.querySelectorAll('.query').length", 1)
    assert listed(browser) == ["q3"]


@pytest.mark.parametrize("look", LOOKS, ids=lambda look: f"{look.width} {look.scheme}")
def test_axe_finds_nothing_that_some_readers_cannot_use(browser: Browser, page: Path, look: Look) -> None:
    browser.open(page, look)
    browser.run("document.querySelectorAll('details').forEach((each, at) => { each.open = at < 9; })")
    shows(browser, "return Math.min(document.querySelectorAll('.opened').length, 2)", 2)
    assert browser.violations() == []


def test_filters_are_folded_on_a_phone(browser: Browser, page: Path) -> None:
    for look, open_ in ((LOOKS[0], False), (LOOKS[2], True)):
        browser.open(page, look)
        assert browser.run("return document.querySelector('.controls').open") is open_


def test_heads_sort_the_list_and_the_tables_by_the_keyboard_too(browser: Browser, page: Path) -> None:
    from selenium.webdriver.common.keys import Keys

    browser.open(page, LOOKS[2])
    choose(browser, "first", NAMES[0])
    choose(browser, "second", "old")

    def sort_by(name: str) -> str:
        selector = "//table[@class='heads']//button[text()=$name]".replace("$name", repr(name))
        browser.driver.find_element("xpath", selector).send_keys(Keys.ENTER)
        return str(browser.driver.find_element("xpath", f"{selector}/..").get_attribute("aria-sort"))

    assert sort_by("difference") == "ascending"
    assert [int(name[1:]) % 3 for name in listed(browser)[:14]] == [0] * 14  # lost most
    assert sort_by("difference") == "descending"
    assert int(listed(browser)[0][1:]) % 3
    assert sort_by("query") == "ascending"
    assert listed(browser) == list(QRELS)
    assert sort_by("old") == "ascending"
    assert listed(browser)[0] == "q0"
    assert browser.run("return document.activeElement.textContent") == "old"  # the focus stays where it was

    table = "//details//table"
    browser.run("document.querySelectorAll('details').forEach((each) => { each.open = !each.closest('#queries'); })")
    heads = [head for head in browser.driver.find_elements("xpath", f"{table}//th/button") if head.is_displayed()]
    column = "return [...arguments[0].closest('table').tBodies[0].rows].map((row) => row.cells[0].textContent)"
    before = browser.run(column, heads[0])
    heads[0].send_keys(Keys.ENTER)
    assert browser.run(column, heads[0]) == sorted(before, key=str.lower)
    heads[0].send_keys(Keys.ENTER)
    assert browser.run(column, heads[0]) == sorted(before, key=str.lower)[::-1]


def test_the_keyboard_and_links_open_queries(browser: Browser, page: Path) -> None:
    browser.open(page, LOOKS[2])
    choose(browser, "order", "as given")
    opened = "return [...document.querySelectorAll('.query[open] > summary .id')].map(e => e.textContent)"
    press(browser, "j")
    press(browser, "j")
    shows(browser, opened, ["q1"])
    press(browser, "k")
    shows(browser, opened, ["q0"])
    press(browser, "/")
    shows(browser, "return document.activeElement.type", "search")
    browser.run("location.hash = '#q=q17'")
    shows(browser, opened, ["q17"])
    assert browser.run("return document.querySelector('.query[open] .link a').getAttribute('href')") == "#q=q17"


def test_an_opened_query_shows_both_systems_and_what_moved(
    browser: Browser, page: Path, request: pytest.FixtureRequest
) -> None:
    browser.open(page, LOOKS[2])
    browser.run("location.hash = '#q=q3'")
    shows(browser, "return document.querySelectorAll('.query[open] .system').length", 2)
    text = browser.run("return document.querySelector('.query[open]').innerText")
    assert "what is \U0001f600 needed" in text
    assert "\u2713 relevant" in text
    assert "\u25cb unjudged" in text
    assert "score 1.5" in text
    assert "not retrieved" in text
    assert "not among the 2 retrieved" in text
    browser.keep(request.node.name)


def test_the_needed_words_are_marked(browser: Browser, quotes: Path, request: pytest.FixtureRequest) -> None:
    browser.open(quotes, LOOKS[2])
    browser.run("location.hash = '#q=found'")
    shows(
        browser,
        "return [...document.querySelectorAll('.query[open] mark')].map(e => e.textContent)",
        ["The \u201cneeded\u201d\nwords stand"],
    )
    assert browser.errors() == []
    browser.keep(request.node.name)


def test_a_thousand_queries_of_two_systems_open_and_sort(
    browser: Browser, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    qrels = {f"q{index}": [f"d{index}-3"] for index in range(1000)}
    words = "several words that fill the passage up to its usual length and say nothing of interest at all, "

    def ranking(name: str, index: int, needed_rank: int) -> list[rm.Retrieved]:
        ranked = []
        for rank in range(20):
            document = f"d{index}-3" if rank == needed_rank else f"d{index}-{rank}-{name}"
            ranked.append(rm.Retrieved(document, f"{name} {index} {rank} {words * 7}"[:600]))
        return ranked

    runs = {
        "one": {query: ranking("one", index, 3) for index, query in enumerate(qrels)},
        "two": {query: ranking("two", index, 4) for index, query in enumerate(qrels)},
    }
    path = tmp_path / "large.html"
    rm.compare(qrels, runs, ["mrr@20"]).report(path, queries={query: f"question {query}" for query in qrels})
    assert path.stat().st_size <= 10_000_000
    browser.open(path, LOOKS[2])
    shows(browser, "return document.querySelectorAll('.query').length", 100)  # more follow as the reader scrolls
    choose(browser, "order", "as given")
    assert listed(browser)[:3] == ["q0", "q1", "q2"]
    browser.run("location.hash = '#q=q950'")
    shows(browser, "return document.querySelectorAll('.query[open] .result').length", 40)
    assert browser.errors() == []
    browser.keep(request.node.name)


def test_ten_thousand_queries_open_and_show_what_they_have(browser: Browser, tmp_path: Path) -> None:
    qrels = {f"q{index}": [f"d{index}"] for index in range(10_000)}
    run = {}
    for index, query in enumerate(qrels):
        run[query] = [f"d{index}", "x"] if index % 7 else ["x", f"d{index}"]
    path = tmp_path / "huge.html"
    rm.evaluate(qrels, run, ["mrr"]).report(path)
    browser.open(path, LOOKS[0])
    shows(browser, "return document.querySelectorAll('.query').length", 100)
    assert browser.run("return document.querySelector('.count').textContent") == "10,000 of 10,000 queries"
    browser.run("location.hash = '#q=q9999'")
    shows(
        browser,
        "return document.querySelector('.query[open] .hint').textContent",
        "Judged documents and rankings of this query are not on this page.",
    )
    assert browser.errors() == []


def test_long_names_of_systems_stand_above_their_values_and_fit_a_phone(browser: Browser, tmp_path: Path) -> None:
    named = {"hashing paragraphs": RUNS[NAMES[0]], "unigram paragraphs": RUNS[NAMES[1]]}
    rm.compare(QRELS, named, "mrr").report(tmp_path / "report.html")
    for look in LOOKS:
        browser.open(tmp_path / "report.html", look)
        assert browser.run("return document.documentElement.scrollWidth") <= look.width
        if look.width > 1000:
            ends = "return [...document.querySelectorAll(arguments[0])].map(e => e.getBoundingClientRect().right)"
            heads = browser.run(ends, ".heads th + th")
            values = browser.run(ends, ".query:first-of-type .value")
            assert values[:3] == pytest.approx(heads, abs=1.5)
