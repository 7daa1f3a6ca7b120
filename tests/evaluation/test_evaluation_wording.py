"""What is said about evaluations is what the golden file holds; other tests look at fields.

Where a text changes on purpose, write the new one into `golden/evaluation_wording.txt`.
"""

from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.evaluation import evaluation_wording as wording
from retrieval_metrics.evaluation.chance import Chance
from retrieval_metrics.evaluation.judged_results import Result
from retrieval_metrics.evaluation.outcome_facts import OutcomeFacts
from retrieval_metrics.matching.budget import Budget
from retrieval_metrics.statistics import Interval

GOLDEN = Path(__file__).parent / "golden" / "evaluation_wording.txt"

CHARACTERS: Any = rm.Metric.parse("recall@1000chars").k
CALLS: Any = rm.Metric.parse("recall@1calls").k


def result(document_id: str, rank: int, source: str | None = None) -> Result:
    return Result(rank, document_id, "relevant", 1.0, (), None, source, None, None)


OUTCOMES = [
    OutcomeFacts(kind="found"),
    OutcomeFacts(kind="alternative_found"),
    OutcomeFacts(kind="cutoff_full", k=5),
    OutcomeFacts(kind="cutoff_full", k=1),
    OutcomeFacts(kind="cutoff_full", k=2, budget=CHARACTERS),
    OutcomeFacts(kind="lost_tie", n_tied=4, first_tied_rank=2),
    OutcomeFacts(kind="behind_duplicates", n_duplicates_above=1),
    OutcomeFacts(kind="behind_duplicates", n_duplicates_above=2),
    OutcomeFacts(kind="behind_same_document", sibling_document="d3", n_sibling_chunks=1),
    OutcomeFacts(kind="behind_same_document", sibling_document="d3", n_sibling_chunks=2, n_other_sibling_chunks=1),
    OutcomeFacts(kind="below_cutoff", k=10),
    OutcomeFacts(kind="over_budget", budget=CHARACTERS, item_lengths=[700, 1_500]),
    OutcomeFacts(kind="over_budget", budget=CALLS, item_lengths=[1, 2]),
    OutcomeFacts(kind="id_granularity", related_id="d7#3", related_id_rank=2),
    OutcomeFacts(kind="dropped", stage="reranked"),
    OutcomeFacts(kind="not_retrieved", n_retrieved=1),
    OutcomeFacts(kind="not_retrieved", n_retrieved=1_200),
    OutcomeFacts(kind="empty_ranking"),
    OutcomeFacts(kind="retriever_error", error=TimeoutError("too slow")),
]


def explanation_texts() -> list[str]:
    return [
        *map(wording.format_outcome, OUTCOMES),
        wording.format_partial_match([1]),
        wording.format_partial_match([1, 3]),
        wording.format_standing(result("old", 1), None),
        wording.format_standing(result("old", 1, "2019.md"), result("d1", 2)),
        wording.format_forbidden(result("old", 1), wording.format_standing(result("old", 1), None)),
        wording.format_call(None),
        wording.format_call((2, 7)),
        wording.format_with_text("d1", "the text of d1", 36),
        wording.format_with_text("\u201ca quote\u201d", "a quote", 36),
        wording.format_outcome_counts({"not_retrieved": 2, "lost_tie": 1}),
        wording.format_found(2, 2, 0),
        wording.format_found(1, 2, 1),
        wording.format_failures({}, 0, 0, "document", 3),
        wording.format_failures({}, 1, 1, "document", 1),
        wording.format_failures({}, 4, 4, "passage", 3),
        wording.format_failures({}, 3, 2, "document", 2),
        wording.format_failures({"not_retrieved": 3, "below_cutoff": 1}, 20, 16, "document", 10),
        wording.format_failures({"not_retrieved": 1_200}, 3_000, 1_799, "fact", 1),
        wording.format_queries_without_hit({"not_retrieved": 1_200, "below_cutoff": 1}, "passage", 3_000),
        wording.format_queries_without_hit({}, "document", 1),
        wording.format_queries_without_hit({}, "document", 40),
        wording.format_imperfect("leak@5", 2, 3),
        wording.format_imperfect("leak@5", 0, 0),
        wording.format_all_perfect("mrr"),
        wording.NO_RELEVANT_DOCUMENT,
        wording.NOTHING_MISSING,
        wording.NO_RESULT,
        wording.NOT_IN_ANY_STAGE,
    ]


def stage_texts() -> list[str]:
    return [
        wording.format_loss("dropped:fused"),
        wording.format_loss("below_cutoff:reranked"),
        wording.format_loss("not_retrieved"),
        wording.format_loss("cutoff_full"),
        wording.format_losses({"dropped:fused": 1_200, "not_retrieved": 1}),
        wording.format_stage_flow(0.125, "document", one_suffices=False),
        wording.format_stage_flow(0.125, "passage", one_suffices=True),
        wording.format_sources(["bm25", "dense"]),
        wording.format_sources(["bm25"], is_assumed=True),
        wording.format_ceiling_head("ndcg@10"),
        wording.CEILING_MEANING,
        wording.format_unreached(["joined", "reranked"]),
        wording.NO_STAGES,
    ]


def report_texts() -> list[str]:
    interval = Interval(0.25, 0.75)
    return [
        wording.format_metric_mean("mrr", 0.5, interval, 12, None),
        wording.format_metric_mean("mrr", 0.5, interval, 1_200, {"0": 4, "perfect": 1_000}),
        wording.format_metric_mean("mrr", float("nan"), Interval(float("nan"), float("nan")), 0, None),
        wording.format_metric_mean("dcg", 0.5, interval, 1, {"0": 1}),
        wording.format_system_value("", 0.5),
        wording.format_system_value("bm25", None),
        wording.format_missed("", 0, {}),
        wording.format_missed("", 2, {"not retrieved": 1}),
        wording.format_missed("bm25", 4, {"not retrieved": 2, "below cutoff": 1}),
        wording.format_missed("bm25", 1, {}),
        wording.format_needed(
            1,
            "d1",
            [
                wording.format_system_outcome("bm25", "found", 2),
                wording.format_system_outcome("dense", "not retrieved", None),
                wording.format_system_outcome("", "found", 1),
            ],
        ),
        wording.format_needed(2, "d1: Dogs travel free.", ["found"]),
        wording.format_needed(2, "“Dogs travel free.”", ["found"]),
        wording.format_results_heading(""),
        wording.format_results_heading("bm25"),
        wording.format_no_results("bm25"),
        wording.format_unjudged({"": 0.5}, 10, is_condensed=False),
        wording.format_unjudged({"": 0.5}, 1, is_condensed=False),
        wording.format_unjudged({"": 0.5}, 10, is_condensed=True),
        wording.format_unjudged({"a": 0.5, "b": 1.0}, 1, is_condensed=True),
        wording.format_missing_details(100, 1_500),
        wording.format_left_out_queries(20_000, 30_000),
        wording.format_shortened_texts(1_000),
        wording.format_chance(Chance("mrr", 0.5, 0.48, 0.31, 60)),
        wording.format_chance(Chance("mrr", 0.5, 0.02, 0.0001, 1_200)),
    ]


SECTIONS = {
    "explanations": explanation_texts,
    "stages": stage_texts,
    "reports": report_texts,
}


def golden_sections() -> dict[str, list[str]]:
    sections: dict[str, list[str]] = {}
    for line in GOLDEN.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            lines = sections.setdefault(line.removeprefix("# "), [])
        elif line:
            lines.append(line)
    return sections


@pytest.mark.parametrize("section", SECTIONS)
def test_texts_are_the_golden_ones(section: str) -> None:
    assert SECTIONS[section]() == golden_sections()[section]


def test_no_golden_text_is_left_over() -> None:
    assert set(golden_sections()) == set(SECTIONS)


def test_nothing_is_said_where_nothing_is_left_out() -> None:
    assert wording.format_missing_details(12, 12) == ""


def test_an_undefined_value_is_a_word() -> None:
    assert (wording.format_query_value(float("nan")), wording.format_query_value(0.5)) == ("undefined", "0.500")


def test_every_outcome_has_a_text_and_a_label() -> None:
    assert {facts.kind for facts in OUTCOMES} == set(wording.OUTCOME_LABELS)
    assert isinstance(CHARACTERS, Budget)
