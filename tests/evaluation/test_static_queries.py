"""Every query of a page can be read without a script."""

from typing import Any

import pytest

from retrieval_metrics.evaluation.static_queries import format_static_queries


@pytest.fixture
def data() -> dict[str, Any]:
    """Two queries, of which the first has its details."""
    return {
        "systems": [""],
        "main": 0,
        "kinds": ["not retrieved", "found"],
        "details": ["found", "not among the 2 retrieved"],
        "documents": [["a", None, "the text  of a"], ["x & y"], ["b"]],
        "ids": ["q1", "q2"],
        "texts": ["what <is> it?", None],
        "values": [[[0.5, None]]],
        "wanted": [[2, 0]],
        "missing": [[1, 0]],
        "missed": [(), (0,)],
        "shown": {
            0: {"needed": [[0, 1, None, [[1, 2, 0]]], [2, 3, None, [[0, None, 1]]]], "results": [[1, [0, 0]]]},
        },
    }


def test_a_query_has_its_value_and_what_it_misses_and_folded_what_it_needed(data: dict[str, Any]) -> None:
    text = format_static_queries(data, [1, 0])
    assert text.startswith("<p>-  q2<br>no relevant document</p><details>")
    assert "0.500  q1  what &lt;is&gt; it?" in text
    assert "<p>1 of 2 found: 1 not retrieved</p>" in text
    assert "<p>Relevant, grade 1: a: the text of a. found (rank 2)</p>" in text
    assert "<p>Relevant, grade 3: b. not among the 2 retrieved</p>" in text
    assert "<p>Results:</p><ol><li>○ x &amp; y</li>\n<li>✓ a: the text of a</li></ol>" in text


def test_of_several_systems_each_is_named(data: dict[str, Any]) -> None:
    data |= {"systems": ["one", "two"], "values": [[[0.5, None]], [[1, 0]]]}
    data |= {"wanted": [[2, 0], [None, 1]], "missing": [[1, 0], [0, 0]]}
    data["shown"] = {0: {"needed": [[0, 1, None, [[1, 2, 0], None]]], "results": [[1], None]}}
    text = format_static_queries(data, [0, 1])
    assert "one 0.500, two 1.000  q1" in text
    assert "<p>one: 1 of 2 found: 1 not retrieved</p>" in text
    assert "a: the text of a. one: found (rank 2)</p>" in text
    assert "<p>Results of two: none.</p>" in text
    assert "one: no relevant document; two: 1 of 1 found</p>" in text
