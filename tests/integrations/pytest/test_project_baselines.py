"""How many baselines of a project belong to a test, on which its verdicts depend."""

from retrieval_builds import SUITE, WORDS, Builds


def test_the_verdict_is_the_same_for_a_file_and_for_all_of_them(builds: Builds) -> None:
    builds.pytester.makepyfile(**dict.fromkeys(("test_b", "test_c", "test_d"), SUITE))
    builds.run("--retrieval-update").assert_outcomes(passed=4)
    builds.run("test_search.py", lost=6).assert_outcomes(passed=1)  # p 1 / 2^6 is above .05 / 4
    builds.run(lost=6).assert_outcomes(passed=4)
    builds.run("test_search.py", lost=7).assert_outcomes(failed=1)  # 1 / 2^7 is below
    builds.run("test_b.py", "test_search.py", lost=7).assert_outcomes(failed=2)
    builds.run(lost=7).assert_outcomes(failed=4)


def test_baselines_without_a_test_do_not_count(builds: Builds) -> None:
    builds.write_baseline()
    text = (builds.path / WORDS).read_text(encoding="utf-8")
    folder = builds.path / "retrieval_baselines" / "test_gone"
    folder.mkdir()
    for name in ("test_one", "test_two", "test_three"):
        (folder / f"{name}.json").write_text(text, encoding="utf-8")
        renamed = text.replace('"test": "test_words"', f'"test": "{name}"')
        assert renamed != text
        (builds.path / WORDS).with_name(f"{name}.json").write_text(renamed, encoding="utf-8")
    result = builds.run(lost=7)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*worse if p is at most 0.05*"])
