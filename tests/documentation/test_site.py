"""The built site in a browser: on a phone and on a desk, by day and by night, and with no network."""

import importlib.util
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")
LACKING = [
    what
    for what, there in {
        "chromium": CHROMIUM,
        "chromedriver": DRIVER,
        "the dependency group docs": importlib.util.find_spec("sphinx") and importlib.util.find_spec("selenium"),
    }.items()
    if not there
]
WIDTHS = {"phone": 390, "desk": 1400}

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(LACKING), reason=f"not installed: {', '.join(LACKING)}"),
]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "html"
    command = [sys.executable, str(ROOT / "docs" / "build.py"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from selenium import webdriver  # noqa: PLC0415  (of a group that not every run of the tests has)

    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(str(DRIVER)))
    yield driver
    driver.quit()


def look(browser: Any, width: int, scheme: str) -> None:
    """Set the width of the screen, and the colours the reader prefers."""
    metrics = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 800}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def requests(browser: Any) -> set[str]:
    """Return every address asked for since the last call."""
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    sent = [one["params"] for one in messages if one["method"] == "Network.requestWillBeSent"]
    return {one["request"]["url"] for one in sent}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("screen", WIDTHS)
def test_every_page_fits_and_loads_nothing_from_elsewhere(site: Path, browser: Any, screen: str, scheme: str) -> None:
    look(browser, WIDTHS[screen], scheme)
    requests(browser)
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 25
    for page in pages:
        browser.get(page.as_uri())
        assert browser.execute_script("return innerWidth") == WIDTHS[screen]
        wide = browser.execute_script("return document.documentElement.scrollWidth")
        assert wide <= WIDTHS[screen], f"{page.name} is {wide} pixels wide"
        ground = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
        shade = sum(int(part) for part in ground.strip("rgba()").split(",")[:3]) / (3 * 255)
        assert (shade < 0.5) == (scheme == "dark"), f"{page.name} is {ground} for a reader who prefers {scheme}"
    asked = requests(browser)
    assert {page.as_uri() for page in pages} <= asked  # the log works
    assert not {url for url in asked if not url.startswith((site.as_uri(), "data:"))}


def test_formulas_are_set(site: Path, browser: Any) -> None:
    look(browser, WIDTHS["desk"], "light")
    browser.get((site / "api" / "one-ranking.html").as_uri())
    heights = browser.execute_script(
        "return [...document.querySelectorAll('math[display=block]')].map(m => m.getBoundingClientRect().height)"
    )
    assert len(heights) >= 14
    assert min(heights) > 10
    assert max(heights) > 30  # a fraction is taller than a line


def test_the_search_works_without_a_server(site: Path, browser: Any) -> None:
    from selenium.webdriver.common.by import By  # noqa: PLC0415  (see above)
    from selenium.webdriver.support.ui import WebDriverWait  # noqa: PLC0415

    look(browser, WIDTHS["desk"], "light")
    browser.get((site / "index.html").as_uri())
    box = browser.find_element(By.CSS_SELECTOR, "input[name=q]")
    box.send_keys("hit rate")
    box.submit()

    def found(driver: Any) -> set[str]:
        links = driver.find_elements(By.CSS_SELECTOR, "ul.search li a")
        return {str(link.get_attribute("href")).partition("?")[0].partition("#")[0] for link in links}

    entry = (site / "api" / "one-ranking.html").as_uri()  # where hit_rate is described
    WebDriverWait(browser, 30).until(lambda driver: entry in found(driver))
