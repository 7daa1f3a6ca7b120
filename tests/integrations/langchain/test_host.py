"""LangChain for the core: its models write questions, and its documents and retrievers are taken."""

import json
from typing import Any, ClassVar

import pytest
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda

import retrieval_metrics as rm
from corpus import topics
from generate_questions import Script
from langchain_retrieval_metrics import evaluate_retriever

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


def generate(corpus: Any, model: Any, n: int = 5, **how: Any) -> rm.types.GeneratedQuestions:
    return rm.generate_questions(corpus, model, n, kinds="one_passage", **how)


def test_a_chat_model_writes_the_questions_of_a_function() -> None:
    host_questions = generate(documents(), Chat())
    core_questions = generate(
        [rm.Retrieved(name, text, source=f"{name}.rst") for name, text in TOPICS.items()], Script()
    )
    assert host_questions.questions.queries == core_questions.questions.queries
    assert host_questions.questions.qrels == core_questions.questions.qrels
    assert {provenance.model for provenance in host_questions.questions.provenance.values()} == {"scripted-chat"}
    assert all(str(provenance.source).endswith(".rst") for provenance in host_questions.questions.provenance.values())


@pytest.mark.asyncio
async def test_a_chain_is_a_model_too() -> None:
    chain = ChatPromptTemplate.from_messages([("human", "{prompt}")]) | Chat()
    model: Any = RunnableLambda(lambda prompt: {"prompt": prompt}) | chain
    generated = await rm.agenerate_questions(documents(), model, 5, kinds="one_passage")
    assert generated.questions.queries == generate(documents(), Chat()).questions.queries


def test_documents_that_a_loader_gave_no_id_go_by_their_source() -> None:
    loaded = [Document(text, metadata={"source": f"{name}.rst"}) for name, text in TOPICS.items()]
    spans = [piece for piece in pieces(generate(loaded, Chat())) if isinstance(piece, rm.Span)]
    assert {span.source for span in spans} <= {f"{name}.rst" for name in TOPICS}
    pages = [Document(text, metadata={"source": "book.pdf"}) for text in TOPICS.values()]
    with pytest.raises(ValueError, match="add_start_index=True"):
        generate(pages, Chat())


def test_chunks_with_their_places_give_places_in_the_whole_document() -> None:
    chunks = []
    for name, text in TOPICS.items():
        for start in range(0, len(text), 1500):
            metadata = {"source": f"{name}.rst", "start_index": start}
            chunks.append(Document(text[start : start + 1500], metadata=metadata))
    for piece in pieces(generate(chunks, Chat())):
        if isinstance(piece, rm.Span):
            assert len(TOPICS[piece.source.removesuffix(".rst")][piece.start : piece.end]) == piece.end - piece.start


class Search(BaseRetriever):
    """Returns every document, those that share most words with the query first."""

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        query_words = set(query.lower().split())

        def count_shared_words(document: Document) -> int:
            return len(query_words & set(document.page_content.lower().split()))

        return sorted(documents(), key=count_shared_words, reverse=True)


def test_its_retriever_is_evaluated_with_them_and_used_to_check_them() -> None:
    generated = generate(documents(), Chat(), retriever=Search())
    result = evaluate_retriever(Search(), generated.questions, ["recall@7", "mrr"])
    assert result.means["recall@7"] == 1.0
    assert 0 < result.means["mrr"] <= 1


def pieces(generated: rm.types.GeneratedQuestions) -> list[Any]:
    qrels: Any = generated.questions.qrels
    judged_pieces = []
    for groups in qrels.values():
        for group in groups:
            judged_pieces += group
    return judged_pieces


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
    assert generate(documents(), model).questions == generate(documents(), Chat()).questions
    assert {tuple(schema["properties"]) for schema in model.schemas} >= {
        ("question", "quotes", "answer"),
        ("answerable",),
        ("supported",),
    }
