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
    PipelineRetriever,
    aevaluate_pipeline,
    evaluate_pipeline,
)
from judged_words import METRICS, QRELS, QUESTIONS, found

ANSWERS = {text: found(text) for text in QUESTIONS.values()}
ASKED = rm.EvaluationSet(QUESTIONS, QRELS)
Evaluate = Callable[..., Any]


def waited(*args: Any, **options: Any) -> Any:
    return asyncio.run(aevaluate_pipeline(*args, **options))


both = pytest.mark.parametrize("evaluate", [evaluate_pipeline, waited], ids=["synchronous", "asynchronous"])


@component
class Turned:
    """Turns the order, and counts how often it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, Any]:
        self.asked += 1
        return {"documents": documents[::-1]}


def run_of(order: Callable[[list[str]], list[str]]) -> dict[str, list[str]]:
    return {query: order(ANSWERS[text]) for query, text in QUESTIONS.items()}


def same(ours: rm.Evaluation, run: Any, questions: Any = ASKED) -> None:
    core = rm.evaluate(questions, run, METRICS)
    assert (ours.means, ours.per_query) == (core.means, core.per_query)
    assert ours.intervals() == core.intervals()


@both
def test_each_stage_has_the_numbers_of_its_rankings_and_each_question_is_run_once(evaluate: Evaluate) -> None:
    pipeline, turned = Pipeline(), Turned()
    pipeline.add_component("retriever", Prepared(ANSWERS))
    pipeline.add_component("ranker", turned)
    pipeline.add_component("reader", PassOn())
    pipeline.connect("retriever.documents", "ranker.documents")
    pipeline.connect("ranker.documents", "reader.documents")
    stages = evaluate(pipeline, ASKED, METRICS)
    assert [*stages] == ["retriever", "ranker", "reader"]
    assert turned.asked == len(QUESTIONS)
    same(stages["retriever"], run_of(list))
    same(stages["ranker"], run_of(lambda found: found[::-1]))
    same(stages.last, run_of(lambda found: found[::-1]))
    with pytest.raises(KeyError, match="the stages are 'retriever', 'ranker', 'reader'"):
        stages["joiner"]


def test_stages_are_compared_and_printed() -> None:
    pipeline = Pipeline()
    pipeline.add_component("retriever", Prepared(ANSWERS))
    pipeline.add_component("ranker", Turned())
    pipeline.connect("retriever.documents", "ranker.documents")
    stages = evaluate_pipeline(pipeline, ASKED, ["mrr", "recall@3"])
    compared = rm.compare(stages, baseline="retriever")
    mean = stages["ranker"].means["mrr"] - stages["retriever"].means["mrr"]
    assert compared.difference("mrr", "ranker", "retriever").mean == pytest.approx(mean, abs=1e-12)
    said = str(stages)
    assert said.startswith(str(stages.last))
    header, *rows = said.removeprefix(str(stages.last)).strip().splitlines()
    assert header.split() == ["after", "mrr", "recall@3"]
    assert [row.split()[0] for row in rows] == ["retriever", "ranker"]
    assert "<table>" in stages._repr_html_()


def joined() -> Pipeline:
    pipeline = Pipeline()
    pipeline.add_component("one", Prepared({text: row[:3] for text, row in ANSWERS.items()}))
    pipeline.add_component("other", Prepared({text: row[3:] for text, row in ANSWERS.items()}))
    pipeline.add_component("joiner", DocumentJoiner("concatenate", sort_by_score=False))
    pipeline.connect("one.documents", "joiner.documents")
    pipeline.connect("other.documents", "joiner.documents")
    return pipeline


def test_branches_and_what_joins_them_are_stages() -> None:
    pipeline = joined()
    stages = evaluate_pipeline(pipeline, ASKED, METRICS)
    assert [*stages] == ["one", "other", "joiner"]
    same(stages["one"], run_of(lambda row: row[:3]))
    same(stages["other"], run_of(lambda row: row[3:]))
    by_hand = {
        query: [
            document.id
            for document in pipeline.run({"one": {"query": text}, "other": {"query": text}})["joiner"]["documents"]
        ]
        for query, text in QUESTIONS.items()
    }
    same(stages["joiner"], by_hand)


def routed() -> Pipeline:
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
    outputs = ["even retriever", "odd retriever", "empty retriever"]
    stages = evaluate(PipelineRetriever(routed(), output=outputs), ASKED, METRICS)
    assert [*stages] == ["even retriever", "odd retriever", "reached"]
    assert stages.unreached == ("empty retriever",)
    run = run_of(list)
    even = {query for query, text in QUESTIONS.items() if len(text) % 2 == 0}
    assert 0 < len(even) < len(QUESTIONS)
    for name, queries in {"even retriever": even, "odd retriever": run.keys() - even, "reached": run.keys()}.items():
        truth = {query: judged for query, judged in QRELS.items() if query in queries}
        core = rm.evaluate(truth, {query: run[query] for query in truth}, METRICS)
        assert (stages[name].means, stages[name].n) == (core.means, core.n)
        assert stages[name].counts["queries"] == len(truth)
    assert "no question reached empty retriever" in str(stages)
    assert str(stages).splitlines()[-5].split()[:2] == ["after", "n"]


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
    alike = {query for query, text in QUESTIONS.items() if ANSWERS[text][0] == refused}
    pipeline = Pipeline()
    pipeline.add_component("retriever", Prepared(ANSWERS))
    pipeline.add_component("ranker", Refuses())
    pipeline.connect("retriever.documents", "ranker.documents")
    with pytest.warns(rm.RetrievalWarning, match="the retriever failed"):
        stages = evaluate(pipeline, ASKED, "mrr")
    assert {evaluation.counts["failed"] for evaluation in stages.values()} == {len(alike)}
    for one in stages.values():
        assert {one.per_query["mrr"][query] for query in alike} == {0.0}
        assert one.means["mrr"] > 0
        assert one.counts["queries"] == len(QUESTIONS)


@both
def test_a_setup_error_is_no_score(evaluate: Evaluate) -> None:
    pipeline = Pipeline()
    pipeline.add_component("retriever", Prepared(dict.fromkeys(ANSWERS, ConnectionError("401"))))
    with pytest.raises(Exception, match="401"):
        evaluate(pipeline, ASKED, "mrr")
    with pytest.raises(TypeError, match="evaluate_pipeline: got an unexpected keyword argument 'worker'"):
        evaluate(pipeline, ASKED, worker=2)
    with pytest.raises(ValueError, match="ndcg"):
        evaluate(pipeline, ASKED, "ndgc@10")


@both
def test_a_component_is_a_pipeline_of_one_stage(evaluate: Evaluate) -> None:
    stages = evaluate(PreparedAsync(ANSWERS), ASKED, METRICS)
    assert [*stages] == ["documents"]
    same(stages["documents"], run_of(list))


def test_spans_are_found_in_the_whole_documents() -> None:
    book = Document(id="book", content="A closure keeps names. A slot saves memory.")
    chunks = [
        Document(id=str(at), content=text, meta={"source_id": "book", "split_idx_start": 0})  # wrong for one
        for at, text in enumerate(["A closure keeps names.", "A slot saves memory."])
    ]
    pipeline = Pipeline()
    pipeline.add_component("retriever", Prepared({"what saves memory?": chunks}))
    pipeline.add_component("ranker", Turned())
    pipeline.connect("retriever.documents", "ranker.documents")
    asked = [("what saves memory?", [rm.Span("book", 23, 43)])]
    stages = evaluate_pipeline(pipeline, asked, "mrr", documents=[book])
    assert {name: one.means["mrr"] for name, one in stages.items()} == {"retriever": 0.5, "ranker": 1.0}
