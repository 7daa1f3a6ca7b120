"""The data of a page hold every query."""

from pathlib import Path

import retrieval_metrics as rm
from reported import QRELS, TEXTS, data_of, read


def test_the_data_of_a_page_hold_every_query_with_what_was_needed_and_what_came_back(
    evaluation: rm.Evaluation, tmp_path: Path
) -> None:
    parities = ["even", "odd"]
    labels = {query: parities[number % 2] for number, query in enumerate(QRELS)}
    evaluation.report(tmp_path / "report.html", queries=TEXTS, corpus={"d": "the text of d"}, slices=labels)
    data = data_of(read(tmp_path / "report.html")[0])
    assert data["ids"] == list(QRELS)
    assert data["texts"][0] == TEXTS["q0"]
    assert [data["slices"][label] for label in data["slice"][:2]] == ["even", "odd"]
    assert [column[1] for column in data["values"][0]] == [0.5, 1, 0]
    assert [data["kinds"][kind] for kind in data["missed"][data["missing"][0][0]]] == ["not retrieved"]
    first = data["shown"]["0"]
    second = data["shown"]["1"]
    x, y = first["results"][0]  # unjudged, so their numbers alone
    assert [data["documents"][number] for number in (x, y)] == [["x"], ["y"]]
    number, state, score, grade, satisfies = second["results"][0][1]
    assert data["documents"][number] == ["d", None, "the text of d"]
    assert (state, score, grade, satisfies) == (0, None, 1.0, [0])
    assert second["needed"][0][0] == number  # the text is there once
    assert second["needed"][0][3] == [[data["kinds"].index("found"), 2, data["details"].index("found")]]
