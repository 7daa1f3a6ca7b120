"""Reports and histories: what they hold, in which order, and that they are written safely."""

import json
from xml.etree import ElementTree as ET

import pytest

from retrieval_builds import SUITE, Builds

pytest_plugins = ["pytester"]

THREE = (
    SUITE
    + """
    def test_floor(retrieval_check):
        retrieval_check(QRELS, found, {"mrr": 0.1})

    def test_broken(retrieval_check):
        def broken(text):
            raise ConnectionError("the <index> is gone")
        retrieval_check(QRELS, broken if LOST else found, {"mrr": 0.1}, name="b")
"""
)

REPORTS = [f"--retrieval-report=out/r.{ending}" for ending in ("json", "xml", "md", "html")]


@pytest.fixture
def reported(builds: Builds) -> Builds:
    """A build that failed, with all its reports."""
    builds.write(THREE)
    builds.run("--retrieval-update").assert_outcomes(passed=3)
    result = builds.run(*REPORTS, lost=12)
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines([f"retrieval report: *r.{ending}" for ending in ("json", "xml", "md", "html")])
    return builds


def test_json_has_every_query_before_and_now_and_failures_first(reported: Builds) -> None:
    checks = json.loads((reported.path / "out" / "r.json").read_text())["checks"]
    assert [check["test"].rpartition("::")[2] for check in checks] == ["test_broken", "test_words", "test_floor"]
    assert checks[0]["failure"] == "not measured: ConnectionError: the <index> is gone"
    words = checks[1]
    row = words["metrics"][1]
    assert (row["metric"], row["outcome"], row["n"], row["floor"], row["lost"]) == ("mrr", "worse", 40, None, 12)
    assert row["mean"] == pytest.approx((28 + 12 / 3) / 40)
    assert len(words["queries"]) == 40
    first = words["queries"][0]
    assert first["before"] == {"ndcg@10": 1.0, "mrr": 1.0}
    assert first["now"]["mrr"] == pytest.approx(1 / 3)
    assert checks[2]["queries"][0]["before"] == {}


def test_junit_has_every_query_before_and_now(reported: Builds) -> None:
    suite = ET.parse(reported.path / "out" / "r.xml").getroot().find("testsuite")
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures")) == ("3", "2")
    case = suite.findall("testcase")[1]
    properties = {property_.get("name"): property_.get("value") for property_ in case.iter("property")}
    assert float(properties["mrr.difference"] or "nan") == pytest.approx(-0.2)
    assert (properties["mrr[q0].before"], properties["mrr[q0].now"]) == ("1.0", "0.3333333333333333")
    failure = case.find("failure")
    assert failure is not None
    assert failure.get("message") == "ndcg@10 worse: 1.000 -> 0.741 (p < 0.001), 12 of 40 queries worse"
    assert "q0: 1.000 -> 0.138" in str(failure.text)


def test_markdown_is_a_summary_of_the_step(reported: Builds) -> None:
    text = (reported.path / "out" / "r.md").read_text()
    assert text.startswith("# Retrieval quality\n\n2 of 3 checks failed.\n\n## `test_search.py::test_broken b`\n")
    assert "- not measured: ConnectionError: the \\<index> is gone\n" in text
    assert "- ndcg@10 worse: 1.000 -> 0.741 (p < 0.001), 12 of 40 queries worse\n" in text
    assert "| q0 | 1.000 | 0.138 | -0.862 |\n" in text
    assert "| test_search.py::test_broken b | - | - | - | - | - | - | - | - | not measured |" in text
    assert text.index("## All checks") > text.index("## `test_search.py::test_words`")


def test_below_a_floor_the_lowest_queries_are_listed(builds: Builds) -> None:
    builds.write(THREE.replace("0.1", "0.9"))
    builds.run("-k", "floor", "--retrieval-report=r.md", lost=12)
    text = (builds.path / "r.md").read_text()
    assert "| query, by mrr | now |\n| --- | ---: |\n| q0 | 0.333 |\n" in text
    assert "- the 10 lowest of 40 queries; 12 of the 40 are below the mean" in text


def test_pages_of_an_earlier_run_go(reported: Builds) -> None:
    folder = reported.path / "out" / "r.checks"
    assert {page.name for page in folder.iterdir()} == {f"test_search.test_{name}.html" for name in ("words", "floor")}
    reported.run("-k", "floor", *REPORTS)
    assert [page.name for page in folder.iterdir()] == ["test_search.test_floor.html"]


def test_a_function_as_match_leaves_a_report_of_numbers(builds: Builds) -> None:
    builds.write("""
    import retrieval_metrics as rm
    def found(query):
        return [rm.Retrieved("d#1", "text", source="d")]
    def test_words(retrieval_check):
        retrieval_check({"q1": ["d"]}, found, {"mrr": 1}, match=lambda item: item.source)
""")
    builds.run(*REPORTS).assert_outcomes(passed=1)
    assert "mrr passed" in (builds.path / "out" / "r.html").read_text()
