"""Questions that point at something unseen are found in four languages, and nothing is pretended for others."""

import pytest

import retrieval_metrics as rm
from retrieval_metrics.datasets.question_language import find_known_language, is_unknown_language
from retrieval_metrics.matching.words import words

POINTING = {
    "German": [
        "Was sagt dieser Abschnitt über die Öffnungszeiten laut dem obigen Text?",
        "Was wird im Text über Rückerstattungen gesagt?",
        "Welche Fristen nennt die vorliegende Seite?",
        "Laut dem Autor, wie lange gilt eine Karte?",
        "Wie hoch ist die oben genannte Gebühr, wie oben beschrieben?",
        "Was beschreibt der Abschnitt?",
        "Wann wurde dieser gegründet?",
    ],
    "French": [
        "Que dit ce passage sur les remboursements ?",
        "Selon l'auteur, combien de temps une carte est-elle valable ?",
        "D'après le texte, qui peut ouvrir le coffre ?",
        "Quels délais sont mentionnés ci-dessus ?",
        "Que montre le tableau suivant ?",
        "Pourquoi est-il fermé le soir ?",
    ],
    "Spanish": [
        "¿Qué dice este texto sobre los reembolsos?",
        "Según el autor, ¿cuánto tiempo es válida la tarjeta?",
        "¿Quién puede abrir la caja según el documento?",
        "¿Qué plazos se indican en el párrafo anterior?",
        "¿Qué describe el fragmento?",
    ],
}
PLAIN = {
    "German": [
        "Wie lange ist eine Gästekarte gültig?",
        "Wann darf der Tresor nachts geöffnet werden?",
        "Was steht im Kaufvertrag über die Rückgabe von Fahrrädern?",
        "Wer hat den Text der Nationalhymne geschrieben?",
        "Wie kann ich ein Dokument unterschreiben lassen?",
        "Auf welcher Seite der Fähre parken Busse?",
        "Ist es erlaubt, Hunde mit an Bord zu nehmen?",
        "Welche Angaben gehören in diese Tabelle der Fahrpreise?",
    ],
    "French": [
        "Combien de temps une carte de visiteur est-elle valable ?",
        "Qui peut ouvrir le coffre pendant la nuit ?",
        "Comment est-il possible d'annuler un billet ?",
        "Qui est l'auteur du règlement intérieur ?",
        "Que faut-il écrire dans la section des remarques ?",
        "Où trouver le texte de la convention collective ?",
    ],
    "Spanish": [
        "¿Cuánto tiempo es válida la tarjeta de visitante?",
        "¿Quién puede abrir la caja fuerte por la noche?",
        "¿Cómo puedo firmar un documento sin impresora?",
        "¿Quién es el autor del reglamento de la empresa?",
        "¿En qué página de la web se compran los billetes?",
        "¿Qué dice la ley sobre los reembolsos?",
    ],
}
OTHER_LANGUAGES = [
    "Per quanto tempo vale la tessera degli ospiti dopo il primo giorno?",
    "Hoe lang blijft een gastenkaart eigenlijk geldig op het schip?",
    "Jak długo ważna jest karta gościa po pierwszym dniu pobytu?",
    "Hvor længe gælder et gæstekort efter den første dag?",
    "Сколько дней действует гостевая карта после первого посещения?",
    "访客卡的有效期有多长以及如何延长",
]


def flagged(question: str) -> bool:
    return "dependent_question" in rm.EvaluationSet({"q": question}, {"q": ["d1"]}).lint().counts


@pytest.mark.parametrize("question", sum(POINTING.values(), []))
def test_what_points_at_its_passage_is_found(question: str) -> None:
    assert flagged(question)


@pytest.mark.parametrize("question", sum(PLAIN.values(), []))
def test_what_makes_sense_alone_is_not(question: str) -> None:
    assert not flagged(question)


@pytest.mark.parametrize("language", PLAIN)
def test_the_language_is_told(language: str) -> None:
    for question in PLAIN[language]:
        assert find_known_language(words(question)) == language, question
        assert not is_unknown_language(words(question)), question


@pytest.mark.parametrize("question", OTHER_LANGUAGES)
def test_of_other_languages_the_lint_says_that_it_does_not_know(question: str) -> None:
    lint = rm.EvaluationSet({"q": question}, {"q": ["d1"]}).lint()
    assert "dependent_question" not in lint.counts
    assert any("1 of 1 questions" in note and "English, German, French and Spanish" in note for note in lint.skipped)


def test_nothing_is_said_of_languages_that_are_known() -> None:
    questions = sum(PLAIN.values(), ["opening hours", "Who opens the vault?"])
    texts = {f"q{number}": question for number, question in enumerate(questions)}
    lint = rm.EvaluationSet(texts, dict.fromkeys(texts, ["d1"])).lint()
    assert not any("language" in note for note in lint.skipped)
