"""Which ids may be two spellings of one, and that the quick search finds all that the slow comparison accepts."""

from unicodedata import normalize

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from retrieval_metrics.matching.near_ids import (
    NearIdIndex,
    NearIdKind,
    find_near_kind,
    list_wholes,
    may_hold_near_ids,
    unify_spelling,
)

# Judged id, retrieved id, in what they differ.
PAIRS: list[tuple[str, str, NearIdKind]] = [
    ("Café.md", normalize("NFD", "Café.md"), "unicode_form"),
    ("ABC.md", "\uff21\uff22\uff23.md", "unicode_form"),
    ("a.md", "a.md\u200b", "invisible_characters"),
    ("a.md", "\ufeffa.md", "invisible_characters"),
    ("a.md", "a\x00.md", "invisible_characters"),
    ("a.md", "a.md ", "blanks"),
    ("a b.md", "a\u00a0b.md", "blanks"),
    ("a.md", "a.md\n", "blanks"),
    ("a.md", "A.MD", "case"),
    ("straße", "STRASSE", "case"),
    ("my doc.md", "my%20doc.md", "percent_encoding"),
    ("b/a.md", "b\\a.md", "slashes"),
    ("007", "7", "leading_zeros"),
    ("doc-007", "doc-7", "leading_zeros"),
    ("0", "000", "leading_zeros"),
    ("70", "70.0", "decimal_point"),
    ("100", "100.00", "decimal_point"),
    ("R&D", "R&amp;D", "markup"),
    ("d7", "'d7'", "quotation_marks"),
    ("d7", "b'd7'", "quotation_marks"),
    ("a-b", "a\u2013b", "quotation_marks"),
    ("a b", "a_b", "separators"),
    ("a b", "a+b", "separators"),
    ("a-b", "a_b", "separators"),
    ("doc-7", "doc7", "separators"),
    ("Café.md", "Caf\u00c3\u00a9.md", "encoding"),
    ("a\u2019b", "a\u00e2\u20ac\u2122b", "encoding"),
    ("Café.md", "Cafe.md", "diacritics"),
    ("dbpedia:A", "<dbpedia:A>", "quotation_marks"),
    ("d7", "[d7]", "quotation_marks"),
    ("d7", "ObjectId('d7')", "quotation_marks"),
    ("d7", "('d7', 0.9)", "printed"),
    ("d7", '{"id": "d7"}', "printed"),
    ("d7,d8", "d7", "joined"),
    ("d7; d8", "d8", "joined"),
    ("2101.00001", "2101.00001v2", "version"),
    ("a.md", "a_v2.md", "version"),
    ("34567", "PMC34567", "prefix"),
    ("1234567890123456789", "1234567890123456768", "number_form"),
    ("1234567890123456789", "1.23457E+18", "number_form"),
    ("https://a.org/x/", "https://a.org/x/index.html", "url_form"),
    ("https://a.org/x", "https://a.org/x?utm_source=b", "url_form"),
    ("a.py", "a.py:10-20", "part"),
    ("a.md", "a.md[3]", "part"),
    ("a.pdf", "a (1).pdf", "part"),
    ("My Page 7", "my-page-7", "several"),
    ("f3a9c0b7e21d4456aa10", "f3a9c0b7e21d", "truncated"),
    ("550E8400-e29b-41d4-a716-446655440000", "{550e8400e29b41d4a716446655440000}", "uuid_form"),
    ("https://a.org/x", "http://a.org/x", "url_form"),
    ("https://a.org/x", "https://www.a.org/x/", "url_form"),
    ("1300", "1,300", "number_form"),
    ("130000", "1.3E+05", "number_form"),
    ("http://a.org/R_D", "https://a.org/r d/", "several"),
    ("7a", "doc_7a", "prefix"),
    ("7a", "wiki:7a", "prefix"),
    ("Docs/Café.md", normalize("NFD", "docs\\café.md"), "several"),
    ("a.md", "docs/a.md#3", "several"),
    ("a.md", "/data/docs/a.md", "path"),
    ("a.md", "C:\\docs\\a.md", "path"),
    ("d7", "d7#3", "part"),
    ("d7", "d7::intro", "part"),
    ("a.md", "a.md:3", "part"),
    ("d7", "d7_3", "numbered_part"),
    ("d7", "d7-chunk-3", "part"),
    ("report", "report.pdf", "file_extension"),
]
DIFFERENT = [
    ("d7", "d70"),
    ("d7#1", "d7#2"),
    ("closure", "closure-scope"),
    ("os", "os.path"),
    ("guide", "guide/install"),
    ("1.05", "1.5"),
    ("a.md", "ba.md"),
    ("c/a.md", "b/a.md"),
    ("x", ""),
    ("1-2", "12"),
    ("1-2", "2"),
    ("a_b", "ab"),
    ("12-7", "127"),
    ("d7,d8", "d9"),
    ("331,234", "331"),
    ("resume", "resumes"),
    ("version", "version2"),
    ("document1", "document1000"),
    ("intro", "introduction"),
    ("1234567890123456789", "1234567890123456788"),
    ("1,300,1", "13001"),
    ("ad7", "d7"),
    ("https://a.org/x?id=1", "https://a.org/x"),
]


@pytest.mark.parametrize(("judged", "retrieved", "kind"), PAIRS)
def test_kinds_are_told_apart_and_found_in_a_ranking(judged: str, retrieved: str, kind: NearIdKind) -> None:
    assert find_near_kind(judged, retrieved) == find_near_kind(retrieved, judged) == kind
    others = ["zz-1", "y/y.txt", "é\nq"]
    assert retrieved in NearIdIndex([*others, retrieved]).find(judged) or not judged.strip("0")
    if kind in {"printed", "joined"}:
        return  # of these, only one side is looked for
    if kind != "several" or "#" not in retrieved:
        assert judged in NearIdIndex([*others, judged]).find(retrieved) or not judged.strip("0")


@pytest.mark.parametrize(("first", "second"), DIFFERENT)
def test_different_ids(first: str, second: str) -> None:
    assert find_near_kind(first, second) is None
    assert find_near_kind(second, first) is None


def test_spellings_are_unified() -> None:
    assert unify_spelling("Docs%5CCafe\u0301 007.MD ") == "docs/café 7.md"
    assert unify_spelling("a.md") == "a.md"


def test_wholes_end_before_a_separator_or_begin_after_a_slash() -> None:
    assert list_wholes("docs/a.md#3") == ["docs", "a.md#3", "docs/a", "docs/a.md"]
    assert list_wholes("d7") == []
    assert len(list_wholes("-".join("abcdefghijklmnop"))) == 8


def test_candidates_are_few() -> None:
    ids = [f"d{number}" for number in range(500)]
    assert list(NearIdIndex(ids).find("d7")) == ["d7", "d70"]
    assert set(NearIdIndex(["d7_3", "d77", "e/d7"]).find("d7")) == {"d7_3", "e/d7"}


@pytest.mark.parametrize(("judged", "retrieved", "kind"), PAIRS)
def test_one_look_at_all_ids_overlooks_no_kind(judged: str, retrieved: str, kind: NearIdKind) -> None:
    assert may_hold_near_ids(["d1", judged, retrieved]), kind


@settings(max_examples=400)
@given(
    st.one_of(
        st.lists(st.text("aB017.-/#\n \\%é", max_size=5), min_size=1, max_size=4),
        st.lists(st.text("av7_-[]()<>,;'?", max_size=6), min_size=2, max_size=4),
        st.lists(st.text("a01.,-", min_size=4, max_size=4), min_size=2, max_size=3),
    )
)
@example(["1.0", "1.00"])
@example(["01.0", "01.1"])
@example(["a\n", "a"])
@example(["1234567890123456789", "1234567890123456768"])
@example(["d7", "d7v2"])
def test_one_look_at_all_ids_rules_out_only_what_no_search_finds(ids: list[str]) -> None:
    if may_hold_near_ids(ids):
        return
    for first in ids:
        for second in ids:
            assert first == second or find_near_kind(first, second) is None


@pytest.mark.parametrize("form", ["d{}", "DOC-{}", "{}", "D{:07d}", "msmarco_passage_{}", "guide/page.md#{}"])
def test_ids_of_one_form_need_no_search(form: str) -> None:
    assert not may_hold_near_ids([form.format(number) for number in range(120)])


def test_candidates_are_found_by_their_letters_in_any_case_and_form() -> None:
    for judged, retrieved in (("ÉTUDE-7", "e\u0301tude_7"), ("Straße+1", "STRASSE_1"), ("http://a.org/é", "a.org/É")):
        assert retrieved in NearIdIndex(["d1", retrieved]).find(judged), judged
