"""Answers of labelling tools read as grades, whatever the tool."""

from typing import Any

import pytest

from retrieval_metrics.datasets.exported_labels import (
    ANONYMOUS,
    AnswerCollector,
    ExportedLabels,
    ExportOptions,
    GivenAnswer,
    choose_question,
    find_value,
    read_date,
)


def collect(*choices: Any, grades: Any = None, relevant_from: float | None = None) -> ExportedLabels:
    collector = AnswerCollector()
    for number, choice in enumerate(choices):
        collector.add_answer(GivenAnswer("q", f"d{number}", choice, "Ada"))
    return collector.as_labels(grades, relevant_from)


@pytest.mark.parametrize(
    ("choices", "grades", "expected"),
    [
        ((3, "2.0", None), None, [3, 2, None]),
        (("yes", "unclear"), {"yes": 1, "unclear": None}, [1, None]),
        (("1", "2"), {"1": 0, "2": 5}, [0, 5]),
    ],
)
def test_a_choice_is_a_number_or_has_one(choices: Any, grades: Any, expected: list[float | None]) -> None:
    assert [label.grade for label in collect(*choices, grades=grades).labels] == expected


@pytest.mark.parametrize("choice", ["nan", "inf", True, "yes"])
def test_what_is_no_finite_number_is_no_grade(choice: Any) -> None:
    with pytest.raises(ValueError, match="are not numbers; pass the grade of each"):
        collect(choice)


@pytest.mark.parametrize(
    ("choices", "relevant_from", "grades"),
    [((0, 1), 1, (0, 1, 2, 3)), ((5, 2), 4, (0, 1, 2, 3, 4, 5)), ((0.5, 1), 0.5, (0, 0.5, 1))],
)
def test_a_scale_has_whole_grades_where_those_given_are_whole(
    choices: Any, relevant_from: float, grades: tuple[float, ...]
) -> None:
    scale = collect(*choices, relevant_from=relevant_from).scale
    assert scale is not None
    assert scale.grades == grades


def test_an_id_is_found_by_its_name_or_asked_for() -> None:
    assert find_value({"query": "text", "query_id": 7}, None, ("query_id", "query"), "query", "task 1") == 7
    assert find_value({"query": "text", "key": 0}, "key", ("query",), "query", "task 1") == 0
    with pytest.raises(ValueError, match=r"task 1 has no ID of its query \(query\); it has 'key'"):
        find_value({"key": 7}, None, ("query",), "query", "task 1")


def test_the_only_question_is_taken() -> None:
    assert choose_question(["fit"], None, "Argilla") == "fit"
    assert choose_question(["fit", "tone"], "tone", "Argilla") == "tone"


def test_graders_have_the_names_that_were_given_to_them() -> None:
    options = ExportOptions(
        grades=None, query=None, document=None, question=None, graders={"7": "Ada"}, relevant_from=None
    )
    assert options.name_grader(None) == ANONYMOUS
    assert options.name_grader(7) == "Ada"
    assert options.name_grader(8, "annotator ") == "annotator 8"


@pytest.mark.parametrize(("value", "date"), [("2026-05-31T10:00:00Z", "2026-05-31"), ("3 hours ago", None), (5, None)])
def test_a_time_has_a_date(value: Any, date: str | None) -> None:
    assert read_date(value) == date
