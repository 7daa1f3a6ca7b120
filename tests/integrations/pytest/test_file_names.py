"""The names of the files of checks."""

import pytest

from pytest_retrieval_metrics.file_names import make_file_name
from retrieval_builds import SUITE, Builds


@pytest.mark.parametrize("name", ["検索品質" * 30, "q" * 300, "é" * 100, "a/b\\c:d*e?f"])
def test_names_of_files_are_short_in_bytes_and_fit_for_every_file_system(name: str) -> None:
    file_name = make_file_name("test_words[case]", name)
    assert len(file_name.encode()) < 140
    assert not set(file_name) & set('/\\:*?"<>|')
    assert file_name != make_file_name("test_words[case]", name + "x")


def test_names_that_differ_in_case_alone_differ_in_more() -> None:
    names = {make_file_name("test_case[a]").lower(), make_file_name("test_case[A]").lower()}
    names |= {make_file_name("test_case", "a").lower(), make_file_name("test_case", "A").lower()}
    assert len(names) == 4


def test_a_long_name_of_another_script_can_be_stored(builds: Builds) -> None:
    builds.write(SUITE.replace("baseline=True", 'baseline=True, name="検索品質" * 30'))
    builds.write_baseline()
    builds.run().assert_outcomes(passed=1)
