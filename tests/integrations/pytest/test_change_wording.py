"""The text of a failure: which queries changed, in how many lines."""

import pytest

from retrieval_builds import SUITE, Builds, read_failure, read_section

pytest_plugins = ["pytester"]


def test_how_many_queries_are_shown_can_be_chosen(builds: Builds) -> None:
    builds.write_baseline()
    result = builds.run("--retrieval-show=1", lost=12)
    result.stdout.fnmatch_lines(["  q0: *", "  and 11 more that got worse"])
    result.stdout.no_fnmatch_line("  q1: *")


NOTHING = SUITE.replace("at_least={", "rules='standard', at_least={").replace(
    'return ["d"', 'return [] if query == "q1" else ["d"'
)


MANY = SUITE.replace('"mrr": None', '"mrr": None, "map": None, "recall@5": None, "hit_rate@1": None, "ndcg@5": None')


@pytest.mark.parametrize("suite", [SUITE, MANY, NOTHING, SUITE.replace("0.35", "0.95")])
def test_a_check_that_fails_prints_at_most_twenty_lines(builds: Builds, suite: str) -> None:
    builds.write(suite)
    builds.write_baseline()
    result = builds.run(lost=12)
    assert 8 <= len(read_failure(result)) <= 20
    assert len(read_section(result)) <= 12
    result.stdout.fnmatch_lines(["  q0: 1.000 -> 0.138", "      d (grade 3): was at rank 1; now not among the *"])
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
