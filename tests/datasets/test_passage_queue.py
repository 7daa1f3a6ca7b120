"""Passages are drawn in turn, each a few times for every kind of question."""

import pytest

import retrieval_metrics as rm
from corpus import topics
from retrieval_metrics.datasets.corpus import Corpus
from retrieval_metrics.datasets.passage_queue import MAX_PER_PASSAGE, PassageQueue
from retrieval_metrics.datasets.passage_vectors import PassageVectors
from scripted_model import ScriptedModel


def test_every_passage_is_drawn_equally_often_and_no_more_than_the_limit() -> None:
    corpus = Corpus.from_texts(topics(), 2000)
    queue = PassageQueue(corpus, PassageVectors(corpus.index.tokens, 0))
    n_passages = len(corpus.passages)
    for _ in range(MAX_PER_PASSAGE):
        drawn = [queue.draw("keywords", ()) for _ in range(n_passages)]
        assert {task.passages for task in drawn if task is not None} == {(number,) for number in range(n_passages)}
    assert queue.draw("keywords", ()) is None
    assert queue.draw("one_passage", ()) is not None


@pytest.mark.thorough
def test_the_seed_decides_which_passages_are_asked_about() -> None:
    def generate(seed: int) -> rm.EvaluationSet:
        return rm.generate_questions(topics(), ScriptedModel(), 12, seed=seed, checks=()).questions

    assert generate(3) == generate(3)
    assert generate(3).queries != generate(4).queries
