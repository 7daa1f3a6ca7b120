"""The queries on which a model says that systems differ most."""

import re

import numpy as np
import pytest

import retrieval_metrics as rm
from graded_systems import MODEL, QUERIES, RUNS, TRUTH, estimate
from retrieval_metrics.datasets.disagreement_strata import choose_first_stratum
from retrieval_metrics.datasets.rubric import Scale


@pytest.mark.parametrize(
    ("differences", "size", "share"),
    [
        ([1.0] * 20 + [0.0] * 60, 20, 0.6),  # all of the differences: at most 60% of the labels
        ([1.0] * 80, 10, 0.125),  # no query tells more than another: as many as there are
        ([3.0] * 10 + [1.0] * 70, 10, 30 / 100),  # 10 * 3 of 10 * 3 + 70 * 1
        ([1.0] * 2 + [0.0] * 3, 2, 0.6),
        ([1.0] * 60 + [0.0] * 20, 40, 40 / (40 + 800**0.5)),  # at most half of the queries; sqrt(40 * 20) of the others
        ([1.0, 0.0, 0.0], 2, 0.6),  # at least two queries, whose variance can be told
        ([1.0] + [0.0] * 79, 10, 0.6),  # at least an eighth of them
    ],
)
def test_the_first_stratum_holds_the_differences(differences: list[float], size: int, share: float) -> None:
    first = choose_first_stratum(np.array(differences))
    assert first.size == size
    assert first.share_of_labels == pytest.approx(share)


def test_more_of_a_sample_is_drawn_where_the_model_says_that_systems_differ() -> None:
    pool = rm.pool({query: f"{query}?" for query in QUERIES}, RUNS, depth=12)
    runs = {name: RUNS[name] for name in ("weak", "best")}
    sample = pool.sample(30, graded=MODEL, runs=runs)
    values = [rm.evaluate(MODEL.qrels, run, "ndcg@10").per_query["ndcg@10"] for run in runs.values()]
    in_order = sorted(QUERIES, key=lambda query: -abs(values[0][query] - values[1][query]))
    assert sample.strata is not None
    first = [query for query in QUERIES if sample.strata[query] == "differ most"]
    assert set(first) == set(in_order[: len(first)])
    drawn = sum(query in sample for query in first)
    assert drawn / 30 > 1.3 * len(first) / 120
    assert {sample.probabilities[query] for query in sample} == {drawn / len(first), (30 - drawn) / (120 - len(first))}
    assert re.search(rf"differ most +{drawn} +{len(first)}", str(sample))
    assert set(pool.sample(20, graded=MODEL, runs=runs)) < set(sample)
    people = {query: TRUTH[query] for query in sample}
    difference = estimate(human=people, sample=sample, runs=runs).difference("ndcg@10")
    means = [rm.evaluate(TRUTH, run, "ndcg@10").means["ndcg@10"] for run in runs.values()]
    assert difference.interval.low < means[1] - means[0] < difference.interval.high
    with pytest.raises(ValueError, match="pass graded= and runs= together"):
        pool.sample(30, graded=MODEL)
    equal = rm.Labels(
        rm.Labels.from_qrels({query: {"d0": 1} for query in QUERIES}, "a model", kind="model"), scale=Scale()
    )
    with pytest.raises(ValueError, match=r"differ on none of the 120 queries in mrr\(rel=2\)"):
        pool.sample(30, graded=equal, runs=runs, metrics="mrr")
    with pytest.raises(ValueError, match="two or more systems"):
        pool.sample(30, graded=MODEL, runs={"weak": RUNS["weak"]})
