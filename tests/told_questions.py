"""Questions made by models that say what they are told, and what is judged in them."""

from collections.abc import Callable, Mapping
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


def qrels_of(made: rm.types.GeneratedQuestions) -> dict[Any, list[list[Any]]]:
    qrels: Any = made.questions.qrels
    return dict(qrels)


def judged(made: rm.types.GeneratedQuestions) -> list[list[Any]]:
    return [group for groups in qrels_of(made).values() for group in groups]


def unverifiable(made: rm.types.GeneratedQuestions, texts: Mapping[str, str]) -> list[Any]:
    """Return the judgments whose words do not stand where they say."""
    wrong: list[Any] = []
    for group in judged(made):
        spans = [one for one in group if isinstance(one, rm.Span)]
        held = [texts[span.source][span.start : span.end] for span in spans]
        quotes = [one for one in group if isinstance(one, rm.Quote)]
        wrong += [quote for quote in quotes if quote.text not in held]
        wrong += [
            span
            for span, text in zip(spans, held, strict=True)
            if not any(normalise(quote.text) in normalise(text) for quote in quotes)
        ]
        if not quotes or not spans:
            wrong.append(group)
    return wrong


OF_ONE_WORKER = pytest.mark.xdist_group("questions of a lying model")  # they are made once, which takes a while
OPENED = "opened at night by the duty officer"
NIGHT = {"question": "Who gets into the strong room after hours?", "quotes": [OPENED]}
WRITE = ("Write one question", NIGHT)
YES: Callable[[str], Any] = lambda prompt: {"answerable": OPENED in prompt}  # noqa: E731
ANSWERS = ("Can the question be answered", YES)
NO_OTHERS: tuple[str, Any] = ("Which of the passages", {"quotes": []})


def one(model: Any, corpus: Any = None, **how: Any) -> rm.types.GeneratedQuestions:
    return rm.generate_questions(
        {"vault": RULES["vault"]} if corpus is None else corpus, model, 1, kinds="one_passage", **how
    )


def first_of(corpus: Mapping[str, str], model: Told, **how: Any) -> rm.types.GeneratedQuestions:
    """Make a question of the vault, whichever passage comes first: elsewhere its quote is not found."""
    return rm.generate_questions(corpus, model, 1, kinds="one_passage", **how)
