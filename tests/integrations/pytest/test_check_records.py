"""What is recorded of a check: what pytest says of its test, properties, and histories."""

import json
from xml.etree import ElementTree as ET

import pytest

import retrieval_metrics as rm
from retrieval_builds import SUITE, Builds

pytest_plugins = ["pytester"]


SECTION = "*retrieval quality*"
END = "*==="


@pytest.fixture
def expected(builds: Builds) -> Builds:
    builds.write_baseline()
    builds.write(SUITE.replace("    def test_words", "    @pytest.mark.xfail\n    def test_words"))
    return builds


def test_an_expected_failure_is_no_failure_in_any_report(expected: Builds) -> None:
    reports = [f"--retrieval-report=r.{ending}" for ending in ("xml", "md", "json", "html")]
    result = expected.run(*reports, lost=12)
    result.assert_outcomes(xfailed=1)
    result.stdout.fnmatch_lines(["retrieval quality: 1 check xfailed; ndcg@10 0.741, mrr 0.800; -v shows the table"])
    expected.run("-v", lost=12).stdout.fnmatch_lines(["*ndcg@10*worse (xfailed)"])
    (suite,) = ET.parse(expected.path / "r.xml").getroot()
    assert (suite.get("failures"), suite.get("skipped")) == ("0", "1")
    (skipped,) = suite.findall("testcase/skipped")
    assert str(skipped.get("message")).startswith("xfailed ndcg@10 worse: 1.000 -> 0.741")
    assert "1 check, none failed." in (expected.path / "r.md").read_text(encoding="utf-8")
    assert "1 check, none failed." in (expected.path / "r.html").read_text(encoding="utf-8")
    (check,) = json.loads((expected.path / "r.json").read_text(encoding="utf-8"))["checks"]
    assert check["ended"] == "xfailed"
    assert check["failure"].startswith("ndcg@10 worse")


def test_a_skipped_check_is_skipped_in_the_reports(builds: Builds) -> None:
    builds.write_baseline()
    result = builds.run("-v", "--retrieval-inconclusive=skip", "--retrieval-report=r.xml", lost=4)
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*inconclusive (skipped)"])
    (suite,) = ET.parse(builds.path / "r.xml").getroot()
    assert (suite.get("failures"), suite.get("skipped")) == ("0", "1")


def test_a_test_that_passes_when_it_runs_again_has_not_failed(builds: Builds) -> None:
    builds.write(
        SUITE.replace(
            "    def test_words(retrieval_check):\n",
            "    ROUNDS = []\n    def test_words(retrieval_check):\n        ROUNDS.append(1)\n",
        ).replace("at_least={", "at_least={'recall@1': 0.4 if len(ROUNDS) > 1 else 1.0, ")
    )
    result = builds.run_alone("pytest_rerunfailures", "--reruns=1", "--retrieval-update", "--retrieval-report=r.xml")
    result.assert_outcomes(passed=1)
    (suite,) = ET.parse(builds.path / "r.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("1", "0")


NOTHING = SUITE.replace("at_least={", "rules='standard', at_least={").replace(
    'return ["d"', 'return [] if query == "q1" else ["d"'
)


def test_junitxml_has_the_means_and_the_queries_that_changed(builds: Builds) -> None:
    options = ["--junitxml=junit.xml", "-o", "junit_family=xunit1"]
    builds.run("--retrieval-update", *options)
    assert read_properties(builds) == {"ndcg@10": "1.0", "mrr": "1.0"}
    builds.run(*options, lost=1)
    properties = read_properties(builds)
    assert properties["mrr: q0"] == "1.000 -> 0.333"
    assert len(properties) == 4


def read_properties(builds: Builds) -> dict[str | None, str | None]:
    properties = ET.parse(builds.path / "junit.xml").getroot().iter("property")
    return {property_.get("name"): property_.get("value") for property_ in properties}


def test_every_run_is_remembered_under_its_commit(builds: Builds) -> None:
    builds.write_baseline()
    builds.ini(history="remembered", label="first")
    builds.run()
    builds.monkeypatch.setenv("GITHUB_SHA", "4f2a91c")
    builds.ini(history="remembered")
    builds.run(lost=12).assert_outcomes(failed=1)
    builds.run("--retrieval-label=by hand", "--retrieval-history=remembered")
    history = rm.History(builds.path / "remembered" / "test_search" / "test_words.jsonl")
    assert [entry.label for entry in history.entries()] == ["first", "4f2a91c", "by hand"]
    assert [entry.means["mrr"] for entry in history.entries()] == [1.0, pytest.approx(0.8), 1.0]
    assert not history.entries()[2].differs_from(history.entries()[0])


def test_a_history_that_cannot_be_written_is_said_and_hides_nothing(builds: Builds) -> None:
    builds.write_baseline()
    path = builds.path / "remembered" / "test_search" / "test_words.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("something else\n")
    result = builds.run("--retrieval-history=remembered")
    result.assert_outcomes(passed=1)
    assert result.ret == pytest.ExitCode.INTERNAL_ERROR
    result.stdout.fnmatch_lines(["retrieval: history was not written: *test_words.jsonl*"])
    assert path.read_text() == "something else\n"
