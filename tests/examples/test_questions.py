"""The example questions: well formed, judged by quotes that this Python's reference holds, in ids, quotes and spans."""

import warnings
from collections.abc import Iterator

import pytest

import questions
from corpus import normalised, passages, topics
from questions import QUESTIONS
from questions.question import Anchor, Question


def anchors_of(question: Question) -> list[Anchor]:
    return [*question.answers, *(anchor for part in question.parts for anchor in part)]


ANCHORS = [(question.id, anchor) for question in QUESTIONS for anchor in anchors_of(question)]


@pytest.fixture
def without_topics(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[None]:
    """A Python whose reference lacks the topics named by the parameter."""
    left = {topic: text for topic, text in topics().items() if topic not in request.param}
    monkeypatch.setattr(questions, "topics", lambda: left)
    questions.questions.cache_clear()
    yield
    questions.questions.cache_clear()


def test_there_are_many_questions_of_both_kinds() -> None:
    assert len(QUESTIONS) >= 100
    assert sum(bool(question.parts) for question in QUESTIONS) >= 8
    assert all(len(question.parts) >= 2 for question in QUESTIONS if question.parts)


def test_ids_and_texts_are_unique() -> None:
    assert len({question.id for question in QUESTIONS}) == len(QUESTIONS)
    assert len({question.text for question in QUESTIONS}) == len(QUESTIONS)


def test_every_question_can_be_answered_in_full() -> None:
    for question in QUESTIONS:
        for anchors in question.parts or (question.answers,):
            assert max(anchor.grade for anchor in anchors) == 3, question.id


def test_grades_are_1_to_3_and_no_quote_is_judged_twice_for_one_thing() -> None:
    assert {anchor.grade for _, anchor in ANCHORS} == {1, 2, 3}
    for question in QUESTIONS:
        for anchors in question.parts or (question.answers,):
            assert len({anchor.quote for anchor in anchors}) == len(anchors), question.id


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.id)
def test_every_quote_stands_in_the_reference_of_this_python(question: Question) -> None:
    reference = [normalised(text) for text in topics().values()]
    for anchor in anchors_of(question):
        assert any(anchor.quote in text for text in reference), anchor.quote


def test_quotes_are_short_and_on_one_line() -> None:
    for name, anchor in ANCHORS:
        assert anchor.quote == normalised(anchor.quote), name
        assert len(anchor.quote.split()) <= 20, name


def test_no_question_borrows_the_words_of_its_quotes() -> None:
    for question in QUESTIONS:
        words = question.text.lower().split()
        runs = [" ".join(words[start : start + 4]) for start in range(len(words) - 3)]
        for anchor in anchors_of(question):
            assert not [run for run in runs if run in anchor.quote.lower()], question.id


def test_no_quote_is_lost_on_this_python() -> None:
    questions.questions.cache_clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert questions.questions() == QUESTIONS


def test_queries_are_the_texts_by_id() -> None:
    assert questions.queries() == {question.id: question.text for question in QUESTIONS}


@pytest.mark.parametrize("size", [1, 60, 180, 1000])
def test_qrels_grade_exactly_the_passages_that_hold_a_quote_by_their_best_quote(size: int) -> None:
    pieces = passages(size)
    contents = {piece.id: normalised(piece.text) for piece in pieces}
    qrels = questions.qrels(pieces)
    assert list(qrels) == [question.id for question in QUESTIONS]
    for question in QUESTIONS:
        judged = qrels[question.id]
        groups = [judged] if isinstance(judged, dict) else judged
        assert isinstance(judged, dict) == bool(question.answers)
        for anchors, grades in zip(question.parts or (question.answers,), groups, strict=True):
            for anchor in anchors:
                assert any(anchor.quote in contents[name] for name in grades), anchor.quote
            for name, grade in grades.items():
                assert grade == max(anchor.grade for anchor in anchors if anchor.quote in contents[name])


def test_qrels_on_a_known_question() -> None:
    (qrels,) = [
        piece.id for piece in passages() if "(small) amount of memory, no matter the size" in normalised(piece.text)
    ]
    assert questions.qrels(passages())["huge-range"] == {qrels: 3}


def test_judgments_spread_over_many_passages_but_not_all() -> None:
    judged = questions.qrels(passages())
    names = {
        name
        for grades in judged.values()
        for part in (grades if isinstance(grades, list) else [grades])
        for name in part
    }
    assert 150 <= len(names) < len(passages())


def test_a_quote_that_no_passage_holds_is_an_error_that_names_it() -> None:
    pieces = [piece for piece in passages() if piece.topic != "lambda"]
    with pytest.raises(ValueError, match=r"none of the \d+ passages holds the quote 'functions created with lambda"):
        questions.qrels(pieces)


def test_quotes_have_the_grades_of_their_anchors_in_the_shape_of_qrels() -> None:
    quoted = questions.quotes()
    for question in QUESTIONS:
        parts = [
            {anchor.quote: anchor.grade for anchor in anchors} for anchors in question.parts or (question.answers,)
        ]
        assert quoted[question.id] == (parts if question.parts else parts[0])


def test_spans_are_the_places_of_the_quotes_inside_passages() -> None:
    texts = topics()
    pieces = passages()
    spans = questions.spans()
    for question in QUESTIONS:
        judged = spans[question.id]
        groups = [judged] if isinstance(judged, dict) else judged
        for anchors, places in zip(question.parts or (question.answers,), groups, strict=True):
            quoted = {normalised(texts[topic][start:end]): grade for (topic, start, end), grade in places.items()}
            assert quoted == {anchor.quote: anchor.grade for anchor in anchors}
            for topic, start, end in places:
                assert any(p.topic == topic and p.start <= start and end <= p.end for p in pieces)


@pytest.mark.parametrize("without_topics", [{"lambda"}], indirect=True)
@pytest.mark.usefixtures("without_topics")
def test_a_quote_that_this_python_words_anew_is_left_out_with_a_warning() -> None:
    with pytest.warns(UserWarning, match="question 'lambda-limits' anew: they are left out"):
        question_by_id = {question.id: question for question in questions.questions()}
    assert [anchor.grade for anchor in question_by_id["lambda-limits"].answers] == [2]
    assert len(question_by_id) == len(QUESTIONS)


@pytest.mark.parametrize("without_topics", [{"sequence-types", "specialnames"}], indirect=True)
@pytest.mark.usefixtures("without_topics")
@pytest.mark.filterwarnings("ignore:the language reference")  # other questions lose quotes too
def test_a_question_that_lost_a_part_is_left_out_with_a_warning() -> None:
    with pytest.warns(UserWarning, match="question 'own-container' anew: the question is left out"):
        question_by_id = {question.id for question in questions.questions()}
    assert "own-container" not in question_by_id
    assert "huge-range" in question_by_id


@pytest.mark.parametrize("kind", [{}, {"answers": (Anchor(3, "a"),), "parts": ((Anchor(3, "b"),),)}])
def test_a_question_has_either_answers_or_parts(kind: dict[str, tuple[Anchor, ...]]) -> None:
    with pytest.raises(ValueError, match="question 'twice' needs either answers or parts"):
        Question("twice", "Which one?", **kind)  # type: ignore[arg-type]  # the wrong shape is the point
