"""The plug-in as its users meet it: options, asynchronous tests, errors, and beside other plug-ins."""

import json
import subprocess
import sys
from importlib.metadata import entry_points
from xml.etree import ElementTree as ET

import pytest

import retrieval_metrics as rm
from retrieval_builds import SUITE, WORDS, Builds, count_warnings

pytest_plugins = ["pytester"]


@pytest.mark.thorough
def test_workers_of_xdist_write_compare_and_hand_over_what_they_found(builds: Builds) -> None:
    builds.write(PARAMETRISED)
    builds.ini(history="remembered")
    builds.run_alone("xdist", "-n", "2", "--retrieval-update").assert_outcomes(passed=4)
    folder = builds.path / WORDS.parent
    assert len(list(folder.iterdir())) == 5
    (folder / "test_old.json").write_text((folder / "test_words.json").read_text().replace("test_words", "test_old"))
    result = builds.run_alone(
        "xdist", "-n", "2", "--retrieval-report=r.json", "--retrieval-report=r.html", "--retrieval-prune", lost=30
    )
    result.assert_outcomes(failed=4)
    result.stdout.fnmatch_lines(["*= retrieval quality =*", "test_search.py::TestTwice::test_both words *worse"])
    result.stdout.fnmatch_lines(["baselines without a test, deleted:", "*test_old.json: there is no test test_old"])
    assert len(json.loads((builds.path / "r.json").read_text())["checks"]) == 4
    assert len(list((builds.path / "r.checks").iterdir())) == 4
    assert len(list(folder.iterdir())) == 5
    history = rm.History(builds.path / "remembered" / "test_search" / "test_words.jsonl")
    assert [entry.means["mrr"] for entry in history.entries()] == [1.0, pytest.approx(0.5)]


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
            raise TimeoutError("index is gone")
        return ["d"]

    def test_strict(retrieval_check):
        retrieval_check(QRELS, broken, {"mrr": 0.4})

    def test_lenient(retrieval_check):
        assert retrieval_check(QRELS, broken, {"mrr": 0.4}, raise_on_error=False).evaluation.counts["failed"] == 1
"""
    )
    result = builds.run()
    result.assert_outcomes(passed=1, failed=1)
    assert count_warnings(result) == 1
    advice = "raise_on_error=False counts a query that fails and scores it 0"
    lines = ["*TimeoutError: index is gone", f"*while retrieving for query 'q2'; {advice}"]
    result.stdout.fnmatch_lines(lines)
    result.stdout.no_fnmatch_line("*check_call.py*")
    result.stdout.no_fnmatch_line("*event_loop.py*")


def test_a_cutoff_beyond_the_rankings_is_noted(builds: Builds) -> None:
    builds.write(
        """
    QRELS = {"q1": ["d"], "q2": ["d"]}

    def test_deep(retrieval_check):
        retrieval_check(QRELS, lambda text: ["d", "e", "f"], {"recall@10": 0.4})
"""
    )
    note = "no ranking has more than 3 results, so recall@10 equals recall@3; retrieve 10 or more"
    for options in ([], ["-v"]):
        result = builds.run(*options)
        result.assert_outcomes(passed=1)
        result.stdout.fnmatch_lines([f"test_*.py::test_deep: {note}"])


def test_a_cutoff_beyond_most_rankings_is_noted(builds: Builds) -> None:
    builds.write(
        """
    QRELS = {f"q{number}": ["d"] for number in range(5)}

    def retrieve(text):
        return list("defghijklm") if text == "q4" else ["d", "e", "f"]

    def test_deep(retrieval_check):
        retrieval_check(QRELS, retrieve, {"recall@10": 0.4})
"""
    )
    result = builds.run()
    result.assert_outcomes(passed=1)
    note = "4 of 5 rankings end at rank 3, so recall@10 covers only 3 results there; retrieve 10 or more"
    result.stdout.fnmatch_lines([f"test_*.py::test_deep: {note}"])


def test_classes_of_unittest_take_the_fixture_as_pytest_gives_it(builds: Builds) -> None:
    builds.write(
        SUITE
        + """
    import unittest

    class TestSearch(unittest.TestCase):
        @pytest.fixture(autouse=True)
        def _retrieval(self, retrieval_check):
            self.retrieval_check = retrieval_check

        def test_it(self):
            self.retrieval_check(QRELS, found, {"mrr": None}, baseline=True)
"""
    )
    builds.run("--retrieval-update").assert_outcomes(passed=2)
    assert (builds.path / WORDS.parent / "TestSearch.test_it.json").exists()
    result = builds.run("-k", "TestSearch", lost=12)
    result.assert_outcomes(failed=1, deselected=1)
    result.stdout.fnmatch_lines(["mrr worse: 1.000 -> 0.800 *"])
    result.stdout.no_fnmatch_line("*Traceback*")


@pytest.mark.thorough
def test_every_round_of_repeat_has_the_same_baseline(builds: Builds) -> None:
    builds.write(PARAMETRISED)
    builds.run_alone("pytest_repeat", "--retrieval-update").assert_outcomes(passed=4)
    names = sorted(path.name for path in (builds.path / WORDS.parent).iterdir())
    result = builds.run_alone("pytest_repeat", "--count=2", "--retrieval-prune", "--retrieval-report=r.json")
    result.assert_outcomes(passed=8)
    assert sorted(path.name for path in (builds.path / WORDS.parent).iterdir()) == names
    assert len(json.loads((builds.path / "r.json").read_text())["checks"]) == 10


def test_a_test_that_is_run_again_is_reported_and_remembered_once(builds: Builds) -> None:
    builds.write_baseline()
    builds.ini(history="remembered")
    options = ["--reruns=2", "--retrieval-report=r.json", "--junitxml=junit.xml", "-o", "junit_family=xunit1"]
    result = builds.run_alone("pytest_rerunfailures", *options, lost=12)
    result.stdout.fnmatch_lines(["*1 failed*2 rerun*"])
    assert len(json.loads((builds.path / "r.json").read_text())["checks"]) == 1
    names = [property_.get("name") for property_ in ET.parse(builds.path / "junit.xml").getroot().iter("property")]
    assert len(set(names)) == 2 + 2 * 12
    assert len(names) == 3 * len(set(names))  # pytest writes those of every round; none has those of the rounds before
    assert len(rm.History(builds.path / "remembered" / "test_search" / "test_words.jsonl").entries()) == 1


@pytest.mark.thorough
def test_the_order_of_tests_changes_nothing(builds: Builds) -> None:
    builds.write(PARAMETRISED)
    builds.run_alone("pytest_randomly", "--randomly-seed=1", "--retrieval-update").assert_outcomes(passed=4)
    builds.run_alone("pytest_randomly", "--randomly-seed=2").assert_outcomes(passed=4)
    builds.run_alone("pytest_randomly", "--randomly-seed=3", lost=30).assert_outcomes(failed=4)


@pytest.mark.parametrize(
    "without", ["terminal", "cacheprovider", "warnings", "junitxml", "unittest", "unraisableexception"]
)
def test_it_works_without_parts_of_pytest(builds: Builds, without: str) -> None:
    builds.write_baseline()
    result = builds.run("-p", f"no:{without}", "--retrieval-report=r.json", lost=12)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    (check,) = json.loads((builds.path / "r.json").read_text())["checks"]
    assert check["failure"].startswith("ndcg@10 worse: ")


def test_without_the_plug_in_only_its_fixture_is_missing(builds: Builds) -> None:
    builds.ini(alpha="0.01")
    result = builds.run("-p", "no:pytest_retrieval_metrics.plugin")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*fixture 'retrieval_check' not found"])


def test_without_a_check_nothing_is_imported_and_nothing_printed(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        "import sys\ndef test_plain():\n    assert not {'numpy', 'retrieval_metrics'} & set(sys.modules)"
    )
    others = {plugin.name for plugin in entry_points(group="pytest11")} - {"retrieval_metrics"}
    result = pytester.runpytest_subprocess(*(f"-pno:{name}" for name in sorted(others)))
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*retrieval quality*")


def test_the_plug_in_itself_brings_neither_numpy_nor_the_core() -> None:
    code = (
        "import pytest_retrieval_metrics.plugin, sys; print({'numpy', 'scipy', 'retrieval_metrics'} & set(sys.modules))"
    )
    result = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert result.stdout.strip() == "set()"


NOTHING_CHECKED = (
    SUITE.partition("    def test_words")[0]
    + """
    @pytest.fixture
    def quality(retrieval_check):
        return lambda: retrieval_check(QRELS, found, {"mrr": 0.5})

    @pytest.mark.parametrize("questions", [QRELS, {}])
    def test_loop(retrieval_check, questions):
        for query in asked_of(questions):
            retrieval_check(QRELS, found, {"mrr": 0.5})

    def asked_of(questions):
        return list(questions)[:1]

    def test_through_another(quality):
        pass

    @pytest.mark.asyncio
    async def test_not_awaited(retrieval_check):
        retrieval_check(QRELS, found, {"mrr": 0.5})
        retrieval_check.acheck(QRELS, found, {"mrr": 0.5}, name="second").close()

    @pytest.mark.xfail
    def test_expected(retrieval_check):
        retrieval_check(QRELS, found, {"mrr": 2})

    def test_failure_wanted(retrieval_check):
        with pytest.raises(pytest.fail.Exception):
            retrieval_check(QRELS, dict.fromkeys(QRELS, ["x"]), {"mrr": 1})

    def test_swallowed(retrieval_check):
        try:
            retrieval_check(QRELS, found, {"mrrr": 2})
        except ValueError:
            pass

    @pytest.mark.skip
    def test_skipped(retrieval_check):
        pass

    class TestAutomatic:
        @pytest.fixture(autouse=True)
        def _retrieval(self, retrieval_check):
            self.retrieval_check = retrieval_check

        def test_something_else(self):
            assert True
"""
)


@pytest.mark.parametrize("plugins", ["", "xdist", "pytest_rerunfailures"])
def test_a_test_that_takes_the_fixture_and_checks_nothing_fails(builds: Builds, plugins: str) -> None:
    builds.write(NOTHING_CHECKED)
    if plugins:
        options = {"xdist": ["-n", "2"], "pytest_rerunfailures": ["--reruns=1"]}[plugins]
        result = builds.run_alone(f"pytest_asyncio.plugin,{plugins}", *options)
    else:
        result = builds.run("--junitxml=junit.xml")
        (suite,) = ET.parse(builds.path / "junit.xml").getroot()
        assert suite.get("failures") == "4"
    passed = "test_loop[[]questions0]", "test_failure_wanted", "test_something_else"
    result.stdout.fnmatch_lines([f"*{len(passed)} passed*"])
    result.stdout.fnmatch_lines(["*4 failed*"])
    for test in ("test_loop[[]questions1[]]", "test_through_another", "test_swallowed", "test_not_awaited"):
        result.stdout.fnmatch_lines([f"*::{test} *nothing checked*"])
    result.stdout.fnmatch_lines(["nothing checked: acheck was called but not awaited. Write `await *"])


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
    names = sorted(path.name for path in (builds.path / WORDS.parent).iterdir())
    assert names[0] == "TestTwice.test_both.words.json"
    assert names[1].startswith("TestTwice.test_both.words_again-")
    assert names[2:] == ["test_cutoffs[1].json", "test_cutoffs[3].json"]


@pytest.mark.parametrize(
    ("answer", "reason"), [('["foreign"]', "no retrieved document is judged"), ("[]", "40 of 40 judged queries")]
)
def test_what_never_meets_a_judgment_passes_no_gate_and_is_no_baseline(
    builds: Builds, answer: str, reason: str
) -> None:
    builds.write(
        SUITE
        + f"""
    def test_foreign(retrieval_check):
        retrieval_check(QRELS, {{query: {answer} for query in QRELS}}, {{"mrr": None}}, baseline=True)
"""
    )
    result = builds.run("-k", "foreign", "--retrieval-update")
    result.assert_outcomes(failed=1, deselected=1)
    result.stdout.fnmatch_lines([f"mrr not measured: {reason}*"])
    assert str(result.stdout).count(reason) == 1 + str(result.stdout).count(f"Failed: mrr not measured: {reason}")
    assert not (builds.path / WORDS).parent.exists()
