"""Blocks that are evaluated apart have the values of the whole."""

import warnings
from typing import Any

import numpy as np
import pytest

import retrieval_metrics as rm
from retrieval_metrics.integration_api.batches import (
    JUDGMENT_ROLES,
    RUN_ROLES,
    LongTable,
    as_metrics,
    as_rules,
    counts_in_means,
    divides_by_largest_grade,
    require_known_scale,
    score_run,
)

JUDGED: dict[str, list[Any]] = {"query": ["q1", "q2"], "document": ["a", "b"], "grade": [3, 1]}
RUN: dict[str, list[Any]] = {"query": ["q1", "q2", "q2"], "document": ["a", "x", "b"], "score": [1.0, 2.0, 1.0]}


def block(query: str) -> tuple[rm.Qrels, rm.Run]:
    """Return the judgments and the rankings of one query, as a block of tables holds them."""
    judged, retrieved = (
        {
            name: [value for value, own in zip(column, rows["query"], strict=True) if own == query]
            for name, column in rows.items()
        }
        for rows in (JUDGED, RUN)
    )
    judgments = LongTable(judged, JUDGMENT_ROLES, None, "a block", allow=()).judgments()
    return rm.Qrels.from_table(judgments), rm.Run(
        [LongTable(retrieved, RUN_ROLES, None, "a block", allow=()).rankings()]
    )


def test_every_block_has_the_values_of_the_whole_if_it_is_told_the_largest_grade() -> None:
    metrics, rules = as_metrics(["mrr", "err"]), as_rules("standard")
    values = [score_run(*block(query), metrics, rules, scale=3).values for query in ("q1", "q2")]
    # The relevant ones have ranks 1 and 2, so err is 7 / 8, and half of 1 / 8.
    assert np.concatenate(values).tolist() == [[1, 7 / 8], [1 / 2, 1 / 16]]
    evaluation = rm.evaluate(rm.read_qrels(JUDGED), rm.read_run(RUN), ["mrr", "err"])
    assert np.concatenate(values).tolist() == evaluation.values.tolist()
    alone = score_run(*block("q2"), metrics, rules).values
    assert alone.tolist() == [[1 / 2, 1 / 4]]  # of its own, the largest grade is 1


def test_a_metric_that_divides_by_a_largest_grade_that_nobody_knows_is_refused() -> None:
    mrr, err, fixed = as_metrics(["mrr", "err", "err(max_grade=3)"])
    assert [divides_by_largest_grade(metric) for metric in (mrr, err, fixed)] == [False, True, False]
    require_known_scale([mrr, fixed], "a block", "name it, as in {name}(max_grade=3)")
    with pytest.raises(ValueError, match=r"err .*a block.*name it, as in err\(max_grade=3\)"):
        require_known_scale([mrr, err], "a block", "name it, as in {name}(max_grade=3)")
    require_known_scale([err], "a block", "", ["d1", "d2"])  # without grades, the largest is 1 everywhere


def test_a_block_that_lacks_something_warns_of_nothing() -> None:
    qrels, _ = block("q1")
    _, run = block("q2")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scores = score_run(qrels, run, as_metrics("mrr"), as_rules("standard"))
    assert scores.values.tolist() == [[0]]
    assert (scores.counts["missing"], scores.counts["unjudged_queries"]) == (1, 1)


def test_the_rules_say_whether_a_query_without_a_relevant_document_enters_the_means() -> None:
    has_relevant = np.array([True, False])
    assert counts_in_means(has_relevant, as_rules("standard")).tolist() == [True, False]
    assert counts_in_means(has_relevant, as_rules("trec_eval")).tolist() == [True, True]
