"""Records of Argilla, in the forms that its library has and writes."""

import json
from enum import Enum
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import retrieval_metrics as rm


def make_record(name: str, document: str | None = None, **replies: Any) -> dict[str, Any]:
    metadata = {"query_id": "q1"}
    if document is not None:
        metadata["document_id"] = document
    return {
        "id": name,
        "fields": {"query": "how to reset?", "passage": "Open settings"},
        "metadata": metadata,
        "suggestions": replies.get("suggestions", {}),
        "responses": replies.get("responses", {}),
        "vectors": {},
        "status": "pending",
        "_server_id": None,
    }


RECORDS = [
    make_record(
        "r1",
        "d1",
        responses={"fit": [{"value": "yes", "user_id": "u1"}, {"value": "no", "user_id": "u2"}]},
        suggestions={"fit": {"value": "yes", "score": 0.9, "agent": "m1"}},
    ),
    make_record("r2", "d2", suggestions={"fit": {"value": "no", "score": None, "agent": None}}),
    make_record("r3", "d3"),
]
GRADES = {"yes": 1, "no": 0}


def test_responses_are_of_people_and_suggestions_of_models(tmp_path: Path) -> None:
    path = tmp_path / "records.json"
    path.write_text(json.dumps(RECORDS))
    labels = rm.Labels.from_argilla(path, grades=GRADES, graders={"u1": "Ada"})
    assert [(label.query, label.document, label.grade, label.grader, label.kind) for label in labels] == [
        ("q1", "d1", 1, "Ada", "human"),
        ("q1", "d1", 0, "u2", "human"),
        ("q1", "d1", 1, "m1", "model"),
        ("q1", "d2", 0, "suggestion", "model"),
    ]
    assert labels.unrated == (("q1", "d3"),)


def test_flattened_records_tell_drafts_and_discarded_records() -> None:
    row = {
        "id": "r1",
        "query": "how to reset?",
        "query_id": "q1",
        "document_id": "d1",
        "fit.responses": ["yes", None, "no"],
        "fit.responses.users": ["u1", "u2", "u3"],
        "fit.responses.status": ["submitted", "discarded", "draft"],
        "fit.suggestion": "no",
        "fit.suggestion.score": None,
        "fit.suggestion.agent": "m1",
    }
    empty = {**dict.fromkeys(row), "id": "r2", "query_id": "q1", "document_id": "d2"}
    labels = rm.Labels.from_argilla([row, empty], grades=GRADES)
    assert [(label.grader, label.grade, label.reason) for label in labels] == [
        ("u1", 1, None),
        ("u2", None, "discarded"),
        ("m1", 0, None),
    ]
    assert labels.unrated == (("q1", "d2"),)


class Status(Enum):
    """The state of a response, as the library has it."""

    DRAFT = "draft"
    SUBMITTED = "submitted"


def test_records_of_the_library_are_read_as_they_are() -> None:
    responses = [
        SimpleNamespace(question_name="fit", value=2, user_id="u1", status=Status.SUBMITTED),
        SimpleNamespace(question_name="fit", value=0, user_id="u2", status=Status.DRAFT),
    ]
    record = SimpleNamespace(
        id="r1", fields={"query": "reset"}, metadata={"document_id": "d1"}, responses=responses, suggestions=[]
    )
    assert rm.Labels.from_argilla(iter([record])).qrels == {"reset": {"d1": 2.0}}


def test_a_ranking_names_the_documents_of_its_options_in_the_metadata() -> None:
    ranking = [{"value": "b", "rank": 1}, {"value": "a", "rank": 1}, {"value": "c", "rank": 2}]
    records = [make_record("r1", responses={"order": [{"value": ranking, "user_id": "u1"}]}), make_record("r2")]
    with pytest.raises(ValueError, match=r"record 'r1'.*option 'b'.*'b_id'"):
        rm.Labels.from_argilla(records, grades=[2])
    for number, record in enumerate(records):
        record["metadata"] |= {f"{option}_id": f"{option}{number}" for option in "abc"}
    labels = rm.Labels.from_argilla(records, grades=[2])
    assert labels.qrels == {"q1": {"b0": 2.0, "a0": 2.0, "c0": 0.0}}
    assert labels.unrated == (("q1", "b1"), ("q1", "a1"), ("q1", "c1"))


@pytest.mark.parametrize(
    ("entries", "options", "message"),
    [
        ([{"text": "x", "label": 1}], {}, "entry 1 is not a record of Argilla"),
        ([make_record("r1", "d1")], {}, "no answer in this export"),
        (RECORDS, {}, "'yes' are not numbers"),
        (RECORDS, {"question": "other"}, "question='other' is not in this export of Argilla; answered are 'fit'"),
        (
            [make_record("r1", "d1", responses={"tags": [{"value": ["a"], "user_id": "u1"}]})],
            {},
            "not a label, rating or ranking",
        ),
    ],
)
def test_what_is_not_clear_is_asked_for(entries: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rm.Labels.from_argilla(entries, **options)
