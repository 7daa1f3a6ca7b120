"""Judgments are read from every shape that users write."""

from typing import Any

import numpy as np
import pytest

import retrieval_metrics as rm


@pytest.mark.parametrize(
    ("judgments", "plain"),
    [
        ({"a": 2, "b": 0}, {"a": 2, "b": 0}),
        (["a", "b"], {"a": 1, "b": 1}),
        (("a", "b", "a"), {"a": 1, "b": 1}),
        (np.array(["a", "b"]), {"a": 1, "b": 1}),
        ([["a", "b"], ["c"]], [{"a": 1, "b": 1}, {"c": 1}]),
        ([{"a": 2, "b": 1}, ["c"], {"d"}], [{"a": 2, "b": 1}, {"c": 1}, {"d": 1}]),
        ([["a"], ["a", "b"]], [{"a": 1}, {"a": 1, "b": 1}]),
        ([], {}),
    ],
)
def test_every_shape_is_read_alone_and_beside_the_other_shape(judgments: Any, plain: Any) -> None:
    for other_queries in ({}, {"flat": {"z": 1}}, {"grouped": [["y", "z"]]}):
        qrels = rm.Qrels({"first": ["w"], **other_queries, "q": judgments, "last": ["w"]})
        read = qrels.judgments(list(qrels.queries).index("q"))
        if not qrels.is_flat and isinstance(plain, dict):
            plain = [{document: grade} for document, grade in plain.items()]
        assert read == plain


def test_a_set_is_binary() -> None:
    assert rm.Qrels({"q": {"a", "b"}}).judgments(0) == {"a": 1, "b": 1}


@pytest.mark.parametrize("others", [frozenset("xw"), set(), {"z": 2}, ["z", "y"], {1, 2}])
def test_sets_of_texts_are_read_alike_beside_any_other_judgments(others: Any) -> None:
    texts = {f"d{number}" for number in range(30)}
    if others == {1, 2}:
        with pytest.raises(TypeError, match="partly str and partly int"):
            rm.Qrels({"q": texts, "other": others})
        return
    qrels = rm.Qrels({"q": texts, "other": others, "last": {"b", "a"}})
    listed = [*sorted(others)] if isinstance(others, (set, frozenset)) else others
    assert qrels.has_same_columns(rm.Qrels({"q": sorted(texts), "other": listed, "last": ["a", "b"]}))


@pytest.mark.parametrize(
    ("qrels", "error", "message"),
    [
        ({}, ValueError, "qrels are empty"),
        ([("q", "a")], TypeError, "qrels must map each query id to its judgments, got list"),
        ({"q": "d1"}, TypeError, r"judgments of query 'q' are the bare string 'd1'; write a list: \['d1'\]"),
        ({"q": 3}, TypeError, "judgments of query 'q' must be a mapping .* got int"),
        (
            {"q": ["a", ["b"]]},
            TypeError,
            r"query 'q' mixes flat and nested .*: entry 1, 'a', is not a group.*: \['a'\]",
        ),
        ({"q": [["a"], "b"]}, TypeError, "entry 2, 'b', is not a group"),
        ({"q": {"a": ["b"]}}, TypeError, "grade of document 'a' for query 'q' must be a number.*list of lists"),
        ({"q": [["a"], []]}, ValueError, "group 2 of query 'q' is empty"),
        ({"q": [[["a"]]]}, TypeError, "cannot be nested deeper"),
        ({"q": {"a": float("nan")}}, ValueError, "grade of document 'a' for query 'q' must be finite.*got nan"),
        ({"q": {"a": float("inf")}}, ValueError, "got inf"),
        ({"q": {"a": 1e300}}, ValueError, r"at most 2\*\*53, got 1e\+300"),
        ({"q": {"a": "2"}}, TypeError, "must be a number, got '2'"),
        ({"q": [{"a": float("nan")}, {"b": 1}]}, ValueError, "grade of document 'a' for query 'q' must be finite"),
        (
            {"q": {"a": 2.0**53 + 2}},
            ValueError,
            r"document 'a' for query 'q' must be finite and at most 2\*\*53, got 9",
        ),
        ({"q": {"a": -(2.0**53) - 2}}, ValueError, r"'a' for query 'q' must be finite and at most 2\*\*53, got -9"),
        ({"q": [{"a": "x"}, {"a": 1}]}, TypeError, "must be a number, got 'x'"),
        ({"q": ["a", 1]}, TypeError, "document ids in the qrels are partly str and partly int"),
        ({"q": [rm.Retrieved("a")]}, TypeError, r"hold retrieved items.*; evaluate\(qrels, run\) takes the judgments"),
        ({"q": [1.5]}, TypeError, "document ids in the qrels must be str or int, got float"),
        ({"q": ["a"], 1: ["a"]}, TypeError, "query ids in the qrels are partly str and partly int"),
        ({None: ["a"]}, TypeError, "query ids in the qrels must be str or int, got NoneType"),
    ],
)
def test_judgments_that_mean_nothing_are_refused_by_name(qrels: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        rm.Qrels(qrels)
