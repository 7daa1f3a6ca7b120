"""Questions are shared out among the kinds that were asked for."""

from collections import Counter
from typing import Any

import retrieval_metrics as rm
from corpus import topics
from scripted_model import ScriptedModel
from told_questions import (
    RULES,
    qrels_of,
)


def list_spans(groups: list[list[Any]]) -> list[rm.Span]:
    spans: list[rm.Span] = []
    for group in groups:
        spans += [judged for judged in group if isinstance(judged, rm.Span)]
    return spans


def test_kinds_are_mixed_as_asked_and_differ_in_what_they_need() -> None:
    generated = rm.generate_questions(topics(), ScriptedModel(), 20, kinds={"several_passages": 1, "keywords": 3})
    kinds: dict[Any, str] = generated.questions.provenance_values("kind")
    texts: Any = generated.questions.queries
    assert Counter(kinds.values()) == {"several_passages": 5, "keywords": 15}
    for query, kind in kinds.items():
        groups = qrels_of(generated)[query]
        if kind == "keywords":
            assert 2 <= len(texts[query].split()) <= 6
        else:
            assert len(groups) == 2
            assert list_spans(groups[:1])[0].source != list_spans(groups[1:])[0].source


def test_the_usual_mixture_of_kinds() -> None:
    usual = rm.generate_questions(topics(), ScriptedModel(), 20, checks=()).questions
    assert Counter(usual.provenance_values("kind").values()) == {
        "one_passage": 8,
        "other_words": 6,
        "several_passages": 4,
        "keywords": 2,
    }
    # One passage leaves 4 : 3 : 1, which of four is 2, 1.5 and 0.5.
    alone = rm.generate_questions({"vault": RULES["vault"]}, ScriptedModel(), 4, checks=()).requested
    assert alone == {"one_passage": 2, "other_words": 2, "keywords": 0}
