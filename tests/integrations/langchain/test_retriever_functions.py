"""Chains, graphs and functions as LangChain teaches them are asked with the text of a query."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_classic.chains import create_history_aware_retriever, create_retrieval_chain
from langchain_classic.chains.combine_documents import create_stuff_documents_chain
from langchain_classic.retrievers import (
    ContextualCompressionRetriever,
    EnsembleRetriever,
    MergerRetriever,
    MultiQueryRetriever,
)
from langchain_classic.retrievers.document_compressors import DocumentCompressorPipeline
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict

from langchain_retrieval_metrics import aevaluate_retriever, evaluate_retriever, langsmith_target

QUESTIONS = [(f"question {number}", ["d2"]) for number in range(6)]


DOCUMENTS = [Document("one", id="d1"), Document("two", id="d2")]


MODEL = FakeListChatModel(responses=["because"])


PROMPT = ChatPromptTemplate.from_template("{context} {input}")


CALLS: list[str] = []


class Finder(BaseRetriever):
    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
    ) -> list[Document]:
        return find(query)


class State(TypedDict):
    question: str
    context: list[Document]


def find(query: str) -> list[Document]:
    assert query.startswith("question")
    CALLS.append(query)
    return DOCUMENTS


async def afind(query: str) -> list[Document]:
    await asyncio.sleep(0)
    return find(query)


def graph() -> Any:
    builder: Any = StateGraph(State)
    builder.add_node("retrieve", lambda state: {"context": Finder().invoke(state["question"])})
    builder.add_edge(START, "retrieve")
    return builder.compile()


class OnlyAsynchronous(Finder):
    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
    ) -> list[Document]:
        raise NotImplementedError(query)

    async def _aget_relevant_documents(self, query: str, **_: Any) -> list[Document]:
        return await afind(query)


CHAIN = create_retrieval_chain(Finder(), create_stuff_documents_chain(MODEL, PROMPT))


REWRITE: Any = ChatPromptTemplate.from_template("{query}") | FakeListChatModel(responses=["question"])


GIVING: dict[str, tuple[Any, dict[str, str]]] = {
    "retriever": (Finder(), {}),
    "function": (find, {}),
    "asynchronous function": (afind, {}),
    "lambda": (RunnableLambda(find), {}),
    "asynchronous lambda": (RunnableLambda(afind), {}),
    "only asynchronous": (OnlyAsynchronous(), {}),
    "with retry": (Finder().with_retry(), {}),
    "with fallbacks": (Finder().with_fallbacks([Finder()]), {}),
    "a step before": (RunnableLambda(str.strip) | Finder(), {}),
    "a prompt that rewrites": (REWRITE | StrOutputParser() | Finder(), {}),
    "`RunnableParallel`": (
        {"context": Finder(), "input": RunnablePassthrough()} | RunnablePassthrough(),
        {"documents_key": "context"},
    ),
    "`RunnablePassthrough.assign`": (
        RunnablePassthrough.assign(context=RunnableLambda(lambda inputs: inputs["input"]) | Finder()),
        {"query_key": "input", "documents_key": "context"},
    ),
    "`create_retrieval_chain`": (CHAIN, {"query_key": "input", "documents_key": "context"}),
    "a LangGraph graph whose state has `question` and `context`": (
        graph(),
        {"query_key": "question", "documents_key": "context"},
    ),
    "a function of a mapping": (lambda inputs: find(inputs["query"]), {"query_key": "query"}),
    "a step after": (Finder() | RunnableLambda(lambda documents: documents[:2]), {}),
    "MultiQueryRetriever": (
        MultiQueryRetriever.from_llm(Finder(), FakeListChatModel(responses=["question a\nquestion b"])),
        {},
    ),
    "EnsembleRetriever": (EnsembleRetriever(retrievers=[Finder(), Finder()], weights=[0.5, 0.5]), {}),
    "MergerRetriever": (MergerRetriever(retrievers=[Finder()]), {}),
    "compression": (
        ContextualCompressionRetriever(
            base_compressor=DocumentCompressorPipeline(transformers=[]), base_retriever=Finder()
        ),
        {},
    ),
    "`create_history_aware_retriever`": (
        create_history_aware_retriever(MODEL, Finder(), PROMPT),
        {"query_key": "input"},
    ),
}


EVALUATE: dict[str, Callable[..., Any]] = {
    "sync": evaluate_retriever,
    "async": lambda *arguments, **options: asyncio.run(aevaluate_retriever(*arguments, **options)),
}


PAGE = Path(__file__).parents[3] / "integrations" / "langchain" / "README.md"


def test_the_page_has_a_row_for_each_that_needs_arguments() -> None:
    rows = PAGE.read_text(encoding="utf-8").partition("| chain | arguments |\n| --- | --- |\n")[2].partition("\n\n")[0]
    shown = dict(row.strip("| ").split(" | ") for row in rows.splitlines())
    expected = {}
    for name, (_, options) in GIVING.items():
        if options:
            arguments = [f'{key}="{value}"' for key, value in options.items()]
            expected[name] = f"`{', '.join(arguments)}`"
    assert shown == expected
    assert len(shown) == 6


@pytest.mark.parametrize("how", EVALUATE)
@pytest.mark.parametrize("name", GIVING)
def test_a_chain_gives_the_number_of_the_bare_retriever(name: str, how: str) -> None:
    retriever, options = GIVING[name]
    result = EVALUATE[how](retriever, QUESTIONS, "mrr", **options)
    assert result.per_query["mrr"] == {query: 0.5 for query, _ in QUESTIONS}
    assert result.errors == {}


@pytest.mark.parametrize("how", EVALUATE)
@pytest.mark.parametrize(
    ("retriever", "message"),
    [
        (CHAIN, "the chain takes a mapping with 'input', not a text; name the key of the query with query_key='input'"),
        (
            create_retrieval_chain(Finder(), RunnableLambda(lambda _: "an answer")),
            "the chain takes a mapping, not a text; name the key of the query with query_key='input', as create_retr",
        ),
        (graph(), "the chain takes a mapping.*name the key of the query with query_key="),
    ],
)
def test_a_chain_that_takes_no_text_is_refused_before_the_second_question(
    retriever: Any, message: str, how: str
) -> None:
    with pytest.raises(TypeError, match=message) as raised:
        EVALUATE[how](retriever, QUESTIONS, "mrr", documents_key="context")
    assert raised.value.__notes__ == ["this is the first answer, to query 'question 0' ('question 0')"]


@pytest.mark.parametrize("how", EVALUATE)
def test_where_every_question_fails_there_is_no_number(how: str) -> None:
    wrong: Any = RunnableLambda(lambda inputs: find(inputs["input"]))
    with pytest.raises(TypeError, match="string indices") as raised:
        EVALUATE[how](wrong, QUESTIONS, "mrr")
    assert raised.value.__notes__ == [
        (
            "the first 3 queries failed with the same error, so the others were not run; this is the failure of query "
            "'question 0'"
        )
    ]


@pytest.mark.parametrize("name", ["retriever", "function", "asynchronous lambda", "only asynchronous"])
def test_a_target_of_langsmith_takes_what_the_evaluation_takes(name: str) -> None:
    assert langsmith_target(GIVING[name][0])({"query": "question 1"}) == {"documents": DOCUMENTS}


def test_a_target_of_langsmith_gives_a_chain_all_inputs() -> None:
    with pytest.raises(TypeError, match="takes a mapping with 'input', not a text; pass query_key=None"):
        langsmith_target(CHAIN, query_key="input")({"input": "question 1"})
    target = langsmith_target(CHAIN, query_key=None, documents_key="context")
    assert target({"input": "question 1"})["context"] == DOCUMENTS


def test_the_config_can_allow_fewer_questions_at_once() -> None:
    n_running = 0
    max_running = 0

    async def slow(query: str) -> list[Document]:
        nonlocal n_running, max_running
        n_running += 1
        max_running = max(max_running, n_running)
        await asyncio.sleep(0.01)
        n_running -= 1
        return find(query)

    evaluate_retriever(RunnableLambda(slow), QUESTIONS, "mrr", config={"max_concurrency": 2})
    assert max_running == 2
    with pytest.raises(ValueError, match="max_concurrency of config must be"):
        evaluate_retriever(find, QUESTIONS, "mrr", config={"max_concurrency": 0})
