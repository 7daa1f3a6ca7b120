"""The paths of judgments and documents in rows are checked before any row is read."""

from types import SimpleNamespace
from typing import Any

import pytest

from retrieval_metrics.integration_api import RowPaths

JUDGMENT_FIELDS = ["expected"]
DOCUMENT_FIELDS = ["outputs"]


@pytest.mark.parametrize(
    ("paths", "how", "message"),
    [
        (RowPaths("outputs.ids", "outputs"), {}, "relevant must begin with expected, as in 'expected.documents'"),
        (RowPaths("expected", "trace"), {}, "retrieved must begin with outputs, as in"),
        (RowPaths("expected", "elsewhere"), {"traces": ["trace"]}, "retrieved must begin with outputs, trace"),
        (RowPaths("expected", "outputs", "all"), {}, "calls must be one of"),  # type: ignore[arg-type]  # the point
        (RowPaths("expected", "outputs", "context"), {}, "needs the spans of a model"),
        (RowPaths("expected", "trace", "cited"), {"traced": True}, "need each other"),
        (RowPaths("expected", "trace", "union", "outputs.ids"), {"traced": True}, "need each other"),
        (RowPaths("expected", "trace", "cited", "trace.ids"), {"traced": True}, "citations must begin with outputs"),
        (
            RowPaths("expected", "outputs", exclude="outputs.id"),
            {},
            "exclude must begin with expected, as in",
        ),
    ],
)
def test_wrong_paths_are_refused(paths: RowPaths, how: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        paths.checked(JUDGMENT_FIELDS, DOCUMENT_FIELDS, **how)


def test_what_is_missing_is_named_with_what_is_there() -> None:
    paths = RowPaths("expected.ids", "outputs.found.documents").checked(JUDGMENT_FIELDS, DOCUMENT_FIELDS)
    row = SimpleNamespace(expected={"names": []}, outputs={"found": SimpleNamespace(documents=["d7"])})
    assert paths.items(row) == ["d7"]
    with pytest.raises(ValueError, match=r"expected has no 'ids', which the path 'expected.ids' needs; it has 'names'"):
        paths.judgments(row)
    with pytest.raises(ValueError, match="needs the spans of a model"):
        RowPaths("expected", "trace", "context").items(row, "outputs")


def test_ids_to_leave_out_are_one_id_or_a_list() -> None:
    paths = RowPaths("expected", "outputs", exclude="expected.own").checked(JUDGMENT_FIELDS, DOCUMENT_FIELDS)
    excluded: list[Any] = ["q1", 7, ["q1", "q2"], ("q1",), set(), {"q1": 1}, None, 1.5]
    results: list[Any] = []
    for own in excluded:
        try:
            results.append(paths.excluded_ids({"expected": {"own": own}}))
        except TypeError as error:
            results.append(str(error).partition(",")[0])
    refusal = "expected.own must be the ID of a document to leave out"
    assert results == [["q1"], [7], ["q1", "q2"], ["q1"], [], refusal, refusal, refusal]
    with pytest.raises(ValueError, match=r"expected has no 'own', which the path 'expected.own' needs"):
        paths.excluded_ids({"expected": {}})
    assert RowPaths("expected", "outputs").excluded_ids({}) == ()


def test_a_trace_is_read_by_the_view_that_was_chosen() -> None:
    spans = [
        {
            "trace": "t",
            "span": name,
            "parent": None,
            "kind": "retriever",
            "start": number,
            "end": number,
            "output": [name, "d"],
        }
        for number, name in enumerate(("one", "two"), start=1)
    ]
    row = {"outputs": {"ids": ["two"]}}
    assert [*RowPaths("expected", "trace", "last").read_trace(row, spans, []).ranking] == ["two", "d"]
    assert [*RowPaths("expected", "trace", "union").read_trace(row, spans, []).ranking] == ["one", "d", "two"]
