"""A headless Chromium that says what a page asked for, what went wrong in it, and how wide it became."""

from __future__ import annotations

import base64
import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

QUIET = (
    *("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars"),
    *("--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"),
)

T = TypeVar("T")
PATIENCE = 60.0
"""Seconds after which a page that is still not as it should be counts as wrong, on a slow machine too."""


def until(read: Callable[[], T], expected: T) -> None:
    """Wait until a page is as wanted: a key that was pressed and a page that was opened take their time.

    Raises:
        AssertionError: If it is not so in the end; the message holds what was read last.
    """
    end = time.monotonic() + PATIENCE
    while (value := read()) != expected:
        assert time.monotonic() < end, f"{value!r} instead of {expected!r}"
        time.sleep(0.02)


class Look(NamedTuple):
    """How a reader holds a page: a phone or a screen, by day or by night."""

    width: int
    scheme: str


LOOKS = tuple(Look(width, scheme) for width in (390, 1400) for scheme in ("light", "dark"))


class Browser:
    def __init__(self, program: str, driver: str) -> None:
        from selenium import webdriver

        options = webdriver.ChromeOptions()
        options.binary_location = program
        for argument in QUIET:
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
        self.driver: Any = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))

    def open(self, page: Path, look: Look) -> None:
        metrics = {"width": look.width, "height": 844, "deviceScaleFactor": 1, "mobile": look.width < 800}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        features = [{"name": "prefers-color-scheme", "value": look.scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        self.requests()
        self.errors()
        self.driver.get(page.as_uri())

    def keep(self, test: str) -> None:
        """Keep what is shown where REPORT_PICTURES says, to be looked at."""
        if folder := os.environ.get("REPORT_PICTURES"):
            shot = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
            name = test.replace("/", "-").replace(" ", "-")
            (Path(folder) / f"{name}.png").write_bytes(base64.b64decode(shot["data"]))

    def requests(self) -> set[str]:
        """Return the addresses asked for since the last call, without what stands in the page itself."""
        messages = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        sent = [message["params"] for message in messages if message["method"] == "Network.requestWillBeSent"]
        return {request["request"]["url"] for request in sent if not request["request"]["url"].startswith("data:")}

    def errors(self) -> list[str]:
        """Return what the console said since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def violations(self, *but: str) -> list[str]:
        """Return what axe-core finds in the page, except by some of its rules: contrast, names, headings, order."""
        from importlib.resources import files

        self.run((files("axe_core_python") / "axe.min.js").read_text("utf-8"))
        # Half a surrogate pair does not travel from the browser to the test.
        blocked: list[str] = self.driver.execute_async_script(
            "const [but, done] = arguments;"
            "const said = (each, node) => `${each.id}: ${node.html.slice(0, 160).toWellFormed()}`;"
            "axe.run({ rules: Object.fromEntries(but.map((rule) => [rule, { enabled: false }])) })"
            ".then((all) => done(all.violations.flatMap((each) => each.nodes.map((node) => said(each, node)))));",
            list(but),
        )
        return blocked

    def close(self) -> None:
        self.driver.quit()
