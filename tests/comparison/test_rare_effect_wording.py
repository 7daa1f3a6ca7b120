"""The sentence about a rare effect; the golden file of conclusions has it in comparisons."""

import retrieval_metrics as rm
from retrieval_metrics.comparison.rare_effect_wording import format_rare_effect
from retrieval_metrics.statistics import RareChange


def test_a_rare_effect_names_the_share_of_queries_and_the_shift_of_the_mean() -> None:
    text = format_rare_effect("50 queries", 1.0, RareChange(share=0.058, mean_shift=0.058), level=0.95)
    assert text == (
        "effects too rare to occur in 50 queries are not covered by the CI: up to 5.8% of all queries (95% confidence) "
        "could differ by 1, changing the mean by 0.058"
    )


def test_equal_rankings_miss_no_rare_effect_and_equal_values_do() -> None:
    qrels = {f"q{number}": ["a"] for number in range(40)}
    old = {query: ["a", "b"] for query in qrels}
    same = {query: {"a": 2.0, "b": 1.0} for query in qrels}
    other = {**old, "q39": ["a", "c"]}
    assert not rm.compare(qrels, {"old": old, "new": same}, "mrr").conclusions.rare_effect_notes
    assert rm.compare(qrels, {"old": old, "new": other}, "mrr").conclusions.rare_effect_notes
    assert rm.compare(qrels, {"old": old, "new": same}, "mrr", margin=0.1).conclusions.rare_effect_notes


def test_a_rare_effect_is_set_against_the_difference_it_opposes() -> None:
    qrels = {f"q{number}": ["a"] for number in range(40)}
    old = {query: ["a"] for query in qrels}
    notes = []
    for n_lost in (6, 7, 40):
        new = {query: ["b", "a"] if number < n_lost else ["a"] for number, query in enumerate(qrels)}
        (conclusion,) = rm.compare(qrels, {"old": old, "new": new}, "mrr", baseline="old").conclusions
        rare = conclusion.details.rare_effect
        assert rare.mean_shift < abs(conclusion.difference)
        # If as many queries gain 1, the others keep their difference.
        assert conclusion.sample_only == (rare.share >= (1 - rare.share) * abs(conclusion.difference))
        notes.append(conclusion.rare_effect_note)
    assert notes[0].endswith("raising the mean by 0.078, which could undo the difference.")
    assert notes[1].endswith("raising the mean by 0.072, not enough to undo the difference.")
    assert notes[2].endswith("not enough to undo the difference.")
