"""What to write, so that ids match, and that writing it makes them match."""

import ast
import html
import re
import unicodedata
import urllib.parse
import uuid
from collections.abc import Callable
from typing import Any

import pytest

import retrieval_metrics as rm
from data_warning_kinds import find_origin
from retrieval_metrics.evaluation.data_warnings import find_near_miss_report
from retrieval_metrics.evaluation.near_miss_remedy import IdChange, find_spelling_change

UUID = "550e8400-e29b-41d4-a716-446655440000"


def find_change(judged: list[str], retrieved: Any, **options: Any) -> IdChange:
    qrels: Any = {"q0": ["found"]}
    run: Any = {"q0": ["found"]}
    if isinstance(retrieved[0], rm.Retrieved):
        run = {"q0": [rm.Retrieved("found", source="found")]}
    for number, (document, item) in enumerate(zip(judged, retrieved, strict=True), start=1):
        qrels[f"q{number}"] = [document]
        run[f"q{number}"] = [item]
    report = find_near_miss_report(find_origin(qrels, run, **options))
    assert report is not None
    return report.change


@pytest.mark.parametrize(
    ("judged", "retrieved", "change"),
    [
        ("Café.md", "Cafe\u0301.md", IdChange(expression="unicodedata.normalize('NFC', id)")),
        ("A.md", "\uff21.md", IdChange(expression="unicodedata.normalize('NFKC', id)")),
        ("a b.md", "a  b.md", IdChange(expression="' '.join(id.split())")),
        ("a.md", "A.md", IdChange(expression="id.casefold()")),
        ("a b", "a%20b", IdChange(expression="urllib.parse.unquote(id)")),
        ("b/a.md", "b\\a.md", IdChange(expression=r"id.replace('\\', '/')")),
        ("b/a.md", "B\\a.md", IdChange()),
        ("a.md", "a.md\u200b", IdChange(characters=("U+200B (ZERO WIDTH SPACE)",))),
        ("007", "7", IdChange(is_read_as_number=True)),
        ("7", "7.0", IdChange(is_read_as_number=True)),
        ("a.md", "docs/a.md", IdChange("run", "id.rpartition('/')[2]")),
        ("docs/a.md", "/x/docs/a.md", IdChange("run", "id.removeprefix('/x/')")),
        ("docs/a.md", "a.md", IdChange("both", "id.rpartition('/')[2]")),
        ("d7", "d7#3", IdChange("run", "id.partition('#')[0]")),
        ("d7::p2", "d7", IdChange("both", "id.partition('::')[0]")),
        ("c::d7", "c::d7::p2", IdChange("run", "id.rsplit('::', 1)[0]")),
        ("d7.md", "d7.md-chunk-0", IdChange("run", r"re.sub(r'-chunk-\d+$', '', id)")),
        ("d7.md", "d7.md (part 12)", IdChange("run", r"re.sub(r' \(part \d+\)$', '', id)")),
        ("d7.md", "d7-1.md", IdChange("run", r"re.sub(r'-\d+(?=\.md$)', '', id)")),
        ("d7.md", "d7", IdChange(expression="id.removesuffix('.md')")),
        ("d7.md", "d7.txt", IdChange(expression=r"re.sub(r'\.(md|txt)$', '', id)")),
        ("R&D", "R&amp;D", IdChange(expression="html.unescape(id)")),
        ("a b", "a_b", IdChange(expression="id.replace('_', ' ').replace('+', ' ')")),
        ("a-b", "a_b", IdChange(expression=r"re.sub(r'[-_+\s]+', ' ', id)")),
        ("Café.md", "Caf\u00c3\u00a9.md", IdChange("run", "id.encode('cp1252').decode('utf-8')")),
        ("d7", "<d7>", IdChange("run", "id.removeprefix('<').removesuffix('>')")),
        ("ObjectId('d7')", "d7", IdChange("both", """id.removeprefix("ObjectId('").removesuffix("')")""")),
        ("d7", "('d7', 0.9)", IdChange("run", "ast.literal_eval(id)[0]")),
        ("d7", '{"rank": 1, "id": "d7"}', IdChange("run", "ast.literal_eval(id)['id']")),
        ("a.py", "a.py:10-20", IdChange("run", r"re.sub(r':\d+-\d+$', '', id)")),
        ("1234567890123456789", "1234567890123456768", IdChange(is_read_as_number=True)),
        (UUID, UUID.replace("-", ""), IdChange(expression="uuid.UUID(id).hex")),
        ("http://a.org/x/", "https://a.org/x", IdChange(expression=r"re.sub(r'^\w+://(www\.)?|/$', '', id)")),
        ("d7", "'d7'", IdChange("run", """id.removeprefix("'").removesuffix("'")""")),
        ("b'd7'", "d7", IdChange("both", """id.removeprefix("b'").removesuffix("'")""")),
        ("a-b", "a\u2013b", IdChange()),
        ("1300", "1,300", IdChange(is_read_as_number=True)),
        ("d7", "d7#3#4", IdChange("run", "id.partition('#')[0]")),
    ],
)
def test_the_change_is_found_and_makes_the_ids_equal(judged: str, retrieved: str, change: IdChange) -> None:
    assert find_change([judged], [retrieved]) == change
    if change.expression is None:
        return
    names = {"ast": ast, "urllib": urllib, "unicodedata": unicodedata, "html": html, "uuid": uuid, "re": re}
    if change.side in ("both", "judgments"):
        judged = eval(change.expression, {**names, "id": judged})  # noqa: S307  (our own expression)
    if change.side in ("both", "run"):
        retrieved = eval(change.expression, {**names, "id": retrieved})  # noqa: S307  (our own expression)
    assert judged == retrieved


FILES = [f"{folder}_{number}-plan.md" for folder in ("feature", "on_call") for number in range(10, 16)]
CHANGES: dict[str, Callable[[str], str]] = {
    "part": lambda document: f"{document}::chunk1",
    "part after #": lambda document: f"{document}#3",
    "part in words": lambda document: f"{document} (part 3)",
    "numbered part": lambda document: f"{document}_0",
    "number before the extension": lambda document: document.replace(".md", "-1.md"),
    "file extension": lambda document: document.removesuffix(".md"),
    "other extension": lambda document: document.replace(".md", ".txt"),
    "path": lambda document: f"/data/docs/{document}",
    "prefix": lambda document: f"doc_{document}",
    "case": str.upper,
    "blanks": lambda document: f"{document} ",
    "slashes": lambda document: f"docs\\{document}",
    "percent_encoding": lambda document: document.replace("-", "%2D"),
    "quotation_marks": lambda document: f"'{document}'",
    "markup": lambda document: document.replace("-", "&#45;"),
    "unicode_form": lambda document: document.replace("plan", "\uff50lan"),
}


# Judged ids with a blank at an end are refused, and prefixes are sought in those of the run.
CHANGED_SIDES = [("run", kind) for kind in CHANGES]
CHANGED_SIDES += [("judgments", kind) for kind in CHANGES if kind not in {"blanks", "prefix"}]


@pytest.mark.parametrize(("changed_side", "kind"), CHANGED_SIDES)
def test_the_advice_is_right_where_only_some_ids_differ(changed_side: str, kind: str) -> None:
    sides: dict[str, list[str]] = {"judgments": list(FILES), "run": list(FILES)}
    if kind == "slashes":
        sides = {side: [f"docs/{document}" for document in FILES] for side in sides}
    changed = sides[changed_side]
    changed[::2] = [CHANGES[kind](FILES[number]) for number in range(0, len(FILES), 2)]
    qrels: Any = {f"q{number}": [document] for number, document in enumerate(sides["judgments"])}
    run: Any = {f"q{number}": ["other", document] for number, document in enumerate(sides["run"])}
    report = find_near_miss_report(find_origin(qrels, run))
    assert report is not None
    assert report.n_near_misses == len(FILES) / 2
    expression = report.change.expression
    assert expression is not None

    def change(document: str) -> str:
        names = {"urllib": urllib, "unicodedata": unicodedata, "html": html, "uuid": uuid, "re": re}
        changed_id = eval(expression, {**names, "id": document})  # noqa: S307  (our own expression)
        assert changed_id
        return str(changed_id)

    if report.change.side in ("both", "judgments"):
        qrels = {query: [change(document) for document in documents] for query, documents in qrels.items()}
    if report.change.side in ("both", "run"):
        run = {query: [change(document) for document in documents] for query, documents in run.items()}
    assert rm.evaluate(qrels, run, "recall@5").means["recall@5"] == 1


def test_paths_whose_files_share_a_name_are_not_cut_to_it() -> None:
    names = ["a.md", "b.md"]
    paths = ["/srv/payments/README.md", "/srv/users/README.md"]
    items = [rm.Retrieved(path, source=path) for path in paths]
    run: Any = {"q0": [items[0]], "q1": [items[1]], "q2": [rm.Retrieved("a", source="/srv/a.md")], "q3": [items[0]]}
    qrels: Any = {query: [document] for query, document in zip(run, paths + names, strict=True)}
    report = find_near_miss_report(find_origin(qrels, run, match="filename"))
    assert report is not None
    assert report.change == IdChange("judgments", match="source", is_by_whole_path=True)
    run = {query: run[query] for query in ("q0", "q1")}
    evaluation = rm.evaluate({query: qrels[query] for query in run}, run, "mrr", match="source")
    assert evaluation.means["mrr"] == 1
    alone: Any = {"q0": ["/srv/payments/a.md"], "q1": ["b.md"]}
    run = {"q0": [rm.Retrieved("n1", source="/data/a.md")], "q1": [rm.Retrieved("n2", source="/data/b.md")]}
    report = find_near_miss_report(find_origin(alone, run, match="filename"))
    assert report is not None
    assert report.change == IdChange("judgments", "id.rpartition('/')[2]")


def test_items_are_matched_by_an_option_that_can_be_saved() -> None:
    by_path = [rm.Retrieved("n1", source="/docs/a.md")]
    assert find_change(["a.md"], by_path, match="source").match == "filename"
    by_part = [rm.Retrieved("a.md#1", source="a.md")]
    assert find_change(["a.md"], by_part).match == "source"


def test_a_control_character_has_no_name() -> None:
    change = find_spelling_change("a.md", "a.md\x01", "invisible_characters")
    assert change == IdChange(characters=("U+0001 (a control character)",))


def test_ids_that_are_cut_off_are_cut_on_the_other_side_too() -> None:
    long = ["f3a9c0b7e21d4456aa10", "0b7e21d4456aa10f3a9c"]
    short = [document[:12] for document in long]
    assert find_change(long, short) == IdChange("both", "id[:12]")
    assert find_change(short, long) == IdChange("run", "id[:12]")


def test_the_change_of_judged_parts_is_for_both_sides_if_the_run_holds_some_of_them() -> None:
    judged = [f"doc{letter}#0" for letter in "abcdefghijkl"]
    qrels: Any = {f"q{number}": [document] for number, document in enumerate(judged)}
    run: Any = {}
    for number, document in enumerate(judged):
        run[f"q{number}"] = [document.partition("#")[0] if number < 5 else document]
    report = find_near_miss_report(find_origin(qrels, run))
    assert report is not None
    assert report.change == IdChange("both", "id.partition('#')[0]")
    for query, ranking in run.items():
        run[query] = [document.partition("#")[0] for document in ranking]
        qrels[query] = [document.partition("#")[0] for document in qrels[query]]
    assert rm.evaluate(qrels, run, "mrr").means["mrr"] == 1


def test_an_unknown_kind_has_no_change() -> None:
    assert find_spelling_change("a", "b", None) == IdChange()
