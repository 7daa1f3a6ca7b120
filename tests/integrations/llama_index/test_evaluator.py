"""The evaluator on one query: what it takes, what it refuses, and what it leaves as the host has it."""

import asyncio
import threading
from typing import Any

import pytest
from llama_index.core import MockEmbedding, SummaryIndex, VectorStoreIndex
from llama_index.core.evaluation import MRR, HitRate
from llama_index.core.evaluation import RetrieverEvaluator as StockRetrieverEvaluator
from llama_index.core.evaluation.retrieval.base import RetrievalEvalMode, RetrievalEvalResult
from llama_index.core.evaluation.retrieval.metrics_base import BaseRetrievalMetric, RetrievalMetricResult
from llama_index.core.retrievers import VectorIndexRetriever
from llama_index.core.schema import Document, ImageNode, NodeWithScore, QueryBundle, TextNode

import retrieval_metrics as rm
from llama_index.evaluation.retrieval_metrics import (
    RetrieverEvalResult,
    RetrieverEvaluator,
    match_by_text,
    metric,
    register,
)
from llama_index_hosts import Deliver, Prepared, PreparedAsync, node

CHUNKS = [
    node("chunk1", "a closure", source="docs/closures", page=3, file="a.md"),
    node("chunk2", "a lambda", source="docs/lambdas", page=1, file="a.md"),
    node("chunk3", "free variables", source="docs/closures", page=4, file="b.md"),
]


def evaluator(names: list[str], answer: Any = CHUNKS, **arguments: Any) -> RetrieverEvaluator:
    return RetrieverEvaluator.from_metric_names(names, retriever=Prepared({"q": answer}), **arguments)


def test_it_takes_the_place_of_the_stock_evaluator() -> None:
    ours = evaluator(["hit_rate", "mrr", "precision", "recall", "ndcg"])
    stock = StockRetrieverEvaluator.from_metric_names(
        ["hit_rate", "mrr", "precision", "recall", "ndcg"], retriever=Prepared({"q": CHUNKS})
    )
    assert isinstance(ours, StockRetrieverEvaluator)
    new, old = (either.evaluate("q", ["chunk2", "chunk9"]) for either in (ours, stock))
    assert isinstance(new, RetrievalEvalResult)
    assert new.metric_vals_dict == pytest.approx(old.metric_vals_dict)
    shared = {"query", "expected_ids", "expected_texts", "retrieved_ids", "retrieved_texts", "mode"}
    assert new.model_dump(include=shared) == old.model_dump(include=shared)
    assert str(new).startswith("Query: q\nMetrics: {'hit_rate': 1.0, 'mrr': 0.5")


def test_the_core_names_the_metrics_where_nobody_does() -> None:
    result = RetrieverEvaluator(retriever=Prepared({"q": CHUNKS})).evaluate("q", ["chunk1"])
    assert list(result.metric_dict) == list(rm.DEFAULT_METRICS)


@pytest.mark.parametrize(
    ("match", "relevant"),
    [
        ("id", ["chunk2"]),
        ("source", ["docs/lambdas"]),
        ("metadata:page", [1]),
        (lambda item: f"{item.metadata['file']}#{item.metadata['page']}", ["a.md#1"]),
        (lambda item: item.text, ["a lambda"]),
    ],
)
def test_nodes_are_judged_by_what_the_user_names(match: Any, relevant: list[Any]) -> None:
    result = evaluator(["mrr"], match=match).evaluate("q", relevant)
    assert result.metric_vals_dict == {"mrr": 0.5}
    assert result.expected_ids == [str(relevant[0])]
    assert result.retrieved_ids[1] == str(relevant[0])
    of_call = evaluator(["mrr"]).evaluate("q", relevant, match=match)
    assert of_call == result == asyncio.run(evaluator(["mrr"]).aevaluate("q", relevant, match=match))


def test_chunks_of_one_document_are_repeats_that_earn_nothing() -> None:
    sources = ["cats", "cats", "fish", "dogs", "fish", "dogs"]
    answer = [node(str(rank), source=source) for rank, source in enumerate(sources)]
    result = evaluator(["map", "ndcg"], answer, match="source").evaluate("q", ["cats", "fish"])
    assert result.metric_vals_dict == pytest.approx({"map": 0.8333, "ndcg": 0.9197}, abs=1e-4)
    assert result.metric_dict["map"].metadata["relevant_ranks"] == [1, 3]


def test_a_whole_document_is_its_own_source() -> None:
    answer = [NodeWithScore(node=Document(id_="docs/closures", text="all of it")), CHUNKS[1]]
    result = evaluator(["mrr"], answer, match="source").evaluate("q", ["docs/closures"])
    assert result.metric_vals_dict == {"mrr": 1.0}
    assert result.retrieved_texts == ["all of it", "a lambda"]


@pytest.mark.parametrize(
    ("match", "answer", "error", "message"),
    [
        ("source", [node("lone")], ValueError, "no document retrieved for query 'q' has a value for match='source'"),
        (
            "metadata:page",
            [node("x", file="f")],
            ValueError,
            "match='metadata:page'; the metadata of the first has 'file'",
        ),
        (lambda _: None, CHUNKS, ValueError, "no document retrieved for query 'q' has a value for match=<function"),
        (lambda item: item.no_such_thing, CHUNKS, AttributeError, "no_such_thing"),
    ],
)
def test_a_node_without_what_it_is_judged_by_is_an_error(
    match: Any, answer: Any, error: type[Exception], message: str
) -> None:
    ours = evaluator(["mrr"], answer, match=match)
    with pytest.raises(error, match=message) as raised:
        ours.evaluate("q", ["a"])
    assert raised.value.__notes__ == ["this is the first answer, to query 'q' ('q')"]
    with pytest.raises(error, match=message):
        ours.evaluate_dataset([("q", ["a"])])


def test_grades_and_groups_are_judgments_and_stay_in_the_result() -> None:
    ours = evaluator(["ndcg", "recall"])
    graded = ours.evaluate("q", {"chunk1": 1, "chunk2": 3, "chunk9": 0})
    assert graded.metric_vals_dict["ndcg"] == pytest.approx(rm.ndcg([1, 3, 0]))
    assert (graded.expected_ids, graded.judgments) == (["chunk1", "chunk2"], {"chunk1": 1, "chunk2": 3, "chunk9": 0})
    grouped = ours.evaluate("q", [["chunk1", "chunk2"], {"chunk9"}])
    assert grouped.metric_vals_dict["recall"] == 0.5
    assert (grouped.expected_ids, grouped.judgments) == (
        ["chunk1", "chunk2", "chunk9"],
        [["chunk1", "chunk2"], ["chunk9"]],
    )
    for result in (graded, grouped, ours.evaluate("q", []), ours.evaluate("q", {"chunk1"})):
        assert RetrieverEvalResult.model_validate_json(result.model_dump_json()) == result
        assert RetrieverEvalResult.model_validate(result.model_dump()) == result


def test_undefined_is_nan_for_whoever_averages_and_zero_with_a_word_in_json() -> None:
    result = evaluator(["ndcg"]).evaluate("q", [])
    assert str(result.metric_vals_dict["ndcg"]) == "nan"
    assert (result.metric_dict["ndcg"].score, result.metric_dict["ndcg"].metadata["undefined"]) == (0.0, True)


@pytest.mark.parametrize("retriever", [Prepared, PreparedAsync])
def test_sync_and_async_inside_and_outside_a_running_loop(retriever: type[Prepared]) -> None:
    ours = RetrieverEvaluator.from_metric_names(["mrr"], retriever=retriever({"q": CHUNKS}))

    async def notebook() -> list[RetrieverEvalResult]:
        return [ours.evaluate("q", ["chunk2"]), await ours.aevaluate("q", ["chunk2"])]

    assert [ours.evaluate("q", ["chunk2"]), *asyncio.run(notebook())] == [ours.evaluate("q", ["chunk2"])] * 3


def test_postprocessors_run_in_order_on_what_the_one_before_returned() -> None:
    class Reverse(Deliver):
        def _postprocess_nodes(
            self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
        ) -> list[NodeWithScore]:
            assert query_bundle == QueryBundle("q")
            return nodes[::-1]

    chain = [Deliver(answers={"q": ["a", "b", "a"]}), Reverse(answers={})]
    assert evaluator(["mrr"], node_postprocessors=chain).evaluate("q", ["b"]).retrieved_ids == ["a", "b", "a"]
    chain = [Reverse(answers={})]
    assert evaluator(["mrr"], node_postprocessors=chain).evaluate("q", ["chunk3"]).metric_vals_dict == {"mrr": 1.0}


def test_a_retriever_that_is_only_synchronous_does_not_block_the_loop() -> None:
    was_asked = threading.Event()

    class Waits(Prepared):
        def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            assert was_asked.wait(10), "the loop was blocked"
            return super()._retrieve(query_bundle)

    async def main() -> RetrieverEvalResult:
        ours = RetrieverEvaluator.from_metric_names(["mrr"], retriever=Waits({"q": CHUNKS}))
        task = asyncio.create_task(ours.aevaluate("q", ["chunk1"]))
        await asyncio.sleep(0.01)
        was_asked.set()
        return await task

    assert asyncio.run(main()).metric_vals_dict == {"mrr": 1.0}


def test_what_the_retriever_raises_comes_through_with_the_query() -> None:
    ours = evaluator(["mrr"], ConnectionError("no index"))
    with pytest.raises(ConnectionError, match="no index") as raised:
        ours.evaluate("q", ["a"])
    assert raised.value.__notes__[0].startswith("while retrieving for query 'q'; raise_on_error=False")
    with pytest.raises(ConnectionError, match="no index"):
        asyncio.run(ours.aevaluate("q", ["a"]))


def test_metrics_of_llama_index_stay_usable_beside_ours() -> None:
    ours = RetrieverEvaluator(metrics=[MRR(), metric("ndcg"), HitRate()], retriever=Prepared({"q": CHUNKS}))
    result = ours.evaluate("q", [["chunk2"], ["chunk9"]])
    assert list(result.metric_dict) == ["mrr", "ndcg", "hit_rate"]
    assert (result.metric_vals_dict["mrr"], result.metric_dict["mrr"].metadata) == (0.5, {})
    with pytest.raises(ValueError, match="must be provided") as raised:
        ours.evaluate("q", [])
    assert raised.value.__notes__ == ["while computing mrr for query 'q'"]


def test_names_are_ours_first_then_those_of_llama_index_then_an_error() -> None:
    with pytest.raises((ImportError, KeyError, ValueError), match=r"(?i)cohere"):
        evaluator(["mrr", "cohere_rerank_relevancy"])  # llama-index's own metric, which wants its own package and key
    with pytest.raises(ValueError, match="unknown metric 'mmr'; did you mean mrr"):
        evaluator(["mmr"])
    with pytest.raises(TypeError, match=r"must be a list of names: write \['mrr'\]"):
        evaluator("mrr")  # type: ignore[arg-type]  # the point of the line
    assert [metric.metric_name for metric in evaluator(["ap", "ap", "MAP"]).metrics] == ["ap", "MAP"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"match": "text_hash"},
            "match must be 'id', 'source', 'filename', 'metadata:<name>' or a callable, got 'text_hash'",
        ),
        ({"match": "metadata:"}, "match must be"),
        ({"node_postprocessor": []}, "node_postprocessor\n  Extra inputs are not permitted"),
        ({"metrics": [MRR(), metric("mrr")]}, "two metrics are named 'mrr'"),
        ({"retriever": "bm25"}, "retriever must be a retriever, a query engine"),
    ],
)
def test_a_wrong_argument_is_refused_when_the_evaluator_is_made(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        RetrieverEvaluator(**{"retriever": Prepared({}), **arguments})


@pytest.mark.parametrize(
    ("query", "expected", "arguments", "error", "message"),
    [
        (
            "q",
            ["a"],
            {"relevance": {"a": 3}},
            TypeError,
            "unknown argument 'relevance'; pass grades and groups as",
        ),
        (
            "q",
            ["a"],
            {"source": "file"},
            TypeError,
            r"takes source=: RetrieverEvaluator\(\.\.\., source=",
        ),
        ("q", "abc", {}, TypeError, "bare string 'abc'"),
        ("q", [1], {}, TypeError, "document IDs in the judgments are int and those that were retrieved are str"),
        ("q", ["a", ["b"]], {}, TypeError, "mixes flat and nested"),
        ("q", {"a": float("nan")}, {}, ValueError, "the grade of document 'a' for query 'q' must be finite"),
        (7, ["a"], {}, TypeError, "the query must be a str, got 7"),
        ("q", None, {}, TypeError, "needs expected_ids or expected_texts"),
        ("q", None, {"expected_texts": "a text"}, TypeError, "the bare string 'a text'"),
    ],
)
def test_a_wrong_argument_is_refused_when_evaluating(
    query: Any, expected: Any, arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        evaluator(["mrr"]).evaluate(query, expected, **arguments)
    with pytest.raises(error, match=message):
        asyncio.run(evaluator(["mrr"]).aevaluate(query, expected, **arguments))


def test_nothing_that_was_retrieved_is_changed() -> None:
    answer = [entry.model_copy(deep=True) for entry in CHUNKS]
    evaluator(["mrr"], answer, match="source").evaluate("q", ["docs/closures"])
    assert answer == CHUNKS


def test_texts_and_mode_stay_in_the_result() -> None:
    result = evaluator(["mrr"]).evaluate("q", ["chunk1"], ["a closure"], RetrievalEvalMode.IMAGE)
    assert (result.expected_texts, result.mode) == (["a closure"], RetrievalEvalMode.IMAGE)


def test_the_hook_of_the_base_class_says_what_is_judged() -> None:
    ours = evaluator(["mrr"], match="metadata:page")
    assert asyncio.run(ours._aget_retrieved_ids_and_texts("q"))[0] == ["3", "1", "4"]


def test_a_metric_where_its_name_is_expected() -> None:
    with pytest.raises(TypeError, match=r"takes names, got metric\('mrr'\); write RetrieverEvaluator\(metrics="):
        RetrieverEvaluator.from_metric_names([metric("mrr")], retriever=Prepared({}))  # type: ignore[list-item]  # the point


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        (
            ["mrr@3"],
            r"holds the name 'mrr@3'; write RetrieverEvaluator\.from_metric_names\(\[\.\.\.\]\), or",
        ),
        ([], r"at least one metric, got \[\]"),
        ("mrr", "at least one metric, got 'mrr'"),
    ],
)
def test_names_or_nothing_where_metrics_are_expected(metrics: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        RetrieverEvaluator(metrics=metrics, retriever=Prepared({}))


def test_an_empty_list_of_names() -> None:
    with pytest.raises(ValueError, match="at least one metric"):
        RetrieverEvaluator.from_metric_names([], retriever=Prepared({}))


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("entry", [TextNode(id_="n1", text="a text"), node("n1")])
@pytest.mark.parametrize("name", ["mrr", "err"])
def test_a_node_where_its_id_is_expected(entry: Any, nested: bool, name: str) -> None:
    ours = RetrieverEvaluator.from_metric_names([name], retriever=Prepared({}))
    truth = [[entry], ["n2"]] if nested else [entry]
    with pytest.raises(TypeError, match="is among the judgments of query 'q'; pass its ID, 'n1', or its text as rm"):
        ours.evaluate("q", truth)
    with pytest.raises(TypeError, match="pass its ID, 'n1'"):
        ours.evaluate_dataset([("q", truth)])


def test_options_of_the_hosts_metrics_are_metrics_here() -> None:
    with register(["hit_rate", "mrr"], override=True):
        for name, option, instead in (
            ("hit_rate", "use_granular_hit_rate", "use 'recall' or 'recall@10'"),
            ("mrr", "use_granular_mrr", "'map'"),
            ("ndcg", "mode", r"'ndcg\(gain=exponential\)'"),
        ):
            arguments: dict[str, Any] = {option: True}
            with pytest.raises(TypeError, match=f"{option} is not an option here; .*{instead}"):
                type(metric(name))(**arguments)
            with pytest.raises(TypeError, match=instead):
                setattr(metric(name), option, True)
            with pytest.raises(TypeError, match=instead):
                metric(name).compute(expected_ids=["a"], retrieved_ids=["a"], **arguments)
            if option != "mode":  # the evaluator has one of its own: texts or images
                ours = RetrieverEvaluator.from_metric_names([name], retriever=Prepared({}))
                with pytest.raises(TypeError, match=instead):
                    ours.evaluate("q", ["a"], **arguments)


def test_an_index_is_no_retriever_but_has_one() -> None:
    index = SummaryIndex([TextNode(id_="n1", text="a text")])
    with pytest.raises(ValueError, match=r"got <llama_index.*>; write index\.as_retriever\(\)"):
        RetrieverEvaluator.from_metric_names(["mrr"], retriever=index)


ROWS = [(f"query {number}", [number]) for number in range(40)]


class Counting(Prepared):
    n_asked = 0

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        self.n_asked += 1
        return super()._retrieve(query_bundle)


def paged(without: int | None = None) -> Counting:
    answers = {}
    for number, (text, _) in enumerate(ROWS):
        metadata: Any = {} if number == without else {"page": number}
        answers[text] = [node(f"n{number}", **metadata)]
    return Counting(answers)


def evaluator_of(retriever: Prepared, name: str = "mrr", **arguments: Any) -> RetrieverEvaluator:
    return RetrieverEvaluator.from_metric_names([name], retriever=retriever, **arguments)


def test_one_node_without_the_key_is_one_failed_query() -> None:
    with pytest.warns(rm.RetrievalWarning, match="failed on 1 of"):
        result = evaluator_of(paged(without=7), match="metadata:page").evaluate_dataset(ROWS)
    assert list(result.errors) == ["query 7"]
    assert "has a value for match='metadata:page'" in str(result[7].error)
    assert result.means["mrr"] == 39 / 40


def test_what_every_node_lacks_is_said_after_one_query() -> None:
    retriever = paged()
    with pytest.raises(ValueError, match="match='metadata:chapter'; the metadata of the first has 'page'"):
        evaluator_of(retriever, match="metadata:chapter").evaluate_dataset(ROWS)
    assert retriever.n_asked == 1


@pytest.mark.parametrize(
    ("name", "rows", "message"),
    [
        ("recall@5tokens", [(text, ["n1"]) for text, _ in ROWS], "has no token count"),
        ("mrr", ROWS, "document IDs in the judgments are int and those that were retrieved are str"),
    ],
)
def test_what_no_answer_can_be_scored_by_is_said_after_one_query(name: str, rows: Any, message: str) -> None:
    retriever = paged()
    with pytest.raises((TypeError, ValueError), match=message):
        evaluator_of(retriever, name).evaluate_dataset(rows)
    assert retriever.n_asked == 1


def test_a_budget_works_with_ids_where_nodes_have_text() -> None:
    answer = [node("n1", "a" * 1500), node("n2", "b" * 400), node("n3", "c" * 400)]
    ours = evaluator_of(Prepared({"q": answer}), "recall@2000chars")
    assert ours.evaluate("q", ["n2", "n3"]).metric_vals_dict == {"recall@2000chars": 0.5}
    assert dict(ours.evaluate_dataset([("q", ["n2", "n3"])]).means) == {"recall@2000chars": 0.5}
    by_page = RetrieverEvaluator.from_metric_names(
        ["recall@2000chars"], retriever=Prepared({"q": [node("n", "a" * 1999, page=3)]}), match="metadata:page"
    )
    assert dict(by_page.evaluate_dataset([("q", [3])]).means) == {"recall@2000chars": 1.0}


def test_an_empty_text_of_a_corpus_is_named() -> None:
    dataset = {"queries": {"q": "why?"}, "corpus": {"n1": "  "}, "relevant_docs": {"q": ["n1"]}}
    with pytest.raises(ValueError, match="the text of 'n1', relevant to query 'q', is empty"):
        match_by_text(dataset)


ANSWER = [node("chunk-2"), node("chunk-1")]

QUESTIONS = {"queries": {"q1": "q"}, "relevant_docs": {"q1": ["chunk-1"]}}

PICTURES = [
    NodeWithScore(node=TextNode(id_="text", text="a caption")),
    NodeWithScore(node=ImageNode(id_="image", text="", image_path="a.png")),
]


class Reversed(RetrieverEvaluator):
    async def _aget_retrieved_ids_and_texts(
        self, query: str, mode: RetrievalEvalMode = RetrievalEvalMode.TEXT
    ) -> tuple[list[str], list[str]]:
        ids, texts = await super()._aget_retrieved_ids_and_texts(query, mode)
        return ids[::-1], texts[::-1]


class NodesReversed(RetrieverEvaluator):
    async def aget_retrieved_nodes(self, query: str) -> list[NodeWithScore]:
        return (await super().aget_retrieved_nodes(query))[::-1]


@pytest.mark.parametrize("overriding", [Reversed, NodesReversed])
def test_an_overridden_hook_says_what_is_evaluated(overriding: type[RetrieverEvaluator]) -> None:
    class Stock(StockRetrieverEvaluator):
        _aget_retrieved_ids_and_texts = overriding._aget_retrieved_ids_and_texts

    ours = overriding.from_metric_names(["mrr"], retriever=Prepared({"q": ANSWER}))
    results = [ours.evaluate("q", ["chunk-1"]), asyncio.run(ours.aevaluate("q", ["chunk-1"]))]
    results += [*ours.evaluate_dataset(QUESTIONS), *asyncio.run(ours.aevaluate_dataset(QUESTIONS))]
    assert [result.metric_vals_dict for result in results] == [{"mrr": 1.0}] * 4
    assert results[0].retrieved_ids == ["chunk-1", "chunk-2"]
    assert results[0].retrieved_texts == ["text of chunk-1", "text of chunk-2"]
    assert asyncio.run(ours._aget_retrieved_ids_and_texts("q"))[0] == ["chunk-1", "chunk-2"]


def test_a_hook_that_loses_texts_is_an_error() -> None:
    class Loses(RetrieverEvaluator):
        async def _aget_retrieved_ids_and_texts(
            self,
            query: str,
            mode: RetrievalEvalMode = RetrievalEvalMode.TEXT,
        ) -> tuple[list[str], list[str]]:
            return ["a", "b"], ["text"]

    with pytest.raises(ValueError, match="shorter"):
        Loses.from_metric_names(["mrr"], retriever=Prepared({})).evaluate("q", ["a"])


def test_positional_arguments_are_those_that_were_removed() -> None:
    ours = RetrieverEvaluator.from_metric_names(["mrr"], retriever=Prepared({"q": ANSWER}))
    assert asyncio.run(ours.aevaluate_dataset(QUESTIONS, 2, True)) == ours.evaluate_dataset(QUESTIONS, 2, False)


@pytest.mark.parametrize(
    "truth", [[rm.Quote("text of chunk-1")], [rm.Text("text of chunk-1")], ["a", rm.Quote("text of a")]]
)
def test_metrics_that_compare_ids_are_refused_where_texts_are_judged(truth: Any) -> None:
    never = Prepared({"q": ConnectionError("asked")})
    ours = RetrieverEvaluator(metrics=[HitRate(), metric("recall")], retriever=never)
    for evaluate in (lambda: ours.evaluate("q", truth), lambda: ours.evaluate_dataset([("q", truth)])):
        with pytest.raises(TypeError, match="'hit_rate' compares IDs, but the judgments hold quotes"):
            evaluate()


class Longest(BaseRetrievalMetric):
    """Fails where nothing was retrieved, as those of LlamaIndex do."""

    metric_name = "longest"

    def compute(  # type: ignore[override]  # as the evaluator calls it
        self,
        query: str,
        expected_ids: list[str],
        retrieved_ids: list[str],
        *texts: Any,
    ) -> RetrievalMetricResult:
        assert all(isinstance(expected_id, str) and "(" not in expected_id for expected_id in expected_ids), (
            expected_ids
        )
        if not retrieved_ids:
            raise ValueError("nothing is longest of nothing")
        return RetrievalMetricResult(score=float(max(map(len, retrieved_ids))))


def test_metrics_of_llama_index_are_printed_and_averaged_and_their_failures_counted() -> None:
    ours = RetrieverEvaluator(
        metrics=[metric("map"), MRR(), Longest()], retriever=Prepared({"q1": ANSWER, "q2": ["chunk-1"], "q3": []})
    )
    with pytest.warns(rm.RetrievalWarning, match="1 of .*judged queries"):
        result = ours.evaluate_dataset([("q1", ["chunk-1"]), ("q2", ["chunk-1"]), ("q3", ["chunk-1"])])
    assert dict(result.means) == {"map": 0.5, "mrr": 0.75, "longest": 7.0}
    assert list(result.errors) == ["q3"]
    assert str(result).split("\n\n")[1].splitlines() == [
        "metric of LlamaIndex   mean  n",
        "mrr                   0.750  2",
        "longest                7.00  2",
        "mrr failed for 1 of 3 queries, for example 'q3': ValueError: Retrieved ids and expected ids must be provided",
        "longest failed for 1 of 3 queries, for example 'q3': ValueError: nothing is longest of nothing",
    ]
    assert "longest" in str(result._repr_html_())


def test_only_metrics_of_llama_index_are_printed_too() -> None:
    result = RetrieverEvaluator(metrics=[MRR()], retriever=Prepared({"q": ANSWER})).evaluate_dataset(QUESTIONS)
    assert str(result).splitlines() == ["metric of LlamaIndex   mean  n", "mrr                   0.500  1"]
    assert dict(result.means) == {"mrr": 0.5}


def test_images_alone_are_ranked_where_the_dataset_is_about_images() -> None:
    questions = {"queries": {"q1": "q"}, "relevant_docs": {"q1": ["image"]}}
    ours = RetrieverEvaluator.from_metric_names(["mrr"], retriever=Prepared({"q": PICTURES}))
    assert ours.evaluate_dataset(questions)[0].metric_vals_dict == {"mrr": 0.5}
    for dataset in (questions | {"mode": "image"}, questions | {"mode": RetrievalEvalMode.IMAGE}):
        (result,) = ours.evaluate_dataset(dataset)
        assert (result.metric_vals_dict, result.retrieved_ids, result.mode) == ({"mrr": 1.0}, ["image"], "image")
    assert ours.evaluate("q", ["image"], mode=RetrievalEvalMode.IMAGE).metric_vals_dict == {"mrr": 1.0}
    with pytest.raises(ValueError, match="'sound' is not a valid RetrievalEvalMode"):
        ours.evaluate_dataset(questions | {"mode": "sound"})


class Filtered(VectorIndexRetriever):
    """Stands for a store that filters what it found: of the nodes for an odd text, one is left."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        nodes = super()._retrieve(query_bundle)
        return nodes[:1] if query_bundle.query_str.endswith(("1", "3")) else nodes


def test_how_many_questions_a_store_gave_fewer_than_k_is_said_once() -> None:
    nodes = [TextNode(text=f"text {number}", id_=f"n{number}") for number in range(3)]
    index = VectorStoreIndex(nodes, embed_model=MockEmbedding(embed_dim=3))
    rows = [(f"q{number}", ["n1", "n2"]) for number in range(5)]
    short_evaluator = RetrieverEvaluator.from_metric_names(["mrr"], retriever=Filtered(index, similarity_top_k=2))
    with pytest.warns(
        rm.RetrievalWarning, match=r"2 of 5 queries got fewer than k=2 results \(e\.g\. '[^']*': 1\): "
    ) as caught:
        short_evaluator.evaluate_dataset(rows)
    assert len(caught) == 1
    assert "examine more (vector_store_kwargs={...}" in str(caught[0].message)
    small = RetrieverEvaluator.from_metric_names(["mrr"], retriever=VectorIndexRetriever(index, similarity_top_k=9))
    assert small.evaluate_dataset(rows).errors == {}  # all that the store holds


def test_nodes_to_leave_out_take_no_rank() -> None:
    ours = evaluator(["mrr"], [node("q1"), node("n1")])
    result = ours.evaluate_dataset([{"id": "q1", "query": "q", "relevant": ["n1"]}], exclude="query_id")
    assert (result.evaluation.means["mrr"], result.evaluation.counts["excluded"]) == (1.0, 1)
