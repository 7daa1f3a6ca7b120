"""Questions that a host asks itself: checked before the first, evaluated by stage, and query by query."""

from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.adapting import Asked

QUESTIONS = rm.EvaluationSet({"q1": "one?", "q2": "two?"}, {"q1": ["d1"], "q2": {"d2": 2, "d3": 1}})
FOUND: Any = {"one?": [rm.Retrieved("x"), rm.Retrieved("d1")], "two?": [rm.Retrieved("d3"), rm.Retrieved("d2")]}


def test_what_was_asked_is_evaluated_as_by_the_core() -> None:
    asked = Asked(QUESTIONS, ["mrr", "ndcg"])
    run = rm.retrieve(FOUND.__getitem__, **asked.asking)
    evaluation = asked.evaluation(run)
    assert evaluation.means == rm.evaluate(QUESTIONS, run, ["mrr", "ndcg"]).means
    assert asked.query_scores(evaluation) == asked.query_scores(run)
    assert [score.relevant_ranks for score in asked.query_scores(run)[evaluation.metrics[0]].values()] == [(2,), (1, 2)]


def test_documents_are_called_for_only_if_a_span_is_judged() -> None:
    def never() -> Any:
        raise AssertionError("nobody needs the documents")

    assert Asked(QUESTIONS, "mrr", documents=never).sources == set()
    judged = [("what?", [rm.Span("book", 0, 5)])]
    asked = Asked(judged, "recall@1", documents=lambda: {"book": "first second"})
    assert asked.sources == {"book"}
    run = rm.retrieve(lambda _: [rm.Retrieved("c", "first", source="book")], **asked.asking)
    assert asked.evaluation(run).means["recall@1"] == 1.0


def test_a_stage_holds_the_questions_that_reached_it_and_the_last_is_the_evaluation() -> None:
    asked = Asked(QUESTIONS, "mrr", stages=["found", "joined", "ranked"])
    asked.note("found", "one?", FOUND["one?"])
    run = rm.RetrievedRun({"q1": [rm.Retrieved("d1")], "q2": []}, {"q2": TimeoutError("too slow")})
    with pytest.warns(rm.RetrievalWarning, match="too slow"):
        evaluation = asked.evaluation(run)
    stages = asked.stages(run, evaluation)
    assert list(stages) == ["found", "ranked"]
    assert stages.unreached == ("joined",)
    assert stages.last is evaluation
    assert stages["found"].per_query["mrr"] == {"q1": 0.5, "q2": 0.0}  # what failed has found nothing anywhere
    assert list(asked.stages(run, evaluation, "reached")) == ["found", "reached"]
    assert str(stages).startswith(str(evaluation))
    assert stages.tables[-1].rows == [["found", "0.250"], ["ranked", "0.500"]]
    assert list(stages.tables[-1].notes) == ["no question reached joined"]
    none = Asked(QUESTIONS, "mrr").stages(run, evaluation)
    assert not none
    assert str(none) == ""
