"""Retrievers whose results vary, asked in several rounds."""

import numpy as np
import pytest

import retrieval_metrics as rm
from pytest_retrieval_metrics.rounds import RoundValues, _typical_round
from retrieval_builds import Builds

pytest_plugins = ["pytester"]


VARIES = """
    import os, random
    QRELS = {f"q{i}": ["d"] for i in range(30)}
    LOST = int(os.environ.get("LOST", "0"))
    asked = []

    def found(query):
        asked.append(query)
        random.seed(f"{query} {asked.count(query)}")
        rank = random.choice([1, 1, 2, 4])
        return ["x", "y", "z", "w"][: rank - 1 + LOST] + ["d"]

    def test_rounds(retrieval_check):
        checked = retrieval_check(QRELS, found, {"mrr": None, "hit_rate@1": None}, baseline=True, rounds=4)
        assert len(asked) == 120
        ranks = {query: [] for query in QRELS}
        for query in QRELS:
            for n in range(1, 5):
                random.seed(f"{query} {n}")
                ranks[query].append(random.choice([1, 1, 2, 4]) + LOST)
        for query, found_at in ranks.items():
            assert abs(checked.evaluation.per_query["mrr"][query] - sum(1 / rank for rank in found_at) / 4) < 1e-12
"""


def test_a_retriever_that_varies_is_asked_several_times_and_pooled(builds: Builds) -> None:
    builds.write(VARIES)
    builds.run("--retrieval-update").assert_outcomes(passed=1)
    baseline = rm.load(builds.path / "retrieval_baselines" / "test_search" / "test_rounds.json")
    assert baseline.labels["rounds"] == 4
    assert set(baseline.per_query["hit_rate@1"].values()) <= {0, 0.25, 0.5, 0.75, 1}
    builds.run().stdout.no_fnmatch_line("*rounds, pooled*")
    result = builds.run("-v")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        ["test_search.py::test_rounds: 4 rounds, pooled per query; *rounds: mrr 0.* to 0.*, SD 0.0*"]
    )
    builds.run(lost=1).assert_outcomes(failed=1)


@pytest.mark.parametrize(("values", "typical"), [([np.nan, 0.5, 0.4], 1), ([0.1, np.nan, 0.9, 0.6], 3), ([np.nan], 0)])
def test_a_round_in_which_a_metric_is_undefined_is_not_typical(values: list[float], typical: int) -> None:
    rounds = [RoundValues(index, np.array([value])) for index, value in enumerate(values)]
    assert _typical_round(rounds) == typical
