"""The gates on one evaluation: floors and ceilings."""

import re
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from pytest_retrieval_metrics import RetrievalCheck
from pytest_retrieval_metrics.baseline_gates import (
    better_queries,
    compare_with_baseline,
    deterministic_gate,
    no_regression_gate,
    worse_queries,
)
from retrieval_builds import SETTINGS, SUITE, Builds

pytest_plugins = ["pytester"]


def test_below_the_floor_names_the_worst_queries(builds: Builds) -> None:
    builds.write(SUITE.replace("0.35", "0.95").replace(", baseline=True", ""))
    result = builds.run(lost=4)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "ndcg@10 below floor: 0.914 < 0.95, n = 40",
            "  mean 0.914, 95% CI [[]*]",
            "  q0: 0.138",
            "      d (grade 3): not among the 3 retrieved",
            "  all queries: 4 of 80 relevant documents missing across 40 queries: 4 not retrieved",
        ]
    )
    result.stdout.no_fnmatch_line("  q4: *")
    result = builds.run("--retrieval-show=1", lost=4)
    result.stdout.fnmatch_lines(["  q0: 0.138", "  and 3 more below the mean"])


@pytest.mark.parametrize("in_ini", [True, False])
def test_the_low_end_of_the_interval_can_be_what_reaches_the_floor(builds: Builds, in_ini: bool) -> None:
    builds.write(SUITE.replace("0.35", "0.9").replace("None}, baseline=True", "0.1}"))
    builds.run(lost=4).assert_outcomes(passed=1)
    if in_ini:
        builds.ini(floor="ci_low")
    result = builds.run(*([] if in_ini else ["--retrieval-floor=ci_low"]), lost=4)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*CI lower end 0.80* < 0.9*", "  mean 0.914*"])


def test_a_wider_interval_is_asked_for_by_its_level(builds: Builds) -> None:
    builds.write(SUITE.replace("0.35", "0.8").replace("None}, baseline=True", "0.1}"))
    builds.run("--retrieval-floor=ci_low", lost=4).assert_outcomes(passed=1)
    result = builds.run("--retrieval-floor=ci_low", "--retrieval-level=0.99", lost=4)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*99% CI*"])


EXACT = (
    SUITE
    + """
    def test_exact(retrieval_check):
        retrieval_check(QRELS, found, {"mrr": None}, DEMANDS)
"""
)


def write_exact_test(builds: Builds, demands: str) -> None:
    builds.write(EXACT.replace("DEMANDS", demands))


def test_every_query_can_have_a_floor(builds: Builds) -> None:
    write_exact_test(builds, 'at_least_per_query={"mrr": 0.5, "recall@2": {"q1": 1, "q39": 1}}')
    builds.run("-k", "exact").assert_outcomes(passed=1, deselected=1)
    result = builds.run("-k", "exact", lost=7)
    result.assert_outcomes(failed=1, deselected=1)
    result.stdout.fnmatch_lines(
        [
            "mrr below floor: 7 of 40 queries: q0 0.333 < 0.5, q1 *, q4 0.333 < 0.5 and 2 more",
            "recall@2 below floor: 1 of 2 queries: q1 0.000 < 1",
            "test_*mrr*per query*below floor",
        ]
    )


def test_a_floor_of_single_queries_needs_no_other_bound_and_names_the_queries_that_miss_it(
    check: RetrievalCheck,
) -> None:
    qrels: Any = {f"q{number}": ["d"] for number in range(6)}
    run: Any = {query: ["x", "y"] if query in {"q1", "q4"} else ["d", "x"] for query in qrels}
    check(qrels, run, at_least_per_query={"mrr": {"q0": 1.0, "q2": 1.0}})
    with pytest.raises(pytest.fail.Exception) as caught:
        check(qrels, run, at_least_per_query={"mrr": {"q0": 1.0, "q4": 1.0}}, name="other")
    assert str(caught.value).splitlines() == [
        "mrr below floor: 1 of 2 queries: q4 0.000 < 1",
        "  q4: 0.000",
        "      d (grade 1): not among the 2 retrieved",
    ]


def test_a_floor_sees_what_has_no_value_any_more(builds: Builds) -> None:
    suite = SUITE.replace("    LOST", "    QRELS |= {f'q{i}': {'d': 0} for i in range(4, 40)}\n    LOST")
    suite = suite.replace(", baseline=True", "").replace('"mrr": None', '"mrr": FLOOR')
    for floor, line in {
        "(0.5, 4)": "retrieval quality: 1 check passed; *: mrr defined for 4 of 40 queries; -v shows the table",
        "(0.5, 30)": "mrr below floor: only 4 of 40 queries have a value; at least 30 are needed",
        "None}, at_least_per_query={'mrr': 0.5": "*1 check passed; *: mrr defined for 4 of 40 queries; *",
        "None}, at_least_per_query={'mrr': {'q4': 0.5}": "mrr below floor: 1 of 1 query: q4 is undefined; an undef*",
    }.items():
        builds.write(suite.replace("FLOOR", floor))
        result = builds.run("-k", "words")
        result.assert_outcomes(**{"passed" if "passed" in line else "failed": 1})
        result.stdout.fnmatch_lines([line])
    result.stdout.fnmatch_lines(["*::test_words  mrr *  4 of 40 *below floor"])


def test_a_floor_that_near_misses_would_reach_is_not_measured(check: RetrievalCheck) -> None:
    qrels: Any = {f"q{number}": [f"d{number}"] for number in range(20)}
    chunks: Any = {f"q{number}": [f"d{number}#1" if number else "d0"] for number in range(20)}
    with pytest.raises(pytest.fail.Exception, match="mrr not measured: 19 of 19 missing relevant documents"):
        check(qrels, chunks, {"mrr": 0.5})


def test_a_floor_of_all_queries_leaves_out_those_without_a_value_and_counts_them(check: RetrievalCheck) -> None:
    qrels: Any = {"a": ["d"], "unanswerable": [], "c": ["e"]}
    found: Any = {"a": ["d"], "unanswerable": ["x"], "c": ["e"]}
    (verdict,) = check(qrels, found, at_least_per_query={"mrr": 1.0}).verdicts
    assert (verdict.outcome, verdict.figures) == ("passed", "1 of 3 queries left out: undefined")
    with pytest.raises(pytest.fail.Exception, match=r"1 of 2 queries: c 0\.000 < 1; 1 of 3 queries left out"):
        check(qrels, found | {"c": ["x"]}, at_least_per_query={"mrr": 1.0}, name="one missed")
    with pytest.raises(pytest.fail.Exception, match="mrr below floor: undefined: no query has a relevant document"):
        check({"a": []}, {"a": ["x"]}, at_least_per_query={"mrr": 1.0}, name="nothing has a value")
    advice = "1 of 2 queries: unanswerable is undefined; an undefined value reaches no floor: judge a relevant"
    with pytest.raises(pytest.fail.Exception, match=advice):
        check(qrels, found, at_least_per_query={"mrr": {"a": 1.0, "unanswerable": 1.0}}, name="named")


def test_floors_of_queries_that_no_value_can_miss_are_no_check(check: RetrievalCheck) -> None:
    with pytest.raises(pytest.fail.Exception, match="mrr not compared: without a baseline"):
        check({"q": ["d"]}, {"q": ["d"]}, at_least_per_query={"mrr": 0.0})


TWENTY = [f"q{number}" for number in range(20)]
DIFFERENT_IDS: dict[str, tuple[Any, Any, str]] = {
    "case": (
        {query: [query] for query in TWENTY},
        {query: ["x", query.upper() if query > "q2" else query] for query in TWENTY},
        "7 of 7 missing relevant documents were retrieved under a slightly different ID: .* differ in case",
    ),
    "type": (
        {query: [rm.Metadata(page=int(query[1:]))] for query in TWENTY},
        {
            query: [rm.Retrieved("c", metadata={"page": query[1:] if query > "q2" else int(query[1:])})]
            for query in TWENTY
        },
        "7 of 7 unmatched judgments differ from results only in the type of a value",
    ),
    "foreign": (
        {query: [query] for query in TWENTY},
        {query: [sha256(query.encode()).hexdigest()] for query in TWENTY},
        "no retrieved document is judged for its query",
    ),
}


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
@pytest.mark.parametrize("kind", list(DIFFERENT_IDS))
@pytest.mark.parametrize("is_evaluated", [True, False])
@pytest.mark.parametrize(
    "bounds",
    [
        {"at_least": {"mrr": 0.5}},
        {"at_least_per_query": {"mrr": 0.5}},
        {"at_least_per_query": {"mrr": {"q0": 0.5, "q7": 0.5}}},
    ],
    ids=["mean", "all queries", "one query"],
)
def test_what_differing_ids_alone_keep_below_a_floor_is_not_measured(
    check: RetrievalCheck, kind: str, bounds: dict[str, Any], is_evaluated: bool
) -> None:
    qrels, run, cause = DIFFERENT_IDS[kind]
    if "at_least" in bounds and kind != "foreign":
        bounds = {"at_least": {"mrr": 0.5 if kind == "case" else 0.9}}
    judged: list[Any] = [rm.evaluate(qrels, run, "mrr")] if is_evaluated else [qrels, run]
    with pytest.raises(pytest.fail.Exception) as failure:
        check(*judged, **bounds)
    (line,) = str(failure.value).splitlines()
    assert re.match(f"mrr not measured: {cause}", line)


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
@pytest.mark.parametrize("kind", DIFFERENT_IDS)
def test_differing_ids_of_an_evaluation_saved_without_rankings_are_not_measured_either(
    check: RetrievalCheck, kind: str, tmp_path: Path
) -> None:
    qrels, run, _ = DIFFERENT_IDS[kind]
    rm.evaluate(qrels, run, "mrr").save(tmp_path / "numbers.json", rankings=False)
    with pytest.raises(pytest.fail.Exception) as failure:
        check(rm.load(tmp_path / "numbers.json"), at_least={"mrr": 0.9 if kind == "type" else 0.5})
    (line,) = str(failure.value).splitlines()
    assert line.startswith("mrr not measured: ")


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
@pytest.mark.parametrize("bounds", [{"at_least": {"mrr": 1.0}}, {"at_least_per_query": {"mrr": 1.0}}])
@pytest.mark.parametrize("is_evaluated", [True, False])
def test_what_also_misses_its_floor_with_equal_ids_is_below_it_and_names_the_ids_too(
    check: RetrievalCheck, bounds: dict[str, Any], is_evaluated: bool
) -> None:
    qrels: Any = {query: [query] for query in TWENTY}
    run: Any = {query: [query.upper() if query > "q2" else query] for query in TWENTY} | {"q1": ["x"]}
    judged: list[Any] = [rm.evaluate(qrels, run, "mrr")] if is_evaluated else [qrels, run]
    with pytest.raises(pytest.fail.Exception) as failure:
        check(*judged, **bounds)
    lines = str(failure.value).splitlines()
    assert lines[0].startswith("mrr below floor: ")
    causes = [line for line in lines if "7 of 8 missing relevant documents were retrieved under a slightly" in line]
    assert len(causes) == 1


def test_a_given_score_below_its_floor_is_measured_whatever_the_ids(check: RetrievalCheck) -> None:
    qrels: Any = {query: [query] for query in TWENTY}
    with pytest.warns(rm.RetrievalWarning, match="no retrieved document is judged"):
        evaluation = rm.evaluate(qrels, {query: ["x"] for query in TWENTY}, "mrr")
    evaluation = evaluation.with_scores({"faithfulness": dict.fromkeys(TWENTY, 0.4)})
    for bounds in ({"at_least": {"faithfulness": 0.5}}, {"at_least_per_query": {"faithfulness": 0.5}}):
        with pytest.raises(pytest.fail.Exception, match=r"^faithfulness below floor"):
            check(evaluation, **bounds, name=next(iter(bounds)))  # type: ignore[arg-type]


def test_a_mean_of_nothing_is_below_its_floor_and_says_why(check: RetrievalCheck) -> None:
    with pytest.raises(pytest.fail.Exception, match="mrr below floor: undefined: no query has a rel") as caught:
        check({"q1": {"d1": 0}}, {"q1": ["d1"]}, {"mrr": 0.5})
    # Neither a mean of nothing, nor documents that there are not.
    assert len(str(caught.value).splitlines()) == 1


ANSWERED = {f"q{number}": {f"a{number}": 1, "secret": -1} for number in range(26)}
UNANSWERED = {f"n{number}": {"x": 0} for number in range(20)}
FORBIDDEN = ANSWERED | UNANSWERED


SAFE = {
    **{f"q{number}": [f"a{number}", "x"] for number in range(26)},
    **{f"n{number}": ["x"] for number in range(7)},
    **{f"n{number}": [] for number in range(7, 20)},
}
OTHER_IDS = {query: [f"{document_id}#1" for document_id in ranking] for query, ranking in SAFE.items()}


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
class TestCeilings:
    """What must not come back, and what fails because nothing could have shown it."""

    def lines(self, check: RetrievalCheck, *, run: Any = None, qrels: Any = FORBIDDEN, **options: Any) -> list[str]:
        return [verdict.line for verdict in check(qrels, SAFE if run is None else run, **options).verdicts]

    def test_what_passes_says_what_it_promises(self, check: RetrievalCheck) -> None:
        assert self.lines(check, at_most={"leak@5": 0, "false_answer": 0.4}) == [
            "leak@5 passed: 0 of 26 queries, one-sided 95% upper bound 10.9%",
            "false_answer passed: 7 of 20 queries, one-sided 95% upper bound 55.8%",
        ]

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (
                {"run": SAFE | {"q3": ["secret", "a3"]}, "at_most": {"leak@5": 0}},
                "leak@5 above ceiling: 1 of 26 queries, one-sided 95% upper bound 17.0%; limit 0%",
            ),
            (
                {"qrels": {"q0": ["a0"]}, "at_most": {"leak@5": 0}},
                "leak@5 not checked: no document is judged forbidden",
            ),
            (
                {"qrels": {"q0": ["a0"]}, "at_most": {"false_answer": 0}},
                "false_answer not checked: every query has a relevant document",
            ),
            (
                {
                    "run": OTHER_IDS,
                    "at_most": {"leak@5": 0},
                },
                "leak@5 not checked: no judged document, relevant or not, was retrieved for any query, so the IDs may",
            ),
        ],
    )
    def test_what_fails(self, check: RetrievalCheck, options: dict[str, Any], message: str) -> None:
        with pytest.raises(pytest.fail.Exception, match=message):
            self.lines(check, **options)

    def test_what_came_back_and_must_not_is_named_with_its_rank(self, check: RetrievalCheck) -> None:
        run = SAFE | {"q3": ["secret", "a3"], "q7": ["a7", "x", "secret"], "n9": ["y", "z"]}
        with pytest.raises(pytest.fail.Exception) as failure:
            check(FORBIDDEN, run, at_most={"leak@5": 0, "false_answer": 0.1}, at_least={"mrr": 0.99})
        lines = str(failure.value).splitlines()
        q3 = lines.index("  q3: 1.000")
        assert lines[q3:][:4] == [
            "  q3: 1.000",
            "      secret at rank 1, above a3 at rank 2",
            "  q7: 1.000",
            "      secret at rank 3, with no relevant result below it",
        ]
        assert "      a3 (grade 1): at rank 2" in lines  # a missed floor is explained beside it
        answered = {query: ranking for query, ranking in run.items() if query[0] == "n"}
        with pytest.raises(pytest.fail.Exception, match="\n      x at rank 1, for an unanswerable question\n"):
            check({query: FORBIDDEN[query] for query in answered}, answered, at_most={"false_answer": 0.1}, name="n")

    def test_only_what_a_grade_forbids_is_named(self, check: RetrievalCheck) -> None:
        qrels = {"q": {"mild": -1, "bad": -2, "a": 1}}
        run = {"q": ["mild", "bad", "a"]}
        with pytest.raises(pytest.fail.Exception, match="bad at rank 2, above a at rank 3") as failure:
            check(qrels, run, at_most={"leak(grade=-2)@5": 0})
        assert "mild" not in str(failure.value)

    def test_a_query_that_got_nothing_is_one_of_those_that_nothing_came_back_for(self, check: RetrievalCheck) -> None:
        run = {**{query: [] for query in FORBIDDEN}, "q0": ["a0"]}
        assert self.lines(check, run=run, at_most={"leak@5": 0})[0].startswith("leak@5 passed: 0 of 26 queries")

    def test_a_ceiling_of_the_bound(self, request: pytest.FixtureRequest) -> None:
        strict = RetrievalCheck(request.node, replace(SETTINGS, floor="ci_low"), checks=1, records=[])
        assert "passed" in self.lines(strict, at_most={"leak@5": 0.11})[0]
        with pytest.raises(pytest.fail.Exception, match="limit 5%"):
            self.lines(strict, at_most={"leak@5": 0.05}, name="narrow")

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"at_least": {"leak@5": 0}}, r"lower is better for leak@5, .* bound it: at_most=\{\.\.\.\}"),
            ({"at_least": {"mrr": 0}, "at_least_per_query": {"leak@5": 0}}, "lower is better for leak@5"),
            (
                {"at_most": {"mrr": 0.9}},
                r"higher is better in mrr, so it has no ceiling; write at_least=\{'mrr': 0.9\}",
            ),
        ],
    )
    def test_a_bound_in_the_wrong_direction_is_refused(self, check: RetrievalCheck, options: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            self.lines(check, **options)

    def test_a_leak_is_a_loss_against_the_baseline(self) -> None:
        before = rm.evaluate(FORBIDDEN, SAFE, "leak@5")
        now = rm.evaluate(FORBIDDEN, SAFE | {"q3": ["secret"]}, "leak@5")
        comparison = compare_with_baseline(now, before, 0.05)
        (difference,) = comparison.differences
        assert (worse_queries(difference), better_queries(difference)) == ([("q3", 1.0)], [])
        (verdict,) = no_regression_gate(comparison, ["q3"])
        assert verdict.line == "leak@5 worse: 1 of 1 no_regression query: q3 0.000 -> 1.000"
        assert len(deterministic_gate(comparison)) == 1
