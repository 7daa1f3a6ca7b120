"""A pipeline evaluated after each of its steps: one run of each question, and what reached each output."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from haystack import Document, Pipeline, component
from haystack.components.builders import PromptBuilder
from haystack.components.converters import TextFileToDocument
from haystack.components.joiners import DocumentJoiner
from haystack.components.preprocessors import DocumentSplitter
from haystack.components.retrievers import FilterRetriever, InMemoryBM25Retriever, MultiQueryTextRetriever
from haystack.components.routers import ConditionalRouter, MetadataRouter
from haystack.document_stores.in_memory import InMemoryDocumentStore

import retrieval_metrics as rm
from haystack_hosts import Embedder, PassOn, Prepared, PreparedAsync
from haystack_integrations.components.evaluators.retrieval_metrics import (
    PipelineRetriever,
    aevaluate_pipeline,
    evaluate_pipeline,
)
from judged_words import METRICS, QRELS, QUESTIONS, found

ANSWERS = {text: found(text) for text in QUESTIONS.values()}

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
    pipeline, ranker = Pipeline(), Turned()
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
    assert header.split() == ["after", "mrr", "recall@3", "mrr", "at", "most"]
    assert note == "sources, which lose nothing: retriever"
    assert ideal_note == "mrr at most: with what the step holds in the best order"
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
    by_hand = {
        query: [
            document.id
            for document in pipeline.run({"one": {"query": text}, "other": {"query": text}})["joiner"]["documents"]
        ]
        for query, text in QUESTIONS.items()
    }
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
    assert "no question reached empty retriever" in str(stages)
    assert str(stages).splitlines()[-7].split()[:2] == ["after", "n"]


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


TEXTS = {
    "with": "the with statement wraps a block and closes a file",
    "open": "open returns a file, close closes a file",
    "for": "for walks over a list",
    "list": "a list holds a block of values",
}

ASKED_WORDS = {"q1": "who wraps a block?", "q2": "what closes a file?", "q3": "what walks over a list?", "q4": "yield"}


@pytest.fixture
def bm25() -> InMemoryBM25Retriever:
    store = InMemoryDocumentStore()
    store.write_documents([Document(id=name, content=text) for name, text in TEXTS.items()])
    return InMemoryBM25Retriever(store, top_k=3)


def ids(run: Any) -> dict[str, list[str]]:
    return {query: [item.id for item in ranking] for query, ranking in run.items()}


def in_both_styles(retriever: Any) -> dict[str, list[str]]:
    """What synchronous and asynchronous calls retrieve, which is the same."""
    run = rm.retrieve(retriever, ASKED_WORDS)
    assert asyncio.run(rm.aretrieve(retriever, ASKED_WORDS)) == run
    assert not run.errors
    return ids(run)


def test_an_input_for_several_queries_gets_a_list_of_one(bm25: InMemoryBM25Retriever) -> None:
    direct = in_both_styles(bm25)
    several = MultiQueryTextRetriever(retriever=bm25)
    assert in_both_styles(several) == direct
    pipeline = Pipeline()
    pipeline.add_component("retriever", MultiQueryTextRetriever(retriever=bm25))
    assert in_both_styles(pipeline) == direct


def test_a_component_without_a_query_is_refused(bm25: InMemoryBM25Retriever) -> None:
    with pytest.raises(TypeError, match="no input of FilterRetriever takes the text of a query"):
        rm.retrieve(FilterRetriever(bm25.document_store), ASKED_WORDS)


@component
class First:
    """Keeps the first document, as a ranker with top_k=1."""

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, Any]:
        return {"documents": documents[:1]}


def routed_by_length(bm25: InMemoryBM25Retriever) -> Pipeline:
    """A ranker for many documents; few leave the pipeline as they are."""
    routes: list[Any] = [
        {"condition": "{{ documents|length > 2 }}", "output": "{{ documents }}", "output_name": "many"},
        {"condition": "{{ documents|length <= 2 }}", "output": "{{ documents }}", "output_name": "few"},
    ]
    for route in routes:
        route["output_type"] = list[Document]
    pipeline = Pipeline()
    pipeline.add_component("retriever", bm25)
    pipeline.add_component("router", ConditionalRouter(routes, unsafe=True))
    pipeline.add_component("ranker", First())
    pipeline.connect("retriever.documents", "router.documents")
    pipeline.connect("router.many", "ranker.documents")
    return pipeline


def test_of_branches_what_was_reached_counts(bm25: InMemoryBM25Retriever) -> None:
    bm25.top_k = 10
    pipeline = routed_by_length(bm25)
    expected = {}
    for query, text in ASKED_WORDS.items():
        ((reached,),) = [list(outputs.values()) for outputs in pipeline.run({"retriever": {"query": text}}).values()]
        expected[query] = [document.id for document in reached]
    assert len({len(ranking) for ranking in expected.values()}) > 1
    assert in_both_styles(PipelineRetriever(pipeline, output=["ranker.documents", "router.few"])) == expected
    assert in_both_styles(pipeline) == expected  # a router that takes one of several ways is understood


def test_an_output_that_a_query_does_not_reach_is_its_failure_and_no_empty_ranking(bm25: InMemoryBM25Retriever) -> None:
    bm25.top_k = 10
    run = rm.retrieve(PipelineRetriever(routed_by_length(bm25), output="ranker"), ASKED_WORDS)
    assert run.errors
    assert all(isinstance(error, LookupError) for error in run.errors.values())
    assert "the query reached none of them" in str(next(iter(run.errors.values())))


def test_joined_branches_equal_the_pipeline(bm25: InMemoryBM25Retriever) -> None:
    pipeline = Pipeline()
    pipeline.add_component("one", bm25)
    # The branches reach the joiner in either order when they run side by side, so no two scores may tie.
    fixed_documents = [
        Document(id="y", content="text of y", score=1.5),
        Document(id="x", content="text of x", score=0.1),
    ]
    pipeline.add_component("other", Prepared(dict.fromkeys(ASKED_WORDS.values(), fixed_documents)))
    pipeline.add_component("joiner", DocumentJoiner(join_mode="concatenate", top_k=3))
    pipeline.connect("one.documents", "joiner.documents")
    pipeline.connect("other.documents", "joiner.documents")
    expected = {}
    for query, text in ASKED_WORDS.items():
        joined_documents = pipeline.run({"one": {"query": text}, "other": {"query": text}})["joiner"]["documents"]
        expected[query] = [document.id for document in joined_documents]
    assert in_both_styles(pipeline) == expected
    assert [*PipelineRetriever(pipeline).stages] == ["one", "other", "joiner"]


@component
class Model:
    """Counts what it is asked, as a paid service would."""

    def __init__(self) -> None:
        self.asked = 0

    @component.output_types(replies=list[str])
    def run(self, prompt: str) -> dict[str, Any]:
        self.asked += 1
        return {"replies": [f"an answer to {prompt}"]}


def test_what_comes_after_the_documents_is_not_run(bm25: InMemoryBM25Retriever) -> None:
    pipeline, model = Pipeline(), Model()
    pipeline.add_component("retriever", bm25)
    pipeline.add_component("prompt", PromptBuilder("{{ question }} {{ documents }} in {{ language }}"))
    pipeline.add_component("model", model)
    pipeline.connect("retriever.documents", "prompt.documents")
    pipeline.connect("prompt.prompt", "model.prompt")
    assert in_both_styles(pipeline)["q1"][0] == "with"
    assert model.asked == 0
    text = ASKED_WORDS["q1"]
    pipeline.run({"retriever": {"query": text}, "prompt": {"question": text, "language": "English"}})
    assert model.asked == 1  # the user's pipeline is whole


@component
class Splits:
    @component.output_types(rejected=list[Document], kept=list[Document])
    def run(self, query: str) -> dict[str, Any]:
        return {"rejected": [Document(id="no", content=query)], "kept": [Document(id="yes", content=query)]}


def test_of_two_outputs_none_is_guessed() -> None:
    with pytest.raises(TypeError, match="2 outputs hold the last documents: rejected, kept; name the one"):
        rm.retrieve(Splits(), ASKED_WORDS)
    assert in_both_styles(PipelineRetriever(Splits(), output="kept"))["q1"] == ["yes"]
    pipeline = Pipeline()
    pipeline.add_component("splits", Splits())
    rules: Any = {"en": {"field": "meta.language", "operator": "==", "value": "en"}}
    pipeline.add_component("by language", MetadataRouter(rules))
    pipeline.connect("splits.kept", "by language.documents")
    with pytest.raises(TypeError, match="3 outputs hold the last documents: splits"):
        rm.retrieve(pipeline, ASKED_WORDS)
    assert in_both_styles(PipelineRetriever(pipeline, output="by language.unmatched"))["q1"] == ["yes"]


def test_other_inputs_are_given_by_name(bm25: InMemoryBM25Retriever) -> None:
    retriever = PipelineRetriever(bm25, inputs={"top_k": 1})
    assert max(len(ranking) for ranking in in_both_styles(retriever).values()) == 1
    pipeline = Pipeline()
    pipeline.add_component("retriever", InMemoryBM25Retriever(bm25.document_store, top_k=3))
    assert in_both_styles(PipelineRetriever(pipeline, inputs={"retriever": {"top_k": 1}})) == in_both_styles(retriever)
    with pytest.raises(ValueError, match="inputs are given for 'ranker'; the components are 'retriever'"):
        PipelineRetriever(pipeline, inputs={"ranker": {}})


@pytest.mark.parametrize("output", ["retriever.texts", "model", "", []])
def test_an_output_that_is_not_there_is_refused_with_those_that_are(output: Any) -> None:
    pipeline = Pipeline()
    pipeline.add_component("retriever", Prepared({}))
    with pytest.raises(ValueError, match=r"retriever.documents|names nothing"):
        PipelineRetriever(pipeline, output=output)


def test_what_is_no_retriever_is_refused_in_words() -> None:
    pipeline = Pipeline()
    pipeline.add_component("embedder", Embedder({}))
    with pytest.raises(TypeError, match="nothing in the pipeline returns documents"):
        rm.retrieve(pipeline, ASKED_WORDS)


def test_a_component_without_a_synchronous_way_is_awaited() -> None:
    pipeline = Pipeline()
    pipeline.add_component("retriever", PreparedAsync({text: ["with"] for text in ASKED_WORDS.values()}))
    assert in_both_styles(pipeline)["q2"] == ["with"]


def test_a_span_in_a_file_with_the_line_ends_of_windows_is_that_of_what_open_reads(tmp_path: Path) -> None:
    path = tmp_path / "rules.txt"
    lines = [f"Rule {number}: an order of class {number} is sent within {number + 2} days." for number in range(40)]
    path.write_bytes("\r\n".join(lines).encode())
    documents = TextFileToDocument().run(sources=[path])["documents"]
    chunks = DocumentSplitter(split_by="word", split_length=30).run(documents=documents)["documents"]
    read = path.read_text()
    questions, answers = [], {}
    for line in lines:
        if chunks_with_line := [chunk for chunk in chunks if line in str(chunk.content)]:
            start = read.index(line)
            questions.append((line, [rm.Span(documents[0].id, start, start + len(line))]))
            answers[line] = chunks_with_line
    assert len(questions) > 10
    (stage,) = evaluate_pipeline(Prepared(answers), questions, "coverage", documents=documents).values()
    assert set(stage.per_query["coverage"].values()) == {1.0}
