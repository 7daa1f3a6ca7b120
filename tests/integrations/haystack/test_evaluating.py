"""A pipeline evaluated after each of its steps: one run of each question, and what reached each output."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from haystack import Document, Pipeline, component
from haystack.components.joiners import DocumentJoiner
from haystack.components.routers import ConditionalRouter

import retrieval_metrics as rm
from haystack_hosts import PassOn, Prepared, PreparedAsync
from haystack_integrations.components.evaluators.retrieval_metrics import (
    aevaluate_pipeline,
    evaluate_pipeline,
)
from judged_words import METRICS, QRELS, QUESTIONS, rank_documents

ANSWERS = {text: rank_documents(text) for text in QUESTIONS.values()}


EVALUATION_SET = rm.EvaluationSet(QUESTIONS, QRELS)


Evaluate = Callable[..., Any]


def evaluate_async(*args: Any, **options: Any) -> Any:
    return asyncio.run(aevaluate_pipeline(*args, **options))


both = pytest.mark.parametrize("evaluate", [evaluate_pipeline, evaluate_async], ids=["synchronous", "asynchronous"])


@component
class Turned:
    """Turns the order, and counts how often it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, Any]:
        self.asked += 1
        return {"documents": documents[::-1]}


def make_run(order: Callable[[list[str]], list[str]]) -> dict[str, list[str]]:
    return {query: order(ANSWERS[text]) for query, text in QUESTIONS.items()}


def require_same_numbers(ours: rm.Evaluation, run: Any, questions: Any = EVALUATION_SET) -> None:
    core = rm.evaluate(questions, run, METRICS)
    assert (ours.means, ours.per_query) == (core.means, core.per_query)
    assert ours.intervals() == core.intervals()


@both
def test_each_stage_has_the_numbers_of_its_rankings_and_each_question_is_run_once(evaluate: Evaluate) -> None:
    pipeline = Pipeline()
    ranker = Turned()
    pipeline.add_component("retriever", Prepared(ANSWERS))
    pipeline.add_component("ranker", ranker)
    pipeline.add_component("reader", PassOn())
    pipeline.connect("retriever.documents", "ranker.documents")
    pipeline.connect("ranker.documents", "reader.documents")
    stages = evaluate(pipeline, EVALUATION_SET, METRICS)
    assert [*stages] == ["retriever", "ranker", "reader"]
    assert ranker.asked == len(QUESTIONS)
    require_same_numbers(stages["retriever"], make_run(list))
    require_same_numbers(stages["ranker"], make_run(lambda ranking: ranking[::-1]))
    require_same_numbers(stages.last, make_run(lambda ranking: ranking[::-1]))
    with pytest.raises(KeyError, match="the stages are 'retriever', 'ranker', 'reader'"):
        stages["joiner"]


@both
def test_it_is_one_form_with_retrieving_and_evaluating(evaluate: Evaluate) -> None:
    run = rm.retrieve(make_routed_pipeline(), EVALUATION_SET)
    evaluation = rm.evaluate(EVALUATION_SET, run, METRICS)
    assert dict(evaluation.stages) == dict(evaluate(make_routed_pipeline(), EVALUATION_SET, METRICS))
    assert asyncio.run(rm.aretrieve(make_routed_pipeline(), EVALUATION_SET)).stages == run.stages
    assert evaluation.stages.losses("recall@5").means["found"] == evaluation.means["recall@5"]


def test_stages_are_compared_and_printed() -> None:
    pipeline = Pipeline()
    pipeline.add_component("retriever", Prepared(ANSWERS))
    pipeline.add_component("ranker", Turned())
    pipeline.connect("retriever.documents", "ranker.documents")
    stages = evaluate_pipeline(pipeline, EVALUATION_SET, ["mrr", "recall@3"])
    comparison = rm.compare(stages, baseline="retriever")
    mean = stages["ranker"].means["mrr"] - stages["retriever"].means["mrr"]
    assert comparison.difference("mrr", "ranker", "retriever").mean == pytest.approx(mean, abs=1e-12)
    text = str(stages)
    assert text.startswith(str(stages.last))
    header, *rows, note, ideal_note = text.removeprefix(str(stages.last)).strip().splitlines()
    assert header.split() == ["stage", "mrr", "recall@3", "mrr", "ceiling"]
    assert note == "first-stage retrievers (no losses attributed to them): retriever"
    assert ideal_note == "ceiling: the value if the stage's documents were in the best order"
    assert [row.split()[0] for row in rows] == ["retriever", "ranker"]
    assert "<table>" in stages._repr_html_()


def make_joined_pipeline() -> Pipeline:
    pipeline = Pipeline()
    pipeline.add_component("one", Prepared({text: row[:3] for text, row in ANSWERS.items()}))
    pipeline.add_component("other", Prepared({text: row[3:] for text, row in ANSWERS.items()}))
    pipeline.add_component("joiner", DocumentJoiner("concatenate", sort_by_score=False))
    pipeline.connect("one.documents", "joiner.documents")
    pipeline.connect("other.documents", "joiner.documents")
    return pipeline


def test_branches_and_what_joins_them_are_stages() -> None:
    pipeline = make_joined_pipeline()
    stages = evaluate_pipeline(pipeline, EVALUATION_SET, METRICS)
    assert [*stages] == ["one", "other", "joiner"]
    require_same_numbers(stages["one"], make_run(lambda row: row[:3]))
    require_same_numbers(stages["other"], make_run(lambda row: row[3:]))
    by_hand = {}
    for query, text in QUESTIONS.items():
        outputs = pipeline.run({"one": {"query": text}, "other": {"query": text}})
        by_hand[query] = [document.id for document in outputs["joiner"]["documents"]]
    require_same_numbers(stages["joiner"], by_hand)


def make_routed_pipeline() -> Pipeline:
    """Texts of an even length go to one retriever, the others to another; nobody asks a third."""
    routes: list[Any] = [
        {"condition": f"{{{{ {rule} }}}}", "output": "{{ query }}", "output_name": name, "output_type": str}
        for name, rule in {
            "even": "query|length % 2 == 0",
            "odd": "query|length % 2 == 1",
            "empty": "query|length < 0",
        }.items()
    ]
    pipeline = Pipeline()
    pipeline.add_component("router", ConditionalRouter(routes))
    for name in ("even", "odd", "empty"):
        pipeline.add_component(f"{name} retriever", Prepared(ANSWERS))
        pipeline.connect(f"router.{name}", f"{name} retriever.query")
    return pipeline


@both
def test_a_question_that_does_not_reach_a_stage_is_left_out_of_it(evaluate: Evaluate) -> None:
    stages = evaluate(make_routed_pipeline(), EVALUATION_SET, METRICS)
    assert [*stages] == ["even retriever", "odd retriever", "returned"]
    assert stages.unreached == ("empty retriever",)
    run = make_run(list)
    even = {query for query, text in QUESTIONS.items() if len(text) % 2 == 0}
    assert 0 < len(even) < len(QUESTIONS)
    for name, queries in {"even retriever": even, "odd retriever": run.keys() - even, "returned": run.keys()}.items():
        qrels = {query: judgments for query, judgments in QRELS.items() if query in queries}
        core = rm.evaluate(qrels, {query: run[query] for query in qrels}, METRICS)
        assert (stages[name].means, stages[name].n) == (core.means, core.n)
        assert stages[name].counts["queries"] == len(qrels)
    assert "no query reached empty retriever" in str(stages)
    assert str(stages).splitlines()[-7].split()[:2] == ["stage", "n"]


@both
def test_a_question_that_failed_has_retrieved_nothing_at_any_stage(evaluate: Evaluate) -> None:
    @component
    class Refuses:
        @component.output_types(documents=list[Document])
        def run(self, documents: list[Document]) -> dict[str, Any]:
            if documents[0].id == refused:
                raise TimeoutError("too slow")
            return {"documents": documents}

    refused = ANSWERS[QUESTIONS[next(iter(QUESTIONS))]][0]
    failing = {query for query, text in QUESTIONS.items() if ANSWERS[text][0] == refused}
    pipeline = Pipeline()
    pipeline.add_component("retriever", Prepared(ANSWERS))
    pipeline.add_component("ranker", Refuses())
    pipeline.connect("retriever.documents", "ranker.documents")
    with pytest.warns(rm.RetrievalWarning, match="the retriever failed"):
        stages = evaluate(pipeline, EVALUATION_SET, "mrr")
    assert {evaluation.counts["failed"] for evaluation in stages.values()} == {len(failing)}
    for stage in stages.values():
        assert {stage.per_query["mrr"][query] for query in failing} == {0.0}
        assert stage.means["mrr"] > 0
        assert stage.counts["queries"] == len(QUESTIONS)


@both
def test_a_setup_error_is_no_score(evaluate: Evaluate) -> None:
    pipeline = Pipeline()
    pipeline.add_component("retriever", Prepared(dict.fromkeys(ANSWERS, ConnectionError("401"))))
    with pytest.raises(Exception, match="401"):
        evaluate(pipeline, EVALUATION_SET, "mrr")
    with pytest.raises(TypeError, match="evaluate_pipeline: got an unexpected keyword argument 'worker'"):
        evaluate(pipeline, EVALUATION_SET, worker=2)
    with pytest.raises(ValueError, match="ndcg"):
        evaluate(pipeline, EVALUATION_SET, "ndgc@10")


@both
def test_a_component_is_a_pipeline_of_one_stage(evaluate: Evaluate) -> None:
    stages = evaluate(PreparedAsync(ANSWERS), EVALUATION_SET, METRICS)
    assert [*stages] == ["documents"]
    require_same_numbers(stages["documents"], make_run(list))


def test_spans_are_found_in_the_whole_documents() -> None:
    book = Document(id="book", content="A closure keeps names. A slot saves memory.")
    chunks = [
        Document(id=str(index), content=text, meta={"source_id": "book", "split_idx_start": 0})  # wrong for one
        for index, text in enumerate(["A closure keeps names.", "A slot saves memory."])
    ]
    pipeline = Pipeline()
    pipeline.add_component("retriever", Prepared({"what saves memory?": chunks}))
    pipeline.add_component("ranker", Turned())
    pipeline.connect("retriever.documents", "ranker.documents")
    questions = [("what saves memory?", [rm.Span("book", 23, 43)])]
    stages = evaluate_pipeline(pipeline, questions, "mrr", documents=[book])
    assert {name: stage.means["mrr"] for name, stage in stages.items()} == {"retriever": 0.5, "ranker": 1.0}


def test_documents_to_leave_out_take_no_rank() -> None:
    answers = {"why?": [Document(id="q1", content="why?"), Document(id="d1", content="because")]}
    pipeline = Pipeline()
    pipeline.add_component("retriever", Prepared(answers))
    questions = rm.EvaluationSet({"q1": "why?"}, {"q1": ["d1"]})
    stages = evaluate_pipeline(pipeline, questions, "mrr", exclude="query_id")
    assert stages["retriever"].means["mrr"] == 1.0
    assert stages["retriever"].counts["excluded"] == 1
