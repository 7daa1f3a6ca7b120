"""What a row holds: documents in every form, and the spans of a trace."""

import logging
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import mlflow
import pandas as pd
import pytest
from langchain_core.documents import Document as LangChainDocument
from langchain_core.retrievers import BaseRetriever
from mlflow.entities import Document, Trace

import retrieval_metrics as rm
from mlflow_hosts import NEEDED, score
from mlflow_retrieval_metrics import retrieval_scorers


@pytest.mark.parametrize(
    "outputs",
    [
        ["d3", "d7"],
        [Document("a", id="d3"), Document("b", id="d7")],
        [{"page_content": "a", "id": "d3"}, {"content": "b", "id": "d7", "metadata": None}],
        [rm.Retrieved("d3"), rm.Retrieved("d7")],
        [LangChainDocument("a", id="d3"), LangChainDocument("b", id="d7")],
    ],
    ids=["ids", "documents", "json", "items", "langchain"],
)
def test_documents_come_in_every_form(outputs: list[Any]) -> None:
    assert score(outputs=outputs, retrieved="outputs").value == 0.5


def test_a_document_is_matched_by_uri_source_or_quote() -> None:
    outputs = {"documents": [{"content": "nothing", "metadata": {"doc_uri": "a.md", "start_index": 0}}]}
    outputs["documents"].append({"content": "The with statement wraps a block.", "metadata": {"doc_uri": "with.md"}})
    for match, truth in (
        ("metadata:doc_uri", ["with.md"]),
        ("source", ["with.md"]),
        ("id", [rm.Quote("with statement wraps")]),
    ):
        expectations = {"relevant_ids": truth}
        assert (
            score(outputs=outputs, retrieved="outputs.documents", match=match, expectations=expectations).value == 0.5
        )


def traced(answer: Callable[[], Any]) -> Trace:
    """Call a function inside a span and return the trace, of a failure too."""
    with suppress(ConnectionError):
        mlflow.trace(answer, name="answer")()
    trace_id = mlflow.get_last_active_trace_id()
    assert trace_id is not None
    trace = mlflow.get_trace(trace_id, flush=True)
    assert isinstance(trace, Trace)
    return trace


def retriever(*ids: str, inner: Callable[[], Any] = lambda: None) -> Callable[[], Any]:
    @mlflow.trace(name=f"find {ids[0]}", span_type="RETRIEVER")
    def find() -> list[Document]:
        inner()
        return [Document("a text", id=id_) for id_ in ids]

    return find


def failing() -> None:
    raise ConnectionError("the store is down")


def in_turn(*steps: Callable[[], Any]) -> Callable[[], str]:
    def run() -> str:
        for step in steps:
            step()
        return "an answer"

    return run


@pytest.mark.usefixtures("experiment")
class TestATrace:
    @pytest.mark.parametrize(
        ("calls", "value"), [("interleaved", 1 / 3), ("union", 1 / 3), ("first", 0.0), ("last", 1 / 2)]
    )
    def test_of_several_calls_one_counts_or_their_union(self, calls: str, value: float) -> None:
        trace = traced(in_turn(retriever("d1", "d2"), retriever("d2", "d7")))
        assert score(trace=trace, calls=calls).value == value

    def test_a_later_call_shows_although_the_first_fills_the_cut_off(self) -> None:
        trace = traced(in_turn(retriever(*(f"miss {n}" for n in range(10))), retriever("d7")))
        assert score("recall@10", trace=trace).value == 1.0
        assert score("recall@2calls", trace=trace, calls="union").value == 1.0
        assert score("recall@1calls", trace=trace, calls="union").value == 0.0
        with pytest.warns(rm.RetrievalWarning, match="recall@10 ignores later calls"):
            assert score("recall@10", trace=trace, calls="union").value == 0.0

    def test_parallel_calls_stand_in_the_order_of_the_models_message(self) -> None:
        def model() -> None:
            calls = [{"id": "1", "name": "find", "args": {"query": "one"}}]
            calls += [{"id": "2", "name": "find", "args": {"query": "two"}}]
            mlflow.trace(lambda: {"tool_calls": calls}, name="model", span_type="CHAT_MODEL")()

        def find(query: str) -> list[Document]:
            return [Document("a text", id={"one": "d1", "two": "d7"}[query])]

        def search(query: str) -> None:
            mlflow.trace(find, span_type="RETRIEVER")(query)

        for first, second in (("one", "two"), ("two", "one")):
            trace = traced(in_turn(model, partial(search, first), partial(search, second)))
            assert score("mrr", trace=trace, calls="union").value == 0.5

    def test_what_was_read_and_cited_is_scored_like_what_was_found(self) -> None:
        def find_documents() -> list[Document]:
            return [Document(f"The text of {id_}.", id=id_) for id_ in ("d1", "d7", "d9")]

        def answer(context: str) -> list[dict[str, str]]:
            return [{"role": "assistant", "content": f"as {context} says"}]

        find = mlflow.trace(find_documents, name="find", span_type="RETRIEVER")
        model = mlflow.trace(answer, name="model", span_type="CHAT_MODEL")
        trace = traced(in_turn(find, partial(model, context="The text of d7. The text of d1.")))
        outputs = {"citations": ["d9", "d7"]}  # d9 was found, and never read
        cited = {"calls": "cited", "citations": "outputs.citations"}
        row = {"trace": trace, "outputs": outputs}
        judgments = {"relevant_ids": ["d7", "d9"]}
        assert score("recall", **row, expectations=judgments, calls="union").value == 1.0
        assert score("recall", **row, expectations=judgments, calls="context").value == 0.5
        assert score("recall", **row, expectations=judgments, **cited).value == 0.5
        assert score("mrr", **row, **cited).value == 1.0
        assert score("mrr", **row, calls="context").value == 0.5
        with pytest.raises(ValueError, match="the context of the answering model is unknown, which is not the same as"):
            score(trace=traced(in_turn(find)), calls="context")
        with pytest.raises(ValueError, match="calls='context' needs the spans of a model"):
            retrieval_scorers("mrr", retrieved="outputs", calls="context")
        assert (
            retrieval_scorers("mrr", calls="cited", citations="outputs.citations")[0].name
            == "mrr-calls-cited-citations-outputs.citations"
        )

    def test_one_call_keeps_its_repeats(self) -> None:
        assert score("precision@3", trace=traced(in_turn(retriever("d1", "d1", "d7")))).value == 1 / 3
        assert score("mrr", trace=traced(in_turn(retriever("d1", "d1", "d7")))).value == 1 / 3

    def test_a_retriever_inside_another_does_not_count(self) -> None:
        trace = traced(in_turn(retriever("d1", "d7", inner=retriever("d7"))))
        assert score(trace=trace).value == 0.5

    def test_a_span_is_chosen_by_name(self) -> None:
        @mlflow.trace(name="rerank", span_type="RERANKER")
        def rerank() -> list[Document]:
            return [Document("a text", id="d7")]

        assert score(trace=traced(in_turn(retriever("d1", "d7"), rerank)), retrieved="trace.rerank").value == 1.0

    def test_what_failed_before_it_retrieved_scores_0_and_says_why(self) -> None:
        feedback = score(trace=traced(in_turn(failing)))
        assert feedback.value == 0.0
        assert "the application failed: ConnectionError: the store is down" in str(feedback.rationale)

    def test_an_outage_that_the_application_caught_says_why_there_is_nothing(self) -> None:
        down = retriever("d7", inner=failing)

        def caught() -> str:
            with suppress(ConnectionError):
                down()
            return "an answer"

        feedback = score(trace=traced(caught))
        assert feedback.value == 0.0
        assert "every search failed: ConnectionError: the store is down" in str(feedback.rationale)

    def test_what_failed_after_it_retrieved_is_scored_and_says_why(self) -> None:
        feedback = score(trace=traced(in_turn(retriever("d1", "d7"), failing)))
        assert feedback.value == 0.5
        assert "the store is down" in str(feedback.rationale)

    def test_without_a_retriever_in_it_is_an_error_that_names_what_is_there(self) -> None:
        trace = traced(in_turn())
        with pytest.raises(ValueError, match=r"no span of type RETRIEVER; it has 'answer' \(UNKNOWN\)"):
            score(trace=trace)
        with pytest.raises(ValueError, match="this row cannot be judged: the trace has no span 'rerank'"):
            score(trace=trace, retrieved="trace.rerank")

    @pytest.mark.filterwarnings("ignore:no ranking has more:retrieval_metrics.RetrievalWarning")
    def test_two_sets_of_scorers_stay_apart_and_a_wrong_path_is_an_error_of_the_scorer(self) -> None:
        data: list[dict[str, Any]] = [
            {"inputs": {"q": n}, "outputs": {"found": ["x", "d7"], "reranked": ["d7"]}, "expectations": NEEDED}
            for n in range(2)
        ]
        result = mlflow.genai.evaluate(
            data,
            scorers=[
                *retrieval_scorers("mrr", retrieved="outputs.found"),
                *retrieval_scorers("mrr", retrieved="outputs.reranked"),
                *retrieval_scorers("precision@2", retrieved="outputs.reranked", prefix="standard "),
                *retrieval_scorers("precision@2", retrieved="outputs.reranked", rules="mlflow", prefix="mlflow "),
                *retrieval_scorers("map"),
            ],
        )
        means = {name: value for name, value in result.metrics.items() if name.endswith(("/mean", "/n"))}
        assert means == {
            "mrr-retrieved-outputs.found/mean": 0.5,
            "mrr-retrieved-outputs.found/n": 2.0,
            "mrr-retrieved-outputs.reranked/mean": 1.0,
            "mrr-retrieved-outputs.reranked/n": 2.0,
            "standard precision_at_2/mean": 0.5,
            "standard precision_at_2/n": 2.0,
            "mlflow precision_at_2/mean": 1.0,
            "mlflow precision_at_2/n": 2.0,
        }
        (row, *_) = result.result_df.to_dict("records")  # type: ignore[union-attr]
        assessment_by_name = {assessment["assessment_name"]: assessment for assessment in row["assessments"]}
        error = assessment_by_name["map"]["feedback"]["error"]
        assert "outputs must hold a list of documents or IDs, got {'found'" in error["error_message"]

    def test_a_trace_that_mlflow_lost_is_an_error_and_not_a_0(self) -> None:
        with pytest.raises(LookupError, match="could not store its trace"):
            score(outputs="an answer", trace=None)

    def test_an_application_that_left_neither_answer_nor_trace_failed(self) -> None:
        feedback = score(outputs=None, trace=None)
        assert feedback.value == 0.0
        assert "the application failed and left no trace" in str(feedback.rationale)

    def test_what_langchain_traces_itself_is_read(self) -> None:
        class Finder(BaseRetriever):
            def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[LangChainDocument]:
                del query, run_manager
                return [LangChainDocument("a", id="d3"), LangChainDocument("b", id="d7")]

        mlflow.langchain.autolog()
        try:
            result = mlflow.genai.evaluate(
                data=[{"inputs": {"query": "a question"}, "expectations": NEEDED}],
                predict_fn=lambda query: Finder().invoke(query)[0].page_content,
                scorers=retrieval_scorers("mrr"),
            )
        finally:
            mlflow.langchain.autolog(disable=True)
        assert result.metrics["mrr/mean"] == 0.5

    def test_traces_are_data_too(self) -> None:
        question = mlflow.trace(lambda query: retriever("d1", query)() and "an answer", name="app")
        data = [{"inputs": {"query": "d7"}, "expectations": {"relevant_ids": ["d7"]}}]
        first = mlflow.genai.evaluate(data=data, predict_fn=question, scorers=retrieval_scorers("mrr"))
        again = mlflow.genai.evaluate(
            data=mlflow.search_traces(run_id=first.run_id), scorers=retrieval_scorers("ndcg@2")
        )
        assert first.metrics["mrr/mean"] == 0.5
        assert again.metrics["ndcg_at_2/mean"] == pytest.approx(0.6309297535714575, rel=1e-15)

    @pytest.mark.filterwarnings("ignore:no ranking has more:retrieval_metrics.RetrievalWarning")
    def test_stored_traces_of_an_application_that_failed_on_every_row_give_no_number(
        self, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(logging.getLogger("mlflow"), "propagate", True)
        rows: list[dict[str, Any]] = [{"trace": traced(in_turn(failing)), "expectations": NEEDED} for _ in range(3)]
        scorers = retrieval_scorers(["mrr", "ndcg@10"])
        before: Any = scorers[0].run
        assert before(trace=traced(in_turn(retriever("d7"))), expectations=NEEDED).value == 1.0
        result = mlflow.genai.evaluate(pd.DataFrame(rows), scorers=scorers)
        assert result.metrics == {}
        assert mlflow.get_run(result.run_id).data.metrics == {}
        message = "the application failed: ConnectionError: the store is down, on each of the 3 rows"
        errors = {record.getMessage() for record in caplog.records}
        assert sum(message in error for error in errors) == len(scorers)  # not once for each number of a metric
        result_rows: Any = result.result_df
        assert list(result_rows["mrr/value"]) == [0.0] * 3
        assert "the store is down" in result_rows["mrr/rationale"][0]

        rows[1]["trace"] = traced(in_turn(retriever("d1", "d7"), failing))  # it failed after it had retrieved
        again = mlflow.genai.evaluate(pd.DataFrame(rows), scorers=scorers)
        assert (again.metrics["mrr/mean"], again.metrics["mrr/n"]) == (0.5 / 3, 3.0)

    def test_a_run_gets_means_intervals_and_n_without_what_is_undefined(self) -> None:
        data: list[dict[str, Any]] = [
            {"inputs": {"query": number}, "outputs": ["d1", "d7"], "expectations": {"relevant_ids": relevant}}
            for number, relevant in enumerate([["d1"], ["d7"], ["d9"], []])
        ]
        result = mlflow.genai.evaluate(data=data, scorers=retrieval_scorers("mrr"))
        core = rm.evaluate({"a": ["d1"], "b": ["d7"], "c": ["d9"]}, {query: ["d1", "d7"] for query in "abc"}, "mrr")
        low, high = core.intervals()["mrr"]
        expected = {"mrr/mean": 0.5, "mrr/low_95": low, "mrr/high_95": high, "mrr/n": 3.0}
        assert result.metrics == pytest.approx(expected, rel=1e-12)
        assert mlflow.get_run(result.run_id).data.metrics == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("outputs", "says"),
    [
        ("d7", "outputs must hold a list of documents or IDs, got 'd7'"),
        (None, "got None"),
        ({"documents": ["d7"]}, "must hold a list"),
        ([object()], "must hold documents or IDs"),
        ([7], "int"),
    ],
)
def test_an_output_that_cannot_be_judged_is_an_error_and_not_a_0(outputs: Any, says: str) -> None:
    trace = None if outputs is not None else _answered()
    with pytest.raises((TypeError, ValueError), match="this row cannot be judged: ") as raised:
        score(outputs=outputs, retrieved="outputs", trace=trace)
    assert says in str(raised.value)
    assert "qrels" not in str(raised.value)


def _answered() -> Any:
    class Info:
        state = "OK"

    class Answered:
        info = Info

    return Answered


def test_a_row_without_judgments_is_an_error_that_names_what_it_has() -> None:
    with pytest.raises(ValueError, match=r"expectations has no 'relevant_ids', .* it has 'expected_response'"):
        score(outputs=["d7"], retrieved="outputs", expectations={"expected_response": "yes"})
    with pytest.raises(TypeError, match="d7"):
        score(outputs=["d7"], retrieved="outputs", expectations={"relevant_ids": "d7"})
