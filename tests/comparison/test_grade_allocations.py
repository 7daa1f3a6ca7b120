"""NDCG of queries with too many ways to grade their documents."""

import random

import pytest

from partly_judged_systems import quietly

METRICS = ["ndcg@4", "mrr@4", "recall@4", "map"]


@pytest.mark.parametrize("seed", range(8))
def test_ndcg_of_queries_with_too_many_completions_is_bounded_exactly(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(seed)
    documents = [f"d{number}" for number in range(7)]
    truth = {
        query: {document: chance.choice([0, 1, 3]) for document in chance.sample(documents, 2)} | {"r": 1, "s": 3}
        for query in range(5)
    }
    runs = {
        name: {query: chance.sample([*documents, "r", "s"], chance.randint(1, 6)) for query in truth} for name in "ab"
    }
    options = {"unjudged": "bounds", "unretrieved_relevant": chance.choice([None, 1, 2]), "resamples": 20}
    tried = quietly(truth, runs, ["ndcg@4", "ndcg"], **options).unjudged
    monkeypatch.setattr("retrieval_metrics.comparison.unjudged_bounds.MAX_COMPLETIONS_OF_A_QUERY", 1)
    counted = quietly(truth, runs, ["ndcg@4", "ndcg"], **options).unjudged
    assert tried is not None
    assert counted is not None
    assert counted.exact
    for key, ends in tried.differences.items():
        assert counted.differences[key] == pytest.approx(ends, abs=1e-12)
    for metric, of_systems in tried.means.items():
        for system, ends in of_systems.items():
            assert counted.means[metric][system] == pytest.approx(ends, abs=1e-12)
