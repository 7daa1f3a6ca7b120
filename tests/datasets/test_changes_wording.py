"""What is said about changes is what the golden file holds; other tests look at fields."""

from pathlib import Path

from golden_texts import check_golden_texts
from retrieval_metrics.datasets import changes_wording as wording

GOLDEN = Path(__file__).parent / "golden" / "changes_wording.txt"


def changes_texts() -> list[str]:
    return [
        wording.format_unchanged(2, 3, 10, "rbo", [], is_bound=False),
        wording.format_unchanged(1, 3, 10, "rbo", [("q0", 0.0), ("q1", 0.535)], is_bound=False),
        wording.format_unchanged(1, 3, 10, "max_gain(mrr)", [("q0", 1.0)], is_bound=True),
        wording.format_changed_documents(1, 3),
        wording.format_changed_documents(1_200, 10),
        wording.format_change_bounds_meaning(has_loss=True, has_gain=True),
        wording.format_change_bounds_meaning(has_loss=True, has_gain=False),
        wording.format_change_bounds_meaning(has_loss=False, has_gain=True),
        wording.format_wide_bounds(["max_loss(ndcg@10)", "max_gain(ndcg@10)"]),
        wording.format_cut_rankings(["q1"], 3),
        wording.format_cut_rankings(["q1", "q2"], 3),
        wording.format_extrapolated_weight(0.729),
        wording.format_missing_queries(["q1"]),
        wording.format_added_queries(2),
    ]


def test_texts_are_the_golden_ones() -> None:
    check_golden_texts(GOLDEN, {"changes": changes_texts()})
