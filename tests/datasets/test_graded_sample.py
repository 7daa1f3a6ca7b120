"""What people and a model graded of a sample, and what neither graded."""

import pytest

from graded_systems import MODEL, RUNS, SAMPLE, TRUTH, estimate


def test_a_sample_that_was_not_drawn_is_refused_unless_its_probabilities_are_given() -> None:
    for chosen in (list(SAMPLE), set(SAMPLE), None, 30):
        with pytest.raises(TypeError, match="must say how people's queries were drawn"):
            estimate(sample=chosen)
    weighted = estimate(sample=dict.fromkeys(SAMPLE, 0.25))
    assert weighted.means["ndcg@10"] == pytest.approx(estimate().means["ndcg@10"])
    with pytest.raises(ValueError, match="must be above 0"):
        estimate(sample=dict.fromkeys(SAMPLE, 0.0))


def test_every_sampled_query_must_be_graded_and_others_are_left_aside() -> None:
    missing = {query: TRUTH[query] for query in list(SAMPLE)[1:]}
    with pytest.raises(
        ValueError, match=rf"nothing for 1 of the 30 sampled queries, for example '{SAMPLE.queries[0]}'"
    ):
        estimate(human=missing)
    more = estimate(human=TRUTH)
    assert more.means == estimate().means
    assert "90 queries that people graded are not in the sample and were ignored" in str(more)


def test_what_nobody_graded_is_counted() -> None:
    fewer = {query: {d: g for d, g in TRUTH[query].items() if d not in {"d4", "d5"}} for query in SAMPLE}
    said = str(estimate(human=fewer))
    tops = {query: {d for run in RUNS.values() for d in run[query][:10]} for query in SAMPLE}
    ungraded, seen = (sum(len(held & {"d4", "d5"}) for held in tops.values()), sum(map(len, tops.values())))
    assert f"people gave no grade to {ungraded} of {seen} documents among the first 10 of the systems" in said
    model = {query: held for query, held in MODEL.qrels.items() if query not in {"q3", "q4"}}
    assert "the model graded nothing for 2 queries" in str(estimate(model=model))
