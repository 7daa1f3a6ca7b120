"""Source nodes of responses, scored beside evaluators with a model."""

import asyncio

import pytest
from llama_index.core.base.response.schema import Response
from llama_index.core.evaluation import BatchEvalRunner
from llama_index.core.schema import NodeWithScore, TextNode

import retrieval_metrics as rm
from llama_index.evaluation.retrieval_metrics import ResponseEvaluator
from llama_index_hosts import PreparedAsync

ANSWERS = {"what is a closure?": ["n1", "n9"], "what does yield do?": ["n9", "n2"], "what is a slot?": ["n9"]}


ROWS = [(text, [f"n{number}"]) for number, text in enumerate(ANSWERS, start=1)]


async def an_asynchronous_function(text: str) -> Response:
    return Response("an answer", source_nodes=await PreparedAsync(ANSWERS).aretrieve(text))


def responses() -> list[Response]:
    return [asyncio.run(an_asynchronous_function(text)) for text in ANSWERS]


def test_the_batch_runner_scores_responses_beside_the_evaluators_with_a_model() -> None:
    runner = BatchEvalRunner(
        {name: ResponseEvaluator(name, ROWS) for name in ("mrr", "recall@1")}, workers=2, show_progress=False
    )
    results = runner.evaluate_responses(queries=list(ANSWERS), responses=responses())
    assert [result.score for result in results["mrr"]] == [1.0, 0.5, 0.0]
    assert [result.passing for result in results["recall@1"]] == [True, False, False]
    assert results["mrr"][1].feedback == "mrr 0.500, relevant at ranks [2]"


def test_what_a_response_cannot_be_judged_by_is_invalid_and_not_zero() -> None:
    ours = ResponseEvaluator("recall", [*ROWS, ("nothing?", [])])
    for result, reason in (
        (ours.evaluate_response("another?", responses()[0]), "the dataset has no question 'another?'"),
        (ours.evaluate_response("nothing?", responses()[0]), "recall is undefined: no relevant document"),
        (ours.evaluate(ROWS[0][0], "an answer", ["a text"]), "contexts have no IDs"),
    ):
        assert result.invalid_result
        assert result.score is None
        assert reason in str(result.invalid_reason)
    alone = ResponseEvaluator("err", [("nothing?", [])]).evaluate_response("nothing?", responses()[0])
    assert "err is undefined" in str(alone.invalid_reason)
    by_quote = ResponseEvaluator("recall", [("q", [rm.Quote("suspends a generator")])])
    assert by_quote.evaluate("q", "an answer", ["yield suspends a generator"]).score == 1
    with pytest.raises(ValueError, match="has the text of another"):
        ResponseEvaluator("mrr", {"queries": {"a": "q", "b": "q"}, "relevant_docs": {"a": ["x"], "b": ["y"]}})


def test_a_response_is_graded_on_the_scale_of_all_judgments() -> None:
    graded = ResponseEvaluator("err", [("q", {"x": 1}), ("r", {"y": 2})])
    result = graded.evaluate_response("q", Response("?", source_nodes=[NodeWithScore(node=TextNode(id_="x"))]))
    assert result.score == (2**1 - 1) / 2**2
