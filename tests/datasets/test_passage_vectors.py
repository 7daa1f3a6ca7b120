"""Passages are clustered by their contents, and questions are spread over the clusters."""

import re

import retrieval_metrics as rm
from corpus import topics
from scripted_model import ScriptedModel


def test_passages_are_spread_over_everything_the_corpus_is_about() -> None:
    generated = rm.generate_questions(topics(), ScriptedModel(), 40, kinds="one_passage", checks=())
    assert len(set(generated.questions.provenance_values("source").values())) >= 20
    covered, clusters = re.findall(r"([\d,]+) of ([\d,]+) content clusters", str(generated))[0]
    assert covered == clusters
