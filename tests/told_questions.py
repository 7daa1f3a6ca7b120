"""Questions made by models that say what they are told, and what is judged in them."""

from collections.abc import Mapping
from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.matching.text_normalisation import normalise
from scripted_model import Told

RULES = {
    "vault": "The vault may be opened at night by the duty officer. A second member of staff has to be present. "
    "Both sign the book that lies beside the door.",
    "travel": "Travel costs are paid back within thirty days, if the receipts were handed in on time. "
    "Trips of more than a week take the consent of the head of the department.",
    "coffee": "Coffee machines are cleaned on Fridays by whoever made the last cup of the day. "
    "The duty officer keeps the list and orders new filters when fewer than ten are left.",
}


def qrels_of(generated: rm.types.GeneratedQuestions) -> dict[Any, list[list[Any]]]:
    qrels: Any = generated.questions.qrels
    return dict(qrels)


def list_groups(generated: rm.types.GeneratedQuestions) -> list[list[Any]]:
    all_groups: list[list[Any]] = []
    for groups in qrels_of(generated).values():
        all_groups += groups
    return all_groups


def find_unverifiable(generated: rm.types.GeneratedQuestions, texts: Mapping[str, str]) -> list[Any]:
    """Return the judgments whose words do not stand where they say."""
    unverifiable: list[Any] = []
    for group in list_groups(generated):
        quotes = [judged for judged in group if isinstance(judged, rm.Quote)]
        spans = [judged for judged in group if isinstance(judged, rm.Span)]
        text_by_span = {span: texts[span.source][span.start : span.end] for span in spans}
        unverifiable += [quote for quote in quotes if quote.text not in text_by_span.values()]
        for span, text in text_by_span.items():
            if not any(normalise(quote.text) in normalise(text) for quote in quotes):
                unverifiable.append(span)
        if not quotes or not spans:
            unverifiable.append(group)
    return unverifiable


ON_ONE_WORKER = pytest.mark.xdist_group("questions of a lying model")  # they are made once, which takes a while
OPENED = "opened at night by the duty officer"
NIGHT = {"question": "Who gets into the strong room after hours?", "quotes": [OPENED]}
WRITE = ("Write one question", NIGHT)
NO_OTHERS: tuple[str, Any] = ("Which of the passages", {"quotes": []})


def is_answerable(prompt: str) -> dict[str, bool]:
    return {"answerable": OPENED in prompt}


ANSWERS = ("Can the question be answered", is_answerable)


def generate_one(model: Any, corpus: Any = None, **options: Any) -> rm.types.GeneratedQuestions:
    texts = {"vault": RULES["vault"]} if corpus is None else corpus
    return rm.generate_questions(texts, model, 1, kinds="one_passage", **options)


def generate_from_corpus(corpus: Mapping[str, str], model: Told, **options: Any) -> rm.types.GeneratedQuestions:
    """Make a question of the vault, whichever passage comes first: elsewhere its quote is not found."""
    return rm.generate_questions(corpus, model, 1, kinds="one_passage", **options)
