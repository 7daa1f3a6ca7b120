"""The reports say of a test what pytest says: expected failures, skips, repeats, warnings; and in few lines."""

import json
from xml.etree import ElementTree as ET

import pytest

import retrieval_metrics as rm
from retrieval_builds import SUITE, WORDS, Builds

pytest_plugins = ["pytester"]

SECTION, END = "*retrieval quality*", "*==="


def read_section(result: pytest.RunResult) -> list[str]:
    """Return the lines of the plug-in's block, with its title."""
    lines = result.outlines
    start = next(index for index, line in enumerate(lines) if " retrieval quality " in line)
    rest = lines[start + 1 :]
    return [lines[start], *rest[: next(index for index, line in enumerate(rest) if line.startswith("==="))]]


def read_failure(result: pytest.RunResult) -> list[str]:
    """Return the lines of the only failure."""
    lines = result.outlines
    start = next(index for index, line in enumerate(lines) if line.startswith("____"))
    rest = lines[start + 1 :]
    return rest[: next(index for index, line in enumerate(rest) if line.startswith("==="))]


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
    (suite,) = ET.parse(expected.path / "r.xml").getroot()  # noqa: S314  (our own file)
    assert (suite.get("failures"), suite.get("skipped")) == ("0", "1")
    (skipped,) = suite.findall("testcase/skipped")
    assert str(skipped.get("message")).startswith("xfailed ndcg@10 worse: 1.000 -> 0.741")
    assert "No check failed, of 1." in (expected.path / "r.md").read_text(encoding="utf-8")
    assert "No check failed, of 1." in (expected.path / "r.html").read_text(encoding="utf-8")
    (check,) = json.loads((expected.path / "r.json").read_text(encoding="utf-8"))["checks"]
    assert check["ended"] == "xfailed"
    assert check["failure"].startswith("ndcg@10 worse")


def test_a_skipped_check_is_skipped_in_the_reports(builds: Builds) -> None:
    builds.write_baseline()
    result = builds.run("-v", "--retrieval-inconclusive=skip", "--retrieval-report=r.xml", lost=4)
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*cannot tell (skipped)"])
    (suite,) = ET.parse(builds.path / "r.xml").getroot()  # noqa: S314  (our own file)
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
    (suite,) = ET.parse(builds.path / "r.xml").getroot()  # noqa: S314  (our own file)
    assert (suite.get("tests"), suite.get("failures")) == ("1", "0")


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
    (suite,) = ET.parse(builds.path / "r.xml").getroot()  # noqa: S314  (our own file)
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
    result.stdout.fnmatch_lines(["*ndcg@10*warning", "*mrr*cannot tell"])


MANY = SUITE.replace('"mrr": None', '"mrr": None, "map": None, "recall@5": None, "hit_rate@1": None, "ndcg@5": None')


@pytest.mark.parametrize("lost", [0, 4])
def test_a_check_that_passes_prints_at_most_twelve_lines(builds: Builds, lost: int) -> None:
    builds.write(MANY)
    assert len(read_section(builds.run("--retrieval-update"))) <= 12
    assert len(read_section(builds.run("-v", lost=lost))) <= 12
    updated = builds.run("--retrieval-update", lost=lost)
    assert len(read_section(updated)) <= 12
    risen = builds.run("--retrieval-update", "-v")
    assert len(read_section(risen)) <= 12
    assert any("drifts upwards" in line for line in read_section(risen)) == (lost > 0)
    assert len(read_section(builds.run("-v", "--retrieval-show=50", lost=lost))) <= 12 + 4 * (lost > 0)


@pytest.mark.parametrize("suite", [SUITE, MANY, NOTHING, SUITE.replace("0.35", "0.95")])
def test_a_check_that_fails_prints_at_most_twenty_lines(builds: Builds, suite: str) -> None:
    builds.write(suite)
    builds.write_baseline()
    result = builds.run(lost=12)
    assert 8 <= len(read_failure(result)) <= 20
    assert len(read_section(result)) <= 12
    result.stdout.fnmatch_lines(["  q0: 1.000 -> 0.138", "      d (grade 3): was at rank 1; now never retrieved*"])
    assert len(read_failure(builds.run("--retrieval-show=12", lost=12))) > 30


GROUPS = """
    import os
    import retrieval_metrics as rm

    TEXTS = {f"q{i}": f"number {i} stands in the middle of this sentence" for i in range(40)}
    QRELS = {q: [[rm.Quote(text), rm.Span(q, 0, len(text))]] for q, text in TEXTS.items()}
    LOST = int(os.environ.get("LOST", "0"))

    def found(query):
        text = TEXTS[query]
        lost = int(query[1:]) < LOST
        return [] if lost else [rm.Retrieved("a", text, source=query, start=0, end=len(text))]

    def test_words(retrieval_check):
        retrieval_check(QRELS, found, at_least={"mrr": None}, baseline=True)
"""


def test_the_alternatives_of_a_group_are_told_of_once(builds: Builds) -> None:
    builds.write(GROUPS)
    builds.write_baseline()
    lines = read_failure(builds.run(lost=10))
    document_lines = [line for line in lines if line.startswith("      ")]
    assert len(document_lines) == sum(line.startswith("  q") for line in lines) == 5
    assert all(
        line.lstrip().startswith("\u201cnumber ") and "\u201d (grade 1): was at rank 1" in line
        for line in document_lines
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
    properties = ET.parse(builds.path / "junit.xml").getroot().iter("property")  # noqa: S314  (our own file)
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
