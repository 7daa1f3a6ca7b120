"""The gates against a baseline: drops, queries that must not get worse, and retrievers without chance."""

import math
from collections.abc import Mapping
from typing import Any

import pytest

import retrieval_metrics as rm
from pytest_retrieval_metrics import baseline_gates
from pytest_retrieval_metrics.baseline_gates import (
    MetricLosses,
    compare_with_baseline,
    deterministic_gate,
    regression_gate,
)
from pytest_retrieval_metrics.check_records import make_metric_rows
from retrieval_builds import SETTINGS, SUITE, Builds
from retrieval_metrics.statistics import detectable_difference

pytest_plugins = ["pytester"]


def test_a_real_drop_fails_with_what_one_needs_to_act(builds: Builds) -> None:
    builds.write_baseline()
    result = builds.run(lost=12)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "ndcg@10 worse: 1.000 -> 0.741 (p < 0.001), 12 of 40 queries worse",
            "  was [[]*], is [[]*]; difference -0.259 [[]-*], worse if p is at most 0.05; W/T/L 0/28/12",
            "  q0: 1.000 -> 0.138",
            "      d (grade 3): was at rank 1; now not among the 3 retrieved",
            "      e (grade 1): was at rank 2; now at rank 3",
            "  and 7 more that got worse",
            "mrr worse: *",
            "FAILED test_search.py::test_words - Failed: ndcg@10 worse: 1.000 -> 0.741*",
        ]
    )


def test_a_small_drop_is_not_told_from_chance_and_says_what_would_be(builds: Builds) -> None:
    builds.write_baseline()
    result = builds.run(lost=4)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        [
            "retrieval quality: 1 check passed; ndcg@10 0.914, mrr 0.933; -v shows the table",
            "*::test_words: lower than the baseline, not significantly: *0.914 (4 queries worse, 0 better), *=True *",
        ]
    )
    result.stdout.no_fnmatch_line("* p *")
    result.stdout.no_fnmatch_line("*interval*")
    builds.run("-v", lost=4).stdout.fnmatch_lines(
        [
            "*ndcg@10  0.914*0.0625 *0.26  inconclusive",
            "test_search.py::test_words: ndcg@10 inconclusive: 1.000 -> 0.914 (p 0.0625), 4 of 40 queries worse",
            "  q0: 1.000 -> 0.138",
            "  q3: 1.000 -> 0.138",
        ]
    )


def test_a_drop_within_the_tolerance_is_accepted(builds: Builds) -> None:
    builds.write_baseline()
    builds.run("--retrieval-tolerance=0.2", lost=12).stdout.fnmatch_lines(["*mrr*passed"])
    builds.run("--retrieval-tolerance=0.3", lost=12).assert_outcomes(passed=1)
    builds.ini(tolerance="0.3")
    builds.run(lost=12).assert_outcomes(passed=1)


def test_alpha_decides_and_only_the_checks_with_a_baseline_share_it(builds: Builds) -> None:
    builds.write_baseline()
    builds.run(lost=7).assert_outcomes(failed=1)  # 7 of 7 lost: p 1 / 2^7, and both metrics say the same
    builds.run("--retrieval-alpha=0.005", lost=7).assert_outcomes(passed=1)
    floors = "\n".join(
        f"    def test_floor_{number}(retrieval_check):\n        retrieval_check(QRELS, found, {{'mrr': 0.1}})\n"
        for number in range(6)
    )
    builds.write(f"{SUITE}\n{floors}")
    builds.run(lost=7).assert_outcomes(failed=1, passed=6)
    baselines = floors.replace("0.1}", "None}, baseline=True")
    builds.write(f"{SUITE}\n{baselines}")
    builds.run("--retrieval-update").assert_outcomes(passed=7)
    builds.run(lost=7).assert_outcomes(passed=7)  # 1 / 2^7 is above .05 / 7
    result = builds.run("-k", "words", lost=7)  # choosing tests does not move the verdict
    result.assert_outcomes(passed=1, deselected=6)


def test_only_drops_fail_so_five_losses_and_no_gain_do(builds: Builds) -> None:
    builds.write_baseline()
    result = builds.run(lost=5)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["ndcg@10 worse: 1.000 -> * (p 0.0312), 5 of 40 queries worse"])  # 1 / 2^5
    builds.run("--retrieval-update", "--retrieval-accept-worse", lost=5)
    builds.run("-v").stdout.fnmatch_lines(["*ndcg@10  1.000 *0.969*passed"])  # 1 - 1 / 2^5: a gain is no alarm


FORBIDDEN_SUITE = """
import os

GRADES = {f"q{number}": {"secret": -1, "fine": 1} for number in range(12)}
RUN = {query: ["fine", "secret"] if int(os.environ["LOST"]) else ["fine"] for query in GRADES}


def test_words(retrieval_check):
    retrieval_check(GRADES, RUN, {"leak@5": None}, baseline=True)
"""


def test_an_improvement_never_fails_even_where_no_drop_could(builds: Builds) -> None:
    builds.write(FORBIDDEN_SUITE)
    builds.run("--retrieval-update", lost=1).stdout.fnmatch_lines(["*leak@5*0 of 12 queries able to get worse*"])
    result = builds.run(lost=1)  # nothing has changed, and nothing could fail
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["leak@5 not compared: *0 of 12 queries able to get worse*"])
    builds.run(lost=0).assert_outcomes(passed=1)  # 12 leaks of 12 before, none now


def test_what_a_retriever_without_chance_loses_is_a_change(builds: Builds) -> None:
    builds.write(SUITE.replace("baseline=True", "baseline=True, deterministic=True"))
    builds.write_baseline()
    builds.run().assert_outcomes(passed=1)
    result = builds.run(lost=1)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["mrr worse: 1 of 40 queries (deterministic retriever): q0 1.000 -> 0.333"])
    result.stdout.fnmatch_lines(["*  mrr *worse"])
    builds.run("--retrieval-update", lost=1).assert_outcomes(failed=1)
    builds.run("--retrieval-update", "--retrieval-accept-worse", lost=1).assert_outcomes(passed=1)
    builds.run(lost=1).assert_outcomes(passed=1)
    builds.run().assert_outcomes(passed=1)
    for message, options in (
        ("deterministic=True says how to compare with a baseline: pass baseline=True", "deterministic=True"),
        ("pass deterministic=True or rounds=3, not both", "baseline=True, deterministic=True, rounds=3"),
    ):
        builds.write(SUITE.replace("baseline=True", options))
        builds.run().stdout.fnmatch_lines([f"*{message}"])


EXACT = (
    SUITE
    + """
    def test_exact(retrieval_check):
        retrieval_check(QRELS, found, {"mrr": None}, DEMANDS)
"""
)


def write_exact_test(builds: Builds, demands: str) -> None:
    builds.write(EXACT.replace("DEMANDS", demands))


def test_a_loss_has_the_values_of_both_builds_to_the_last_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    qrels = {f"q{rank}": ["d"] for rank in range(1, 60)}
    before = rm.evaluate(qrels, {f"q{rank}": [*range_of_ids(rank), "d"] for rank in range(1, 60)}, "mrr")
    now = rm.evaluate(qrels, {f"q{rank}": [*range_of_ids(5 * rank + 3), "d"] for rank in range(1, 60)}, "mrr")
    losses_by_metric: dict[str, MetricLosses] = {}

    def keep_losses(losses: MetricLosses) -> str:
        losses_by_metric[losses.metric] = losses
        return ""

    monkeypatch.setattr(baseline_gates, "format_deterministic_losses", keep_losses)
    deterministic_gate(compare_with_baseline(now, before, 0.05))
    losses = losses_by_metric["mrr"]
    assert {loss.query: (loss.before, loss.now) for loss in losses.queries} == {
        query: (before.per_query["mrr"][query], now.per_query["mrr"][query]) for query in qrels
    }


def range_of_ids(number: int) -> list[str]:
    """Return ids of documents that are not relevant."""
    return [f"x{position}" for position in range(number)]


def test_one_query_that_may_not_lose_fails_the_build_where_no_test_could(builds: Builds) -> None:
    write_exact_test(builds, 'baseline=True, no_regression=["q0", "q30"]')
    builds.run("--retrieval-update").assert_outcomes(passed=2)
    builds.run("-k", "exact").assert_outcomes(passed=1, deselected=1)
    result = builds.run("-k", "exact", lost=1)
    result.assert_outcomes(failed=1, deselected=1)
    result.stdout.fnmatch_lines(["mrr worse: 1 of 2 no_regression queries: q0 1.000 -> 0.333"])
    write_exact_test(builds, "baseline=True, no_regression=['q38', 'q39']")
    builds.run("-k", "exact", lost=4).assert_outcomes(passed=1, deselected=1)


def test_a_query_that_may_not_lose_and_is_judged_anew_is_not_compared(builds: Builds) -> None:
    write_exact_test(builds, 'baseline=True, no_regression=["q0"]')
    builds.run("--retrieval-update").assert_outcomes(passed=2)
    changed = EXACT.replace("DEMANDS", 'baseline=True, no_regression=["q0"]')
    builds.write(changed.replace("    LOST", '    QRELS["q0"] = {"d": 1}\n    LOST'))
    result = builds.run("-k", "exact")
    result.assert_outcomes(failed=1, deselected=1)
    result.stdout.fnmatch_lines(["mrr not compared: no_regression queries without a comparable baseline (*): q0"])


def test_builds_can_share_alpha(builds: Builds) -> None:
    builds.write_baseline()
    builds.run(lost=8).assert_outcomes(failed=1)  # p = 1 / 2^8
    builds.run("--retrieval-builds=30", lost=8).assert_outcomes(passed=1)
    builds.run("--retrieval-builds=30", lost=12).assert_outcomes(failed=1)
    builds.run("--retrieval-builds=0").stderr.fnmatch_lines(["*--retrieval-builds must be a whole number, 1 or more*"])


def drop_that_fails(misses_now: Mapping[str, int], n: int = 40, misses_before: int = 0) -> tuple[float, Any]:
    """Return which drop is said to fail, and the differences, of runs with so many misses before the document."""
    qrels = {f"q{number}": ["d"] for number in range(n)}

    def evaluate_misses(misses: Mapping[str, int]) -> rm.Evaluation:
        run = {query: [*map(str, range(misses.get(query, misses_before))), "d"] for query in qrels}
        return rm.evaluate(qrels, run, "mrr")

    comparison = compare_with_baseline(evaluate_misses(misses_now), evaluate_misses({}), alpha=0.025)
    (verdict,) = regression_gate(evaluate_misses(misses_now), comparison, "test_words.json", SETTINGS)
    return verdict.mde, comparison.differences[0].values


def test_the_claim_is_that_of_the_core_for_what_a_query_has_to_lose() -> None:
    claim, differences = drop_that_fails({"q1": 1, "q2": 1, "q3": 1})
    assert claim == pytest.approx(detectable_difference(differences).sparse, rel=1e-12)
    half, differences = drop_that_fails({"q1": 2, "q2": 2, "q3": 2}, misses_before=1)
    assert half == pytest.approx(detectable_difference(differences, span=0.5).sparse, rel=1e-12)
    assert half < claim


def test_a_check_that_cannot_fail_is_not_compared_unless_something_else_guards_it() -> None:
    qrels = {f"q{number}": ["d"] for number in range(5)}
    good, bad = (rm.evaluate(qrels, dict.fromkeys(qrels, ranking), "mrr") for ranking in (["d"], ["x", "d"]))
    for now in (good, bad):
        comparison = compare_with_baseline(now, good, alpha=0.025)
        (verdict,) = regression_gate(now, comparison, "test_words.json", SETTINGS)
        assert verdict.outcome == "not_compared"
        assert verdict.figures == (
            "with 5 queries no drop can be significant (at least 6 needed, alpha 0.025); "
            "set a floor in at_least, or add queries"
        )
        (guarded,) = regression_gate(now, comparison, "test_words.json", SETTINGS, {"mrr"})
        assert guarded.outcome == ("passed" if now is good else "inconclusive")
    assert guarded.details.startswith("with 5 queries no drop can be significant (at least 6 needed")


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
@pytest.mark.parametrize("suffix", ["#1", "-of-the-new-index"])
def test_ids_that_nearly_or_never_match_are_not_measured_and_not_worse(suffix: str) -> None:
    qrels: Any = {f"q{number}": [f"d{number}"] for number in range(20)}
    good = rm.evaluate(qrels, {query: ["x", *documents] for query, documents in qrels.items()}, "mrr")
    renamed = rm.evaluate(qrels, {query: [f"{documents[0]}{suffix}"] for query, documents in qrels.items()}, "mrr")
    comparison = compare_with_baseline(renamed, good, alpha=0.05)
    (verdict,) = regression_gate(renamed, comparison, "test_words.json", SETTINGS)
    assert verdict.outcome == "not_measured"
    assert "not comparable" in verdict.figures
    (row,) = make_metric_rows(renamed, [verdict], {}, (), 0.95)
    assert (row["difference"], row["p"], row["lost"]) == (None, None, 0)


@pytest.mark.parametrize(("n_found", "can_fail"), [(6, True), (5, False)])
def test_only_what_a_query_has_to_lose_can_fail(n_found: int, can_fail: bool) -> None:
    qrels = {f"q{number}": {"d": 1, "x": 0} for number in range(40)}
    before = rm.evaluate(
        qrels, {query: ["d"] if number < n_found else ["x"] for number, query in enumerate(qrels)}, "mrr"
    )
    empty = rm.evaluate(qrels, {query: ["x"] for query in qrels}, "mrr")
    (verdict,) = regression_gate(empty, compare_with_baseline(empty, before, alpha=0.025), "test_words.json", SETTINGS)
    assert verdict.outcome == ("worse" if can_fail else "not_compared")  # 1 / 2^6 is below .025, 1 / 2^5 is not
    assert ("5 of 40 queries able to get worse, no drop can" in verdict.figures) is not can_fail


FEW = """
    import os
    import retrieval_metrics as rm
    BROKEN = os.environ["LOST"] != "0"

    def questions(n, start=0):
        return [(f"question {at}" + ("?" if at < start else ""), [f"d{at}"]) for at in range(n)]

    def search(text):
        return ["x", "y"] if BROKEN else [f"d{text.split()[1].rstrip('?')}", "x"]
"""


FEWS = {
    "few questions": ("questions(4)", "", "*mrr not compared: with 4 queries no drop can be significant (at least 5 *"),
    "few clusters": (
        "questions(40)",
        ", clusters=lambda text: int(text.split()[1]) % 4",
        "*not compared: with 4 clusters no drop can be *, or add clusters, or pass clusters=None*",
    ),
    "few documents": (
        (
            "rm.EvaluationSet({f'question {at}': f'question {at}' for at in range(40)}, "
            "{f'question {at}': [f'd{at}'] for at in range(40)}, "
            "provenance={f'question {at}': rm.Provenance(source=f's{at % 4}') for at in range(40)})"
        ),
        "",
        "*not compared: with 4 documents no drop can be significant (at least 5 *, or add documents, or pass *",
    ),
    "reworded": (
        (
            "rm.Qrels(rm.EvaluationSet({str(at): f'question {at}' + '?' * (BROKEN and at > 3) for at in range(40)}, "
            "{str(at): [f'd{at}'] for at in range(40)}))"
        ),
        "",
        (
            "mrr not compared: 36 of 40 queries have different text *Compared on the 4 queries that are *. With 4 "
            "queries no drop *at least 5 *"
        ),
    ),
    "cut short": (
        "questions(4 if BROKEN else 40)",
        "",
        "mrr not compared: 36 of 40 queries *. With 4 queries no drop *at least 5 *",
    ),
}


@pytest.mark.parametrize("case", FEWS)
def test_retrieval_that_collapses_is_red_however_few_can_tell(builds: Builds, case: str) -> None:
    questions, options, line = FEWS[case]
    builds.write(
        f"{FEW}\n    def test_few(retrieval_check):\n"
        f"        retrieval_check({questions}, search, {{'mrr': None}}, baseline=True{options})\n"
    )
    stored = builds.run("--retrieval-update")
    stored.assert_outcomes(passed=1)
    if case not in {"reworded", "cut short"}:  # which is known when the baseline is written, and so is the next build
        stored.stdout.fnmatch_lines(["*::test_few: mrr will not be compared: with 4 *"])
        builds.run().assert_outcomes(failed=1)
    broken = builds.run(lost=1)
    broken.assert_outcomes(failed=1)
    broken.stdout.fnmatch_lines([line])
    builds.write(builds.text.replace("'mrr': None", "'mrr': 0.1"))  # a floor can fail
    builds.run().assert_outcomes(passed=1)
    builds.run(lost=1).stdout.fnmatch_lines(["mrr not measured: no retrieved document is judged*"])


@pytest.mark.parametrize("workers", [0, pytest.param(2, marks=pytest.mark.thorough)])
def test_baselines_that_share_alpha_need_more_questions_and_the_update_knows(builds: Builds, workers: int) -> None:
    def run_build(*options: str, lost: int = 0) -> pytest.RunResult:
        if workers:
            return builds.run_alone("xdist", "-n", str(workers), *options, lost=lost)
        return builds.run(*options, lost=lost)

    checks = "".join(
        f"\n    def test_{number}(retrieval_check):\n"
        "        retrieval_check(questions(6), search, {'mrr': None}, baseline=True)\n"
        for number in range(6)
    )
    builds.write(FEW + checks)
    stored = run_build("--retrieval-update")
    stored.assert_outcomes(passed=6)
    stored.stdout.fnmatch_lines(["*test_0: mrr will not be compared: with 6 queries no drop * (at least 7 needed*"])
    run_build(lost=1).assert_outcomes(failed=6)
    builds.write(FEW + checks[: checks.index("    def test_1")])  # alone, six are enough
    builds.run().assert_outcomes(passed=1)
    builds.run(lost=1).stdout.fnmatch_lines(["mrr worse: 1.000 -> 0.000 (p 0.0156), 6 of 6 queries worse"])


def test_nothing_is_claimed_where_nothing_differs_or_nothing_can_be_found() -> None:
    assert drop_that_fails({})[0] == math.inf
    assert drop_that_fails({"q1": 1}, n=5)[0] == math.inf
