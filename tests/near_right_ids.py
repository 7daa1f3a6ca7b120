"""Judged ids, and the ids under which the same documents are retrieved when two programs spell them differently."""

from typing import Any, NamedTuple
from unicodedata import normalize


class NearRightId(NamedTuple):
    """A judged id, the id that is retrieved in its place, and the kind of the difference."""

    kind: str
    judged: str
    retrieved: str


NEAR_RIGHT_IDS = (
    NearRightId("unicode_form", "Café 1.md", normalize("NFD", "Café 1.md")),
    NearRightId("unicode_form", "ABC 2.md", "\uff21\uff22\uff23 2.md"),
    NearRightId("invisible_characters", "wide 3.md", "wide\u200b 3.md"),
    NearRightId("invisible_characters", "soft 4.md", "so\u00adft 4.md"),
    NearRightId("blanks", "two words 5.md", "two\u00a0words 5.md"),
    NearRightId("blanks", "two words 6.md", "two  words 6.md"),
    NearRightId("case", "upper 7.md", "Upper 7.MD"),
    NearRightId("case", "upper 8.md", "UPPER 8.md"),
    NearRightId("percent_encoding", "my file 9.md", "my%20file%209.md"),
    NearRightId("slashes", "folder/10.md", "folder\\10.md"),
    NearRightId("leading_zeros", "00711", "711"),
    NearRightId("leading_zeros", "lost-0012", "lost-12"),
    NearRightId("decimal_point", "1300", "1300.0"),
    NearRightId("decimal_point", "1400", "1400.0"),
    NearRightId("path", "plain-15.md", "/data/docs/plain-15.md"),
    NearRightId("path", "docs/plain-16.md", "plain-16.md"),
    NearRightId("part", "cut-17.md", "cut-17.md#3"),
    NearRightId("part", "cut-18.md", "cut-18.md::0"),
    NearRightId("numbered_part", "node19", "node19_0"),
    NearRightId("part", "node20", "node20-chunk-4"),
    NearRightId("numbered_part", "node21", "node21.2"),
    NearRightId("numbered_part", "cut-21.md", "cut-21-1.md"),
    NearRightId("numbered_part", "node23", "node23-3"),
    NearRightId("file_extension", "node22", "node22.pdf"),
    NearRightId("file_extension", "plain-22.md", "plain-22.txt"),
    NearRightId("markup", "R&D 23.md", "R&amp;D 23.md"),
    NearRightId("markup", "a<b 24.md", "a&lt;b 24.md"),
    NearRightId("quotation_marks", "quoted25", '"quoted25"'),
    NearRightId("quotation_marks", "O'Brien 26", "O\u2019Brien 26"),
    NearRightId("separators", "New York 27", "New_York_27"),
    NearRightId("separators", "San Jose 28", "San+Jose+28"),
    NearRightId("separators", "guide-28-intro", "guide_28_intro"),
    NearRightId("separators", "covid-28", "covid28"),
    NearRightId("encoding", "Crème 28.md", "Cr\u00c3\u00a8me 28.md"),
    NearRightId("diacritics", "Jalapeño 28.md", "Jalapeno 28.md"),
    NearRightId("diacritics", "Zürich 28.md", "Zurich 28.md"),
    NearRightId("quotation_marks", "dbpedia:Bread28", "[dbpedia:Bread28]"),
    NearRightId("version", "2101.28001", "2101.28001v2"),
    NearRightId("version", "plan28.md", "plan28-v3.md"),
    NearRightId("joined", "row28,row29", "row28"),
    NearRightId("joined", "row38; row39", "row39"),
    NearRightId("uuid_form", "550e8400-e29b-41d4-a716-446655440029", "550e8400e29b41d4a716446655440029"),
    NearRightId("uuid_form", "550e8400e29b41d4a716446655440030", "urn:uuid:550e8400-e29b-41d4-a716-446655440030"),
    NearRightId("url_form", "https://example.org/a31", "http://www.example.org/a31"),
    NearRightId("url_form", "https://example.org/a32", "https://example.org/a32/"),
    NearRightId("url_form", "https://example.org/a33/", "https://example.org/a33/index.html"),
    NearRightId("number_form", "1234567890123456789", "1234567890123456768"),
    NearRightId("number_form", "331234", "331,234"),
    NearRightId("number_form", "340000", "3.4E+05"),
    NearRightId("prefix", "x35y", "doc_x35y"),
    NearRightId("prefix", "3456728", "PMC3456728"),
    NearRightId("prefix", "MED-x36y", "x36y"),
    NearRightId("several", "Docs/Über 22.md", normalize("NFD", "docs\\über 22.md")),
)


def make_near_right_run() -> tuple[dict[str, Any], dict[str, list[str]]]:
    """Return judgments and a run: each query retrieves its document under another id, but the last, which finds it."""
    qrels: dict[str, Any] = {f"q{number}": [pair.judged] for number, pair in enumerate(NEAR_RIGHT_IDS)}
    run = {f"q{number}": ["other", pair.retrieved] for number, pair in enumerate(NEAR_RIGHT_IDS)}
    qrels["found"] = ["found"]
    run["found"] = ["found", "another"]
    return qrels, run
