"""A reference that leads nowhere is found, and nothing else is complained of."""

from pathlib import Path

import pytest

from documentation_sources import module

broken = module("references.py").broken


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "guides").mkdir()
    (tmp_path / "style.css").touch()
    (tmp_path / "guides" / "one.html").write_text(
        '<link href="../style.css"><h1 id="top">One</h1><a href="../index.html#more">back</a><a href="#top">up</a>'
        '<a href="https://example.org/x">a link may lead out of the site</a><img src="data:image/png;base64,">'
    )
    (tmp_path / "index.html").write_text('<h2 id="more">More</h2><a href="guides/one.html">one</a>')
    return tmp_path


def test_a_whole_site_has_none(site: Path) -> None:
    assert not list(broken(site))


@pytest.mark.parametrize(
    ("html", "complaint"),
    [
        ('<a href="guides/two.html">', "refers to guides/two.html, which does not exist"),
        ('<a href="guides/one.html#end">', "refers to guides/one.html#end, but one.html has no such anchor"),
        ('<a href="#end">', "refers to #end, but page.html has no such anchor"),
        ('<img src="picture.png">', "refers to picture.png, which does not exist"),
        ('<script src="https://example.org/x.js">', "loads https://example.org/x.js from elsewhere"),
        ('<link href="//example.org/font.css">', "loads //example.org/font.css from elsewhere"),
    ],
)
def test_what_leads_nowhere_or_elsewhere_is_named(site: Path, html: str, complaint: str) -> None:
    (site / "page.html").write_text(html)
    assert list(broken(site)) == [f"page.html {complaint}"]
