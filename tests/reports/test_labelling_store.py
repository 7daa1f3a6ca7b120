"""What happens to people's grades in a browser: in the end every grade is in the export, once, under the right name."""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any

import pytest

import retrieval_metrics as rm
from browsing import until
from grading_page import ENTER, TAB, GradingPage
from retrieval_metrics.datasets.rubric import Scale

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from browsing import Browser

pytestmark = pytest.mark.browser

QUERIES = {f"q{index}": f"Who opens vault {index}?" for index in range(4)}
CORPUS = {f"d{index}": f"Passage {index}: the guard opens vault {index % 4}, at nine o'clock." for index in range(12)}


def ranking(first: int) -> list[str]:
    """Return eight documents, beginning with the one of a number."""
    return [f"d{index % 12}" for index in range(first, first + 8)]


RUN = {query: ranking(number) for number, query in enumerate(QUERIES)}

CHANGE_ANSWERS = """
    const [change, done] = arguments, request = indexedDB.open("retrieval-metrics labels");
    request.onsuccess = () => {
        const transaction = request.result.transaction("answers", "readwrite");
        transaction.objectStore("answers").openCursor().onsuccess = ({ target: { result: cursor } }) => {
            if (cursor) cursor.update({ ...cursor.value, ...change });
        };
        transaction.oncomplete = () => { request.result.close(); done(); };
    };
"""
NO_STORE = "Object.defineProperty(window, 'indexedDB', { value: { open() { throw new Error('none here'); } } });"


def pool(depth: int = 4, **changed: Any) -> rm.types.Pool:
    return rm.pool(QUERIES, {"one": RUN}, {**CORPUS, **changed}, depth=depth)


@pytest.fixture
def hand(browser: Browser, tmp_path: Path) -> GradingPage:
    return GradingPage(browser, tmp_path, pool())


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "label.html"
    pool().labelling_page(path)
    return path


@pytest.fixture
def tab(browser: Browser) -> Iterator[Callable[[int], None]]:
    """A function that goes to the first tab, or to a second one."""
    handles = [browser.driver.current_window_handle]

    def go(number: int) -> None:
        if number == len(handles):
            browser.driver.switch_to.new_window("tab")
            handles.append(browser.driver.current_window_handle)
        browser.driver.switch_to.window(handles[number])

    yield go
    for handle in handles[1:]:
        browser.driver.switch_to.window(handle)
        browser.driver.close()
    browser.driver.switch_to.window(handles[0])


def resealed(file: Path, change: Callable[[str], str]) -> Path:
    """Write a file with another content and the digest of that content."""
    before, mark, _ = file.read_text().rpartition(',\n"digest": "sha256:')
    text = change(before)
    assert text != before
    changed = file.with_name("changed.json")
    changed.write_text(f'{text}{mark}{hashlib.sha256(text.encode()).hexdigest()}"\n}}\n')
    return changed


def test_a_reload_in_the_middle(hand: GradingPage, page: Path) -> None:
    hand.open_first(page)
    for _ in range(3):
        hand.grade(3, 0)
        hand.browser.driver.refresh()
        hand.wait_for_all_grades()  # without asking for the name again
    assert len(rm.load(hand.export_all_grades())) == 6


def test_a_page_that_is_left_right_after_a_key_press(hand: GradingPage, page: Path) -> None:
    hand.open_first(page)
    for seed in range(8):
        item = hand.item()
        hand.press("2")  # and nothing waits until it is stored
        hand.grades.setdefault("Ada", {})[item] = 2
        pool().labelling_page(page, seed=seed)
        hand.open(page)
        hand.wait_for_all_grades()
    hand.export_all_grades()


def test_two_tabs(hand: GradingPage, page: Path, tab: Callable[[int], None]) -> None:
    hand.open_first(page)
    hand.grade(3, 3, 3, 3, 3)
    tab(1)
    hand.open(page)
    hand.wait_for_all_grades()
    hand.grade(2, 2, 2)
    tab(0)
    hand.wait_for_all_grades()
    hand.grade(1)
    tab(1)
    hand.wait_for_all_grades()
    hand.grade(0)
    hand.export_all_grades()
    tab(0)
    hand.export_all_grades()


def test_two_tabs_grade_the_same_passage_and_the_later_grade_holds(
    hand: GradingPage, page: Path, tab: Callable[[int], None]
) -> None:
    hand.open_first(page)
    tab(1)
    hand.open(page)
    first = hand.item()
    hand.grade(3)
    tab(0)
    hand.wait_for_all_grades()
    until(hand.item, first)
    hand.grade(1)
    tab(1)
    hand.press("\ue012")
    until(lambda: hand.text(".given"), "grade 1")
    hand.export_all_grades()


def test_two_people_on_one_browser(hand: GradingPage, page: Path, tab: Callable[[int], None]) -> None:
    hand.open_first(page, name="Ada")
    hand.grade(3, 2)
    hand.browser.run("document.getElementById('else').click()")
    until(lambda: "Ada: 2 of 16" in hand.text(".known"), expected=True)
    hand.type_name("Ben")
    hand.name = "Ben"
    until(lambda: hand.text(".done span"), "0 of 16")  # nothing of Ada's is seen
    hand.grade(1)
    tab(1)
    hand.open(page, name="Ada")
    hand.wait_for_all_grades()
    hand.grade(0)
    tab(0)
    hand.browser.driver.refresh()  # each tab keeps its name
    hand.name = "Ben"
    until(lambda: hand.text(".whose"), "Graded by Ben")
    ben = rm.load(hand.export_all_grades())
    hand.browser.run("document.getElementById('else').click()")
    until(lambda: hand.shown(".known button"), 2)
    hand.browser.run("document.querySelector('.known button').click()")
    hand.name = "Ada"
    until(lambda: hand.text(".whose"), "Graded by Ada")
    ada = rm.load(hand.export_all_grades())
    assert (len(ada), len(ben)) == (3, 1)
    assert set(ada.merge(ben).graders) == {"Ada", "Ben"}


def test_a_deeper_pool_in_the_same_file_keeps_the_grades_of_the_old(hand: GradingPage, page: Path) -> None:
    hand.open_first(page)
    hand.grade(3, 2, 1)
    hand.pool = pool(depth=6)
    hand.pool.labelling_page(page)
    hand.open(page)
    until(lambda: hand.text(".done span"), "3 of 24")
    hand.grade(0)
    hand.export_all_grades()


def test_another_text_is_another_passage(hand: GradingPage, page: Path) -> None:
    hand.open_first(page)
    hand.grade(*[2] * 16)
    pool(d3="Something else altogether.").labelling_page(page)
    hand.open(page)
    until(lambda: hand.text(".done span"), "12 of 16")


def test_a_new_rubric_claims_no_old_grade_and_the_old_one_finds_them(hand: GradingPage, page: Path) -> None:
    hand.open_first(page)
    hand.grade(3, 2)
    old = dict(hand.grades)
    hand.grades = {}
    pool().labelling_page(page, rubric=["is wrong", "is odd", "is good", "is best"])
    hand.open(page)
    until(lambda: hand.text(".done span"), "0 of 16")
    hand.grade(0)
    (new_label,) = rm.load(hand.export_all_grades())
    hand.grades = old
    pool().labelling_page(page)
    hand.open(page)
    labels = rm.load(hand.export_all_grades())
    assert new_label.prompt not in {label.prompt for label in labels}


def test_ids_that_no_script_can_hold_as_numbers(hand: GradingPage, tmp_path: Path) -> None:
    query = 2**53 + 1
    documents = (2**60 + 3, 2**60 + 4)
    hand.pool = rm.pool({query: "who?"}, {"one": {query: list(documents)}}, dict(zip(documents, "AB", strict=True)))
    hand.pool.labelling_page(tmp_path / "big.html")
    hand.open_first(tmp_path / "big.html")
    hand.grade(3, 0)
    file = hand.export_all_grades()
    labels = rm.load(file)
    assert set(labels.qrels[query]) == set(documents)
    assert labels.scale == Scale()
    hand.open_first(tmp_path / "big.html")  # as on another machine
    hand.take_in(file)
    hand.export_all_grades()


def test_keyboard_only(hand: GradingPage, page: Path) -> None:
    hand.open_first(page)
    hand.press("s")
    hand.grade(3)
    item = hand.item()
    hand.press("2", "u")
    until(hand.item, item)
    hand.press(TAB)  # to a button, which the keys of grades do not mind
    hand.grade(1, *[2] * 14)
    hand.wait_for_message("All passages are graded")
    hand.export_all_grades()
    for _ in range(20):
        if hand.browser.run("return document.activeElement.id") == "else":
            break
        hand.press(TAB)
    hand.press(ENTER)
    hand.type_name("Zoë 3")  # keys of grades are letters of a name here
    hand.name = "Zoë 3"
    until(lambda: hand.text(".whose"), "Graded by Zoë 3")
    hand.grade(0)
    assert hand.export_all_grades().name == "labels-Zoë-3.json"


def test_an_export_is_imported_on_another_machine_and_into_a_page_of_a_larger_pool(
    hand: GradingPage, page: Path
) -> None:
    hand.open_first(page)
    hand.grade(3, 2, 1)
    file = hand.export_all_grades()
    hand.pool = pool(depth=6)
    hand.pool.labelling_page(page)
    hand.open_first(page, name="x")  # another machine, where nothing is kept
    hand.browser.run("document.getElementById('else').click()")
    until(lambda: hand.shown("#name"), 1)
    hand.take_in(file)  # the name comes with the file
    hand.name = "Ada"
    until(lambda: hand.text(".whose"), "Graded by Ada")
    hand.wait_for_message("3 grades were imported from labels-Ada.json.")
    hand.grade(0)
    later = hand.export_all_grades()
    hand.browser.driver.refresh()
    hand.export_all_grades()
    hand.pool = pool()
    hand.pool.labelling_page(page)  # and back into the smaller pool, which lacks what the deeper one added
    hand.open_first(page)
    hand.take_in(later)
    pool_items = {(item.query, item.document) for item in hand.pool}
    hand.grades["Ada"] = {key: grade for key, grade in hand.grades["Ada"].items() if key in pool_items}
    hand.wait_for_message("were imported from labels-Ada.json.")
    hand.export_all_grades()


def test_what_was_changed_later_stays_when_an_older_file_is_imported(hand: GradingPage, page: Path) -> None:
    hand.open_first(page)
    hand.grade(3, 2)
    file = hand.export_all_grades()
    hand.press("\ue012")
    hand.grade(0)
    hand.take_in(file)
    hand.wait_for_message("1 grade was imported from labels-Ada.json. 1 was changed here later and is kept.")
    hand.export_all_grades()


def test_a_file_of_another_pool_or_person_or_rubric_is_refused_by_name(hand: GradingPage, page: Path) -> None:
    other = page.with_name("other.html")
    rm.pool({"q": "why?"}, {"one": {"q": ["a", "b"]}}, {"a": "A", "b": "B"}).labelling_page(other)
    hand.open_first(other)
    hand.press("3")
    until(lambda: hand.text(".done span"), "1 of 2")
    strange = hand.export()
    pool().labelling_page(other, rubric=["is wrong", "is odd", "is good", "is best"])
    hand.open(other)
    hand.press("3")
    until(lambda: hand.text(".done span"), "1 of 16")
    ruled = hand.export()
    hand.open(page, name="Ben")
    hand.grade(1)
    of_ben = hand.export_all_grades()
    hand.browser.driver.get("about:blank")
    hand.open(page, name="Ada")
    hand.grade(2)
    hand.take_in(strange)
    hand.wait_for_message("labels-Ada.json was not imported: its 1 grade by Ada belongs to other questions or passages")
    hand.take_in(ruled)
    hand.wait_for_message(
        "labels-Ada.json was not imported: its grades were given under another rubric. Nothing was changed."
    )
    hand.take_in(of_ben)
    hand.wait_for_message("labels-Ben.json holds the grades of Ben, and you are Ada.")
    hand.export_all_grades()


def test_a_tampered_file_is_refused_and_changes_nothing(hand: GradingPage, page: Path) -> None:
    hand.open_first(page)
    hand.grade(3, 2)
    file = hand.export_all_grades()
    hand.press("\ue012")
    hand.grade(1)
    edited = file.with_name("edited.json")
    edited.write_text(file.read_text().replace('"grade":2', '"grade":3'))
    with pytest.raises(ValueError, match="was changed after it was saved"):
        rm.load(edited)
    hand.take_in(edited)
    hand.wait_for_message(
        "edited.json was not imported: it is damaged, or was changed after it was exported. Nothing was changed."
    )
    for change, words in (
        (lambda text: text.replace('"grade":2', '"grade":7'), "its grade 2 is 7"),
        (lambda text: re.sub(r'"date":"\d+-', '"date":"soon-', text), "its grade 1 is 3 of soon-"),
        (lambda text: text.replace('"grade":2', '"grade":2,"quotes":["not there"]'), "the highlighted text of grade 2"),
        (lambda text: text.replace('"grader":"Ada"', '"grader":"Ben"', 1), "it does not hold the grades of one person"),
        (lambda text: re.sub(r'"version":\d+', '"version":99', text), "a newer version of the page wrote it"),
        (lambda text: text.replace('"kind":"labels"', '"kind":"run"'), "it is not a file that this page exported"),
        (lambda text: text[:-30] + "{[", "it is not a file that this page exported"),
    ):
        hand.take_in(resealed(file, change))
        hand.wait_for_message(f"changed.json was not imported: {words}")
    hand.export_all_grades()


def test_a_damaged_store_says_so_and_loses_nothing(hand: GradingPage, page: Path) -> None:
    hand.open_first(page)
    hand.grade(3)
    hand.browser.driver.execute_async_script(CHANGE_ANSWERS, {"grade": 9})
    hand.grades["Ada"] = {}
    hand.open(page)
    hand.wait_for_message("1 stored answer could not be read: please grade it again.")
    hand.grade(2, 1)
    labels = rm.load(hand.export_all_grades())
    (note,) = labels.notes
    assert json.loads(note.removeprefix("an answer that could not be read: "))["grade"] == 9
    hand.browser.driver.refresh()
    hand.wait_for_all_grades()
    assert rm.load(hand.export_all_grades()).notes == ()


def test_a_browser_that_keeps_nothing_says_so_and_exports_all_the_same(hand: GradingPage, page: Path) -> None:
    command = hand.browser.driver.execute_cdp_cmd
    script = command("Page.addScriptToEvaluateOnNewDocument", {"source": NO_STORE})
    try:
        hand.open(page)
        hand.wait_for_message("This browser does not save grades: export them before you close the page.")
        hand.grade(3, 2)
        hand.export_all_grades()
        hand.press("u", "u")  # what is not graded, nobody is asked to keep
    finally:
        command("Page.removeScriptToEvaluateOnNewDocument", script)


def test_assigned_pages_are_one_per_person_and_their_overlap_says_how_far_they_agree(
    hand: GradingPage, tmp_path: Path
) -> None:
    first, second = pool().labelling_page(tmp_path / "label.html", people=["Ada", "Ben"], overlap=0.5)
    assert (first.name, second.name) == ("label-Ada.html", "label-Ben.html")
    exported = []
    for number, (name, path) in enumerate((("Ada", first), ("Ben", second))):
        hand.browser.driver.get("about:blank")
        (hand.open if number else hand.open_first)(path, name=name)  # nobody is asked for a name
        assert not hand.shown("#else")
        hand.grade(*[0, 3, 3] * 4)
        until(lambda: hand.text(".done span"), "12 of 12")
        exported.append(rm.load(hand.export_all_grades()))
    merged = exported[0].merge(exported[1])
    assert set(merged.queries) == set(QUERIES)
    assert merged.agreement().n == 8
