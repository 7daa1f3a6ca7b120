"""The sentence about a rare effect; the golden file of conclusions has it in comparisons."""

from retrieval_metrics.comparison.rare_effect_wording import format_rare_effect
from retrieval_metrics.statistics import RareChange


def test_a_rare_effect_names_the_share_of_queries_and_the_shift_of_the_mean() -> None:
    text = format_rare_effect(50, 1.0, RareChange(share=0.058, mean_shift=0.058))
    assert text == (
        "rare effects may be missed with 50 queries: up to 5.8% of all queries could differ by 1, "
        "changing the mean by 0.058"
    )
