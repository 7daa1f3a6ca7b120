"""The hosts that carry metrics of ragas take ours unchanged: Opik, Haystack, callbacks, files."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from ragas import EvaluationDataset, evaluate

import retrieval_metrics as rm
from ragas_retrieval_metrics import MRR, NDCG, HitRate, Recall, RetrievalMetric, metric_suite

pytestmark = pytest.mark.filterwarnings("ignore:a?evaluate\\(\\) is deprecated:DeprecationWarning")

WITH = "The with statement wraps the execution of a block with methods defined by a context manager."
TRY = "A try statement specifies exception handlers and cleanup code for a group of statements."


# ---- Opik: builds the sample from the required columns alone


def test_opik_runs_the_metric_unchanged() -> None:
    opik_metrics = pytest.importorskip("opik.evaluation.metrics")
    wrapped = opik_metrics.RagasMetricWrapper(NDCG(10), track=False)
    row = {"retrieved_context_ids": ["d1", "d3", "d7"], "reference_context_ids": ["d1", "d7"]}
    expected = rm.evaluate({"q": row["reference_context_ids"]}, {"q": row["retrieved_context_ids"]}, "ndcg@10")
    result = wrapped.score(**row)
    assert (result.name, result.value) == ("ndcg_at_10", expected.means["ndcg@10"])
    assert asyncio.run(wrapped.ascore(**row)).value == expected.means["ndcg@10"]
    by_text = opik_metrics.RagasMetricWrapper(MRR(qrels={"what?": {"d3": 2}}), track=False)
    assert by_text.score(input="what?", retrieved_context_ids=["d1", "d3"]).value == 0.5
    texts = opik_metrics.RagasMetricWrapper(Recall(by="texts"), track=False)
    assert texts.score(retrieved_contexts=[WITH], reference_contexts=[WITH, TRY]).value == 0.5


def test_opik_names_what_is_missing() -> None:
    opik_metrics = pytest.importorskip("opik.evaluation.metrics")
    exceptions = pytest.importorskip("opik.exceptions")
    wrapped = opik_metrics.RagasMetricWrapper(NDCG(10), track=False)
    with pytest.raises(exceptions.ScoreMethodMissingArguments, match="reference_context_ids"):
        wrapped.score(retrieved_context_ids=["d1"])


# ---- Haystack: reads the signature of ascore, fills texts, and stores class and name alone


@pytest.fixture
def evaluator_class() -> Any:
    return pytest.importorskip("haystack_integrations.components.evaluators.ragas").RagasEvaluator


def test_haystack_runs_the_metrics_unchanged_by_texts(evaluator_class: Any) -> None:
    haystack = pytest.importorskip("haystack")
    evaluator = evaluator_class(metric_suite(k=2, by="texts"))
    documents = [haystack.Document(content=text) for text in (TRY, WITH)]
    fields = {"documents": documents, "reference_contexts": [WITH]}
    scores = evaluator.run(query="how do I close a file?", **fields)["result"]
    assert scores["mrr_at_2-by-texts"].value == 0.5
    assert scores["precision_at_2-by-texts"].value == 0.5
    again = asyncio.run(evaluator.run_async(query="how do I close a file?", **fields))["result"]
    assert {name: result.value for name, result in again.items()} == {name: r.value for name, r in scores.items()}
    pipeline = haystack.Pipeline()
    pipeline.add_component("evaluator", evaluator)
    piped = pipeline.run({"evaluator": fields})["evaluator"]["result"]
    assert piped["mrr_at_2-by-texts"].value == 0.5


def test_haystack_takes_quotes_keyed_by_the_query(evaluator_class: Any) -> None:
    metric = HitRate(1, by="texts", qrels={"how?": [rm.Quote("wraps the execution of a block")]})
    assert evaluator_class([metric]).run(query="how?", documents=[WITH])["result"][metric.name].value == 1.0


def test_haystack_rebuilds_a_metric_from_class_and_name_with_the_same_number(evaluator_class: Any) -> None:
    haystack = pytest.importorskip("haystack")
    metrics = [NDCG(1, by="texts"), RetrievalMetric("precision(rel=2)@1", by="texts", on_unjudged="zero")]
    pipeline = haystack.Pipeline()
    pipeline.add_component("evaluator", evaluator_class(metrics))
    text = pipeline.dumps()
    again = haystack.Pipeline.loads(text, allowed_modules=["ragas_retrieval_metrics.*"])
    rebuilt = again.get_component("evaluator").metrics
    assert [repr(metric) for metric in rebuilt] == [repr(metric) for metric in metrics]
    fields = {"documents": [TRY, WITH], "reference_contexts": [WITH]}
    for evaluating_pipeline in (pipeline, again):  # a metric that lost its cutoff would score 0.6309
        outcome = evaluating_pipeline.run({"evaluator": fields})
        assert outcome["evaluator"]["result"]["ndcg_at_1-by-texts"].value == 0.0


def test_haystack_with_ids_is_an_error_that_says_what_to_do(evaluator_class: Any) -> None:
    with pytest.raises(ValueError, match="with by='texts'"):
        evaluator_class([MRR()]).run(query="q", documents=[WITH], reference_contexts=[WITH])


# ---- ragas itself: callbacks, frames, files


class Listener(BaseCallbackHandler):
    def __init__(self) -> None:
        self.heard: list[Any] = []

    def on_chain_end(self, outputs: dict[str, Any], **_: Any) -> None:
        self.heard.append(outputs)


ROWS = [
    {"user_input": "a", "retrieved_context_ids": ["x", "d1"], "reference_context_ids": ["d1"]},
    {"user_input": "b", "retrieved_context_ids": ["d1"], "reference_context_ids": ["d1"]},
]


def test_callbacks_hear_every_score() -> None:
    listener = Listener()
    evaluate(EvaluationDataset.from_list(ROWS), [MRR()], callbacks=[listener], show_progress=False)
    assert {"output": 0.5} in listener.heard
    assert {"mrr": 1.0} in listener.heard
    assert {"scores": [{"mrr": 0.5}, {"mrr": 1.0}]} in listener.heard


def test_every_way_to_hold_a_dataset_gives_the_same(tmp_path: Path) -> None:
    dataset = EvaluationDataset.from_list(ROWS)
    dataset.to_jsonl(tmp_path / "rows.jsonl")
    ways: list[Any] = [
        dataset,
        dataset.to_hf_dataset(),
        EvaluationDataset.from_pandas(dataset.to_pandas()),
        EvaluationDataset.from_jsonl(tmp_path / "rows.jsonl"),
    ]
    for way in ways:
        result: Any = evaluate(way, [MRR()], show_progress=False)
        assert result["mrr"] == [0.5, 1.0]
    renamed = dataset.to_hf_dataset().rename_column("retrieved_context_ids", "found")
    result = evaluate(renamed, [MRR()], column_map={"retrieved_context_ids": "found"}, show_progress=False)
    assert result["mrr"] == [0.5, 1.0]
    assert list(result.to_pandas()["mrr"]) == [0.5, 1.0]
