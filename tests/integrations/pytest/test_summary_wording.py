"""The lines and the table of all checks in the terminal."""

import json
from pathlib import Path

import pytest

from handbook_search import write_questions
from retrieval_builds import SUITE, Builds, read_section

pytest_plugins = ["pytester"]


README = Path(__file__).parents[3] / "integrations" / "pytest" / "README.md"


def test_without_a_change_the_build_passes_and_claims_no_sensitivity(builds: Builds) -> None:
    builds.write_baseline()
    result = builds.run()
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["retrieval quality: 1 check passed; ndcg@10 1.000, mrr 1.000; -v shows the table"])
    result.stdout.no_fnmatch_line("*interval*")
    builds.run("-v").stdout.fnmatch_lines(["*ndcg@10  1.000*0  1.00  passed"])


def test_the_example_of_the_readme_prints_what_stands_below_it(builds: Builds) -> None:
    *_, after_search = README.read_text(encoding="utf-8").partition("Then write the test")
    example, _, rest = after_search.partition("```python\n")[2].partition("```\n")
    write_questions(builds.path / "questions.csv")
    builds.write(f"import retrieval_metrics as rm\nfrom your_search import search_files as search\n\n{example}")
    builds.write_baseline()
    builds.run().stdout.fnmatch_lines([rest.partition("```text\n")[2].partition("\n")[0]])


def test_the_error_is_stated_by_build_with_the_way_to_another(builds: Builds) -> None:
    builds.write_baseline()
    legend = "*; worse: p at most {}; false-alarm rate at most {}% per build{}; MDE:*"
    remedy = " (set retrieval_builds=30 to bound it over 30 builds, which raises the MDE)"
    builds.run("-v", lost=4).stdout.fnmatch_lines([legend.format("0.05", "5", remedy)])
    builds.run("-v", "--retrieval-builds=30", lost=4).stdout.fnmatch_lines([legend.format("0.001667", "0.17", "")])


def test_drift_is_warned_of_only_where_a_baseline_rose_by_chance(builds: Builds) -> None:
    drift = "*biases it upwards*"
    for lost, drifts in ((3, True), (12, False)):
        builds.run("--retrieval-update", "--retrieval-accept-worse", lost=lost)
        builds.run("--retrieval-update", "--retrieval-accept-worse", lost=lost + 1).stdout.no_fnmatch_line(drift)
        risen = builds.run("--retrieval-update", lost=0).stdout
        if drifts:
            risen.fnmatch_lines([drift])
        else:
            risen.no_fnmatch_line(drift)
    builds.write(SUITE.replace("baseline=True", "baseline=True, deterministic=True"))
    builds.run("--retrieval-update", "--retrieval-accept-worse", lost=2)
    builds.run("--retrieval-update").stdout.no_fnmatch_line(drift)


def test_the_message_and_the_table_show_the_same_numbers(builds: Builds) -> None:
    builds.write_baseline()
    result = builds.run(lost=12)
    again = builds.run("--retrieval-report=r.json", lost=12)
    again.assert_outcomes(failed=1)
    report = json.loads((builds.path / "r.json").read_text())["checks"][0]
    row = report["metrics"][0]
    assert report["alpha"] == 0.05
    assert row["p"] < 0.001
    ends = f"{row['low']:.3f}, {row['high']:.3f}"
    result.stdout.fnmatch_lines(["ndcg@10 worse: *0.741 (p < 0.001)*", f"*is [[]{ends}]*worse if p is at most 0.05*"])
    result.stdout.fnmatch_lines([f"*ndcg@10  0.741  [[]{ends}]*< 0.001*worse"])


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
    assert any("biases it upwards" in line for line in read_section(risen)) == (lost > 0)
    assert len(read_section(builds.run("-v", "--retrieval-show=50", lost=lost))) <= 12 + 4 * (lost > 0)
