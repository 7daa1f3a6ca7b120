"""Other passages that may answer a question are found by BM25 and by a retriever."""

import re

import pytest

import retrieval_metrics as rm
from scripted_model import Told
from told_questions import ANSWERS, NO_OTHERS, OPENED, RULES, WRITE, generate_from_corpus


def test_what_a_retriever_finds_is_looked_at_too() -> None:
    corpus = {**RULES, "odd": "Zwischen zwölf und sechs schließt der Wachhabende den Tresorraum selbst auf."}
    model = Told(WRITE, ANSWERS, NO_OTHERS)
    generate_from_corpus(corpus, model)
    assert not any("Wachhabende" in prompt for prompt in model.prompts if "Which of the passages" in prompt)
    model = Told(WRITE, ANSWERS, NO_OTHERS)
    generate_from_corpus(corpus, model, retriever=lambda _: ["odd", "vault"])
    (other_prompt,) = {prompt for prompt in model.prompts if "Which of the passages" in prompt}
    assert "Wachhabende" in other_prompt
    assert OPENED not in re.sub("<quote>.*</quote>", "", other_prompt), "the passage it was made of is not asked about"
    with pytest.raises(ValueError, match="nothing that the retriever returns is in the corpus"):
        generate_from_corpus(corpus, Told(WRITE, ANSWERS), retriever=lambda _: ["chunk-17"])
    by_place = Told(WRITE, ANSWERS, NO_OTHERS)
    generate_from_corpus(corpus, by_place, retriever=lambda _: [rm.Retrieved(17, "schließt", source="odd", start=24)])
    assert any("Wachhabende" in prompt for prompt in by_place.prompts)
