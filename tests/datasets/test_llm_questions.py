"""A model is asked about a passage, and told what was wrong and what it asked already."""

import retrieval_metrics as rm
from scripted_model import Told
from told_questions import (
    ANSWERS,
    NIGHT,
    RULES,
    WRITE,
    generate_one,
)


def test_a_lie_is_told_and_asked_for_once_more() -> None:
    model = Told(
        ("Write one question", {**NIGHT, "quotes": ["opened at noon by the duty officer"]}),
        ("That cannot be used", NIGHT),
        ANSWERS,
    )
    assert len(generate_one(model)) == 1
    assert "is not in the passage" in model.prompts[1]
    stubborn = generate_one(Told(("Write one question", {**NIGHT, "quotes": ["opened at noon by the duty officer"]})))
    assert len(stubborn) == 0
    assert {*stubborn.reasons} == {"quote not found"}


def test_asked_again_about_a_passage_the_model_is_told_what_it_asked_already() -> None:
    model = Told(WRITE)
    generated = generate_one(model, checks=())
    assert len(generated) == 1
    generated = rm.generate_questions({"vault": RULES["vault"]}, Told(WRITE), 2, kinds="one_passage", checks=())
    assert generated.reasons == {"duplicate question": 2}
    model = Told(WRITE, ("Ask for something else than", {**NIGHT, "question": "Who is let in after midnight?"}))
    generated = rm.generate_questions({"vault": RULES["vault"]}, model, 2, kinds="one_passage", checks=())
    assert [*generated.questions.queries.values()] == [NIGHT["question"], "Who is let in after midnight?"]
    assert f"- {NIGHT['question']}" in model.prompts[1]
