"""The end of a run: reports and histories that cannot be written, and files that stay or go."""

import os

import pytest

from retrieval_builds import SUITE, WORDS, Builds


def test_looking_at_the_tests_deletes_nothing(builds: Builds) -> None:
    builds.write_baseline()
    builds.write(SUITE.replace("test_words", "test_other"))
    builds.run("--collect-only", "--retrieval-prune")
    assert (builds.path / WORDS).exists()
    builds.run("--retrieval-prune")
    assert not (builds.path / WORDS).exists()


def test_a_report_that_cannot_be_written_after_all_changes_the_exit_code_and_nothing_else(builds: Builds) -> None:
    builds.write(
        SUITE
        + """
    def test_fills_the_disk():
        import pathlib
        pathlib.Path("r.md").unlink(missing_ok=True)
        pathlib.Path("r.md").mkdir()
"""
    )
    result = builds.run("--retrieval-not-compared=pass", "--retrieval-report=r.md", "--retrieval-report=r.json")
    result.assert_outcomes(passed=2)
    assert result.ret == pytest.ExitCode.INTERNAL_ERROR
    result.stdout.fnmatch_lines(["retrieval: *r.md was not written: *", "retrieval report: *r.json"])
    result.stdout.no_fnmatch_line("*Traceback*")


def test_nothing_is_left_in_the_folder_of_temporary_files(builds: Builds) -> None:
    folder = builds.path / "temporary"
    folder.mkdir()
    builds.monkeypatch.setattr("tempfile.tempdir", os.fspath(folder))
    builds.write_baseline()
    builds.run(*REPORTS, "--retrieval-history=remembered")
    assert list(folder.iterdir()) == []


REPORTS = [f"--retrieval-report=out/r.{ending}" for ending in ("json", "xml", "md", "html")]
