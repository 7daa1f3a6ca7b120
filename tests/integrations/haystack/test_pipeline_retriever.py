"""A pipeline as a retriever: the outputs that count, other inputs, and what is not run."""

import typing
from collections.abc import Sequence
from typing import Any

import pytest
from haystack import Document, Pipeline, component
from haystack.components.builders import PromptBuilder
from haystack.components.joiners import DocumentJoiner
from haystack.components.retrievers import InMemoryBM25Retriever
from haystack.components.routers import ConditionalRouter, MetadataRouter

import retrieval_metrics as rm
from haystack_hosts import ASKED_WORDS, Embedder, Prepared, PreparedAsync, retrieve_in_both_styles
from haystack_integrations.components.evaluators.retrieval_metrics import PipelineRetriever, evaluate_pipeline


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
    assert retrieve_in_both_styles(PipelineRetriever(pipeline, output=["ranker.documents", "router.few"])) == expected
    assert retrieve_in_both_styles(pipeline) == expected  # a router that takes one of several ways is understood


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
    assert retrieve_in_both_styles(pipeline) == expected
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
    pipeline = Pipeline()
    model = Model()
    pipeline.add_component("retriever", bm25)
    pipeline.add_component("prompt", PromptBuilder("{{ question }} {{ documents }} in {{ language }}"))
    pipeline.add_component("model", model)
    pipeline.connect("retriever.documents", "prompt.documents")
    pipeline.connect("prompt.prompt", "model.prompt")
    assert retrieve_in_both_styles(pipeline)["q1"][0] == "with"
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
    assert retrieve_in_both_styles(PipelineRetriever(Splits(), output="kept"))["q1"] == ["yes"]
    pipeline = Pipeline()
    pipeline.add_component("splits", Splits())
    rules: Any = {"en": {"field": "meta.language", "operator": "==", "value": "en"}}
    pipeline.add_component("by language", MetadataRouter(rules))
    pipeline.connect("splits.kept", "by language.documents")
    with pytest.raises(TypeError, match="3 outputs hold the last documents: splits"):
        rm.retrieve(pipeline, ASKED_WORDS)
    assert retrieve_in_both_styles(PipelineRetriever(pipeline, output="by language.unmatched"))["q1"] == ["yes"]


def test_other_inputs_are_given_by_name(bm25: InMemoryBM25Retriever) -> None:
    retriever = PipelineRetriever(bm25, inputs={"top_k": 1})
    assert max(len(ranking) for ranking in retrieve_in_both_styles(retriever).values()) == 1
    pipeline = Pipeline()
    pipeline.add_component("retriever", InMemoryBM25Retriever(bm25.document_store, top_k=3))
    assert retrieve_in_both_styles(
        PipelineRetriever(pipeline, inputs={"retriever": {"top_k": 1}})
    ) == retrieve_in_both_styles(retriever)
    with pytest.raises(ValueError, match="inputs are given for 'ranker'; the components are 'retriever'"):
        PipelineRetriever(pipeline, inputs={"ranker": {}})


@pytest.mark.parametrize("output", ["retriever.texts", "model", "", []])
def test_an_output_that_is_not_there_is_refused_with_those_that_are(output: Any) -> None:
    pipeline = Pipeline()
    pipeline.add_component("retriever", Prepared({}))
    with pytest.raises(ValueError, match=r"retriever.documents|is empty"):
        PipelineRetriever(pipeline, output=output)


def test_what_is_no_retriever_is_refused_in_words() -> None:
    pipeline = Pipeline()
    pipeline.add_component("embedder", Embedder({}))
    with pytest.raises(TypeError, match="nothing in the pipeline returns documents"):
        rm.retrieve(pipeline, ASKED_WORDS)


def test_a_component_without_a_synchronous_way_is_awaited() -> None:
    pipeline = Pipeline()
    pipeline.add_component("retriever", PreparedAsync({text: ["with"] for text in ASKED_WORDS.values()}))
    assert retrieve_in_both_styles(pipeline)["q2"] == ["with"]


def make_finder(output: str, annotation: Any) -> Any:
    @component
    class Finder:
        @component.output_types(**{output: annotation})
        def run(self, query: str) -> dict[str, Any]:
            return {output: ["other", query]}

    return Finder()


# Older components are annotated with the names of `typing`.
SPELLINGS_OF_ID_LISTS: list[Any] = [list[str], typing.List[str], typing.Optional[typing.List[str]], Sequence[str]]  # noqa: UP006, UP045


@pytest.mark.parametrize("annotation", SPELLINGS_OF_ID_LISTS, ids=str)
def test_ids_in_place_of_documents_count_if_their_output_is_named(annotation: Any) -> None:
    finder = make_finder("ids", annotation)
    with pytest.raises(TypeError, match=r"nothing in Finder .*PipelineRetriever\(component, output='ids'\)"):
        rm.retrieve(finder, {"q": "text"})
    assert rm.retrieve(PipelineRetriever(finder, output="ids"), {"q": "text"}) == {"q": ["other", "text"]}
    pipeline = Pipeline()
    pipeline.add_component("finder", make_finder("ids", annotation))
    with pytest.raises(TypeError, match=r"PipelineRetriever\(pipeline, output='finder.ids'\)"):
        rm.retrieve(pipeline, {"q": "text"})
    stages = evaluate_pipeline(PipelineRetriever(pipeline, output="finder.ids"), [("text", ["text"])], "mrr")
    assert stages["finder"].means == {"mrr": 0.5}


def test_ids_are_the_last_stage_after_documents(bm25: InMemoryBM25Retriever) -> None:
    @component
    class Ids:
        @component.output_types(ids=list[str])
        def run(self, documents: list[Document]) -> dict[str, Any]:
            return {"ids": [document.id for document in documents]}

    pipeline = Pipeline()
    pipeline.add_component("retriever", bm25)
    pipeline.add_component("ids", Ids())
    pipeline.connect("retriever.documents", "ids.documents")
    named = PipelineRetriever(pipeline, output="ids")
    assert rm.retrieve(named, ASKED_WORDS) == retrieve_in_both_styles(pipeline)
    assert [*named.stages] == ["retriever", "ids"]


@pytest.mark.parametrize("annotation", [list, Any, list[Any], list[dict[str, Any]]], ids=str)
def test_outputs_of_no_kind_that_is_read_are_named_with_their_types(annotation: Any) -> None:
    with pytest.raises(TypeError, match=r"nothing in Finder returns documents \(found is .*list\[Document\]"):
        PipelineRetriever(make_finder("found", annotation))


def test_a_function_is_referred_to_the_core() -> None:
    function: Any = ASKED_WORDS.get
    with pytest.raises(TypeError, match=r"rm.retrieve\(function, questions\)"):
        evaluate_pipeline(function, [("text", ["text"])])
