"""Steps inside retrievers and engines, told by LlamaIndex's instrumentation."""

import asyncio
import random
from typing import Any

import pytest
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers.no_text import NoText
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index_instrumentation import get_dispatcher

import retrieval_metrics as rm
from llama_index.evaluation.retrieval_metrics import RetrieverEvaluator
from llama_index_hosts import Deliver, Prepared, node

TEXTS = [f"question {number}?" for number in range(12)]
ROWS: Any = [(text, ["a", "d", "u"]) for text in TEXTS]
FIRST_ANSWERS: Any = {key: ["a", "b", "c"] for key in TEXTS}
SECOND_ANSWERS: Any = {key: ["d", "a"] for key in TEXTS}


class Later(Prepared):
    """Takes another time for each question, so that parts of a fusion end in another order each time."""

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        await asyncio.sleep(random.random() / 100)
        return [node(node_id) for node_id in self.answers[query_bundle.query_str]]


def fusion(**options: Any) -> QueryFusionRetriever:
    return QueryFusionRetriever(
        [Later(FIRST_ANSWERS), Later(SECOND_ANSWERS)], llm=MockLLM(), num_queries=1, similarity_top_k=3, **options
    )


def engine(**options: Any) -> RetrieverQueryEngine:
    last = Deliver(answers={key: ["b", "a"] for key in TEXTS})
    return RetrieverQueryEngine(fusion(**options), NoText(llm=MockLLM()), [last])


def item_ids(items: Any) -> list[str]:
    return [item.id for item in items]


@pytest.mark.parametrize("use_async", [True, False])
@pytest.mark.parametrize("waited", [True, False])
def test_an_engine_tells_what_is_inside_it(use_async: bool, waited: bool) -> None:
    questions = rm.EvaluationSet.from_dataset(ROWS)
    pipeline = engine(use_async=use_async, mode="reciprocal_rerank")
    run = asyncio.run(rm.aretrieve(pipeline, questions)) if waited else rm.retrieve(pipeline, questions)
    assert list(run.stages) == ["Later", "Later 2", "QueryFusionRetriever", "Deliver"]
    for name, answers in {"Later": FIRST_ANSWERS, "Later 2": SECOND_ANSWERS}.items():
        rankings = run.stages[name].values()
        assert [item_ids(ranking) for ranking in rankings] == [*answers.values()]
    stages = rm.evaluate(questions, run, "recall@2").stages
    assert stages.first_stage == ("Later", "Later 2")
    lost = stages.losses("recall@2").means
    assert {name: round(share, 3) for name, share in lost.items() if share} == {
        "found": 0.333,
        "not_retrieved": 0.333,
        "dropped:Deliver": 0.333,
    }
    assert not any("RetrievalMetricsSteps" in handler.class_name() for handler in get_dispatcher().span_handlers)


def test_the_evaluator_tells_what_is_inside_its_retriever_and_behind_it() -> None:
    evaluator = RetrieverEvaluator.from_metric_names(
        ["recall@2"], retriever=fusion(), node_postprocessors=[Deliver(answers={key: ["b", "a"] for key in TEXTS})]
    )
    for result in (
        evaluator.evaluate_dataset(ROWS, stages=True),
        asyncio.run(evaluator.aevaluate_dataset(ROWS, stages=True)),
    ):
        assert list(result.stages) == ["Later", "Later 2", "retrieved", "Deliver"]
    assert not evaluator.evaluate_dataset(ROWS).stages


def test_a_retriever_alone_tells_no_step() -> None:
    assert rm.retrieve(Prepared(FIRST_ANSWERS), dict(enumerate(TEXTS))).stages == {}
