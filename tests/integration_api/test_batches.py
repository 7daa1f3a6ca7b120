"""Blocks that are scored separately have the same values and sums as the whole."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import retrieval_metrics as rm
from conformance import call_with_warnings
from near_right_ids import NEAR_RIGHT_IDS, make_near_right_run
from retrieval_metrics.integration_api.batches import (
    BlockScorer,
    BlockSummary,
    RowColumns,
    as_exclusion,
    as_rules,
    divides_by_largest_grade,
    read_trec_blocks,
    require_known_scale,
)

JUDGED: dict[str, list[Any]] = {"query": ["q1", "q2"], "document": ["a", "b"], "number": [3.0, 1.0]}
RETRIEVED: dict[str, list[Any]] = {
    "query": ["q1", "q2", "q2"],
    "document": ["a", "x", "b"],
    "number": [1.0, 2.0, 1.0],
}


def select_query(table: dict[str, list[Any]], query: str) -> dict[str, list[Any]]:
    """Return the rows of one query, as a block holds them."""
    rows = [row for row, row_query in enumerate(table["query"]) if row_query == query]
    return {name: [column[row] for row in rows] for name, column in table.items()}


def score_query(scorer: BlockScorer, query: str) -> dict[str, Any]:
    return scorer.score(select_query(RETRIEVED, query), select_query(JUDGED, query))


def evaluate_whole(metrics: list[str]) -> rm.Evaluation:
    grades = {"query": JUDGED["query"], "document": JUDGED["document"], "grade": JUDGED["number"]}
    scores = {"query": RETRIEVED["query"], "document": RETRIEVED["document"], "score": RETRIEVED["number"]}
    return rm.evaluate(rm.read_qrels(grades), rm.read_run(scores), metrics)


def test_every_block_has_the_values_of_the_whole_if_it_is_told_the_largest_grade() -> None:
    scorer = replace(BlockScorer.create(["mrr", "err"]), max_grade=3.0)
    blocks = [score_query(scorer, query) for query in ("q1", "q2")]
    # The relevant ones have ranks 1 and 2, so err is 7 / 8, and half of 1 / 8.
    assert [block["mrr"].tolist() for block in blocks] == [[1], [1 / 2]]
    assert [block["err"].tolist() for block in blocks] == [[7 / 8], [1 / 16]]
    assert evaluate_whole(["mrr", "err"]).values.tolist() == [[1, 7 / 8], [1 / 2, 1 / 16]]
    alone = score_query(BlockScorer.create("err"), "q2")
    assert alone["err"].tolist() == [1 / 4]  # of its own, the largest grade is 1


def test_the_sums_of_blocks_are_the_evaluation_of_the_whole() -> None:
    metrics = ["mrr", "ndcg@10", "err"]
    scorer = replace(BlockScorer.create(metrics), max_grade=3.0)
    summaries = [BlockSummary.read(score_query(scorer, query), scorer.rules) for query in ("q1", "q2")]
    merged = BlockSummary.merge(summaries)
    whole = evaluate_whole(metrics)
    assert str(merged) == str(whole)
    assert dict(merged.means) == dict(whole.means)
    assert merged.counts == whole.counts


def test_a_row_holds_the_facts_about_its_query() -> None:
    scorer = BlockScorer.create("mrr")
    columns = scorer.score(RETRIEVED, select_query(JUDGED, "q1"), unjudged_queries=["q3"], empty_queries=["q4"])
    assert columns["query"] == ["q1", "q4", "q2", "q3"]
    assert columns["is_judged"].tolist() == [True, True, False, False]
    assert columns["is_scored"].tolist() == [True, False, False, False]
    assert columns["n_retrieved"].tolist() == [1, 0, 0, 0]
    assert columns["n_relevant"].tolist() == [1, 0, 0, 0]
    np.testing.assert_array_equal(columns["mrr"], [1, np.nan, np.nan, np.nan])


def test_a_block_without_judgments_has_the_columns_of_the_others() -> None:
    scorer = BlockScorer.create(["mrr", "ndcg@10"])
    unjudged = scorer.score(RETRIEVED, select_query(JUDGED, "nowhere"))
    assert list(unjudged) == list(scorer.score(RETRIEVED, JUDGED))
    assert unjudged["query"] == ["q1", "q2"]
    assert np.isnan(unjudged["mrr"]).all()


def test_rows_of_something_else_or_of_other_rules_are_refused() -> None:
    rules = as_rules("standard")
    with pytest.raises(ValueError, match="no column 'is_judged'"):
        BlockSummary.read({"query": ["q1"], "mrr": np.ones(1)}, rules)
    columns = BlockScorer.create("mrr").score(select_query(RETRIEVED, "q1"), JUDGED)
    with pytest.raises(ValueError, match="other rules than trec_eval"):
        BlockSummary.read(columns, as_rules("trec_eval"))
    with pytest.raises(ValueError, match="pass the same ties="):
        BlockSummary.read(columns, as_rules("standard", "expected"))
    with pytest.raises(ValueError, match="no values of metrics"):
        BlockSummary.read({name: column for name, column in columns.items() if "mrr" not in name}, rules)


def test_blocks_without_a_common_query_are_refused() -> None:
    scorer = BlockScorer.create("mrr")
    columns = scorer.score(select_query(RETRIEVED, "q1"), select_query(JUDGED, "q2"))
    with pytest.raises(ValueError, match="no query in common: the run has, for example, 'q1', the qrels have 'q2'"):
        BlockSummary.merge([BlockSummary.read(columns, scorer.rules)])


def test_judged_queries_without_a_judged_document_retrieved_are_warned_of_where_blocks_are_merged() -> None:
    scorer = BlockScorer.create("mrr")
    columns = scorer.score({"query": ["q1"], "document": ["z"], "number": [1.0]}, select_query(JUDGED, "q1"))
    summary = BlockSummary.read(columns, scorer.rules)
    with pytest.warns(rm.RetrievalWarning, match="no retrieved document is judged") as caught:
        BlockSummary.merge([summary])
    assert caught[0].filename == __file__


def test_columns_are_found_by_their_usual_names() -> None:
    scored = RowColumns.find_in_run(["qid", "docno", "score", "rank"], None)
    assert scored == RowColumns("qid", "docno", "score", "score", rank="rank")
    ranked = RowColumns.find_in_run(["qid", "docno", "place"], {"rank": "place"})
    assert ranked == RowColumns("qid", "docno", "place", "rank")
    assert RowColumns.find_in_run(["qid", "docno", "weight"], None) is None
    judged = RowColumns.find_in_qrels(["qid", "docno", "relevance", "group"], None)
    assert judged == RowColumns("qid", "docno", "relevance", "grade", group="group")


def test_ranks_that_contradict_the_scores_are_warned_of() -> None:
    columns = RowColumns("query", "document", "score", "score", rank="rank")
    rows: list[dict[str, Any]] = [{"query": "q1", "score": rank / 10, "rank": rank} for rank in (1, 2, 3)]
    with pytest.warns(rm.RetrievalWarning, match="its scores increase with rank"):
        columns.warn_about_ranks(lambda n_rows: rows[:n_rows])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        columns.warn_about_ranks(lambda _: [*rows[:1], {"query": "q1", "score": 0.2, "rank": None}])
        replace(columns, rank=None).warn_about_ranks(lambda _: rows)


def test_trec_text_is_read_as_columns(tmp_path: Any) -> None:
    (tmp_path / "a.run").write_text("q1 Q0 d3 1 2.5 x\n")
    (tmp_path / "a.qrels").write_text("q1 0 d3 2\n")
    (run,) = read_trec_blocks(str(tmp_path / "a.run"), "run")
    (qrels,) = read_trec_blocks(str(tmp_path / "a.qrels"), "qrels")
    assert {name: list(column) for name, column in run.items()} == {
        "query": ["q1"],
        "document": ["d3"],
        "score": [2.5],
    }
    assert list(qrels) == ["query", "document", "grade"]


def test_a_metric_that_divides_by_a_largest_grade_that_nobody_knows_is_refused() -> None:
    metrics = BlockScorer.create(["mrr", "err", "err(max_grade=3)"]).metrics
    mrr, err, fixed = metrics
    assert [divides_by_largest_grade(metric) for metric in metrics] == [False, True, False]
    assert BlockScorer.create([mrr, err]).needs_max_grade
    assert not BlockScorer.create([mrr, fixed]).needs_max_grade
    require_known_scale([mrr, fixed], "a block", "name it, as in {name}(max_grade=3)")
    with pytest.raises(ValueError, match=r"err .*a block.*name it, as in err\(max_grade=3\)"):
        require_known_scale([mrr, err], "a block", "name it, as in {name}(max_grade=3)")
    require_known_scale([err], "a block", "", ["d1", "d2"])  # without grades, the largest is 1 everywhere


def test_a_block_that_lacks_something_warns_of_nothing() -> None:
    scorer = BlockScorer.create("mrr")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        columns = scorer.score(select_query(RETRIEVED, "q2"), select_query(JUDGED, "q1"))
        summary = BlockSummary.read(columns, scorer.rules)
    assert columns["mrr"][:1].tolist() == [0]
    counts = summary.part.counts
    assert (counts["missing"], counts["unjudged_queries"]) == (1, 1)


def test_the_rules_say_whether_a_query_without_a_relevant_document_enters_the_means() -> None:
    for rules, is_scored in (("standard", [True, False]), ("trec_eval", [True, True])):
        retrieved = {"query": ["q1", "q3"], "document": ["a", "a"], "number": [1.0, 1.0]}
        columns = BlockScorer.create("mrr", rules).score(retrieved, select_query(JUDGED, "q1"), empty_queries=["q3"])
        assert columns["is_scored"].tolist() == is_scored


def summarize_blocks(qrels: Any, run: Any, n_blocks: int, exclude: Any = None) -> list[BlockSummary]:
    """Return the summaries of the queries, dealt out to blocks."""
    scorer = replace(BlockScorer.create("mrr"), number_kind="rank", exclusion=as_exclusion(exclude))
    summaries = []
    for number in range(n_blocks):
        retrieved: dict[str, list[Any]] = {"query": [], "document": [], "number": []}
        judged: dict[str, list[Any]] = {"query": [], "document": [], "number": []}
        for query in list(qrels)[number::n_blocks]:
            for rank, document in enumerate(run[query], start=1):
                for column, value in zip(retrieved.values(), (query, document, float(rank)), strict=True):
                    column.append(value)
            for document in qrels[query]:
                for column, value in zip(judged.values(), (query, document, 1.0), strict=True):
                    column.append(value)
        summaries.append(BlockSummary.read(scorer.score(retrieved, judged), scorer.rules))
    return summaries


@pytest.mark.parametrize("n_blocks", [1, 2, 7, 41])
def test_near_misses_are_those_of_the_whole_however_it_is_cut(n_blocks: int) -> None:
    qrels, run = make_near_right_run()
    whole, warning_text = call_with_warnings(lambda: rm.evaluate(qrels, run, "mrr"))
    summaries = summarize_blocks(qrels, run, n_blocks)
    merged, merged_text = call_with_warnings(lambda: BlockSummary.merge(summaries))
    assert merged.counts == whole.counts
    assert merged.counts["near_misses"] == len(NEAR_RIGHT_IDS)
    assert str(merged) == str(whole)
    first_words = f"{len(NEAR_RIGHT_IDS)} of {len(NEAR_RIGHT_IDS)} missing relevant documents were retrieved under"
    assert merged_text.startswith(first_words)
    assert warning_text.startswith(first_words)


@pytest.mark.parametrize("n_blocks", [1, 2, 4])
def test_ids_that_differ_on_purpose_are_no_near_misses_in_blocks_either(n_blocks: int) -> None:
    qrels: Any = {}
    run: Any = {}
    for number in range(30):
        qrels[f"q{number}"] = [f"doc{number}"]
        run[f"q{number}"] = [f"doc0{number}", f"doc{number}"] if number % 3 else [f"doc0{number}", "x"]
    merged, warning_text = call_with_warnings(lambda: BlockSummary.merge(summarize_blocks(qrels, run, n_blocks)))
    assert merged.counts == rm.evaluate(qrels, run, "mrr").counts
    assert (merged.counts["near_misses"], warning_text) == (0, "")


def test_where_nothing_is_found_blocks_say_which_ids_nearly_match() -> None:
    summaries = summarize_blocks({"q1": ["D7"], "q2": ["D8"]}, {"q1": ["d7"], "q2": ["x"]}, 2)
    with pytest.warns(rm.RetrievalWarning, match="every metric is 0; 1 of 2 missing .* 'D7' and the retrieved 'd7'"):
        BlockSummary.merge(summaries)


def test_blocks_leave_documents_out_and_count_them() -> None:
    qrels: Any = {"q1": ["d1"], "q2": ["d2"], "q3": ["d3"]}
    run = {"q1": ["q1", "d1"], "q2": ["d2", "q2"], "q3": ["x", "d3"]}
    for exclude in ("query_id", {"q1": ["q1"], "q2": ["q2"]}):
        whole = rm.evaluate(qrels, run, "mrr", exclude=exclude)
        merged = BlockSummary.merge(summarize_blocks(qrels, run, 3, exclude))
        assert merged.counts == whole.counts
        assert merged.counts["excluded"] == 2
        assert (str(merged), dict(merged.means)) == (str(whole), dict(whole.means))


def test_blocks_count_the_rankings_that_end_early_as_the_whole_does() -> None:
    scorer = BlockScorer.create("recall@10")
    lengths = {"q1": 4, "q2": 4, "q3": 4, "q4": 10}
    judged: dict[str, list[Any]] = {"query": list(lengths), "document": ["d0"] * 4, "number": [1.0] * 4}
    summaries = []
    run = {}
    for query, length in lengths.items():
        documents = [f"d{rank}" for rank in range(length)]
        retrieved: dict[str, list[Any]] = {"query": [query] * length, "document": documents}
        retrieved["number"] = [float(-rank) for rank in range(length)]
        summaries.append(BlockSummary.read(scorer.score(retrieved, select_query(judged, query)), scorer.rules))
        run[query] = documents
    counts = BlockSummary.merge(summaries).counts
    assert counts == rm.evaluate({query: ["d0"] for query in run}, run, "recall@10").counts
    assert (counts["rankings"], counts["cut_rankings"], counts["cut_rank"]) == (4, 3, 4)
