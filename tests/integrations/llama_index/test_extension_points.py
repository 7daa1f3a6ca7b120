"""What the host lets a subclass or a dataset decide is honoured."""

import asyncio
from typing import Any

import pytest
from llama_index.core.evaluation import MRR, HitRate
from llama_index.core.evaluation import RetrieverEvaluator as StockRetrieverEvaluator
from llama_index.core.evaluation.retrieval.base import RetrievalEvalMode
from llama_index.core.evaluation.retrieval.metrics_base import BaseRetrievalMetric, RetrievalMetricResult
from llama_index.core.schema import ImageNode, NodeWithScore, TextNode

import retrieval_metrics as rm
from llama_index.evaluation.retrieval_metrics import RetrieverEvaluator, metric
from llama_index_hosts import Prepared, node

ANSWER = [node("chunk-2"), node("chunk-1")]
QUESTIONS = {"queries": {"q1": "q"}, "relevant_docs": {"q1": ["chunk-1"]}}
PICTURES = [
    NodeWithScore(node=TextNode(id_="text", text="a caption")),
    NodeWithScore(node=ImageNode(id_="image", text="", image_path="a.png")),
]


class Reversed(RetrieverEvaluator):
    async def _aget_retrieved_ids_and_texts(
        self, query: str, mode: RetrievalEvalMode = RetrievalEvalMode.TEXT
    ) -> tuple[list[str], list[str]]:
        ids, texts = await super()._aget_retrieved_ids_and_texts(query, mode)
        return ids[::-1], texts[::-1]


class NodesReversed(RetrieverEvaluator):
    async def aget_retrieved_nodes(self, query: str) -> list[NodeWithScore]:
        return (await super().aget_retrieved_nodes(query))[::-1]


@pytest.mark.parametrize("overriding", [Reversed, NodesReversed])
def test_an_overridden_hook_says_what_is_evaluated(overriding: type[RetrieverEvaluator]) -> None:
    class Stock(StockRetrieverEvaluator):
        _aget_retrieved_ids_and_texts = overriding._aget_retrieved_ids_and_texts  # noqa: SLF001  (the hook itself)

    ours = overriding.from_metric_names(["mrr"], retriever=Prepared({"q": ANSWER}))
    results = [ours.evaluate("q", ["chunk-1"]), asyncio.run(ours.aevaluate("q", ["chunk-1"]))]
    results += [*ours.evaluate_dataset(QUESTIONS), *asyncio.run(ours.aevaluate_dataset(QUESTIONS))]
    assert [one.metric_vals_dict for one in results] == [{"mrr": 1.0}] * 4
    assert results[0].retrieved_ids == ["chunk-1", "chunk-2"]
    assert results[0].retrieved_texts == ["text of chunk-1", "text of chunk-2"]
    assert asyncio.run(ours._aget_retrieved_ids_and_texts("q"))[0] == ["chunk-1", "chunk-2"]  # noqa: SLF001  (the hook itself)


def test_a_hook_that_loses_texts_is_an_error() -> None:
    class Loses(RetrieverEvaluator):
        async def _aget_retrieved_ids_and_texts(
            self,
            query: str,  # noqa: ARG002  (the host's signature)
            mode: RetrievalEvalMode = RetrievalEvalMode.TEXT,  # noqa: ARG002  (likewise)
        ) -> tuple[list[str], list[str]]:
            return ["a", "b"], ["text"]

    with pytest.raises(ValueError, match="shorter"):
        Loses.from_metric_names(["mrr"], retriever=Prepared({})).evaluate("q", ["a"])


def test_positional_arguments_are_those_that_were_removed() -> None:
    ours = RetrieverEvaluator.from_metric_names(["mrr"], retriever=Prepared({"q": ANSWER}))
    assert asyncio.run(ours.aevaluate_dataset(QUESTIONS, 2, True)) == ours.evaluate_dataset(QUESTIONS, 2, False)  # noqa: FBT003  (the point)


@pytest.mark.parametrize(
    "truth", [[rm.Quote("text of chunk-1")], [rm.Text("text of chunk-1")], ["a", rm.Quote("text of a")]]
)
def test_metrics_that_compare_ids_are_refused_where_texts_are_judged(truth: Any) -> None:
    never = Prepared({"q": ConnectionError("asked")})
    ours = RetrieverEvaluator(metrics=[HitRate(), metric("recall")], retriever=never)
    for evaluate in (lambda: ours.evaluate("q", truth), lambda: ours.evaluate_dataset([("q", truth)])):
        with pytest.raises(TypeError, match="'hit_rate' compares ids, but the judgments hold quotes"):
            evaluate()


class Longest(BaseRetrievalMetric):
    """Fails where nothing was retrieved, as those of LlamaIndex do."""

    metric_name = "longest"

    def compute(  # type: ignore[override]  # as the evaluator calls it
        self,
        query: str,  # noqa: ARG002  (the host's signature)
        expected_ids: list[str],
        retrieved_ids: list[str],
        *texts: Any,  # noqa: ARG002  (likewise)
    ) -> RetrievalMetricResult:
        assert all(isinstance(one, str) and "(" not in one for one in expected_ids), expected_ids
        if not retrieved_ids:
            raise ValueError("nothing is longest of nothing")
        return RetrievalMetricResult(score=float(max(map(len, retrieved_ids))))


def test_metrics_of_llama_index_are_printed_and_averaged_and_their_failures_counted() -> None:
    ours = RetrieverEvaluator(
        metrics=[metric("map"), MRR(), Longest()], retriever=Prepared({"q1": ANSWER, "q2": ["chunk-1"], "q3": []})
    )
    with pytest.warns(rm.RetrievalWarning, match="nothing was retrieved for 1"):
        result = ours.evaluate_dataset([("q1", ["chunk-1"]), ("q2", ["chunk-1"]), ("q3", ["chunk-1"])])
    assert dict(result.means) == {"map": 0.5, "mrr": 0.75, "longest": 7.0}
    assert list(result.errors) == ["q3"]
    assert str(result).split("\n\n")[1].splitlines() == [
        "metric of LlamaIndex   mean  n",
        "mrr                   0.750  2",
        "longest                7.00  2",
        "mrr failed for 1 of 3 queries, for example 'q3': ValueError: Retrieved ids and expected ids must be provided",
        "longest failed for 1 of 3 queries, for example 'q3': ValueError: nothing is longest of nothing",
    ]
    assert "longest" in str(result._repr_html_())


def test_only_metrics_of_llama_index_are_printed_too() -> None:
    result = RetrieverEvaluator(metrics=[MRR()], retriever=Prepared({"q": ANSWER})).evaluate_dataset(QUESTIONS)
    assert str(result).splitlines() == ["metric of LlamaIndex   mean  n", "mrr                   0.500  1"]
    assert dict(result.means) == {"mrr": 0.5}


def test_images_alone_are_ranked_where_the_dataset_is_about_images() -> None:
    questions = {"queries": {"q1": "q"}, "relevant_docs": {"q1": ["image"]}}
    ours = RetrieverEvaluator.from_metric_names(["mrr"], retriever=Prepared({"q": PICTURES}))
    assert ours.evaluate_dataset(questions)[0].metric_vals_dict == {"mrr": 0.5}
    for dataset in (questions | {"mode": "image"}, questions | {"mode": RetrievalEvalMode.IMAGE}):
        (result,) = ours.evaluate_dataset(dataset)
        assert (result.metric_vals_dict, result.retrieved_ids, result.mode) == ({"mrr": 1.0}, ["image"], "image")
    assert ours.evaluate("q", ["image"], mode=RetrievalEvalMode.IMAGE).metric_vals_dict == {"mrr": 1.0}
    with pytest.raises(ValueError, match="'sound' is not a valid RetrievalEvalMode"):
        ours.evaluate_dataset(questions | {"mode": "sound"})
