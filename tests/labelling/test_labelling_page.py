"""The page on which a person grades, used by keys in a browser as that person does."""

import base64
import os
import time
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from browsing import LOOKS, Browser, Look
from retrieval_metrics.labelling.label import Scale

pytestmark = pytest.mark.browser

HOSTILE = "</script><script>document.title = 'run'</script> <img src=x onerror=\"document.title='run'\">"
QUERIES: dict[Any, str] = {f"q{at}": f"What does part {at} say about opening the vault?" for at in range(5)}
CORPUS: dict[Any, str] = {
    f"secret-id-{at}": f"Passage {at}. \u201cThe guard\u201d  opens it at {at}.\nNobody else \U0001f600 may. "
    + ("A longer explanation follows here. " * (at % 7))
    + (HOSTILE if at == 3 else "")
    for at in range(12)
}
RUNS: dict[str, Any] = {
    "bm25": {query: [f"secret-id-{(at + number) % 12}" for at in range(4)] for number, query in enumerate(QUERIES)},
    "dense": {
        query: [f"secret-id-{(at + number + 2) % 12}" for at in range(4)] for number, query in enumerate(QUERIES)
    },
}
POOL = rm.pool(RUNS, QUERIES, CORPUS, depth=4)
LIGHT = Look(1400, "light")


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "label.html"
    POOL.labelling_page(path)
    return path


def press(browser: Browser, *keys: str) -> None:
    from selenium.webdriver import ActionChains  # noqa: PLC0415  (most runs of the tests open no browser)

    for key in keys:
        ActionChains(browser.driver).send_keys(key).perform()


def opened(browser: Browser, page: Path, look: Look = LIGHT, name: str = "Ada") -> None:
    browser.open(page, look)
    browser.run("localStorage.clear()")  # pages of one folder of files share what they keep
    browser.driver.refresh()
    browser.run("document.getElementById('name').focus()")
    press(browser, *name)
    browser.run("document.getElementById('name').blur()")


def exported(browser: Browser, folder: Path) -> Path:
    behaviour = {"behavior": "allow", "downloadPath": str(folder)}
    browser.driver.execute_cdp_cmd("Browser.setDownloadBehavior", behaviour)
    press(browser, "e")
    for _ in range(200):
        found = list(folder.glob("*.json"))
        if found:
            return found[0]
        time.sleep(0.05)
    raise AssertionError(f"nothing was exported: {browser.run('return document.body.innerText')}")


def progress(browser: Browser) -> str:
    said: str = browser.run("return document.querySelector('.done span').textContent")
    return said


def current(browser: Browser) -> str:
    text: str = browser.run("return document.querySelector('.passage.current .text').textContent")
    return text


def picture(browser: Browser, request: pytest.FixtureRequest) -> None:
    folder = os.environ.get("REPORT_PICTURES")
    if folder:
        shot = browser.driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
        name = request.node.name.replace("/", "-").replace(" ", "-")
        (Path(folder) / f"{name}.png").write_bytes(base64.b64decode(shot["data"]))


def test_twenty_grades_by_keyboard_survive_a_reload_and_are_evaluated(
    browser: Browser, page: Path, tmp_path: Path
) -> None:
    opened(browser, page)
    given: dict[str, str] = {}
    for at in range(20):
        if at == 10:
            browser.driver.refresh()
            assert progress(browser) == f"10 of {len(POOL)}"
            assert browser.run("return document.getElementById('name').value") == "Ada"
        question = browser.run("return document.querySelector('.question').textContent")
        key = str(at % 4)
        given[question + current(browser)] = key
        press(browser, key)
    assert progress(browser) == f"20 of {len(POOL)}"
    assert not browser.errors()

    labels = rm.load(exported(browser, tmp_path))
    assert isinstance(labels, rm.Labels)
    assert len(labels) == 20
    assert labels.graders == ("Ada",)
    for label in labels:
        assert label.grade == float(given[QUERIES[label.query] + CORPUS[label.document]])
        assert label.kind == "person"
        assert label.date is not None
    result = rm.evaluate(labels.qrels, RUNS["bm25"], "ndcg@4")
    assert 0 <= result.means["ndcg@4"] <= 1
    assert result.counts["queries"] == len(labels.queries)


def test_nothing_of_the_systems_is_seen_and_nothing_is_fetched(browser: Browser, page: Path) -> None:
    browser.open(page, LIGHT)
    seen = browser.run("return document.body.innerText")
    for hidden in ("secret-id", "bm25", "dense", "rank"):
        assert hidden not in seen
    assert browser.requests() == {page.as_uri()}
    assert browser.driver.title == "Which passages answer the question?"
    texts = set()
    for _ in range(len(POOL)):
        texts.add(current(browser))
        press(browser, "\ue014")
    assert texts == set(CORPUS.values()) & texts
    assert browser.run("return document.title") != "run"
    assert not browser.errors()


def test_cannot_tell_skip_and_undo(browser: Browser, page: Path, tmp_path: Path) -> None:
    opened(browser, page)
    first = current(browser)
    press(browser, "s")
    assert progress(browser) == f"0 of {len(POOL)}, 1 skipped"
    second = current(browser)
    assert second != first
    press(browser, "c", "3", "u", "u")
    assert current(browser) == second
    assert progress(browser) == f"0 of {len(POOL)}, 1 skipped"
    press(browser, "c", *["1"] * (len(POOL) - 2))
    assert current(browser) == first  # what was skipped comes again at the end
    press(browser, "2")
    assert progress(browser) == f"{len(POOL)} of {len(POOL)}"
    assert "Everything is graded" in browser.run("return document.body.innerText")
    labels = rm.load(exported(browser, tmp_path))
    grades = [label.grade for label in labels]
    assert (grades.count(None), grades.count(2), grades.count(1)) == (1, 1, len(POOL) - 2)
    assert [label.reason for label in labels if label.grade is None] == ["cannot tell"]


def test_marked_words_become_quotes_to_the_letter(browser: Browser, page: Path, tmp_path: Path) -> None:
    opened(browser, page)
    select = """
        const text = document.querySelector('.passage.current .text').firstChild, at = text.data.indexOf(arguments[0]);
        getSelection().setBaseAndExtent(text, at - 1, text, at + arguments[0].length + 1);
    """
    words = browser.run(
        "return document.querySelector('.passage.current .text').textContent.match(/\\u201cThe.*?at/)[0]"
    )
    browser.run(select, words)
    press(browser, "m")
    marked = browser.run("return [...document.querySelectorAll('mark')].map(mark => mark.textContent)")
    assert marked == [words]
    press(browser, "x")
    assert browser.run("return document.querySelectorAll('mark').length") == 0
    press(browser, "u", "3")
    (label,) = rm.load(exported(browser, tmp_path))
    assert label.quotes == (words,)
    assert words in CORPUS[label.document]
    run = {label.query: [rm.Retrieved("new-chunk", CORPUS[label.document])]}
    assert rm.evaluate(rm.Labels([label]).quotes, run, "recall").means["recall"] == 1


def test_a_list_of_the_passages_of_a_question(browser: Browser, page: Path) -> None:
    opened(browser, page)
    press(browser, "l")
    count = browser.run("return document.querySelectorAll('.passage').length")
    assert count == 6
    press(browser, "3", "0")
    assert browser.run("return [...document.querySelectorAll('.given')].map(one => one.textContent)") == [
        "grade 3",
        "grade 0",
    ]
    browser.run("document.querySelectorAll('.passage')[4].click()")
    assert (
        browser.run(
            "return [...document.querySelectorAll('.passage')].findIndex(one => one.classList.contains('current'))"
        )
        == 4
    )


def test_it_asks_for_the_name_before_it_exports(browser: Browser, page: Path, tmp_path: Path) -> None:
    opened(browser, page, name="")
    press(browser, "3", "e")
    assert "Write your name first" in browser.run("return document.body.innerText")
    assert browser.run("return document.activeElement.id") == "name"
    press(browser, *"Zoë 3")  # keys of grades are letters of a name here
    assert progress(browser) == f"1 of {len(POOL)}"
    browser.run("document.activeElement.blur()")
    assert exported(browser, tmp_path).name == "labels-Zoë-3.json"


def test_another_page_of_the_same_pool_finds_what_was_graded_and_another_pool_does_not(
    browser: Browser, page: Path
) -> None:
    opened(browser, page)
    first = current(browser)
    press(browser, "3")
    POOL.labelling_page(page, seed=5)
    browser.open(page, LIGHT)
    assert progress(browser) == f"1 of {len(POOL)}"
    for _ in range(len(POOL)):
        if current(browser) == first and browser.run("return document.querySelector('.given')") is not None:
            break
        press(browser, "\ue014")
    else:
        raise AssertionError("the grade was lost")
    POOL.of(["q1"]).labelling_page(page)
    browser.open(page, LIGHT)
    assert progress(browser) == "0 of 6"


def test_the_question_stays_in_view_of_a_long_passage(browser: Browser, tmp_path: Path) -> None:
    path, long = tmp_path / "long.html", {"d": "A sentence of a very long passage. " * 400, "e": "short"}
    rm.pool({"q": ["d", "e"]}, {"q": "Why?"}, long).labelling_page(path)
    opened(browser, path)
    press(browser, *([] if len(current(browser)) > 100 else ["\ue014"]))
    top = "return document.querySelector('.question').getBoundingClientRect().top"
    assert browser.run("return scrollY") == 0
    browser.run("scrollTo(0, 1500)")
    assert browser.run(top) == 0
    press(browser, "m")  # says what is missing, and stays where it is
    assert browser.run("return scrollY") == 1500
    press(browser, "2")
    assert browser.run("return scrollY") == 0


@pytest.mark.parametrize("look", LOOKS, ids=str)
def test_it_fits_every_screen(browser: Browser, page: Path, look: Look, request: pytest.FixtureRequest) -> None:
    opened(browser, page, look)
    press(browser, "2", "s", "l")
    assert browser.run("return document.documentElement.scrollWidth") <= look.width
    dark = browser.run("return getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
    assert dark == (look.scheme == "dark")
    picture(browser, request)
    press(browser, "l")
    dock = browser.run(
        "const box = document.querySelector('.dock').getBoundingClientRect(); return [box.top, box.bottom]"
    )
    assert 0 <= dock[0] < dock[1] <= 844 + 1


def test_grades_belong_to_who_gave_them(browser: Browser, page: Path, tmp_path: Path) -> None:
    opened(browser, page)
    press(browser, "3", "2")
    browser.run("const name = document.getElementById('name'); name.focus(); name.select()")
    press(browser, *"Ben")
    browser.run("document.getElementById('name').blur()")
    assert progress(browser) == f"0 of {len(POOL)}"
    assert browser.run("return document.getElementById('name').value") == "Ben"
    press(browser, "1")
    labels = rm.load(exported(browser, tmp_path))
    assert isinstance(labels, rm.Labels)
    assert [(label.by, label.grade) for label in labels] == [("Ben", 1)]
    browser.run("const name = document.getElementById('name'); name.focus(); name.select()")
    press(browser, *"Ada")
    browser.run("document.getElementById('name').blur()")
    assert progress(browser) == f"2 of {len(POOL)}"


def test_two_tabs_lose_no_grade(browser: Browser, page: Path) -> None:
    opened(browser, page)
    press(browser, *"33333")
    first = browser.driver.current_window_handle
    browser.driver.switch_to.new_window("tab")
    try:
        browser.driver.get(page.as_uri())
        assert progress(browser) == f"5 of {len(POOL)}"
        press(browser, *"222222")
        browser.driver.switch_to.window(first)
        press(browser, "u", "1", "\ue014", "1")
        browser.driver.refresh()
        here = progress(browser)
    finally:
        for handle in browser.driver.window_handles:
            if handle != first:
                browser.driver.switch_to.window(handle)
                there = progress(browser)
                browser.driver.close()
        browser.driver.switch_to.window(first)
    assert here == there
    assert int(here.split()[0]) >= 11


def test_another_rubric_claims_no_old_grade(browser: Browser, page: Path) -> None:
    opened(browser, page)
    press(browser, "3")
    POOL.labelling_page(page, rubric=["is wrong", "is odd", "is good", "is best"])
    browser.open(page, LIGHT)
    assert progress(browser) == f"0 of {len(POOL)}"


def test_ids_that_no_script_can_hold_as_numbers_stay_as_they_are(browser: Browser, tmp_path: Path) -> None:
    query, document = 2**53 + 1, 2**60 + 3
    pool = rm.pool({"one": {query: [document]}}, {query: "who?"}, {document: "Somebody."})
    pool.labelling_page(tmp_path / "label.html")
    opened(browser, tmp_path / "label.html")
    press(browser, "3")
    labels = rm.load(exported(browser, tmp_path))
    assert isinstance(labels, rm.Labels)
    assert labels.qrels == {query: {document: 3.0}}
    assert labels.scale == Scale()
