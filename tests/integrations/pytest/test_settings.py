"""Options and ini keys."""

import pytest

from retrieval_builds import Builds


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--retrieval-floor=median", "--retrieval-floor must be one of mean, ci_low; got 'median'"),
        ("--retrieval-alpha=5", "--retrieval-alpha must be a number between 0 and 0.5, such as 0.05; got '5'"),
        ("--retrieval-tolerance=some", "--retrieval-tolerance must be a number, 0 or more; got 'some'"),
        ("--retrieval-show=-1", "--retrieval-show must be a whole number, 0 or more; got '-1'"),
        (
            "--retrieval-report=r.txt",
            "--retrieval-report needs a name that ends in .html, .md, .json, .xml; got 'r.txt'",
        ),
        ("--retrieval-report=test_search.py/r.md", "--retrieval-report=test_search.py/r.md cannot be written: *"),
        ("--retrieval-report=folder.md", "--retrieval-report=folder.md cannot be written: Is a directory"),
    ],
)
def test_a_wrong_option_is_said_before_any_test_runs(builds: Builds, option: str, message: str) -> None:
    (builds.path / "folder.md").mkdir()
    result = builds.run(option)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{message}*"])


def test_a_wrong_key_of_the_ini_file_is_named_as_it_stands_there(builds: Builds) -> None:
    builds.ini(inconclusive="maybe")
    builds.run().stderr.fnmatch_lines(["*retrieval_inconclusive must be one of pass, warn, skip, fail; got 'maybe'*"])


def test_accepting_without_updating_is_refused(builds: Builds) -> None:
    result = builds.run("--retrieval-accept-worse")
    result.stderr.fnmatch_lines(["*--retrieval-accept-worse has no effect without --retrieval-update*"])


def test_a_path_after_the_option_is_not_taken_for_a_name(builds: Builds) -> None:
    result = builds.run("--retrieval-update", "--retrieval-accept-worse", "test_search.py")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--retrieval-accept-worse=test_search.py; or write --retrieval-accept-worse last*"])
    empty = builds.run("--retrieval-update", "--retrieval-accept-worse=")
    empty.stderr.fnmatch_lines(["*--retrieval-accept-worse= names nothing: name metrics or tests*"])


def test_the_folder_of_the_baselines_can_be_named(builds: Builds) -> None:
    builds.ini(baselines="stored")
    builds.run("--retrieval-update").assert_outcomes(passed=1)
    assert (builds.path / "stored" / "test_search" / "test_words.json").exists()
