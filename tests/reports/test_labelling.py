"""The page on which a person grades, used by keys in a browser as that person does."""

import math
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from browsing import LOOKS, Browser, Look, until
from grading_page import ARROW_RIGHT, ENTER, GradingPage

pytestmark = pytest.mark.browser

HOSTILE = "</script><script>document.title = 'run'</script> <img src=x onerror=\"document.title='run'\">"
QUERIES: dict[Any, str] = {f"q{index}": f"What does part {index} say about opening the vault?" for index in range(5)}
CORPUS: dict[Any, str] = {
    f"secret-id-{index}": f"Passage {index}. \u201cThe guard\u201d  opens it at {index}.\nNobody else \U0001f600 may. "
    + ("A longer explanation follows here. " * (index % 7))
    for index in range(12)
}
CORPUS["secret-id-3"] += HOSTILE


def ranking(first: int) -> list[str]:
    """Return four documents, beginning with the one of a number."""
    return [f"secret-id-{index % 12}" for index in range(first, first + 4)]


RUNS: dict[str, Any] = {
    "bm25": {query: ranking(number) for number, query in enumerate(QUERIES)},
    "dense": {query: ranking(number + 2) for number, query in enumerate(QUERIES)},
}
POOL = rm.pool(QUERIES, RUNS, CORPUS, depth=4)


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "label.html"
    POOL.labelling_page(path)
    return path


@pytest.fixture
def hand(browser: Browser, tmp_path: Path) -> GradingPage:
    return GradingPage(browser, tmp_path, POOL)


def test_what_is_exported_is_evaluated(hand: GradingPage, page: Path) -> None:
    hand.open_first(page)
    hand.grade(*(index % 4 for index in range(20)))
    labels = rm.load(hand.export_all_grades())
    assert labels.graders == ("Ada",)
    result = rm.evaluate(labels.qrels, RUNS["bm25"], "ndcg@4")
    assert 0 <= result.means["ndcg@4"] <= 1
    assert result.counts["queries"] == len(labels.queries)


def test_the_first_screen_says_how_much_there_is_to_grade_and_how_long_it_takes(
    hand: GradingPage, browser: Browser, page: Path
) -> None:
    letters = sum(len(item.text or "") for item in POOL) + sum(map(len, QUERIES.values()))
    minutes = math.ceil(letters / 1200 + len(POOL) / 20)
    size = f"{len(POOL)} passages for {len(QUERIES)} questions: about {minutes} minutes. You can stop at any time"
    browser.open(page, LOOKS[0])
    until(lambda: bool(hand.shown("#name")), expected=True)
    assert hand.text(".size").startswith(size)
    hand.open_first(page)
    hand.wait_for_message(size)
    hand.press("2")
    hand.wait_for_message("Saved: grade 2.")


def test_nothing_of_the_systems_is_seen_and_nothing_is_fetched(hand: GradingPage, browser: Browser, page: Path) -> None:
    hand.open_first(page)
    text = browser.run("return document.body.innerText")
    for hidden in ("secret-id", "bm25", "dense", "rank"):
        assert hidden not in text
    assert {address.partition("#")[0] for address in browser.requests()} <= {page.as_uri()}
    assert browser.driver.title == "Which passages answer the question?"
    texts = set()
    for _ in range(len(POOL)):
        texts.add(hand.text(".passage.current .text"))
        hand.press(ARROW_RIGHT)
    assert texts == {item.text for item in POOL}
    assert browser.run("return document.title") != "run"
    assert not browser.errors()


def test_cannot_tell_skip_and_undo(hand: GradingPage, page: Path) -> None:
    hand.open_first(page)
    first = hand.item()
    hand.press("s")
    until(lambda: hand.text(".done span"), f"0 of {len(POOL)}, 1 skipped")
    second = hand.item()
    assert second != first
    hand.press("c", "3", "u", "u")
    until(hand.item, second)
    until(lambda: hand.text(".done span"), f"0 of {len(POOL)}, 1 skipped")
    hand.press("c", *["1"] * (len(POOL) - 2))
    until(hand.item, first)  # what was skipped will reappear at the end
    hand.press("2")
    until(lambda: hand.text(".done span"), f"{len(POOL)} of {len(POOL)}")
    hand.wait_for_message("All passages are graded")
    labels = rm.load(hand.export())
    grades = [label.grade for label in labels]
    assert (grades.count(None), grades.count(2), grades.count(1)) == (1, 1, len(POOL) - 2)
    assert [label.reason for label in labels if label.grade is None] == ["cannot tell"]


def test_marked_words_become_quotes_to_the_letter(hand: GradingPage, browser: Browser, page: Path) -> None:
    hand.open_first(page)
    select = """
        const text = document.querySelector('.passage.current .text').firstChild, at = text.data.indexOf(arguments[0]);
        getSelection().setBaseAndExtent(text, at - 1, text, at + arguments[0].length + 1);
    """
    words = browser.run(
        "return document.querySelector('.passage.current .text').textContent.match(/\\u201cThe.*?at/)[0]"
    )
    browser.run(select, words)
    hand.press("m")
    until(lambda: hand.text("mark"), words)
    hand.press("x")
    until(lambda: hand.shown("mark"), 0)
    hand.press("u")
    hand.grade(3)
    file = hand.export_all_grades()
    (label,) = rm.load(file)
    assert label.quotes == (words,)
    assert words in CORPUS[label.document]
    run = {label.query: [rm.Retrieved("new-chunk", CORPUS[label.document])]}
    assert rm.evaluate(rm.Labels([label]).quotes, run, "recall").means["recall"] == 1
    hand.open_first(page)  # as on another machine
    hand.take_in(file)
    hand.wait_for_message("1 grade was imported")
    hand.press("\ue012")
    until(lambda: hand.text("mark"), words)


def test_a_list_of_the_passages_of_a_question(hand: GradingPage, browser: Browser, page: Path) -> None:
    hand.open_first(page)
    hand.press("l")
    until(lambda: hand.shown(".passage"), 6)
    hand.press("3", "0")
    grades = "return [...document.querySelectorAll('.given')].map(one => one.textContent)"
    until(lambda: browser.run(grades), ["grade 3", "grade 0"])
    browser.run("document.querySelectorAll('.passage')[4].click()")
    current = "return [...document.querySelectorAll('.passage')].findIndex(one => one.classList.contains('current'))"
    until(lambda: browser.run(current), 4)


def test_the_question_stays_in_view_of_a_long_passage(hand: GradingPage, browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "long.html"
    long = {"d": "A sentence of a very long passage. " * 400, "e": "short"}
    rm.pool({"q": "Why?"}, {"q": ["d", "e"]}, long).labelling_page(path)
    hand.open_first(path)
    if len(hand.text(".passage.current .text")) <= 100:
        hand.press(ARROW_RIGHT)
    until(lambda: len(hand.text(".passage.current .text")) > 100, expected=True)
    top = "return document.querySelector('.question').getBoundingClientRect().top"
    assert browser.run("return scrollY") == 0
    browser.run("scrollTo(0, 1500)")
    until(lambda: browser.run(top), 0)
    hand.press("m")  # says what is missing, and stays where it is
    hand.wait_for_message("Select the words")
    assert browser.run("return scrollY") == 1500
    hand.press("2")
    until(lambda: browser.run("return scrollY"), 0)


@pytest.mark.parametrize("look", LOOKS, ids=str)
def test_it_fits_every_screen_and_the_text_has_more_room_than_the_buttons(
    hand: GradingPage, browser: Browser, page: Path, look: Look, request: pytest.FixtureRequest
) -> None:
    hand.open_first(page, look=look)
    hand.press("2", "s", "l")
    until(lambda: hand.shown(".passage"), 6)
    assert browser.run("return document.documentElement.scrollWidth") <= look.width
    dark = browser.run("return getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
    assert dark == (look.scheme == "dark")
    browser.keep(request.node.name)
    hand.press("l")
    until(lambda: hand.shown(".passage"), 1)
    box = "return document.querySelector(arguments[0]).getBoundingClientRect()"
    bar, text, dock = (browser.run(box, part) for part in (".bar-of-page", ".passages", ".dock"))
    assert 0 <= dock["top"] < dock["bottom"] <= 844 + 1
    room = dock["top"] - text["top"]
    assert room > dock["height"] + bar["height"]
    assert room > 844 / 2


def test_focus_and_the_live_region_survive_a_grade(hand: GradingPage, browser: Browser, page: Path) -> None:
    hand.open_first(page)
    browser.run("""
        window.region = document.querySelector("[role=status]");
        window.pressed = document.querySelectorAll(".rubric button")[2];
        window.pressed.focus();
    """)
    item = hand.item()
    hand.press(ENTER)
    until(lambda: hand.item() != item, expected=True)
    assert browser.run("return document.activeElement === window.pressed && window.region.isConnected")
    hand.wait_for_message("Saved: grade 2.")
    assert browser.run("return document.querySelector('[role=status]') === window.region")
