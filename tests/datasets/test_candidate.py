"""The id of a question can be read, in every script, and its judgments are quotes with their places."""

import re

import pytest

import retrieval_metrics as rm
from corpus import topics
from retrieval_metrics.datasets.candidate import Candidate, WantedQuestion
from scripted_model import ScriptedModel, Told
from told_questions import (
    ANSWERS,
    OPENED,
    RULES,
    WRITE,
    generate_one,
    qrels_of,
)


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("Who opens the vault at night, and how?", "opens-vault-night-"),
        ("谁在夜里打开金库，怎么打开？", "谁在夜里打开金库怎么打开-"),  # noqa: RUF001  (as Chinese writes them)
        ("金库 24 小时开放吗", "金库-24-小时开放吗-"),
        ("ห้องนิรภัยเปิดเมื่อไหร่", "ห้องนิรภัยเป-"),
        ("금고는 누가 엽니까?", "금고는-누가-엽니까-"),
        ("???", ""),
    ],
)
def test_ids_can_be_read_in_every_script(question: str, named: str) -> None:
    generated = Candidate(WantedQuestion("one_passage", (0,)), question, [], 0.0).id
    assert re.fullmatch(f"{named}[0-9a-f]{{6}}", generated)


def test_a_judgment_is_a_quote_or_its_place() -> None:
    generated = generate_one(Told(WRITE, ANSWERS))
    start = RULES["vault"].index(OPENED)
    assert list(qrels_of(generated).values()) == [[[rm.Quote(OPENED), rm.Span("vault", start, start + len(OPENED))]]]
    assert list(generated.questions.queries.values()) == ["Who gets into the strong room after hours?"]
    ((query, provenance),) = generated.questions.provenance.items()
    assert re.fullmatch("gets-strong-room-hours-[0-9a-f]{6}", str(query))
    assert (provenance.source, provenance.kind, provenance.model) == ("vault", "one_passage", "told")
    assert provenance.prompt == "one_passage 3"
    assert provenance.date is not None
    assert generated.stop_reason is None
    assert repr(generated) == "<GeneratedQuestions: 1 questions, 0 rejected>"


def test_ids_can_be_read_are_those_of_the_text_and_fit_into_a_line_of_trec() -> None:
    first = rm.generate_questions(RULES, ScriptedModel(), 2, seed=1).questions.queries
    again = rm.generate_questions(RULES, ScriptedModel(), 2, seed=1).questions.queries
    assert list(first.items()) == list(again.items())
    queries = rm.generate_questions(topics(), ScriptedModel(), 30).questions.queries
    assert len(set(queries)) == 30
    for query, text in queries.items():
        *words, digits = str(query).split("-")
        assert re.fullmatch("[0-9a-f]{6}", digits)
        assert 1 <= len(words) <= 4
        assert all(word in str(text).lower() for word in words)
        assert not re.search(r"\s", str(query))
