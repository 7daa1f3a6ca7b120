"""Updates: when a baseline may be replaced, and what is kept of the best approved ones."""

import pytest

import retrieval_metrics as rm
from retrieval_builds import SUITE, WORDS, Builds

pytest_plugins = ["pytester"]


def test_an_update_that_is_proven_worse_asks_for_acceptance(builds: Builds) -> None:
    builds.write_baseline()
    before = (builds.path / WORDS).read_bytes()
    refused = builds.run("--retrieval-update", lost=12)
    refused.assert_outcomes(failed=1)
    refused.stdout.fnmatch_lines(
        [
            "ndcg@10 worse: 1.000 -> 0.741 *",
            "baseline not updated; accept the loss with --retrieval-accept-worse=ndcg@10,mrr",
        ]
    )
    assert (builds.path / WORDS).read_bytes() == before
    accepted = builds.run("--retrieval-update", "--retrieval-accept-worse", lost=12)
    accepted.assert_outcomes(passed=1)
    accepted.stdout.fnmatch_lines(
        [
            "baseline written: *test_words.json",
            "  ndcg@10 1.000 -> 0.741 (p < 0.001): 12 worse, 0 better of 40 queries",
            "    worse q0: 1.000 -> 0.138",
            "  and * more lines: --retrieval-show=50",
        ]
    )
    accepted.stdout.no_fnmatch_line("*biases it upwards*")
    better = builds.run("--retrieval-update")
    better.stdout.fnmatch_lines(
        [
            "  mrr 0.800 -> 1.000 (p *): 0 worse, 12 better of 40 queries",
            "    better q0: 0.138 -> 1*",
        ]
    )
    better.stdout.no_fnmatch_line("*biases it upwards*")  # it is more than chance explains
    builds.run().assert_outcomes(passed=1)


LOSES_TWICE = (
    SUITE
    + """
    def test_others(retrieval_check):
        retrieval_check(QRELS, found, {"recall@1": None}, baseline=True)
"""
)


@pytest.mark.parametrize(
    ("names", "accepted"),
    [
        ("", ["test_words", "test_others"]),
        ("=test_words", ["test_words"]),
        ("=test_search.py::test_others", ["test_others"]),
        ("=nDCG@10, recall@1", ["test_others"]),  # test_words is worse in mrr too
        ("=ndcg@10,mrr", ["test_words"]),
        ("=precision(rel=2)@1,test_gone", []),
    ],
)
def test_a_loss_is_accepted_by_name(builds: Builds, names: str, accepted: list[str]) -> None:
    builds.write(LOSES_TWICE)
    builds.run("--retrieval-update").assert_outcomes(passed=2)
    result = builds.run("--retrieval-update", f"--retrieval-accept-worse{names}", lost=12)
    result.assert_outcomes(passed=len(accepted), failed=2 - len(accepted))
    folder = (builds.path / WORDS).parent
    means_by_test = {test: rm.load(folder / f"{test}.json").means for test in ("test_words", "test_others")}
    assert [test for test, means in means_by_test.items() if list(means.values()) not in ([1, 1], [0.5])] == accepted


def test_a_small_change_is_stored_and_shown(builds: Builds) -> None:
    builds.write_baseline()
    result = builds.run("--retrieval-update", lost=2)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["  mrr 1.000 -> 0.967 (p 0.250): 2 worse, 0 better of 40 queries"])
    assert builds.load_baseline().means["mrr"] == pytest.approx(0.96667, abs=1e-5)


def read_best_baselines(builds: Builds) -> dict[str, str]:
    """Return what is kept beside the baseline, by the beginning of the name, which is that of the metric."""
    folder = builds.path / WORDS.parent / "best" / "test_words"
    best_files = folder.iterdir() if folder.exists() else []
    return {path.name.partition("-")[0].removesuffix(".json"): path.read_text(encoding="utf-8") for path in best_files}


def test_small_drops_add_up_to_a_refusal(builds: Builds) -> None:
    builds.write_baseline()
    assert not read_best_baselines(builds)  # the baseline is the best
    first = (builds.path / WORDS).read_text(encoding="utf-8")
    builds.run("--retrieval-update", lost=4).assert_outcomes(passed=1)  # p 1 / 2^4
    assert read_best_baselines(builds) == {"ndcg_10": first, "mrr": first}
    second = (builds.path / WORDS).read_bytes()
    builds.run(lost=8).assert_outcomes(passed=1)  # four more, beside the last
    refused = builds.run("--retrieval-update", lost=8)
    refused.assert_outcomes(failed=1)
    refused.stdout.fnmatch_lines(
        [
            "ndcg@10 worse: 1.000 -> 0.828 (p 0.00391), 8 of 40 queries worse, compared with the best approved *",
            "baseline not updated; accept the loss with --retrieval-accept-worse=ndcg@10,mrr",
        ]
    )
    assert (builds.path / WORDS).read_bytes() == second

    builds.run("--retrieval-update", "--retrieval-accept-worse", lost=8).assert_outcomes(passed=1)
    assert not (builds.path / WORDS.parent / "best").exists()  # accepted: now this is the best
    builds.run("--retrieval-update", lost=8).assert_outcomes(passed=1)
    assert not read_best_baselines(builds)  # nothing changed


RISING = """
    import os
    QRELS = {f"q{i}": ["d"] for i in range(80)}
    STEP = int(os.environ.get("LOST", "0"))

    def found(query):  # of 40, 4 a step fall to rank 3; of the others, 8 a step appear at rank 10
        at = int(query[1:])
        rank = (3 if at < 4 * STEP else 1) if at < 40 else 10 if at < 40 + 8 * STEP else 11
        return [f"x{before}" for before in range(rank - 1)] + ["d"]

    def test_words(retrieval_check):
        retrieval_check(QRELS, found, dict.fromkeys(METRICS), baseline=True)
"""


@pytest.mark.parametrize("other_metrics", [[], ["recall@10"], ["recall@10", "hit_rate@10"]])
def test_a_metric_remembers_its_best_while_others_rise(builds: Builds, other_metrics: list[str]) -> None:
    builds.write(RISING.replace("METRICS", repr(["mrr@10", *other_metrics])))
    builds.run("--retrieval-update").assert_outcomes(passed=1)
    first = (builds.path / WORDS).read_text(encoding="utf-8")
    builds.run("--retrieval-update", lost=1).assert_outcomes(passed=1)
    assert read_best_baselines(builds) == {"mrr_10": first}  # the others rose
    for step in (2, 3, 4):
        refused = builds.run("--retrieval-update", lost=step)
        refused.assert_outcomes(failed=1)
        refused.stdout.fnmatch_lines(["mrr@10 worse: 0.500 -> 0.4* (p *, compared with the best approved baseline"])
    accepted = builds.run("--retrieval-update", "--retrieval-accept-worse", lost=2)
    accepted.assert_outcomes(passed=1)
    assert not read_best_baselines(builds)


def test_drops_within_the_tolerance_add_up_too(builds: Builds) -> None:
    builds.write_baseline()
    builds.run("--retrieval-update", "--retrieval-tolerance=0.2", lost=8).assert_outcomes(passed=1)  # p 1 / 2^8
    assert set(read_best_baselines(builds)) == {"ndcg_10", "mrr"}
    refused = builds.run("--retrieval-update", "--retrieval-tolerance=0.2", lost=14)
    refused.assert_outcomes(failed=1)
    refused.stdout.fnmatch_lines(["ndcg@10 worse: 1.000 -> *, compared with the best approved baseline"])


def test_the_best_is_replaced_by_what_is_better_and_goes_with_its_baseline(builds: Builds) -> None:
    builds.run("--retrieval-update", lost=8).assert_outcomes(passed=1)
    builds.run("--retrieval-update", lost=10).assert_outcomes(passed=1)
    assert read_best_baselines(builds)
    builds.run("--retrieval-update").assert_outcomes(passed=1)  # 10 won
    assert not read_best_baselines(builds)
    builds.run("--retrieval-update", lost=3).assert_outcomes(passed=1)
    assert read_best_baselines(builds)
    for best in (builds.path / WORDS.parent / "best" / "test_words").iterdir():
        best.write_text("{", encoding="utf-8")
    damaged = builds.run("--retrieval-update", lost=4)
    damaged.assert_outcomes(failed=1)
    damaged.stdout.fnmatch_lines(["*best/test_words/*.json*"])
    builds.run(lost=4).assert_outcomes(passed=1)  # only updates read it
    builds.write("def test_other():\n    pass\n")
    builds.run("--retrieval-prune")
    assert not read_best_baselines(builds)


@pytest.mark.parametrize("accept", [False, True])
def test_what_is_below_its_floor_or_failed_is_never_stored(builds: Builds, accept: bool) -> None:
    options = ["--retrieval-update", *(["--retrieval-accept-worse"] if accept else [])]
    refused = builds.run(*options, lost=40)
    refused.assert_outcomes(failed=1)
    refused.stdout.fnmatch_lines(
        [
            "ndcg@10 below floor: 0.138 < 0.35, n = 40",
            "baseline not updated: a metric is below its floor*",
        ]
    )
    broken = (
        SUITE.replace("found, at", "broken, raise_on_error=False, at")
        + """
    def broken(query):
        if query == "q3":
            raise ConnectionError("index is gone")
        return found(query)
"""
    )
    builds.write(broken)
    failed = builds.run(*options)
    failed.assert_outcomes(failed=1)
    failed.stdout.fnmatch_lines(["ndcg@10 not stored: the retriever failed on 1 of 40 queries"])
    assert not (builds.path / WORDS).exists()
