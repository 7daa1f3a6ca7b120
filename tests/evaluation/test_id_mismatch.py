"""Where no id matches, both sides are shown, with what would make them match."""

from typing import Any

import pytest

import retrieval_metrics as rm
from data_warning_kinds import find_kinds, find_origin
from retrieval_metrics.evaluation.id_mismatch import (
    IdMismatch,
    IdRemedy,
    IdWithin,
    JudgedPath,
    MatchedAttribute,
    OtherQuery,
    PieceMismatch,
    SpellingDifference,
    find_id_mismatch,
)
from retrieval_metrics.evaluation.near_miss_remedy import IdChange

QRELS: Any = {f"q{number}": ["a"] for number in range(20)}


def find_mismatch(qrels: Any, run: Any, **options: Any) -> IdMismatch:
    mismatch = find_id_mismatch(find_origin(qrels, run, **options))
    assert isinstance(mismatch, IdMismatch)
    return mismatch


def test_each_id_is_shown_once() -> None:
    run = {query: ["x", "y", "x"] for query in QRELS}
    assert find_mismatch(QRELS, run) == IdMismatch(["a"], ["x", "y"], None)
    one_document_each = {f"q{number}": [f"d{number}"] for number in range(5)}
    assert find_mismatch(one_document_each, run).judged_ids == ["d0", "d1", "d2", "d3", "d4"]


@pytest.mark.parametrize(
    ("retrieved", "remedy"),
    [
        (rm.Retrieved("x", source="a.md"), MatchedAttribute("a.md", "source")),
        (rm.Retrieved("x", metadata={"file_name": "a.md"}), MatchedAttribute("a.md", "metadata:file_name")),
        (
            rm.Retrieved("x", source="/docs/a.md"),
            MatchedAttribute("a.md", "filename"),
        ),
        (
            rm.Retrieved("x", metadata={"path": r"C:\a.md"}),
            MatchedAttribute("a.md", "filename"),
        ),
        (rm.Retrieved("a.md#3"), IdWithin("a.md#3", "item.id.partition('#')[0]", is_attribute=True)),
        ("a.md#3", IdWithin("a.md#3", "id.partition('#')[0]", is_attribute=False)),
        ("docs/a.md", IdWithin("docs/a.md", "id.rpartition('/')[2]", is_attribute=False)),
        ("A.md ", SpellingDifference("A.md ", "a.md", "several", IdChange())),
        ("b.md", OtherQuery("b.md")),
        ("c", None),
    ],
)
def test_the_remedy_is_found(retrieved: Any, remedy: IdRemedy | None) -> None:
    qrels: Any = {"q1": ["a.md"], "q2": ["b.md"]}
    assert find_mismatch(qrels, {"q1": [retrieved]}).remedy == remedy


@pytest.mark.parametrize(
    ("retrieved", "match"),
    [
        (rm.Retrieved("x", source="a.md"), "source"),
        (rm.Retrieved("x", metadata={"file_name": "a.md"}), "metadata:file_name"),
        (rm.Retrieved("x", source="/docs/a.md"), "filename"),
        (rm.Retrieved("a.md#3"), lambda item: item.id.partition("#")[0]),
    ],
)
def test_the_remedy_makes_the_ids_match(retrieved: Any, match: Any) -> None:
    unrelated = rm.Retrieved("x", source="x", metadata={"file_name": "x", "path": "x"})
    run: Any = {"q1": [retrieved], "q2": [unrelated]}
    result = rm.evaluate({"q1": ["a.md"], "q2": ["b.md"]}, run, "mrr", match=match)
    assert result.per_query["mrr"]["q1"] == 1.0


@pytest.mark.parametrize(
    ("judged_id", "retrieved_id", "expression"),
    [
        ("docs/a.md", "corpus/docs/a.md", "id.split('/', 1)[-1]"),
        ("b_1", "col_b_1", "id.split('_', 1)[-1]"),
        ("a.md", "corpus/docs/a.md", "id.rpartition('/')[2]"),
    ],
)
def test_the_expression_gives_the_judged_id(judged_id: str, retrieved_id: str, expression: str) -> None:
    remedy = find_mismatch({"q": [judged_id]}, {"q": [retrieved_id]}).remedy
    assert remedy == IdWithin(retrieved_id, expression, is_attribute=False)
    assert eval(expression, {"id": retrieved_id}) == judged_id  # noqa: S307  (an expression of ours, as users run it)


@pytest.mark.parametrize(
    ("source", "kind", "expression"),
    [
        ("A.MD", "case", "id.casefold()"),
        ("a", "file_extension", "id.removesuffix('.md')"),
        ("a.md#0", "part", "id.partition('#')[0]"),
        ("a.md ", "blanks", "' '.join(id.split())"),
    ],
)
def test_near_misses_of_file_names_are_shown_with_what_to_write(source: str, kind: str, expression: str) -> None:
    run = {query: [rm.Retrieved("n1", source=f"/docs/{source}")] for query in ("q1", "q2")}
    remedy = find_mismatch({"q1": ["a.md"], "q2": ["a.md"]}, run, match="filename").remedy
    assert isinstance(remedy, SpellingDifference)
    assert (remedy.judged_id, remedy.value, remedy.kind) == ("a.md", source, kind)
    assert remedy.change.expression == expression


def test_file_names_are_compared_with_judged_paths() -> None:
    qrels: Any = {"q": ["docs/a.md"]}
    assert find_mismatch(qrels, {"q": ["a.md"]}).remedy == JudgedPath("a.md", "docs/a.md", "id")
    item: Any = rm.Retrieved("n1", metadata={"path": "/c/docs/a.md", "name": "a.md"})
    assert find_mismatch(qrels, {"q": [item]}).remedy == JudgedPath("a.md", "docs/a.md", "metadata:name")


def test_judged_paths_that_share_a_name_are_not_cut_to_it() -> None:
    qrels: Any = {"q1": ["payments/README.md"], "q2": ["users/README.md"]}
    remedy = find_mismatch(qrels, {"q1": ["README.md"], "q2": ["README.md"]}).remedy
    change = IdChange("run")
    assert remedy == SpellingDifference("README.md", "payments/README.md", "path", change)


def test_items_are_shown_as_they_were_compared() -> None:
    item = rm.Retrieved("x", source="uuid", metadata={"file_name": "a.md"})
    mismatch = find_mismatch({"q": ["a.md"]}, {"q": [item]}, match="source")
    assert mismatch.run_ids == ["uuid"]
    assert mismatch.remedy == MatchedAttribute("a.md", "metadata:file_name")


def test_pieces_that_no_item_has_are_shown() -> None:
    quote = rm.Quote("a closure is a function")
    origin = find_origin({"q": [quote]}, {"q": [rm.Retrieved("x", "nothing of that kind")]})
    assert find_id_mismatch(origin) == PieceMismatch([quote])


@pytest.mark.parametrize("judgments", [[], {"z": 0}, {"z": -1}])
def test_where_nothing_is_relevant_nothing_has_to_match(judgments: Any) -> None:
    assert find_kinds(dict.fromkeys(QRELS, judgments), {query: ["x"] for query in QRELS}) == []


def test_where_nothing_was_retrieved_no_ids_are_compared() -> None:
    assert find_kinds({"q": ["doc-1"]}, {"q": []}) == ["empty_rankings"]
