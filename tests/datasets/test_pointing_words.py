"""Questions that point at something unseen are found in four languages."""

from itertools import chain

import pytest

import retrieval_metrics as rm
from plain_questions import PLAIN
from retrieval_metrics.datasets.pointing_words import find_pointing_words

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


def flagged(question: str) -> bool:
    return "dependent_question" in rm.EvaluationSet({"q": question}, {"q": ["d1"]}).lint().counts


@pytest.mark.parametrize("question", list(chain.from_iterable(POINTING.values())))
def test_what_points_at_its_passage_is_found(question: str) -> None:
    assert flagged(question)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("Who does this rule apply to?", "this"),
        ("Who does this apply to?", "this"),
        ("Does it also apply to children?", "it"),
        ("Is it legal to film here?", None),
        ("Is it acceptable to pay in cash?", None),
        ("Is it always necessary to show a ticket?", None),
        ("What does the text say about fees?", "the text"),
        ("In which cases does the passage mention fees?", "the passage"),
        ("According to the author, who pays?", "the author"),
        ("Laut dem Autor, wie lange gilt eine Karte?", "dem Autor"),
        ("Selon l'auteur, qui paie ?", "l'auteur"),
        ("Según el autor, ¿quién paga?", "el autor"),
        ("Wann wurde dieser gegründet?", "dieser"),
        ("Pourquoi est-il fermé le soir ?", "il"),
        ("¿Qué describe el fragmento?", "el fragmento"),
    ],
)
def test_only_the_words_that_point_are_quoted(question: str, words: str | None) -> None:
    assert find_pointing_words(question) == words


@pytest.mark.parametrize("question", list(chain.from_iterable(PLAIN.values())))
def test_what_makes_sense_alone_is_not(question: str) -> None:
    assert not flagged(question)
