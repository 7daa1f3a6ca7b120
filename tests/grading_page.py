"""The labelling page as a person uses it: what was graded by hand, to compare with what is exported."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import retrieval_metrics as rm
from browsing import Browser, Look, until

if TYPE_CHECKING:
    from pathlib import Path


LIGHT = Look(1400, "light")
ARROW_RIGHT = "\ue014"
ENTER = "\ue007"
TAB = "\ue004"

_FORGET_ANSWERS = """
    const done = arguments[0], request = indexedDB.open("retrieval-metrics labels");
    request.onsuccess = () => {
        const transaction = request.result.transaction("answers", "readwrite");
        transaction.objectStore("answers").clear();
        transaction.oncomplete = () => { request.result.close(); done(); };
    };
"""
_CURRENT_PASSAGE = """
    return [document.querySelector(".question").textContent,
            document.querySelector(".passage.current .text").textContent];
"""


class GradingPage:
    """A browser on the page of a pool.

    Attributes:
        browser: The browser.
        folder: Where files are exported to.
        pool: The pool that is graded.
        grades: What was graded, by name, query and document.
        name: Who grades.
    """

    def __init__(self, browser: Browser, folder: Path, pool: rm.types.Pool) -> None:
        self.browser = browser
        self.folder = folder
        self.pool = pool
        self.grades: dict[str, dict[tuple[Any, Any], int]] = {}
        self.name = ""

    def open(self, page: Path, name: str = "Ada", look: Look = LIGHT) -> None:
        """Open a page; if it asks, give the name."""
        self.browser.open(page, look)
        until(lambda: bool(self.shown(".said")), expected=True)
        if self.shown("#name"):
            self.type_name(name)
        self.name = name
        until(lambda: self.text(".whose"), f"Graded by {name}")

    def open_first(self, page: Path, name: str = "Ada", look: Look = LIGHT) -> None:
        """Open a page in a browser that keeps nothing of before."""
        self.browser.open(page, look)
        until(lambda: bool(self.shown(".said")), expected=True)
        self.browser.driver.execute_async_script(_FORGET_ANSWERS)
        self.open(page, name, look)

    def type_name(self, name: str) -> None:
        until(lambda: self.browser.run("return document.activeElement.id"), "name")
        self.press(*name, ENTER)

    def press(self, *keys: str) -> None:
        from selenium.webdriver import ActionChains

        for key in keys:
            ActionChains(self.browser.driver).send_keys(key).perform()

    def grade(self, *grades: int) -> None:
        """Give grades by key to one passage after the other, and note to which."""
        for grade in grades:
            item = self.item()
            self.press(str(grade))
            self.grades.setdefault(self.name, {})[item] = grade
            self.wait_for_all_grades()

    def item(self) -> tuple[Any, Any]:
        """Return the query and the document of the passage that is being graded."""
        question, text = self.browser.run(_CURRENT_PASSAGE)
        items = []
        for candidate in self.pool:
            if self.pool.queries[candidate.query] == question and candidate.text == text:
                items.append((candidate.query, candidate.document))
        assert len(set(items)) == 1
        return items[0]

    def wait_for_all_grades(self) -> None:
        """Wait until the page counts every grade that this person gave."""
        until(lambda: self.text(".done span").split(" of ")[0], str(len(self.grades.get(self.name, {}))))

    def text(self, selector: str) -> str:
        content: str = self.browser.run("return document.querySelector(arguments[0])?.textContent ?? ''", selector)
        return content

    def shown(self, selector: str) -> int:
        count: int = self.browser.run("return document.querySelectorAll(arguments[0]).length", selector)
        return count

    def wait_for_message(self, words: str) -> None:
        """Wait until the page says something."""
        until(lambda: words if words in self.text(".said") else self.text(".said"), words)

    def take_in(self, file: Path) -> None:
        """Give an exported file to the page."""
        self.browser.driver.find_element("id", "file").send_keys(str(file))

    def export(self) -> Path:
        """Export by key."""
        folder = self.folder / f"export {len(list(self.folder.glob('export *')))}"
        folder.mkdir()
        behaviour = {"behavior": "allow", "downloadPath": str(folder)}
        self.browser.driver.execute_cdp_cmd("Browser.setDownloadBehavior", behaviour)
        self.press("e")
        # The browser first makes an empty file of this name, and replaces it when all is written.
        until(lambda: any(file.stat().st_size for file in folder.glob("*.json")), expected=True)
        (file,) = folder.glob("*.json")
        return file

    def export_all_grades(self) -> Path:
        """Export, and see every grade of this person in the file, once, under the right name; and no other."""
        self.wait_for_all_grades()
        file = self.export()
        labels = rm.load(file)
        assert isinstance(labels, rm.Labels)
        entries = json.loads(file.read_text())["labels"]
        assert len(entries) == len(labels) == len(self.grades[self.name])
        assert {(label.query, label.document): label.grade for label in labels} == self.grades[self.name]
        assert {label.grader for label in labels} == {self.name}
        assert all(label.kind == "human" and label.date is not None for label in labels)
        assert not self.browser.errors()
        return file
