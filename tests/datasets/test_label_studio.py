"""JSON exports of Label Studio: choices, ratings, buckets and rankings."""

import json
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm


def make_result(kind: str, value: Any, name: str = "relevance") -> dict[str, Any]:
    return {"id": "a1", "from_name": name, "to_name": "passage", "type": kind, "value": {kind: value}}


def make_annotation(annotator: Any, *results: dict[str, Any], skipped: bool = False) -> dict[str, Any]:
    return {
        "id": 5,
        "completed_by": annotator,
        "result": list(results),
        "was_cancelled": skipped,
        "ground_truth": False,
        "created_at": "2026-05-31T10:00:00.1Z",
        "updated_at": "2026-06-01T10:00:00.1Z",
        "lead_time": 3.2,
    }


def make_task(number: int, data: dict[str, Any], *annotations: dict[str, Any], **further: Any) -> dict[str, Any]:
    return {"id": number, "data": data, "annotations": list(annotations), "predictions": [], "drafts": [], **further}


def pair(document: str) -> dict[str, Any]:
    return {"query": "reset", "passage": "Open the settings.", "doc_id": document}


def test_choices_are_graded_by_name_and_predictions_by_their_model(tmp_path: Path) -> None:
    yes, no = (make_result("choices", [choice]) for choice in ("Relevant", "Not relevant"))
    prediction = {"model_version": "m1", "result": [yes], "score": 0.9, "created_ago": "3 hours"}
    tasks = [
        make_task(1, pair("d1"), make_annotation(1, yes), make_annotation({"id": 2, "email": "ben@x.org"}, no)),
        make_task(2, pair("d2"), predictions=[prediction]),
        make_task(3, pair("d3"), make_annotation(1, skipped=True)),
        make_task(4, pair("d4")),
        make_task(5, pair("d5"), make_annotation(1)),
    ]
    path = tmp_path / "project-1.json"
    path.write_text(json.dumps(tasks))
    labels = rm.Labels.from_label_studio(path, grades={"Relevant": 1, "Not relevant": 0})
    assert [(label.document, label.grade, label.grader, label.kind, label.reason) for label in labels] == [
        ("d1", 1, "annotator 1", "human", None),
        ("d1", 0, "ben@x.org", "human", None),
        ("d2", 1, "m1", "model", None),
        ("d3", None, "annotator 1", "human", "skipped"),
    ]
    assert labels.labels[0].date == "2026-06-01"
    assert labels.unrated == (("reset", "d4"), ("reset", "d5"))
    named = rm.Labels.from_label_studio(tasks, grades={"Relevant": 1, "Not relevant": 0}, graders={1: "Ada", 2: "Ben"})
    assert named.graders == ("Ada", "Ben", "m1")


def test_ratings_are_grades_as_they_are() -> None:
    task = make_task(1, pair("d1"), make_annotation(1, make_result("rating", 4)))
    labels = rm.Labels.from_label_studio([task], relevant_from=3)
    assert labels.qrels == {"reset": {"d1": 4.0}}
    assert labels.scale is not None
    assert labels.scale.grades == (0, 1, 2, 3, 4)


ITEMS = {"prompt": "reset", "items": [{"id": f"d{number}", "title": "t"} for number in range(1, 5)]}


def test_buckets_of_a_list_are_graded_by_name() -> None:
    buckets = {"good": ["d2"], "bad": ["d1"], "_": ["d3", "d4"]}
    labels = rm.Labels.from_label_studio(
        [make_task(1, ITEMS, make_annotation(1, make_result("ranker", buckets)))], grades={"good": 2, "bad": 0}
    )
    assert labels.qrels == {"reset": {"d2": 2.0, "d1": 0.0}}
    assert labels.unrated == (("reset", "d3"), ("reset", "d4"))


def test_a_ranking_needs_the_grades_of_its_places() -> None:
    tasks = [make_task(1, ITEMS, make_annotation(1, make_result("ranker", ["d3", "d1", "d2", "d4"])))]
    with pytest.raises(ValueError, match=r"a ranking orders documents.*grades=\[3, 2, 1\]"):
        rm.Labels.from_label_studio(tasks)
    labels = rm.Labels.from_label_studio(tasks, grades=[3, 2, 1])
    assert labels.qrels == {"reset": {"d3": 3.0, "d1": 2.0, "d2": 1.0, "d4": 0.0}}


def test_what_is_not_clear_is_asked_for_and_the_answer_works() -> None:
    yes = make_result("choices", ["Relevant"])
    stars = make_result("rating", 3, "stars")
    tasks = [make_task(1, {"query": "reset", "key": "d1"}, make_annotation(1, yes, stars))]
    with pytest.raises(ValueError, match="answers 'relevance', 'stars'; choose the grades with question="):
        rm.Labels.from_label_studio(tasks)
    with pytest.raises(ValueError, match=r"no ID of its document .*'query', 'key'.*document="):
        rm.Labels.from_label_studio(tasks, question="stars")
    assert rm.Labels.from_label_studio(tasks, question="stars", document="key").qrels == {"reset": {"d1": 3.0}}
    with pytest.raises(ValueError, match=r"'Relevant' are not numbers.*grades=\{'Relevant': \.\.\.\}"):
        rm.Labels.from_label_studio(tasks, question="relevance", document="key")
    with pytest.raises(ValueError, match="'Relevant' are not numbers"):
        rm.Labels.from_label_studio(tasks, question="relevance", document="key", grades={"Yes": 1})
    with pytest.raises(ValueError, match="the data of task 1 has no 'doc', which document= names"):
        rm.Labels.from_label_studio(tasks, question="stars", document="doc")
    with pytest.raises(ValueError, match="nobody chose 'Yes', which grades= names; the choices are 3"):
        rm.Labels.from_label_studio(tasks, question="stars", document="key", grades={"Yes": 1})
    with pytest.raises(ValueError, match="is for rankings, but this export has choices"):
        rm.Labels.from_label_studio(tasks, question="stars", document="key", grades=[3, 2])


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([{"id": 1, "query": "reset", "relevance": "Relevant", "annotator": 1}], "JSON-MIN"),
        ([make_task(1, pair("d1"))], "no answer in this export"),
        ([make_task(1, pair("d1"), make_annotation(1, make_result("choices", ["a", "b"])))], "task 1: 2 choices"),
        (
            [make_task(1, ITEMS, make_annotation(1, make_result("choices", ["Relevant"])))],
            "task 1 shows a list of documents, and 'relevance' is one answer for all of them",
        ),
    ],
)
def test_other_exports_are_refused(entries: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rm.Labels.from_label_studio(entries)


def test_a_number_is_no_export() -> None:
    with pytest.raises(TypeError, match="path or a list of its entries, got int"):
        rm.Labels.from_label_studio(7)  # type: ignore[arg-type]  # the point of the line
