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
    NearRightId("numbered_part", "node20", "node20-chunk-4"),
    NearRightId("numbered_part", "node21", "node21.2"),
    NearRightId("several", "Docs/Über 22.md", normalize("NFD", "docs\\über 22.md")),
)


def make_near_right_run() -> tuple[dict[str, Any], dict[str, list[str]]]:
    """Return judgments and a run: each query retrieves its document under another id, but the last, which finds it."""
    qrels: dict[str, Any] = {f"q{number}": [pair.judged] for number, pair in enumerate(NEAR_RIGHT_IDS)}
    run = {f"q{number}": ["other", pair.retrieved] for number, pair in enumerate(NEAR_RIGHT_IDS)}
    qrels["found"] = ["found"]
    run["found"] = ["found", "another"]
    return qrels, run
