"""The language of a question is told, and nothing is pretended for others."""

from itertools import chain

import pytest

import retrieval_metrics as rm
from plain_questions import PLAIN
from retrieval_metrics.datasets.question_language import find_known_language, is_unknown_language
from retrieval_metrics.matching.words import words

OTHER_LANGUAGES = [
    "Per quanto tempo vale la tessera degli ospiti dopo il primo giorno?",
    "Hoe lang blijft een gastenkaart eigenlijk geldig op het schip?",
    "Jak długo ważna jest karta gościa po pierwszym dniu pobytu?",
    "Hvor længe gælder et gæstekort efter den første dag?",
    "Сколько дней действует гостевая карта после первого посещения?",
    "访客卡的有效期有多长以及如何延长",
]


@pytest.mark.parametrize("language", PLAIN)
def test_the_language_is_told(language: str) -> None:
    for question in PLAIN[language]:
        assert find_known_language(words(question)) == language, question
        assert not is_unknown_language(words(question)), question


@pytest.mark.parametrize("question", OTHER_LANGUAGES)
def test_of_other_languages_the_lint_says_that_it_does_not_know(question: str) -> None:
    lint = rm.EvaluationSet({"q": question}, {"q": ["d1"]}).lint()
    assert "dependent_question" not in lint.counts
    assert any("1 of 1 questions" in note and "English, German, French or Spanish" in note for note in lint.skipped)


def test_nothing_is_said_of_languages_that_are_known() -> None:
    questions = chain(["opening hours", "Who opens the vault?"], *PLAIN.values())
    texts = {f"q{number}": question for number, question in enumerate(questions)}
    lint = rm.EvaluationSet(texts, {query: ["d1"] for query in texts}).lint()
    assert not any("language" in note for note in lint.skipped)


def test_a_question_in_no_known_language_is_named() -> None:
    texts = {"q1": "Who opens the vault?", "q2": "kuka avaa holvin yöllä ilman avainta"}
    unchecked = rm.EvaluationSet(texts, {"q1": ["a"], "q2": ["a"]}).lint({"a": "The officer opens the vault"}).skipped
    assert any("1 of 2 questions ('q2') is self-contained (" in note for note in unchecked)
