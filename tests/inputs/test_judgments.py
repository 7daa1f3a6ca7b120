"""Judgments are read from every shape that users write."""

import os
import subprocess
import sys
from pathlib import Path
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


def test_groups_in_a_set_are_in_the_same_order_in_every_process() -> None:
    # Small integers whose hashes collide come in the order in which they were added, as texts do by their seed.
    orders: list[Any] = [{frozenset([8, 0]), frozenset([1, 2])}, {frozenset([0, 8]), frozenset([2, 1])}]
    first, second = (rm.Qrels({"q": groups}) for groups in orders)
    assert repr(frozenset([8, 0])) != repr(frozenset([0, 8]))
    assert first.has_same_columns(second)
    assert repr(first.as_dict()) == repr(second.as_dict()) == "{'q': [{0: 1.0, 8: 1.0}, {1: 1.0, 2: 1.0}]}"


SETS_AS_JUDGMENTS = """
import random, sys, warnings
from pathlib import Path
import retrieval_metrics as rm

warnings.showwarning = lambda message, *_: print(message)
source = random.Random(1)
names = [f"d{number}" for number in range(60)]
queries = [f"q{number}" for number in range(12)]
texts = {query: source.sample(names, 10) for query in queries}
items = {query: [rm.Retrieved(name, text=f"passage {name[1:]}.") for name in texts[query]] for query in queries}
upper = {query: [name.upper() for name in texts[query]] for query in queries}
other = {query: source.sample(names, 10) for query in queries}
flat = {query: set(source.sample(names, 5)) for query in queries}
groups = {query: {frozenset(source.sample(names, 2)) for _ in range(3)} for query in queries}
quotes = {query: {rm.Quote(f"passage {number}.") for number in source.sample(range(60), 5)} for query in queries}
for qrels, run in ((flat, texts), (flat, upper), (groups, texts), (groups, upper), (quotes, items)):
    evaluation = rm.evaluate(qrels, run, ["ndcg@10", "map", "alpha_ndcg@10"])
    print(evaluation, evaluation.worst("map", 5), evaluation.explain("q3"), rm.Qrels(qrels).as_dict())
    evaluation.save(sys.argv[1])
    for line in Path(sys.argv[1]).read_text().splitlines():
        if not line.startswith(('"written"', '"digest"')):  # they hold the time
            print(line)
print(rm.compare(groups, {"a": texts, "b": other}, ["ndcg@10", "map"]))
"""


@pytest.mark.thorough
def test_sets_are_printed_and_saved_alike_in_every_process(tmp_path: Path) -> None:
    outputs = []
    for seed in ("1", "2"):
        process = subprocess.run(
            [sys.executable, "-c", SETS_AS_JUDGMENTS, str(tmp_path / "evaluation.json")],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        outputs.append(process.stdout)
    assert len(outputs[0]) > 20_000
    assert outputs[0] == outputs[1]


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
        ([("q", "a")], TypeError, "qrels must map each query ID to its judgments, got list"),
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
        ({"q": ["a", 1]}, TypeError, "document IDs in the qrels are partly str and partly int"),
        ({"q": [rm.Retrieved("a")]}, TypeError, r"hold retrieved items.*; evaluate\(qrels, run\) takes the judgments"),
        ({"q": [1.5]}, TypeError, "document IDs in the qrels must be str or int, got float"),
        ({"q": ["a"], 1: ["a"]}, TypeError, "query IDs in the qrels are partly str and partly int"),
        ({None: ["a"]}, TypeError, "query IDs in the qrels must be str or int, got NoneType"),
    ],
)
def test_judgments_that_mean_nothing_are_refused_by_name(qrels: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        rm.Qrels(qrels)
