"""From the front page to a gated build: few pages, few words, and each leads to the next."""

import re

import pytest

from running_pages import CHAPTERS, FENCE, ROOT

PAGES = 7
WORDS = 3_000
FRONT = ROOT / "README.md"
START = ROOT / "docs" / "tutorial" / "index.md"
ROUTES = [
    *(f"integrations/{host}/README.md" for host in ("llama_index", "langchain", "haystack", "ragas", "pytest")),
    *("docs/guides/files.md", "docs/guides/command-line.md"),
]
"""Where readers with a host or with files go from the front page."""
TO_A_NUMBER = 600
GATED = "5-gate.md"
"""With this page a reader has a build that fails when retrieval gets worse."""


def words(text: str) -> int:
    """Count the words of a page that are read: its prose, not its code."""
    return len(re.findall(r"\w[\w'@.-]*", FENCE.sub("", text)))


def test_from_the_front_page_to_a_gated_build_are_few_pages_and_words() -> None:
    path = [FRONT, START, *(page for page in CHAPTERS if page.name <= GATED)]
    assert path[-1].name == GATED
    assert len(path) <= PAGES
    assert sum(words(page.read_text(encoding="utf-8")) for page in path) <= WORDS
    # With all code and all output read as words too.
    assert sum(len(page.read_text(encoding="utf-8").split()) for page in path) <= WORDS


@pytest.mark.parametrize("page", ROUTES)
def test_from_the_front_page_to_the_first_number_of_a_host_are_few_words(page: str) -> None:
    to_link, link, _ = FRONT.read_text(encoding="utf-8").partition(f"({page})")
    assert link, f"the front page has no link to {page}"
    text = (ROOT / page).read_text(encoding="utf-8")
    shown = next(block.start() for block in FENCE.finditer(text) if block["language"] in {"text", "console"})
    assert len(to_link.split()) + len(text[:shown].split()) <= TO_A_NUMBER  # code and output are read too


def test_each_page_of_the_tutorial_ends_with_what_you_have_and_leads_to_the_next() -> None:
    assert "(docs/tutorial/index.md)" in FRONT.read_text(encoding="utf-8")
    assert re.findall(r"\n\d\. \[.*\]\((.+)\)", START.read_text(encoding="utf-8")) == [page.name for page in CHAPTERS]
    for page, following in zip(CHAPTERS, [*CHAPTERS[1:], None], strict=True):
        text = page.read_text(encoding="utf-8")
        assert text.startswith(f"# {page.name[0]}. ")
        assert text.count("\n## What you have now\n") == 1
        assert following is None or f"\nNext: [{following.name[0]}. " in text
        assert following is None or f"]({following.name})" in text


if __name__ == "__main__":
    for file in [FRONT, START, *CHAPTERS]:
        text = file.read_text(encoding="utf-8")
        print(f"{words(text):6,} {len(text.split()):6,}  {file.relative_to(ROOT)}")  # noqa: T201  (what it is run for)
