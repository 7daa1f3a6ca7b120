"""How a verdict ends a test, and warnings that are errors."""

from xml.etree import ElementTree as ET

import pytest

from retrieval_builds import SUITE, WORDS, Builds, count_warnings

pytest_plugins = ["pytester"]


@pytest.mark.parametrize(
    ("effect", "outcome"), [("pass", "passed"), ("warn", "passed"), ("skip", "skipped"), ("fail", "failed")]
)
def test_what_cannot_be_told_ends_as_one_asks(builds: Builds, effect: str, outcome: str) -> None:
    builds.write_baseline()
    result = builds.run(f"--retrieval-inconclusive={effect}", lost=4)
    result.assert_outcomes(**{outcome: 1})
    assert count_warnings(result) == int(effect == "warn") * 2
    if effect == "fail":
        result.stdout.fnmatch_lines(
            [
                "ndcg@10 inconclusive: *",
                "  MDE 0.1?, 0.26 however distributed; was *",
                "  q0: *",
            ]
        )


@pytest.mark.parametrize(
    ("effect", "outcome"), [("pass", "passed"), ("warn", "passed"), ("skip", "skipped"), ("fail", "failed")]
)
def test_what_is_not_compared_ends_as_one_asks(builds: Builds, effect: str, outcome: str) -> None:
    result = builds.run(f"--retrieval-not-compared={effect}")
    result.assert_outcomes(**{outcome: 1})
    assert count_warnings(result) == int(effect == "warn") * 2
    result.stdout.fnmatch_lines(["*ndcg@10 not compared: no baseline *"])


NOTHING = SUITE.replace("at_least={", "rules='standard', at_least={").replace(
    'return ["d"', 'return [] if query == "q1" else ["d"'
)


def test_a_warning_that_is_an_error_leaves_the_baseline_alone_and_is_in_the_table(builds: Builds) -> None:
    builds.write(NOTHING)
    builds.pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function\nfilterwarnings = error\n")
    result = builds.run("--retrieval-update", "--retrieval-report=r.xml")
    result.assert_outcomes(failed=1)
    assert not (builds.path / WORDS).exists()
    result.stdout.fnmatch_lines(["*ndcg@10*warning"])
    # pytest cuts the name of the warning where the line ends.
    result.stdout.fnmatch_lines(["FAILED *test_words - retrieval_metrics.*"])
    (suite,) = ET.parse(builds.path / "r.xml").getroot()
    assert suite.get("failures") == "1"
    builds.ini()  # with warnings as warnings, the same is stored
    builds.run("--retrieval-update").assert_outcomes(passed=1)
    baseline = (builds.path / WORDS).read_bytes()
    builds.pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function\nfilterwarnings = error\n")
    builds.run("--retrieval-update", lost=4).assert_outcomes(failed=1)
    assert (builds.path / WORDS).read_bytes() == baseline


def test_an_undecided_check_that_warns_fails_where_warnings_are_errors(builds: Builds) -> None:
    builds.write_baseline()
    builds.pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function\nfilterwarnings = error\n")
    result = builds.run("--retrieval-inconclusive=warn", lost=4)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*ndcg@10*warning", "*mrr*inconclusive"])


WARNS_IN_A_HELPER = """
    import pytest

    QRELS = {f"q{number}": ["d"] for number in range(10)}
    RUN = {query: ["d"] for query in list(QRELS)[:9]}

    def check(retrieval_check):
        retrieval_check(QRELS, RUN, {"mrr": 0.5}, rules="standard")  # line 7

    def test_directly(retrieval_check):
        check(retrieval_check)

    @pytest.mark.asyncio
    async def test_awaited(retrieval_check):
        await retrieval_check.acheck(QRELS, RUN, {"mrr": 0.5}, rules="standard")  # line 14
"""


def test_a_warning_points_to_the_line_that_checks(builds: Builds) -> None:
    builds.write(WARNS_IN_A_HELPER)
    result = builds.run()
    result.assert_outcomes(passed=2)
    warned = [line.strip() for line in result.outlines if "RetrievalWarning: 1 of 10" in line]
    assert [line.split("test_search.py:")[1].split(":")[0] for line in warned] == ["7", "14"]
