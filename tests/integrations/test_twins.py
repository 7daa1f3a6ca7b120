"""A function and its asynchronous twin have one declaration of their arguments, which is shown and enforced."""

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

import pytest

import langchain_retrieval_metrics as langchain
import ragas_retrieval_metrics as ragas
import retrieval_metrics as rm
from haystack_integrations.components.evaluators import retrieval_metrics as haystack
from haystack_integrations.components.rankers.retrieval_metrics import MMRRanker
from llama_index.evaluation.retrieval_metrics import RetrieverEvaluator
from pytest_retrieval_metrics import RetrievalCheck

Function = Callable[..., Any]

EVALUATOR = RetrieverEvaluator.from_metric_names(["mrr"], retriever=lambda _: [])
CHECK = RetrievalCheck.__new__(RetrievalCheck)
NAMES = {"__call__": "retrieval_check"}
TWINS: list[tuple[Function, Function]] = [
    (rm.retrieve, rm.aretrieve),
    (rm.compare_retrievers, rm.acompare_retrievers),
    (rm.generate_questions, rm.agenerate_questions),
    (langchain.evaluate_retriever, langchain.aevaluate_retriever),
    (langchain.tune_mmr, langchain.atune_mmr),
    (haystack.evaluate_pipeline, haystack.aevaluate_pipeline),
    (MMRRanker().run, MMRRanker().run_async),
    (EVALUATOR.evaluate, EVALUATOR.aevaluate),
    (EVALUATOR.evaluate_dataset, EVALUATOR.aevaluate_dataset),
    (CHECK.__call__, CHECK.acheck),
    (ragas.from_langchain, ragas.afrom_langchain),
    (ragas.from_llama_index, ragas.afrom_llama_index),
    (langchain.langsmith_evaluators, langchain.langsmith_summary_evaluators),
    (langchain.langsmith_evaluators, langchain.langsmith_comparative_evaluators),
]
each_pair = pytest.mark.parametrize("twins", TWINS, ids=lambda twins: twins[1].__name__)


@each_pair
def test_twins_have_the_same_arguments_and_show_them(twins: tuple[Function, Function]) -> None:
    synchronous, asynchronous = map(inspect.signature, twins)
    assert synchronous.parameters == asynchronous.parameters
    assert len(synchronous.parameters) > 1
    described = inspect.getdoc(twins[0]) or ""
    for name, parameter in synchronous.parameters.items():
        assert parameter.kind is not parameter.VAR_POSITIONAL
        stars = "**" if parameter.kind is parameter.VAR_KEYWORD else ""
        assert f"\n    {stars}{name}: " in described


@each_pair
def test_a_missing_argument_is_named_after_the_function(twins: tuple[Function, Function]) -> None:
    if all(parameter.default is not parameter.empty for parameter in inspect.signature(twins[0]).parameters.values()):
        pytest.skip("no argument is required")
    for function in twins:
        name = NAMES.get(function.__name__, function.__name__)
        with pytest.raises(TypeError, match=rf"^{name}(:|\(\)) ?missing .*required"):
            called(function)


def called(function: Function) -> Any:
    result = function()
    return asyncio.run(waited(result)) if inspect.isawaitable(result) else result


async def waited(coroutine: Any) -> Any:
    return await coroutine
