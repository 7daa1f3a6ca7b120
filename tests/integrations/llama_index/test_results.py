"""Whole datasets: every shape, concurrent, failures kept, the host's results beside the core's evaluation."""

import asyncio
import gc
import json
import pickle
import threading
import time
import warnings
from math import nan
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.evaluation import MRR
from llama_index.core.evaluation.notebook_utils import get_retrieval_results_df
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

import retrieval_metrics as rm
from llama_index.evaluation.retrieval_metrics import (
    DatasetResult,
    RetrieverEvalResult,
    RetrieverEvaluator,
    metric,
    ranking_metrics,
)
from llama_index_hosts import Deliver, Prepared, PreparedAsync, node

QUERIES = {"q1": "what is a closure?", "q2": "what does yield do?", "q3": "what is a slot?"}

RELEVANT = {"q1": ["n1"], "q2": ["n2", "n3"], "q3": ["n4"]}

ANSWERS = {QUERIES["q1"]: ["n1", "n9"], QUERIES["q2"]: ["n9", "n3"], QUERIES["q3"]: ["n9"]}

MEANS = {"mrr": 0.5, "recall@2": 0.5}

ROWS = [{"id": key, "query": text, "relevant": RELEVANT[key]} for key, text in QUERIES.items()]

PAIRS = [(text, RELEVANT[key]) for key, text in QUERIES.items()]


def evaluator(answers: Any = ANSWERS, retriever: type[Prepared] = Prepared, **arguments: Any) -> RetrieverEvaluator:
    return RetrieverEvaluator.from_metric_names(["mrr", "recall@2"], retriever=retriever(answers), **arguments)


@pytest.mark.parametrize(
    "dataset",
    [
        PAIRS,
        ROWS,
        {"queries": QUERIES, "relevant_docs": RELEVANT},
        SimpleNamespace(queries=QUERIES, relevant_docs=RELEVANT, corpus={}, mode="text"),
        rm.EvaluationSet(QUERIES, RELEVANT),
    ],
    ids=["pairs", "rows", "mapping", "object", "EvaluationSet"],
)
def test_every_shape_in_which_datasets_come_is_read(dataset: Any) -> None:
    result = evaluator().evaluate_dataset(dataset)
    assert dict(result.evaluation.means) == MEANS
    assert [query_result.query for query_result in result] == list(QUERIES.values())
    ids = QUERIES.values() if dataset is PAIRS else QUERIES  # where there is no id, the text is the id
    assert [query_result.query_id for query_result in result] == list(ids)


@pytest.mark.parametrize("as_path", [Path, str])
def test_the_file_that_the_removed_dataset_class_saved_is_read(tmp_path: Path, as_path: Any) -> None:
    path = tmp_path / "qa.json"
    content = {"queries": QUERIES, "corpus": {"n1": "a long text"}, "relevant_docs": RELEVANT, "mode": "text"}
    path.write_text(json.dumps(content))
    assert dict(evaluator().evaluate_dataset(as_path(path)).evaluation.means) == MEANS
    path.write_text(json.dumps(content), encoding="utf-8-sig")  # as PowerShell writes it
    assert dict(evaluator().evaluate_dataset(as_path(path)).evaluation.means) == MEANS


def test_a_table_of_questions_is_read_and_an_unreadable_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "questions.csv"
    path.write_text("question,relevant\nwhat is a closure?,n1\nwhat does yield do?,n3\n")
    result = evaluator().evaluate_dataset(path)
    assert dict(result.evaluation.means) == {"mrr": 0.75, "recall@2": 1.0}
    path = tmp_path / "qa.json"
    path.write_bytes('{"queries": {"q": "größe?"}, "relevant_docs": {"q": ["a"]}}'.encode("cp1252"))
    with pytest.raises(ValueError, match=r"qa\.json, line 1.*Windows-1252"):
        evaluator().evaluate_dataset(path)


def test_results_are_compared_by_name_as_their_evaluations_are() -> None:
    results = {"old": evaluator().evaluate_dataset(PAIRS), "new": evaluator().evaluate_dataset(PAIRS)}
    comparison = rm.compare(results)
    assert list(comparison.evaluations) == ["old", "new"]
    assert dict(comparison.evaluations["new"].means) == MEANS
    with pytest.raises(TypeError, match="'new' must be an Evaluation as the others are, got list"):
        rm.compare({"old": results["old"], "new": [1]})  # type: ignore[arg-type]  # the point of the line


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("not json", "is not JSON"),
        ("[1, 2]", r"qa\.json must hold one object .* got list of int"),
        ('{"queries": {}}', "the dataset is empty: 'queries' holds no rows"),
        ('{"queries": {}, "relevant_docs": {}}', "the dataset is empty"),
    ],
)
def test_a_file_that_is_no_dataset_is_refused_by_name(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "qa.json"
    path.write_text(content)
    with pytest.raises(ValueError, match=message):
        evaluator().evaluate_dataset(path)
    with pytest.raises(FileNotFoundError, match=r"nowhere\.json"):
        evaluator().evaluate_dataset(tmp_path / "nowhere.json")


def test_what_is_no_dataset_is_refused_before_anything_is_retrieved() -> None:
    class MustNotBeAsked(Prepared):
        def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            pytest.fail(f"asked for {query_bundle}")

    ours = evaluator({}, MustNotBeAsked)
    with pytest.raises(TypeError, match=r"a dataset is a list of \(query, relevant\) pairs"):
        ours.evaluate_dataset(7)  # type: ignore[arg-type]  # the point of the line
    with pytest.raises(ValueError, match="no judgments for 1 of 3 queries, for example 'q3'"):
        ours.evaluate_dataset({"queries": QUERIES, "relevant_docs": {"q1": ["n1"], "q2": ["n2"]}})
    with pytest.raises(TypeError, match="the judgments of query 'q' are the bare string 'abc'"):
        ours.evaluate_dataset([("q", "abc")])
    with pytest.raises(ValueError, match="workers must be a positive integer"):
        ours.evaluate_dataset(PAIRS, workers=0)


def test_grades_and_groups_are_relevant_docs_too() -> None:
    relevant: dict[str, Any] = {"q1": {"n1": 3, "n9": 0}, "q2": [["n2", "n3"], ["n9"]], "q3": [{"n4": 2, "n5": 1}]}
    run = {query: ANSWERS[text] for query, text in QUERIES.items()}
    result = evaluator().evaluate_dataset({"queries": QUERIES, "relevant_docs": relevant})
    assert result.evaluation.per_query["recall@2"] == rm.evaluate(relevant, run, "recall@2").per_query["recall@2"]
    assert [query_result.metric_vals_dict["recall@2"] for query_result in result] == [1.0, 1.0, 0.0]


@pytest.mark.parametrize("retriever", [Prepared, PreparedAsync])
def test_sync_and_async_inside_and_outside_a_running_loop_agree(retriever: type[Prepared]) -> None:
    ours = evaluator(retriever=retriever)

    async def notebook() -> list[DatasetResult]:
        return [ours.evaluate_dataset(ROWS), await ours.aevaluate_dataset(ROWS, workers=1)]

    outside = ours.evaluate_dataset(ROWS)
    assert [outside, outside] == asyncio.run(notebook())


@pytest.mark.parametrize("asynchronous", [True, False])
def test_as_many_queries_are_under_way_as_there_are_workers(asynchronous: bool) -> None:
    together = threading.Barrier(4, timeout=10)  # breaks, and fails the query, if fewer than 4 come together

    class Meets(BaseRetriever):
        def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            if query_bundle.query_str != "query 0":  # the first is asked alone, before the others
                together.wait()
            return [node(query_bundle.query_str)]

    class MeetsAsync(Meets):
        async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            return await asyncio.to_thread(self._retrieve, query_bundle)

    ours = RetrieverEvaluator.from_metric_names(["mrr"], retriever=MeetsAsync() if asynchronous else Meets())
    result = ours.evaluate_dataset([(f"query {number}", [f"query {number}"]) for number in range(9)], workers=4)
    assert (result.errors, result.evaluation.means["mrr"]) == ({}, 1.0)


def test_a_failing_query_is_reported_and_not_fatal() -> None:
    answers = ANSWERS | {QUERIES["q2"]: ConnectionError("no index")}
    with pytest.warns(rm.RetrievalWarning, match="the retriever failed on 1 of .*'q2'.*: Conn.*no index"):
        result = evaluator(answers).evaluate_dataset(ROWS)
    assert list(result.errors) == ["q2"]
    assert [query_result.error for query_result in result] == [None, "ConnectionError: no index", None]
    assert result[1].metric_vals_dict == {"mrr": 0.0, "recall@2": 0.0}
    assert result.evaluation.counts["failed"] == 1
    assert repr(result) == "<DatasetResult: 3 queries, 1 failed>"
    for query_result in result:
        assert RetrieverEvalResult.model_validate_json(query_result.model_dump_json()) == query_result


def test_the_first_failure_is_raised_where_that_is_wanted() -> None:
    answers = ANSWERS | {QUERIES["q2"]: ConnectionError("no index")}
    with pytest.raises(ConnectionError, match="no index") as raised:
        evaluator(answers).evaluate_dataset(ROWS, raise_on_error=True)
    assert raised.value.__notes__[0].startswith("while retrieving for query 'q2'; raise_on_error=False")


def test_a_failure_that_is_raised_leaves_no_coroutine_behind() -> None:
    failing = threading.Event()

    class FailsWhileAnotherRuns(Prepared):
        def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            if query_bundle.query_str == QUERIES["q1"]:
                return []  # the first is asked alone, before the others
            if query_bundle.query_str == QUERIES["q2"]:
                failing.set()
                raise ConnectionError("no index")
            assert failing.wait(10)
            time.sleep(0.05)  # until the failure has reached the loop
            return []

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(ConnectionError, match="no index"):
            evaluator({}, FailsWhileAnotherRuns).evaluate_dataset(ROWS, raise_on_error=True)
        gc.collect()  # what is lost is warned of when it is collected
    assert not [str(warning.message) for warning in caught if "never awaited" in str(warning.message)]


def test_retrieving_nothing_scores_zero_and_is_warned_of() -> None:
    with pytest.warns(rm.RetrievalWarning, match="1 of 3 .*judged queries"):
        result = evaluator(ANSWERS | {QUERIES["q1"]: []}).evaluate_dataset(ROWS)
    assert result[0].metric_vals_dict == {"mrr": 0.0, "recall@2": 0.0}
    assert (result[0].error, result.errors) == (None, {})


def test_ids_of_documents_against_ids_of_nodes_are_warned_of() -> None:
    with pytest.warns(rm.RetrievalWarning, match="no retrieved document is judged"):
        evaluator().evaluate_dataset([(text, ["document"]) for text in QUERIES.values()])


def test_the_means_of_the_hosts_table_are_those_of_the_core_undefined_queries_left_out() -> None:
    relevant = RELEVANT | {"q3": []}
    result = evaluator().evaluate_dataset({"queries": QUERIES, "relevant_docs": relevant})
    table = get_retrieval_results_df(["bm25"], [[*result]], metric_keys=["mrr", "recall@2"])
    assert table.to_dict("records") == [{"retrievers": "bm25", "mrr": 0.75, "recall@2": 0.75}]
    assert dict(result.evaluation.means) == {"mrr": 0.75, "recall@2": 0.75}
    assert result.evaluation.n["mrr"] == 2


def test_it_is_printed_as_the_cores_table_and_in_a_notebook() -> None:
    result = evaluator().evaluate_dataset(ROWS)
    assert str(result) == str(result.evaluation)
    assert str(result).splitlines()[1] == "mrr       0.500  [0.069, 0.931]  3"
    assert result._repr_html_() == result.evaluation._repr_html_()


def test_results_are_a_list_that_pickles() -> None:
    result = evaluator().evaluate_dataset(ROWS)
    other = pickle.loads(pickle.dumps(result))
    assert isinstance(other, list)
    assert other == result
    assert dict(other.evaluation.means) == MEANS


def test_a_metric_of_llama_index_that_fails_is_reported_and_ours_stand() -> None:
    answers = ANSWERS | {QUERIES["q1"]: []}
    ours = RetrieverEvaluator(metrics=[MRR(), metric("map")], retriever=Prepared(answers))
    with pytest.warns(rm.RetrievalWarning, match="1 of .*judged queries"):
        result = ours.evaluate_dataset(ROWS)
    assert result[0].metric_vals_dict == {"map": 0.0}
    assert result[0].error == "ValueError: Retrieved ids and expected ids must be provided"
    assert result[1].metric_vals_dict == {"mrr": 0.5, "map": 0.25}
    assert list(result.errors) == ["q1"]
    with pytest.warns(rm.RetrievalWarning, match="no results"), pytest.raises(ValueError, match="must be provided"):
        ours.evaluate_dataset(ROWS, raise_on_error=True)


def test_a_retriever_that_failed_is_not_the_fault_of_a_metric() -> None:
    ours = RetrieverEvaluator(metrics=[MRR()], retriever=Prepared(ANSWERS | {QUERIES["q1"]: OSError("down")}))
    result = ours.evaluate_dataset(ROWS[:2])
    assert (result[0].error, result[0].metric_dict) == ("OSError: down", {})


@pytest.mark.parametrize("metrics", [[MRR()], ranking_metrics(["mrr"])], ids=["of LlamaIndex", "ours"])
def test_where_every_query_fails_there_is_no_number(metrics: Any) -> None:
    ours = RetrieverEvaluator(metrics=metrics, retriever=Prepared({text: OSError("down") for text in QUERIES.values()}))
    with pytest.raises(OSError, match="down") as raised:
        ours.evaluate_dataset(ROWS)
    assert "failed with the same error, so the others were not run" in raised.value.__notes__[0]
    with pytest.raises(OSError, match="down") as raised:
        ours.evaluate_dataset(ROWS[:2])
    assert "all 2 queries failed, so there is nothing to evaluate" in raised.value.__notes__[-1]


def test_metrics_of_llama_index_alone_give_results_but_no_evaluation() -> None:
    result = RetrieverEvaluator(metrics=[MRR()], retriever=Prepared(ANSWERS)).evaluate_dataset(ROWS)
    assert [query_result.metric_vals_dict["mrr"] for query_result in result] == [1.0, 0.5, 0.0]
    with pytest.raises(ValueError, match="no metric of this package was computed"):
        _ = result.evaluation
    assert str(result).splitlines() == ["metric of LlamaIndex   mean  n", "mrr                   0.500  3"]
    assert "mrr" in str(result._repr_html_())


def test_progress_is_shown_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    evaluator().evaluate_dataset(ROWS, show_progress=True)
    assert "3/3" in capsys.readouterr().err
    evaluator().evaluate_dataset(ROWS)
    assert capsys.readouterr().err == ""


def test_a_retriever_that_repeats_a_node_is_cleaned_by_the_host() -> None:
    (result,) = evaluator({"q": ["n9", "n9", "n1"]}).evaluate_dataset([("q", ["n1"])])
    assert (result.retrieved_ids, result.metric_vals_dict["mrr"]) == (["n9", "n1"], 0.5)


def test_the_removed_dataset_class_is_read_where_it_still_exists(tmp_path: Path) -> None:
    legacy = pytest.importorskip(
        "llama_index.core.llama_dataset.legacy.embedding", reason="llama-index-core 0.14.21 removed it"
    )
    dataset = legacy.EmbeddingQAFinetuneDataset(queries=QUERIES, corpus={"n1": "a text"}, relevant_docs=RELEVANT)
    dataset.save_json(str(tmp_path / "qa.json"))
    for source in (dataset, tmp_path / "qa.json"):
        assert dict(evaluator().evaluate_dataset(source).evaluation.means) == MEANS


def test_a_score_that_is_no_number_is_left_out_so_that_results_can_be_saved(tmp_path: Path) -> None:
    nodes = [NodeWithScore(node=TextNode(id_="d1", text="a"), score=nan)]
    evaluator = RetrieverEvaluator.from_metric_names(["mrr"], retriever=lambda _: nodes)
    results = evaluator.evaluate_dataset({"why?": ["d1"]})
    results.save(tmp_path / "results.json")
    assert DatasetResult.load(tmp_path / "results.json").evaluation == results.evaluation


TEXTS = [f"question {number}" for number in range(66)]

QRELS: Any = {key: ["d"] for key in TEXTS}

RUN: Any = {text: [["x", "d"], ["d", "x"]][number // 3 % 2] for number, text in enumerate(TEXTS)}

CLUSTERS = {text: number // 3 for number, text in enumerate(TEXTS)}


def prepared(retriever: type[Prepared] = Prepared, **arguments: Any) -> RetrieverEvaluator:
    return RetrieverEvaluator.from_metric_names(["mrr"], retriever=retriever(RUN), **arguments)


@pytest.mark.parametrize("clusters", [CLUSTERS, CLUSTERS.get, None, "source"])
def test_clusters_are_those_of_the_core(clusters: Any) -> None:
    core = rm.evaluate(QRELS, RUN, "mrr", clusters=clusters)
    ours = prepared().evaluate_dataset(QRELS, clusters=clusters)
    waited_for = asyncio.run(prepared(PreparedAsync).aevaluate_dataset(QRELS, clusters=clusters))
    for result in (ours, waited_for):
        assert dict(result.evaluation.intervals()) == dict(core.intervals())
    independent = rm.evaluate(QRELS, RUN, "mrr", clusters=None)
    assert (dict(core.intervals()) == dict(independent.intervals())) == (clusters is None or clusters == "source")


def test_questions_of_one_source_are_a_cluster_at_every_stage() -> None:
    rows = [{"query": text, "relevant": ["d"], "source": f"{CLUSTERS[text]}.md"} for text in TEXTS]
    result = prepared(node_postprocessors=[Deliver(answers=RUN)]).evaluate_dataset(rows, stages=True)
    core = rm.evaluate(QRELS, RUN, "mrr", clusters=CLUSTERS)
    assert dict(result.evaluation.intervals()) == dict(core.intervals())
    assert [dict(stage.intervals()) for stage in result.stages.values()] == [dict(core.intervals())] * 2
    assert dict(prepared().evaluate_dataset(rows, clusters=None).evaluation.intervals()) != dict(core.intervals())


def test_a_comparison_takes_the_clusters_of_its_results() -> None:
    rows = [{"query": text, "relevant": ["d"], "source": f"{CLUSTERS[text]}.md"} for text in TEXTS]
    result = prepared().evaluate_dataset(rows)
    backwards = {text: ranking[::-1] for text, ranking in RUN.items()}
    reranked = prepared(node_postprocessors=[Deliver(answers=backwards)]).evaluate_dataset(rows)
    comparison = result.comparison(reranked, names=("old", "new"))
    core = rm.compare(QRELS, {"old": RUN, "new": backwards}, "mrr", clusters=CLUSTERS)
    assert comparison.difference("mrr").interval == core.difference("mrr").interval
    assert "queries in 22 clusters" in str(comparison)
    with pytest.raises(ValueError, match="clusters cannot be changed for evaluations"):
        result.comparison(result, names=("old", "new"), clusters=None)  # type: ignore[call-arg]  # the point of the line
    for names in [("old",), ("old", "old")]:
        with pytest.raises(ValueError, match=r"two different names, such as names=\('old', 'new'\), got \('old'"):
            result.comparison(reranked, names=names)  # type: ignore[arg-type]  # the point of the line


def test_clusters_that_know_no_query_are_refused_before_anything_is_retrieved() -> None:
    queries: list[str] = []
    never = RetrieverEvaluator.from_metric_names(["mrr"], retriever=queries.append)
    with pytest.raises(ValueError, match="clusters= has none of the judged queries, such as 'question 0'"):
        never.evaluate_dataset(QRELS, clusters={"other": 1})
    assert not queries


def test_a_result_without_times_is_saved_and_loaded_without_times(tmp_path: Path) -> None:
    evaluator = RetrieverEvaluator.from_metric_names(["mrr"], retriever=Prepared(ANSWERS))
    timed = evaluator.evaluate_dataset(ROWS)
    untimed = DatasetResult(timed, timed.evaluation, names=["mrr"])
    untimed.save(tmp_path / "result.json")
    assert DatasetResult.load(tmp_path / "result.json").seconds == {}
