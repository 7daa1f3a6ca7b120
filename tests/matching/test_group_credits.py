"""Each group is credited once, at the first item that satisfies it."""

from typing import Any

import retrieval_metrics as rm
from retrieval_metrics.matching.judge import judge
from retrieval_metrics.matching.judged_run import JudgedRun
from retrieval_metrics.matching.ranking_order import TIES_BY_ID


def judge_ranking(groups: Any, ranking: Any) -> JudgedRun:
    return judge(rm.Qrels({"q": groups}), {"q": ranking}, "id", TIES_BY_ID)


def test_an_item_that_satisfies_two_groups_gives_two_rows_the_higher_grade_first() -> None:
    hits = judge_ranking([{"a": 1, "b": 1}, {"a": 3}, {"c": 2}], ["x", "a", "b", "c"]).hits()
    assert hits.rank.tolist() == [2, 2, 4]
    assert hits.row.tolist() == [2, 3, 5]
    assert hits.grade.tolist() == [3, 1, 2]
    assert hits.ordinal.tolist() == [1, 2, 3]


def test_a_later_member_of_a_satisfied_group_is_a_settled_miss() -> None:
    judged = judge_ranking([{"a": 1, "b": 1}, {"c": 1}], ["a", "x", "b", "c"])
    assert judged.hits().rank.tolist() == [1, 4]
    assert sorted(judged.settled_rows().row.tolist()) == [1, 3, 4]


def test_all_credits_are_listed_also_of_groups_satisfied_before() -> None:
    judged = judge_ranking([{"a": 1, "b": 1}, {"a": 3}], ["b", "a"])
    rows = zip(judged.credits.item.tolist(), judged.credits.group.tolist(), judged.credits.grade.tolist(), strict=True)
    assert sorted(rows) == [(0, 0, 1.0), (1, 0, 1.0), (1, 1, 3.0)]


def test_a_document_that_was_credited_is_credited_again_where_duplicates_count() -> None:
    judged = judge_ranking([{"a": 1, "b": 1}], ["b", "a", "b"])
    assert judged.hits().rank.tolist() == [1]
    assert judged.with_duplicate_rule("count").hits().rank.tolist() == [1, 3]


def test_an_item_that_only_adds_to_a_piece_has_no_row() -> None:
    items = [
        rm.Retrieved(number, source="s", start=start, end=end) for number, (start, end) in enumerate([(0, 5), (5, 10)])
    ]
    judged = judge(rm.Qrels({"q": [rm.Span("s", 0, 10)]}), {"q": items}, "id", TIES_BY_ID)
    assert judged.hits().rank.tolist() == [2]
    assert judged.hits().row.tolist() == [1]
