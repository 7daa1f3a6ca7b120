"""The plug-in as its users meet it: each option, each outcome, with xdist, -k and parametrisation."""

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
import scipy.optimize
import scipy.stats  # noqa: F401  (see below)

import retrieval_metrics as rm
from pytest_retrieval_metrics import checking, reports  # noqa: F401
from pytest_retrieval_metrics.baseline import Baseline

# pytester forgets after each run what the run imported, and numpy cannot be imported twice in a process: so everything
# that a run imports late is imported above.

pytest_plugins = ["pytester"]

SUITE = """
    import asyncio, os
    import pytest

    QRELS = {f"q{i}": {"d": 3, "e": 1} for i in range(40)}
    LOST = int(os.environ.get("LOST", "0"))

    def found(query):
        return ["d", "e", "x"] if int(query[1:]) >= LOST else ["x", "y", "e"]

    def test_words(retrieval_check):
        retrieval_check(QRELS, found, at_least={"ndcg@10": 0.35, "mrr": None}, baseline=True)
"""
WORDS = Path("retrieval_baselines", "test_search", "test_words.json")


class Builds:
    """A project with a test of retrieval, built again and again."""

    def __init__(self, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
        self.pytester = pytester
        self.monkeypatch = monkeypatch
        self.write(SUITE)

    def write(self, text: str) -> None:
        self.pytester.makepyfile(test_search=text)

    def ini(self, **keys: str) -> None:
        lines = "\n".join(f"retrieval_{name} = {value}" for name, value in keys.items())
        self.pytester.makeini(
            f"[pytest]\nasyncio_default_fixture_loop_scope = function\nfilterwarnings = default\n{lines}\n"
        )

    def run(self, *options: str, lost: int = 0) -> pytest.RunResult:
        """Build once, with a retriever that loses what is best for the first `lost` queries."""
        self.monkeypatch.setenv("LOST", str(lost))
        return self.pytester.runpytest_inprocess(*options)

    def baseline(self) -> None:
        self.run("--retrieval-update").assert_outcomes(passed=1)


def warned(result: pytest.RunResult) -> int:
    """Return how often the plug-in or the core warned.

    pytest counts every warning of the process: also those of objects that an earlier test left to the collector.
    """
    return sum("RetrievalWarning:" in line for line in result.outlines)


@pytest.fixture
def builds(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Builds:
    made = Builds(pytester, monkeypatch)
    made.ini()
    return made


def test_without_a_change_the_build_passes_and_claims_no_sensitivity(builds: Builds) -> None:
    builds.baseline()
    result = builds.run()
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*ndcg@10  1.0000*0.0000  1.0000        -  passed"])


def test_a_real_drop_fails_with_what_one_needs_to_act(builds: Builds) -> None:
    builds.baseline()
    result = builds.run(lost=12)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "ndcg@10: worse: was 1.0000 [[]*], is 0.7413 [[]*]; difference -0.2587 [[]-*], p 0.0005, *12 worse",
            "  q0: 1.0000 -> 0.1377",
            "      d (grade 3): was at rank 1; now never retrieved; the ranking has 3 documents",
            "      e (grade 1): was at rank 2; now rank 3, found",
            "  and 7 more that got worse",
            "mrr: worse: *",
        ]
    )


def test_a_small_drop_is_not_told_from_chance_and_says_what_would_be(builds: Builds) -> None:
    builds.baseline()
    result = builds.run(lost=4)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*ndcg@10  0.9138*0.1250     0.26  cannot tell"])


@pytest.mark.parametrize(
    ("end", "outcome"), [("pass", "passed"), ("warn", "passed"), ("skip", "skipped"), ("fail", "failed")]
)
def test_what_cannot_be_told_ends_as_one_asks(builds: Builds, end: str, outcome: str) -> None:
    builds.baseline()
    result = builds.run(f"--retrieval-undecided={end}", lost=4)
    result.assert_outcomes(**{outcome: 1})
    assert warned(result) == int(end == "warn") * 2
    if end == "fail":
        result.stdout.fnmatch_lines(
            ["ndcg@10: cannot tell: this set detects drops of 0.26 in at least 80 % of builds; was *"]
        )


@pytest.mark.parametrize(
    ("end", "outcome"), [("pass", "passed"), ("warn", "passed"), ("skip", "skipped"), ("fail", "failed")]
)
def test_what_is_not_compared_ends_as_one_asks(builds: Builds, end: str, outcome: str) -> None:
    result = builds.run(f"--retrieval-uncompared={end}")
    result.assert_outcomes(**{outcome: 1})
    assert warned(result) == int(end == "warn") * 2
    result.stdout.fnmatch_lines(["*not compared"])


def test_a_missing_baseline_fails_and_names_the_option(builds: Builds) -> None:
    result = builds.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*there is no baseline test_search/test_words.json; --retrieval-update writes it"])
    assert not (builds.pytester.path / WORDS).exists()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ((SUITE.replace("range(40)", "range(42)")), "another evaluation set: 2 queries added, 0 removed"),
        ((SUITE.replace('"e": 1', '"e": 2')), "other judgments of the same queries"),
        ((SUITE.replace("baseline=True", 'baseline=True, semantics="trec_eval"')), "standard rules, now they are"),
    ],
)
def test_a_changed_evaluation_set_is_reported_and_not_compared(builds: Builds, change: str, said: str) -> None:
    builds.baseline()
    builds.write(change)
    result = builds.run(lost=12)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([f"ndcg@10: not compared: test_words.json was made with {said}*nothing is compared*"])
    result.stdout.no_fnmatch_line("*->*")


def test_a_metric_that_the_baseline_lacks_is_said(builds: Builds) -> None:
    builds.baseline()
    builds.write(SUITE.replace('"mrr"', '"map"'))
    result = builds.run()
    result.stdout.fnmatch_lines(["map: not compared: test_words.json does not hold it*"])
    result.stdout.no_fnmatch_line("ndcg@10: not compared*")


def test_a_file_that_is_no_baseline_is_named(builds: Builds) -> None:
    builds.baseline()
    (builds.pytester.path / WORDS).write_text('{"version": 7}')
    builds.run().stdout.fnmatch_lines(["*test_words.json is not a baseline: *version 7*--retrieval-update*"])


def test_the_baseline_is_written_per_query_and_can_be_read(builds: Builds) -> None:
    builds.baseline()
    held = json.loads((builds.pytester.path / WORDS).read_text())
    assert held["metrics"] == ["ndcg@10", "mrr"]
    assert held["means"] == {"ndcg@10": 1.0, "mrr": 1.0}
    assert held["queries"]["q7"] == {"ndcg@10": 1.0, "mrr": 1.0, "ranks": {"d": 1, "e": 2}}
    assert len(held["queries"]) == 40


def test_an_update_accepts_the_drop_and_a_floor_still_holds(builds: Builds) -> None:
    builds.baseline()
    builds.run("--retrieval-update", lost=12).assert_outcomes(passed=1)
    builds.run(lost=12).assert_outcomes(passed=1)
    builds.run("--retrieval-update", lost=40).assert_outcomes(failed=1)


def test_below_the_floor_names_the_worst_queries(builds: Builds) -> None:
    builds.write(SUITE.replace("0.35", "0.95").replace(", baseline=True", ""))
    result = builds.run(lost=4)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "ndcg@10: below the floor: the mean 0.9138 is below the floor 0.95; mean 0.9138, 95 % interval [[]*]*",
            "  q0: 0.1377",
            "      d (grade 3): now never retrieved; the ranking has 3 documents",
            "  all queries: 4 of 4 failures: never retrieved",
        ]
    )
    result.stdout.no_fnmatch_line("  q4: *")


@pytest.mark.parametrize("in_ini", [True, False])
def test_the_low_end_of_the_interval_can_be_what_reaches_the_floor(builds: Builds, in_ini: bool) -> None:  # noqa: FBT001  (a parameter of the test)
    builds.write(SUITE.replace("0.35", "0.9").replace(", baseline=True", ""))
    builds.run(lost=4).assert_outcomes(passed=1)
    if in_ini:
        builds.ini(floor="low")
    result = builds.run(*([] if in_ini else ["--retrieval-floor=low"]), lost=4)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*the low end of the interval 0.80* is below the floor 0.9; mean 0.9138*"])


def test_a_wider_interval_is_asked_for_by_its_level(builds: Builds) -> None:
    builds.write(SUITE.replace("0.35", "0.8").replace(", baseline=True", ""))
    builds.run("--retrieval-floor=low", lost=4).assert_outcomes(passed=1)
    result = builds.run("--retrieval-floor=low", "--retrieval-level=0.99", lost=4)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*99 % interval*"])


def test_a_drop_within_the_tolerance_is_accepted(builds: Builds) -> None:
    builds.baseline()
    builds.run("--retrieval-tolerance=0.2", lost=12).stdout.fnmatch_lines(["*mrr*passed"])
    builds.run("--retrieval-tolerance=0.3", lost=12).assert_outcomes(passed=1)
    builds.ini(tolerance="0.3")
    builds.run(lost=12).assert_outcomes(passed=1)


def test_alpha_decides_and_only_the_checks_with_a_baseline_share_it(builds: Builds) -> None:
    builds.baseline()
    builds.run(lost=7).assert_outcomes(failed=1)  # 7 of 7 lost: p 2 / 2^7, and both metrics say the same
    builds.run("--retrieval-alpha=0.01", lost=7).assert_outcomes(passed=1)
    floors = "\n".join(
        f"    def test_floor_{at}(retrieval_check):\n        retrieval_check(QRELS, found, {{'mrr': None}})\n"
        for at in range(6)
    )
    builds.write(f"{SUITE}\n{floors}")
    builds.run(lost=7).assert_outcomes(failed=1, passed=6)
    others = floors.replace("None}", "None}, baseline=True")
    builds.write(f"{SUITE}\n{others}")
    builds.run("--retrieval-update").assert_outcomes(passed=7)
    builds.run(lost=7).assert_outcomes(passed=7)  # 2 / 2^7 is above .05 / 7
    result = builds.run("-k", "words", lost=7)  # choosing tests does not move the verdict
    result.assert_outcomes(passed=1, deselected=6)


def test_the_message_and_the_table_show_the_same_numbers(builds: Builds) -> None:
    builds.baseline()
    result = builds.run(lost=12)
    held = builds.run("--retrieval-report=r.json", lost=12)
    held.assert_outcomes(failed=1)
    report = json.loads((builds.pytester.path / "r.json").read_text())["checks"][0]
    row = report["metrics"][0]
    assert report["alpha"] == 0.05
    ends = f"{row['low']:.3f}, {row['high']:.3f}"
    result.stdout.fnmatch_lines([f"ndcg@10: worse: *is 0.7413 [[]{ends}]*p {row['p']:.4f}, alpha 0.05*"])
    result.stdout.fnmatch_lines([f"*ndcg@10  0.7413  [[]{ends}]*{row['p']:.4f}*worse"])


def test_replacing_a_baseline_says_what_changed_and_what_it_costs(builds: Builds) -> None:
    first = builds.run("--retrieval-update")
    first.stdout.no_fnmatch_line("*baselines replaced*")
    again = builds.run("--retrieval-update", lost=12)
    again.stdout.fnmatch_lines(
        [
            "baselines replaced:",
            "test_words.json: ndcg@10 1.0 -> 0.7413",
            "*best of five builds*, about 10 % of unchanged builds fail*",
        ]
    )


def test_how_many_queries_are_shown_can_be_chosen(builds: Builds) -> None:
    builds.baseline()
    result = builds.run("--retrieval-show=1", lost=12)
    result.stdout.fnmatch_lines(["  q0: *", "  and 11 more that got worse"])
    result.stdout.no_fnmatch_line("  q1: *")


def test_the_folder_of_the_baselines_can_be_named(builds: Builds) -> None:
    builds.ini(baselines="stored")
    builds.run("--retrieval-update").assert_outcomes(passed=1)
    assert (builds.pytester.path / "stored" / "test_search" / "test_words.json").exists()


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("--retrieval-floor=median", "--retrieval-floor must be one of mean, low; got 'median'"),
        ("--retrieval-alpha=5", "--retrieval-alpha must be a number between 0 and 1, such as 0.05; got '5'"),
        ("--retrieval-tolerance=some", "--retrieval-tolerance must be a number, 0 or more; got 'some'"),
        ("--retrieval-show=-1", "--retrieval-show must be a whole number, 0 or more; got '-1'"),
        ("--retrieval-report=r.txt", "--retrieval-report writes .json, .xml, .html by the name's ending; got 'r.txt'"),
    ],
)
def test_a_wrong_option_is_said_before_any_test_runs(builds: Builds, option: str, said: str) -> None:
    result = builds.run(option)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{said}*"])


def test_a_wrong_key_of_the_ini_file_is_named_as_it_stands_there(builds: Builds) -> None:
    builds.ini(undecided="maybe")
    builds.run().stderr.fnmatch_lines(["*retrieval_undecided must be one of pass, warn, skip, fail; got 'maybe'*"])


def test_the_report_holds_every_check_in_each_form(builds: Builds) -> None:
    builds.baseline()
    for name in ("r.json", "r.xml", "r.html"):
        builds.run(f"--retrieval-report=out/{name}", lost=12).assert_outcomes(failed=1)
    folder = builds.pytester.path / "out"
    (check,) = json.loads((folder / "r.json").read_text())["checks"]
    assert check["test"] == "test_search.py::test_words"
    row = check["metrics"][1]
    assert (row["metric"], row["outcome"], row["n"], row["floor"]) == ("mrr", "worse", 40, None)
    assert row["mean"] == pytest.approx((28 + 12 / 3) / 40)
    case = ET.parse(folder / "r.xml").getroot().find("testsuite/testcase")  # noqa: S314  (our own file)
    assert case is not None
    properties = {each.get("name"): each.get("value") for each in case.iter("property")}
    assert float(properties["mrr.difference"] or "nan") == pytest.approx(-0.2)
    assert case.find("failure") is not None
    page = (folder / "r.html").read_text()
    assert "test_search.py::test_words" in page
    assert ">worse</td>" in page


def test_junitxml_has_the_means_as_properties(builds: Builds) -> None:
    builds.run("--retrieval-update", "--junitxml=junit.xml", "-o", "junit_family=xunit1")
    properties = ET.parse(builds.pytester.path / "junit.xml").getroot().iter("property")  # noqa: S314  (our own file)
    assert {each.get("name"): each.get("value") for each in properties} == {"ndcg@10": "1.0", "mrr": "1.0"}


PARAMETRISED = (
    SUITE
    + """
    @pytest.fixture(scope="session")
    def everything():
        return {query: found(query) for query in QRELS}

    @pytest.mark.parametrize("k", [1, 3])
    def test_cutoffs(retrieval_check, everything, k):
        retrieval_check(QRELS, everything, {f"ndcg@{k}": None}, baseline=True)

    class TestTwice:
        def test_both(self, retrieval_check):
            retrieval_check(QRELS, found, {"mrr": None}, baseline=True, name="words")
            retrieval_check(QRELS, found, {"mrr": None}, baseline=True, name="words/again")
"""
)


def test_every_parameter_and_name_has_a_baseline_of_its_own(builds: Builds) -> None:
    builds.write(PARAMETRISED)
    builds.run("--retrieval-update", "-k", "cutoffs or both").assert_outcomes(passed=3, deselected=1)
    names = sorted(path.name for path in (builds.pytester.path / WORDS.parent).iterdir())
    assert names[0] == "TestTwice.test_both.words.json"
    assert names[1].startswith("TestTwice.test_both.words_again-")
    assert names[2:] == ["test_cutoffs[1].json", "test_cutoffs[3].json"]


def test_workers_of_xdist_write_compare_and_hand_over_what_they_found(builds: Builds) -> None:
    builds.write(PARAMETRISED)
    builds.monkeypatch.setenv("LOST", "0")
    # Each of the processes would load every plug-in of the environment, some of which take seconds.
    builds.monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    builds.monkeypatch.setenv("PYTEST_PLUGINS", "xdist,pytest_retrieval_metrics.plugin")
    run = builds.pytester.runpytest_subprocess
    run("-n", "2", "--retrieval-update").assert_outcomes(passed=4)
    assert len(list((builds.pytester.path / WORDS.parent).iterdir())) == 5
    builds.monkeypatch.setenv("LOST", "30")
    result = run("-n", "2", "--retrieval-report=r.json")
    result.assert_outcomes(failed=4)
    result.stdout.fnmatch_lines(["*= retrieval quality =*", "test_search.py::TestTwice::test_both words *worse"])
    assert len(json.loads((builds.pytester.path / "r.json").read_text())["checks"]) == 4


def test_asynchronous_retrievers_and_tests(builds: Builds) -> None:
    builds.write(
        SUITE
        + """
    async def ask(text):
        await asyncio.sleep(0)
        return found(text)

    def test_asked(retrieval_check):
        assert retrieval_check(QRELS, ask, {"mrr": 1}).evaluation.means["mrr"] == 1

    @pytest.mark.asyncio
    async def test_awaited(retrieval_check):
        checked = await retrieval_check.acheck(QRELS, ask, {"mrr": 1})
        assert str(checked).startswith("metric")

    @pytest.mark.asyncio
    async def test_inside_a_loop(retrieval_check):
        retrieval_check(QRELS, ask, {"mrr": 1})
"""
    )
    builds.run("-k", "not words").assert_outcomes(passed=3, deselected=1)


def test_an_error_of_the_retriever_is_the_tests_own_unless_it_may_score_0(builds: Builds) -> None:
    builds.write(
        """
    QRELS = {"q1": ["d"], "q2": ["d"]}

    def broken(text):
        if text == "q2":
            raise OSError("index is gone")
        return ["d"]

    def test_strict(retrieval_check):
        retrieval_check(QRELS, broken, {"mrr": 0.4})

    def test_lenient(retrieval_check):
        assert retrieval_check(QRELS, broken, {"mrr": 0.4}, raise_on_error=False).evaluation.counts["failed"] == 1
"""
    )
    result = builds.run()
    result.assert_outcomes(passed=1, failed=1)
    assert warned(result) == 1
    result.stdout.fnmatch_lines(["*OSError: index is gone", "*while retrieving for query 'q2'"])


def test_without_a_check_nothing_is_imported_and_nothing_printed(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        "import sys\ndef test_plain():\n    assert not {'numpy', 'retrieval_metrics'} & set(sys.modules)"
    )
    result = pytester.runpytest_subprocess("-p", "no:hypothesispytest", "-p", "no:anyio", "-p", "no:xdist")
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*retrieval quality*")


def test_the_plug_in_itself_brings_neither_numpy_nor_the_core() -> None:
    code = (
        "import pytest_retrieval_metrics.plugin, sys; print({'numpy', 'scipy', 'retrieval_metrics'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "set()"


def test_what_is_read_back_is_what_was_written(tmp_path: Path) -> None:
    qrels = {1: ["a"], 2: [], 3: ["c", "é"]}
    evaluation = rm.evaluate(qrels, {1: ["b", "a"], 2: ["a"], 3: ["x", "é", "c"]}, ["mrr", "map@2"])
    written = Baseline.of(evaluation)
    written.write(tmp_path / "deep" / "b.json")
    again = Baseline.read(tmp_path / "deep" / "b.json")
    np.testing.assert_array_equal(again.evaluation(evaluation).values, evaluation.values)
    assert (again.qrels, again.ranks) == (written.qrels, {"1": {"a": 2}, "2": {}, "3": {"c": 3, "é": 2}})
