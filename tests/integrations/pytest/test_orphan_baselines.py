"""Baselines without a test."""

from pathlib import Path

import pytest

from retrieval_builds import SUITE, WORDS, Builds

PAIR = (
    SUITE
    + """
    def test_others(retrieval_check):
        retrieval_check(QRELS, found, {"mrr": None}, baseline=True, name="first")
        retrieval_check(QRELS, found, {"mrr": None}, baseline=True, name="second")
"""
)


def leave_orphans(builds: Builds) -> Path:
    """Leave three baselines without a test: of a test, of a check, and of a whole file."""
    builds.write(PAIR)
    builds.pytester.makepyfile(test_gone=SUITE)
    builds.run("--retrieval-update").assert_outcomes(passed=3)
    (builds.path / "test_gone.py").unlink()
    builds.write(PAIR.replace("test_words", "test_new_words").replace('"second"', '"third"'))
    return builds.path / WORDS.parent


def test_baselines_without_a_test_are_reported_and_pruned_on_request(builds: Builds) -> None:
    folder = leave_orphans(builds)
    result = builds.run("--retrieval-not-compared=pass")
    result.stdout.fnmatch_lines(
        [
            "baselines without a test (--retrieval-prune deletes):",
            "*test_words.json: there is no test test_words; move it to *test_new_words.json, which has the same *",
            "*test_gone/test_words.json: there is no test_gone.py*",
        ]
    )
    result.stdout.fnmatch_lines(["*test_others.second.json: test_others has no check 'second'*"])
    assert len(list(folder.parent.rglob("*.json"))) == 4
    pruned = builds.run("--retrieval-update", "--retrieval-prune")
    pruned.stdout.fnmatch_lines(["baselines without a test, deleted:"])
    names = {path.relative_to(folder.parent).as_posix() for path in folder.parent.rglob("*.json")}
    assert names == {
        f"test_search/{name}.json" for name in ("test_new_words", "test_others.first", "test_others.third")
    }
    builds.run("--retrieval-prune").stdout.fnmatch_lines(["no baseline is without a test"])


@pytest.mark.parametrize(
    "options", [["test_search.py::test_new_words"], ["-k", "new_words"], ["--lf"]], ids=["by name", "-k", "--lf"]
)
def test_a_part_of_the_tests_makes_no_orphans_of_the_others(builds: Builds, options: list[str]) -> None:
    builds.write(PAIR.replace("test_words", "test_new_words"))
    builds.run("--retrieval-update").assert_outcomes(passed=2)
    if "--lf" in options:
        builds.run("-k", "others", lost=30)  # which makes that test the last that failed
    before = sorted((builds.path / WORDS.parent).iterdir())
    builds.run("--retrieval-prune", *options)
    assert sorted((builds.path / WORDS.parent).iterdir()) == before


def test_a_baseline_that_was_moved_to_the_new_name_is_used_and_stays(builds: Builds) -> None:
    builds.write_baseline()
    (builds.path / WORDS).rename((builds.path / WORDS).with_name("test_new_words.json"))
    builds.write(SUITE.replace("test_words", "test_new_words") + "\n    def test_other():\n        pass\n")
    builds.run("--retrieval-prune").assert_outcomes(passed=2)
    builds.run("--retrieval-prune", "-k", "other").assert_outcomes(passed=1, deselected=1)
    builds.run(lost=12).assert_outcomes(failed=1, passed=1)
