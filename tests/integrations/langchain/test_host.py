"""LangChain for the core: chains, graphs, functions and models as LangChain teaches them, and what they search."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import wrap_tool_call
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
from langchain_core.language_models import BaseChatModel, FakeListChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage, messages_to_dict
from langchain_core.output_parsers import StrOutputParser
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_core.tools import create_retriever_tool, tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from typing_extensions import TypedDict

import retrieval_metrics as rm
from corpus import topics
from generate_questions import Script
from langchain_retrieval_metrics import aevaluate_retriever, evaluate_retriever, langsmith_target, record

ASKED = [(f"question {number}", ["d2"]) for number in range(6)]

FOUND = [Document("one", id="d1"), Document("two", id="d2")]

MODEL = FakeListChatModel(responses=["because"])

PROMPT = ChatPromptTemplate.from_template("{context} {input}")

CALLS: list[str] = []


class Finder(BaseRetriever):
    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002  (the host's signature)
    ) -> list[Document]:
        return find(query)


class State(TypedDict):
    question: str
    context: list[Document]


def find(query: str) -> list[Document]:
    assert query.startswith("question")
    CALLS.append(query)
    return FOUND


async def afind(query: str) -> list[Document]:
    await asyncio.sleep(0)
    return find(query)


def graph() -> Any:
    made: Any = StateGraph(State)
    made.add_node("retrieve", lambda state: {"context": Finder().invoke(state["question"])})
    made.add_edge(START, "retrieve")
    return made.compile()


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
        RunnablePassthrough.assign(context=RunnableLambda(lambda given: given["input"]) | Finder()),
        {"query_key": "input", "documents_key": "context"},
    ),
    "`create_retrieval_chain`": (CHAIN, {"query_key": "input", "documents_key": "context"}),
    "a graph of LangGraph with `question` and `context` in its state": (
        graph(),
        {"query_key": "question", "documents_key": "context"},
    ),
    "a function of a mapping": (lambda given: find(given["query"]), {"query_key": "query"}),
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
    "async": lambda *given, **options: asyncio.run(aevaluate_retriever(*given, **options)),
}

PAGE = Path(__file__).parents[3] / "integrations" / "langchain" / "README.md"


def test_the_page_has_a_row_for_each_that_needs_arguments() -> None:
    rows = PAGE.read_text(encoding="utf-8").partition("| what | arguments |\n| --- | --- |\n")[2].partition("\n\n")[0]
    shown = dict(row.strip("| ").split(" | ") for row in rows.splitlines())
    assert shown == {
        name: "`" + ", ".join(f'{key}="{value}"' for key, value in options.items()) + "`"
        for name, (_, options) in GIVING.items()
        if options
    }
    assert len(shown) == 6


@pytest.mark.parametrize("how", EVALUATE)
@pytest.mark.parametrize("name", GIVING)
def test_a_chain_gives_the_number_of_the_bare_retriever(name: str, how: str) -> None:
    retriever, options = GIVING[name]
    result = EVALUATE[how](retriever, ASKED, "mrr", **options)
    assert result.per_query["mrr"] == {query: 0.5 for query, _ in ASKED}
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
        EVALUATE[how](retriever, ASKED, "mrr", documents_key="context")
    assert raised.value.__notes__ == ["this is the first answer, for query 'question 0': 'question 0'"]


@pytest.mark.parametrize("how", EVALUATE)
def test_where_every_question_fails_there_is_no_number(how: str) -> None:
    wrong: Any = RunnableLambda(lambda given: find(given["input"]))
    with pytest.raises(TypeError, match="string indices") as raised:
        EVALUATE[how](wrong, ASKED, "mrr")
    assert raised.value.__notes__ == [
        "the first 3 queries failed alike, so the others were not asked; this is the failure of query 'question 0'"
    ]


@pytest.mark.parametrize("name", ["retriever", "function", "asynchronous lambda", "only asynchronous"])
def test_a_target_of_langsmith_takes_what_the_evaluation_takes(name: str) -> None:
    assert langsmith_target(GIVING[name][0])({"query": "question 1"}) == {"documents": FOUND}


def test_a_target_of_langsmith_gives_a_chain_all_inputs() -> None:
    with pytest.raises(TypeError, match="takes a mapping with 'input', not a text; pass query_key=None"):
        langsmith_target(CHAIN, query_key="input")({"input": "question 1"})
    whole = langsmith_target(CHAIN, query_key=None, documents_key="context")
    assert whole({"input": "question 1"})["context"] == FOUND


def test_the_config_can_allow_fewer_questions_at_once() -> None:
    now = most = 0

    async def slow(query: str) -> list[Document]:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.01)
        now -= 1
        return find(query)

    evaluate_retriever(RunnableLambda(slow), ASKED, "mrr", config={"max_concurrency": 2})
    assert most == 2
    with pytest.raises(ValueError, match="max_concurrency of config must be"):
        evaluate_retriever(find, ASKED, "mrr", config={"max_concurrency": 0})


FOUND_FOR = {"close": ["d2", "d1"], "exit": ["d3", "d1"], "suppress": ["d7", "d4"]}

TEXTS = {one: f"the whole text of {one}" for ids in FOUND_FOR.values() for one in ids}

HOPS = [["close"], ["exit", "suppress"], ["down"], ["suppress"]]

CALM = [one for one in HOPS if one != ["down"]]


class Library(BaseRetriever):
    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        del run_manager
        if query == "down":
            raise ConnectionError("index offline")
        return [Document(TEXTS[one], id=one) for one in FOUND_FOR[query]]


class Scripted(BaseChatModel):
    hops: list[list[str]] = HOPS

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        del tools, kwargs
        return self

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        del stop, run_manager, kwargs
        turn = sum(isinstance(message, AIMessage) for message in messages)
        message = AIMessage("It is closed [d2], swallowed [d4], and more [d9].")
        if turn < len(self.hops):
            asked = enumerate(self.hops[turn])
            calls = [{"name": "search", "args": {"query": query}, "id": f"{turn}/{at}"} for at, query in asked]
            message = AIMessage("", tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=message)])


def agent(hops: list[list[str]] = HOPS, searching: Any = None) -> Any:
    searching = searching or create_retriever_tool(Library(), "search", "Search the documents")
    middleware = [keep_going] if ["down"] in hops else []
    return create_agent(Scripted(hops=hops), [searching], middleware=middleware)


@wrap_tool_call
def keep_going(request: Any, handler: Any) -> Any:
    try:
        return handler(request)
    except ConnectionError as error:
        return ToolMessage(f"error: {error}", tool_call_id=request.tool_call["id"], status="error")


MESSAGES = {"messages": [("user", "How is a file closed?")]}


def cited(answer: str) -> list[str]:
    return [one for one in ("d2", "d4", "d9") if f"[{one}]" in answer]


def test_an_agent_is_recorded_call_by_call() -> None:
    with record(citations=cited) as recorded:
        agent().invoke(MESSAGES, config={"callbacks": [recorded.handler("q1")]})
    t = recorded.trajectories
    assert repr(t) == "<Trajectories: 1 query, 5 calls, 1 failed>"
    assert [(call.query, [item.id for item in call.ranking], call.turn, call.error) for call in t["q1"].calls] == [  # type: ignore[union-attr]
        ("close", ["d2", "d1"], 1, None),
        ("exit", ["d3", "d1"], 2, None),
        ("suppress", ["d7", "d4"], 2, None),
        ("down", [], 3, "ConnectionError: index offline"),
        ("suppress", ["d7", "d4"], 4, None),
    ]
    assert [item.id for item in t["q1"].context or ()] == ["d2", "d1", "d3", "d7", "d4"]  # type: ignore[union-attr]
    assert t["q1"].citations == ["d2", "d4", "d9"]
    result = rm.evaluate({"q1": {"d2": 1, "d3": 1, "d4": 2}}, t.union(), ["map", "ndcg", "recall@1calls"])
    assert [round(value, 6) for value in result.means.values()] == [0.755556, 0.726208, round(1 / 3, 6)]


def test_parallel_calls_have_one_order() -> None:
    with record() as recorded:
        for number in range(10):
            agent([["close", "exit", "suppress"]]).invoke(MESSAGES, config={"callbacks": [recorded.handler(number)]})
    orders = {tuple(call.query for call in one.calls) for one in recorded.trajectories.values()}
    assert orders == {("close", "exit", "suppress")}


def test_an_asynchronous_run_is_recorded_alike() -> None:
    with record() as recorded:
        asyncio.run(agent(CALM).ainvoke(MESSAGES, config={"callbacks": [recorded.handler("q1")]}))
    queries = [call.query for call in recorded.trajectories["q1"].calls]
    assert queries == ["close", "exit", "suppress", "suppress"]


def test_a_retriever_alone_is_one_call_and_two_runs_of_a_question_are_rows() -> None:
    with record() as recorded:
        for _ in range(2):
            Library().invoke("close", config={"callbacks": [recorded.handler("q1")]})
    assert recorded.trajectories.questions == {"q1#1": "q1", "q1#2": "q1"}


def test_a_tool_without_a_retriever_is_named_and_keeps_its_documents_as_artifact() -> None:
    @tool("search", response_format="content_and_artifact")
    def search(query: str) -> Any:
        """Search the documents."""
        return "texts", Library().invoke(query, config={"callbacks": []})

    with record() as unnamed, record(tools="search") as named:
        callbacks = [unnamed.handler("q1"), named.handler("q1")]
        agent([["close"]], search).invoke(MESSAGES, config={"callbacks": callbacks})
    assert [item.id for item in named.trajectories.union()["q1"]] == ["d2", "d1"]
    with pytest.raises(ValueError, match=r"tools=\['search'\] says that one searches"):
        _ = unnamed.trajectories


def test_an_agent_is_a_target_of_an_evaluation() -> None:
    questions = rm.EvaluationSet.from_dataset(
        [{"id": "q1", "query": "How is a file closed?", "relevant": {"d2": 1, "d3": 1, "d4": 2}}]
    )
    run = rm.retrieve(agent(CALM), questions)
    assert [item.id for item in run["q1"]] == ["d2", "d3", "d7", "d1", "d4"]
    assert round(rm.evaluate(questions, run, "ndcg").means["ndcg"], 6) == 0.768026
    config: Any = {"tags": ["evaluation"]}
    ours = evaluate_retriever(agent(CALM), questions, "ndcg", config=config)
    twin = asyncio.run(aevaluate_retriever(agent(CALM), questions, "ndcg"))
    assert [round(one.means["ndcg"], 6) for one in (ours, twin)] == [0.768026] * 2
    assert rm.retrieve(agent([]), questions)["q1"] == []  # it answered at once


@pytest.mark.parametrize("handled_by", ["middleware", "tool node"])
def test_an_outage_behind_a_tool_is_an_error_of_the_question(handled_by: str) -> None:
    @wrap_tool_call
    async def go_on(request: Any, handler: Any) -> Any:
        try:
            return await handler(request)
        except ConnectionError as error:
            return ToolMessage(f"error: {error}", tool_call_id=request.tool_call["id"], status="error")

    model, searching = Scripted(hops=[["down"]]), create_retriever_tool(Library(), "search", "Search the documents")
    target: Any = create_agent(model, [searching], middleware=[go_on])
    if handled_by == "tool node":
        graph = StateGraph(MessagesState)
        graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
        graph.add_node("tools", ToolNode([searching], handle_tool_errors=True))
        graph.add_edge(START, "model")
        graph.add_conditional_edges("model", lambda state: "tools" if state["messages"][-1].tool_calls else END)
        graph.add_edge("tools", "model")
        target = graph.compile()
    questions = [(f"How is file {number} closed?", ["d1"]) for number in range(2)]
    with pytest.raises(RuntimeError, match="ConnectionError: index offline"):
        evaluate_retriever(target, questions, "mrr")


def test_the_messages_in_the_state_of_an_agent_are_a_trace() -> None:
    @tool("search", response_format="content_and_artifact")
    def search(query: str) -> Any:
        """Search the documents."""
        found = Library().invoke(query)
        return "\n".join(one.page_content for one in found), found

    state = agent(searching=search).invoke(MESSAGES)
    for source in ({"q1": state}, {"q1": state["messages"]}, {"q1": messages_to_dict(state["messages"])}):
        t = rm.read_traces(source, tools="search", citations=cited)
        assert [(call.query, [item.id for item in call.ranking], call.turn, call.error) for call in t["q1"].calls] == [  # type: ignore[union-attr]
            ("close", ["d2", "d1"], 1, None),
            ("exit", ["d3", "d1"], 2, None),
            ("suppress", ["d7", "d4"], 2, None),
            ("down", [], 3, "error: index offline"),
            ("suppress", ["d7", "d4"], 4, None),
        ]
        assert [item.id for item in t["q1"].context or ()] == ["d2", "d1", "d3", "d7", "d4"]  # type: ignore[union-attr]
        assert t["q1"].citations == ["d2", "d4", "d9"]


def test_tools_without_a_retriever_are_named_in_the_evaluation_too() -> None:
    @tool("search", response_format="content_and_artifact")
    def search(query: str) -> Any:
        """Search the documents."""
        return "texts", Library().invoke(query, config={"callbacks": []})

    asked = [("How is a file closed?", ["d1"])]
    target = agent([["close"]], search)
    with pytest.raises(ValueError, match=r"tools=\['search'\] says that one searches"):
        evaluate_retriever(target, asked, "mrr")
    ours = evaluate_retriever(target, asked, "mrr", tools="search")
    twin = asyncio.run(aevaluate_retriever(target, asked, "mrr", tools=["search"]))
    assert [one.means["mrr"] for one in (ours, twin)] == [0.5] * 2
    with pytest.raises(TypeError, match=r"tools='search' names the tools of an agent .*, but Library is no agent"):
        evaluate_retriever(Library(), asked, "mrr", tools="search")


TOPICS = {name: topics()[name] for name in ("with", "yield", "lambda", "assert", "del", "raise", "import")}

SCRIPT = Script()


class Chat(BaseChatModel):
    """A chat model that follows the script of the examples."""

    model_name: str = "scripted-chat"

    @property
    def _llm_type(self) -> str:
        return "script"

    def _generate(self, messages: Any, *_: Any, **__: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=AIMessage(SCRIPT(messages[-1].content)))])


def documents() -> list[Document]:
    return [Document(text, id=name, metadata={"source": f"{name}.rst"}) for name, text in TOPICS.items()]


def made(corpus: Any, model: Any, n: int = 5, **how: Any) -> rm.types.GeneratedQuestions:
    return rm.generate_questions(corpus, model, n, kinds="one_passage", **how)


def test_a_chat_model_writes_the_questions_of_a_function() -> None:
    of_host = made(documents(), Chat())
    of_core = made([rm.Retrieved(name, text, source=f"{name}.rst") for name, text in TOPICS.items()], Script())
    assert of_host.questions.queries == of_core.questions.queries
    assert of_host.questions.qrels == of_core.questions.qrels
    assert {each.model for each in of_host.questions.provenance.values()} == {"scripted-chat"}
    assert all(str(each.source).endswith(".rst") for each in of_host.questions.provenance.values())


@pytest.mark.asyncio
async def test_a_chain_is_a_model_too() -> None:
    chain = ChatPromptTemplate.from_messages([("human", "{prompt}")]) | Chat()
    model: Any = RunnableLambda(lambda prompt: {"prompt": prompt}) | chain
    found = await rm.agenerate_questions(documents(), model, 5, kinds="one_passage")
    assert found.questions.queries == made(documents(), Chat()).questions.queries


def test_documents_that_a_loader_gave_no_id_go_by_their_source() -> None:
    loaded = [Document(text, metadata={"source": f"{name}.rst"}) for name, text in TOPICS.items()]
    spans = [one for one in pieces(made(loaded, Chat())) if isinstance(one, rm.Span)]
    assert {span.source for span in spans} <= {f"{name}.rst" for name in TOPICS}
    pages = [Document(text, metadata={"source": "book.pdf"}) for text in TOPICS.values()]
    with pytest.raises(ValueError, match="add_start_index=True"):
        made(pages, Chat())


def test_chunks_with_their_places_give_places_in_the_whole_document() -> None:
    chunks = [
        Document(text[start : start + 1500], metadata={"source": f"{name}.rst", "start_index": start})
        for name, text in TOPICS.items()
        for start in range(0, len(text), 1500)
    ]
    for piece in pieces(made(chunks, Chat())):
        if isinstance(piece, rm.Span):
            assert len(TOPICS[piece.source.removesuffix(".rst")][piece.start : piece.end]) == piece.end - piece.start


class Search(BaseRetriever):
    """Returns every document, those that share most words with the query first."""

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:  # noqa: ARG002  (the host's)
        wanted = set(query.lower().split())
        return sorted(documents(), key=lambda one: -len(wanted & set(one.page_content.lower().split())))


def test_its_retriever_is_evaluated_with_them_and_used_to_check_them() -> None:
    found = made(documents(), Chat(), retriever=Search())
    result = evaluate_retriever(Search(), found.questions, ["recall@7", "mrr"])
    assert result.means["recall@7"] == 1.0
    assert 0 < result.means["mrr"] <= 1


def pieces(found: rm.types.GeneratedQuestions) -> list[Any]:
    qrels: Any = found.questions.qrels
    return [one for groups in qrels.values() for group in groups for one in group]


class Structured(Chat):
    """A chat model with structured output of its own."""

    schemas: ClassVar[list[Any]] = []

    def with_structured_output(self, schema: Any, *, include_raw: bool = False, **_: Any) -> Any:
        assert include_raw
        self.schemas.append(schema)

        def reply(prompt: str) -> dict[str, Any]:
            raw = self.invoke(prompt)
            return {"raw": raw, "parsed": json.loads(str(raw.content)), "parsing_error": None}

        return RunnableLambda(reply)


def test_a_chat_model_with_structured_output_is_asked_for_it() -> None:
    model = Structured()
    model.schemas.clear()
    assert made(documents(), model).questions == made(documents(), Chat()).questions
    assert {tuple(schema["properties"]) for schema in model.schemas} >= {
        ("question", "quotes", "answer"),
        ("answerable",),
        ("supported",),
    }
