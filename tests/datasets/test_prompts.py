"""Own prompts take the place of those of the package, and the model is told what it needs."""

import re
from typing import Any

import pytest

import retrieval_metrics as rm
from scripted_model import Told
from told_questions import (
    NIGHT,
    RULES,
    generate_one,
)


def test_own_prompts_take_the_place_of_ours() -> None:
    prompts = rm.QuestionPrompts(tasks={"one_passage": "Bitte eine Frage."})
    model = Told(("Bitte eine Frage", NIGHT))
    generated = generate_one(model, prompts=prompts, checks=())
    assert len(generated) == 1
    assert [*generated.questions.provenance_values("prompt").values()] == [f"one_passage {prompts.version}"]
    assert prompts.version.startswith("own-")
    with pytest.raises(ValueError, match=r"answerable must hold \$question, \$text"):
        rm.QuestionPrompts(answerable="Is it? $question")
    with pytest.raises(ValueError, match=r"\$\$ for a dollar sign"):
        rm.QuestionPrompts(tasks={"keywords": "For 5 $ at most"})


def test_the_model_is_told_the_language_the_title_and_the_heading() -> None:
    corpus = {"rules": "# Vault\n\nA line.\n\n## At night\n\n" + RULES["vault"]}
    model = Told(("Write one question", NIGHT))
    options: Any = {"kinds": "one_passage", "checks": (), "passage_length": 200}
    rm.generate_questions(corpus, model, 1, prompts=rm.QuestionPrompts(language="French"), **options)
    assert "Write in French." in model.prompts[0]
    assert re.search(r"Document: rules, under the heading: (Vault|At night)\n<passage>", model.prompts[0])
