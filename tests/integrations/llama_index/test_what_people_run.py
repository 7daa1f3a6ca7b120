"""Engines, workflows, functions, stages, responses, and the shapes in which their questions come."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.base.response.schema import Response
from llama_index.core.chat_engine import CondensePlusContextChatEngine, ContextChatEngine
from llama_index.core.evaluation.notebook_utils import get_retrieval_results_df
from llama_index.core.llms import MockLLM
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.postprocessor import MetadataReplacementPostProcessor
from llama_index.core.query_engine import CustomQueryEngine, RetrieverQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.schema import NodeWithScore
from llama_index.core.workflow import StartEvent, StopEvent, Workflow, step

import retrieval_metrics as rm
from llama_index.evaluation.retrieval_metrics import DatasetResult, RetrieverEvaluator
from llama_index_hosts import Deliver, Prepared, PreparedAsync, node

ANSWERS = {"what is a closure?": ["n1", "n9"], "what does yield do?": ["n9", "n2"], "what is a slot?": ["n9"]}
ROWS = [(text, [f"n{number}"]) for number, text in enumerate(ANSWERS, start=1)]
MEANS = {"mrr": 0.5}


def query_engine() -> Any:
    return RetrieverQueryEngine(PreparedAsync(ANSWERS), get_response_synthesizer(llm=MockLLM()))


class Custom(CustomQueryEngine):
    def custom_query(self, query_str: str) -> Response:
        return Response("an answer", source_nodes=Prepared(ANSWERS).retrieve(query_str))


class Steps(Workflow):
    @step
    async def search(self, start: StartEvent) -> StopEvent:
        return StopEvent(result=Response("an answer", source_nodes=await PreparedAsync(ANSWERS).aretrieve(start.query)))


def chat_engine() -> ContextChatEngine:
    return ContextChatEngine.from_defaults(PreparedAsync(ANSWERS), llm=MockLLM())


def a_function(text: str) -> list[NodeWithScore]:
    return Prepared(ANSWERS).retrieve(text)


async def an_asynchronous_function(text: str) -> Response:
    return Response("an answer", source_nodes=await PreparedAsync(ANSWERS).aretrieve(text))


RUN: dict[str, Callable[[], Any]] = {
    "query engine": query_engine,
    "custom query engine": Custom,
    "chat engine": chat_engine,
    "workflow": Steps,
    "function": lambda: a_function,
    "asynchronous function": lambda: an_asynchronous_function,
}


@pytest.mark.parametrize("name", RUN)
def test_whatever_answers_with_nodes_is_evaluated(name: str) -> None:
    ours = RetrieverEvaluator.from_metric_names(["mrr"], retriever=RUN[name]())
    for _ in range(2):
        result = ours.evaluate_dataset(ROWS, workers=3)
        assert (result.errors, result.means) == ({}, MEANS)
        assert result[1].retrieved_ids == ["n9", "n2"]
        assert set(result.seconds) == set(ANSWERS)
    assert asyncio.run(ours.aevaluate_dataset(ROWS)).means == MEANS
    assert ours.evaluate(*ROWS[1]).metric_vals_dict == {"mrr": 0.5}
    assert asyncio.run(ours._aget_retrieved_ids_and_texts(ROWS[1][0]))[0] == ["n9", "n2"]


def test_retrievers_engines_and_workflows_are_compared() -> None:
    systems = {name: make() for name, make in RUN.items()} | {"retriever": Prepared(ANSWERS)}
    del systems["function"], systems["asynchronous function"]
    comparison = rm.compare_retrievers(systems, ROWS, "mrr")
    assert comparison.means["mrr"] == dict.fromkeys(systems, 0.5)


def test_what_a_chat_engine_remembers_is_not_touched() -> None:
    history = [ChatMessage(role="user", content="what did I ask before?")]
    memory = ChatMemoryBuffer.from_defaults(chat_history=history)
    engine = CondensePlusContextChatEngine.from_defaults(PreparedAsync(ANSWERS), llm=MockLLM(), memory=memory)
    result = RetrieverEvaluator.from_metric_names(["mrr"], retriever=engine).evaluate_dataset(ROWS, workers=3)
    assert (result.errors, result.means) == ({}, MEANS)
    assert engine.chat_history == history


def test_what_cannot_be_asked_is_refused() -> None:
    with pytest.raises(ValueError, match="must be a retriever, a query engine, a chat engine, a workflow, or a func"):
        RetrieverEvaluator.from_metric_names(["mrr"], retriever="bm25")
    ours = RetrieverEvaluator.from_metric_names(["mrr"], retriever=lambda _: "an answer")
    with pytest.raises(TypeError, match=r"a list of nodes with scores, or a response with source_nodes, got .*str"):
        ours.evaluate_dataset(ROWS)


def test_scores_before_and_after_each_postprocessor_show_what_it_did() -> None:
    worse = Deliver(answers={text: ["n9", *node_ids] for text, node_ids in ANSWERS.items()})
    ours = RetrieverEvaluator.from_metric_names(
        ["mrr"], retriever=Prepared(ANSWERS), node_postprocessors=[worse, Deliver(answers=ANSWERS)]
    )
    for result in (ours.evaluate_dataset(ROWS, stages=True), asyncio.run(ours.aevaluate_dataset(ROWS, stages=True))):
        assert {name: dict(stage.means) for name, stage in result.stages.items()} == {
            "retrieved": {"mrr": 0.5},
            "Deliver": {"mrr": pytest.approx((1 / 2 + 1 / 3) / 3)},
            "Deliver 2": {"mrr": 0.5},
        }
        assert result.stages["Deliver 2"].per_query["mrr"] == result.evaluation.per_query["mrr"]
        assert str(result).splitlines()[-4:] == [
            "Deliver    0.278        0.667",
            "Deliver 2  0.500        0.667",
            "first-stage retrievers (no losses attributed to them): retrieved",
            "ceiling: the value if the stage's documents were in the best order",
        ]
    assert not ours.evaluate_dataset(ROWS).stages


def test_a_stage_is_what_it_was_before_the_next_changed_the_nodes_in_place() -> None:
    answer = node("n1", "the chunk alone", window="the chunk alone and what stands around it")
    ours = RetrieverEvaluator.from_metric_names(
        ["recall"],
        retriever=Prepared({"q": [answer]}),
        node_postprocessors=[MetadataReplacementPostProcessor(target_metadata_key="window")],
    )
    result = ours.evaluate_dataset([("q", [rm.Quote("what stands around it")])], stages=True)
    assert [stage.means["recall"] for stage in result.stages.values()] == [0, 1]


def test_stages_of_a_query_that_fails_found_nothing() -> None:
    answers: dict[str, Any] = ANSWERS | {ROWS[1][0]: ConnectionError("no index")}
    ours = RetrieverEvaluator.from_metric_names(["mrr"], retriever=Prepared(answers))
    with pytest.warns(rm.RetrievalWarning, match="failed on 1"):
        result = ours.evaluate_dataset(ROWS, stages=True)
    assert dict(result.stages["retrieved"].means) == result.means


LABELLED = [
    {"query": text, "reference_contexts": [f"text of n{number}"], "reference_answer": "an answer"}
    for number, text in enumerate(ANSWERS, start=1)
]


def test_labelled_datasets_frames_and_their_files_are_read(tmp_path: Path) -> None:
    path = tmp_path / "rag.json"
    path.write_text(json.dumps({"examples": LABELLED}))
    ours = RetrieverEvaluator.from_metric_names(["mrr"], retriever=Prepared(ANSWERS))
    for dataset in (
        SimpleNamespace(examples=[SimpleNamespace(**row) for row in LABELLED]),
        pd.DataFrame(LABELLED),
        path,
        pd.DataFrame({"query": list(ANSWERS), "relevant": [[f"n{number}"] for number in (1, 2, 3)]}),
    ):
        assert ours.evaluate_dataset(dataset).means == MEANS


def evaluated(answers: Any = ANSWERS, **arguments: Any) -> DatasetResult:
    ours = RetrieverEvaluator.from_metric_names(["mrr", "recall@1"], retriever=Prepared(answers), **arguments)
    return ours.evaluate_dataset(
        {
            "queries": {f"q{number}": text for number, (text, _) in enumerate(ROWS)},
            "relevant_docs": {f"q{number}": names for number, (_, names) in enumerate(ROWS)},
        }
    )


def test_results_are_compared() -> None:
    better = evaluated(dict(ROWS))
    comparison = evaluated().comparison(better, names=("bm25", "rerank"))
    assert comparison.means["mrr"] == {"bm25": 0.5, "rerank": 1.0}
    assert evaluated()[:2].comparison(better[:2], names=("bm25", "rerank")).means["mrr"] == {
        "bm25": 0.75,
        "rerank": 1.0,
    }
    part = evaluated().comparison(better[:2], names=("bm25", "rerank"))
    assert part.means["mrr"] == {"bm25": 0.75, "rerank": 1.0}
    assert part.difference("mrr").n == 2
    with pytest.raises(ValueError, match=r"use different rules.*: .*match="):
        evaluated().comparison(evaluated(match=rm.Matching(deduplicate=True)), names=("plain", "deduplicated"))
    with pytest.raises(TypeError, match="needs a result of evaluate_dataset, got float"):
        evaluated().comparison(0.5, names=("old", "new"))  # type: ignore[arg-type]  # the point of the line


def test_a_slice_is_a_result_with_the_evaluation_of_its_queries() -> None:
    result = evaluated()
    first = result[:2]
    assert isinstance(first, DatasetResult)
    assert (len(first), first.means, dict(first.evaluation.means)) == (2, {"mrr": 0.75, "recall@1": 0.5}, first.means)
    assert result[::-1][0] == result[-1]
    assert repr(result[3:]) == "<DatasetResult: 0 queries, 0 failed>"


def test_results_become_a_frame_and_a_file(tmp_path: Path) -> None:
    result = evaluated()
    frame = result.to_pandas()
    assert list(frame.columns) == ["text", "mrr", "recall@1", "seconds", "error"]
    assert frame["mrr"].to_dict() == {"q0": 1.0, "q1": 0.5, "q2": 0.0}
    result.save(tmp_path / "results.json")
    again = DatasetResult.load(tmp_path / "results.json")
    assert (again, again.means, again.seconds) == (result, result.means, result.seconds)
    assert str(again) == str(result)
    assert again.evaluation.per_query == result.evaluation.per_query
    assert str(again.evaluation.explain("q1")) == str(result.evaluation.explain("q1"))
    assert again.comparison(result, names=("a", "b")).means == result.comparison(again, names=("a", "b")).means
    (tmp_path / "other.json").write_text("[]")
    with pytest.raises(ValueError, match=r"was not written by DatasetResult\.save"):
        DatasetResult.load(tmp_path / "other.json")


def test_stages_and_judgments_by_texts_are_kept_too(tmp_path: Path) -> None:
    rows = [(text, [rm.Quote(f"text of n{number}")]) for number, text in enumerate(ANSWERS)]
    evaluator = RetrieverEvaluator.from_metric_names(
        ["mrr"],
        retriever=Prepared(ANSWERS),
        node_postprocessors=[Deliver(answers={key: ["n0", "n1"] for key in ANSWERS})],
    )
    result = evaluator.evaluate_dataset(rows, stages=True)
    result.save(tmp_path / "results.json")
    again = DatasetResult.load(tmp_path / "results.json")
    assert str(again) == str(result)
    assert {name: stage.per_query for name, stage in again.stages.items()} == {
        name: stage.per_query for name, stage in result.stages.items()
    }


def test_what_json_cannot_hold_is_left_out_with_a_warning(tmp_path: Path) -> None:
    evaluator = RetrieverEvaluator.from_metric_names(["mrr"], retriever=Prepared(ANSWERS), match=lambda item: item.id)
    result = evaluator.evaluate_dataset([(text, ["n9"]) for text in ANSWERS])
    with pytest.warns(rm.RetrievalWarning, match="the rankings are left out of"):
        result.save(tmp_path / "results.json")
    again = DatasetResult.load(tmp_path / "results.json")
    assert again.means == result.means
    assert str(again).splitlines()[0].split() == ["metric", "mean", "n"]
    with pytest.raises(ValueError, match="saved without the rankings"):
        _ = again.evaluation


def test_an_interrupted_evaluation_goes_on_where_it_stopped(tmp_path: Path) -> None:
    rows = [(text, ["n9"]) for text in ANSWERS]
    first, *later_queries = ANSWERS
    broken = RetrieverEvaluator.from_metric_names(
        ["mrr"], retriever=Prepared(ANSWERS | dict.fromkeys(later_queries, OSError("down")))
    )
    with pytest.warns(rm.RetrievalWarning, match="the retriever failed"):
        broken.evaluate_dataset(rows, resume=tmp_path / "answers.jsonl")
    sound = Prepared({**ANSWERS, first: AssertionError("asked again")})
    evaluator = RetrieverEvaluator.from_metric_names(["mrr"], retriever=sound)
    uninterrupted = RetrieverEvaluator.from_metric_names(["mrr"], retriever=Prepared(ANSWERS)).evaluate_dataset(rows)
    again = evaluator.evaluate_dataset(rows, resume=tmp_path / "answers.jsonl")
    assert (list(again), again.errors) == (list(uninterrupted), {})
    waited_for = asyncio.run(evaluator.aevaluate_dataset(rows, resume=tmp_path / "answers.jsonl"))
    assert list(waited_for) == list(uninterrupted)
    evaluator = RetrieverEvaluator.from_metric_names(["mrr"], retriever=Prepared(ANSWERS))
    stages = evaluator.evaluate_dataset(rows, resume=tmp_path / "steps.jsonl", stages=True).stages
    assert list(stages) == ["retrieved"]
    assert dict(evaluator.evaluate_dataset(rows, resume=tmp_path / "steps.jsonl", stages=True).stages) == dict(stages)


def test_the_hosts_table_takes_results_as_they_are() -> None:
    table = get_retrieval_results_df(["bm25"], [evaluated()], metric_keys=["mrr"])
    assert table.to_dict("records") == [{"retrievers": "bm25", "mrr": 0.5}]
