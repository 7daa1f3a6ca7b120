"""Baselines: what they hold, what differs from them, and whose they are."""

import json
from collections.abc import Callable
from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_builds import SUITE, WORDS, Builds
from retrieval_metrics.files.saved_format import DIGEST_PREFIX, add_digest

pytest_plugins = ["pytester"]


def test_a_missing_baseline_fails_and_names_the_option(builds: Builds) -> None:
    result = builds.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*no baseline *test_search/test_words.json; create it with --retrieval-update"])
    assert not (builds.path / WORDS).exists()


def test_the_baseline_is_an_evaluation_of_which_a_change_can_be_read(builds: Builds) -> None:
    builds.write_baseline()
    baseline = builds.load_baseline()
    assert baseline.means == {"ndcg@10": 1.0, "mrr": 1.0}
    assert baseline.labels == {"test": "test_words", "check": "", "rounds": 1, "ndcg@10": 1.0, "mrr": 1.0}
    assert baseline.explain("q7").findings[0].rank == 1
    before = (builds.path / WORDS).read_text().splitlines()
    builds.run("--retrieval-update", "--retrieval-accept-worse", lost=12).assert_outcomes(passed=1)
    after = (builds.path / WORDS).read_text().splitlines()
    removed = [line for line in before if line not in after and not line.startswith(('"written"', '"digest"'))]
    assert len(removed) == 1 + 12 + 12  # the means, and of each query its ranking and its values
    assert '"ndcg@10": 1.0, "mrr": 1.0' in removed[0]
    assert {'{"query": "q0", "documents": ["d", "e", "x"]},', '["q0", 1.0, 1.0],'} <= set(removed)


def test_what_is_measured_again_is_not_written_again(builds: Builds) -> None:
    builds.write_baseline()
    path = builds.path / WORDS
    undated = path.read_bytes().replace(b'"date": "2', b'"date": "1').partition(DIGEST_PREFIX)[0] + b"}"
    path.write_bytes(add_digest(undated))
    assert rm.load(path).means == {"ndcg@10": 1.0, "mrr": 1.0}
    before = path.read_bytes()
    builds.run("--retrieval-update").stdout.no_fnmatch_line("baseline written:*")
    assert path.read_bytes() == before


TEXTS = """
    import os
    QUERIES = {f"q{i}": f"question {i}?" for i in range(40)}
    QRELS = {query: ["d"] for query in QUERIES}
    LOST = int(os.environ.get("LOST", "0"))

    def found(text):
        return ["d"] if int(text.split()[-1].rstrip("?")) >= LOST else ["x", "d"]

    def test_words(retrieval_check):
        retrieval_check(QRELS, found, {"mrr": None}, baseline=True, queries=QUERIES)
"""


def test_reworded_questions_are_named_and_the_others_compared(builds: Builds) -> None:
    builds.write(TEXTS)
    builds.write_baseline()
    builds.write(
        TEXTS.replace("    LOST", '    QUERIES |= {f"q{i}": f"put otherwise, {i}" for i in range(12)}\n    LOST')
    )
    result = builds.run(lost=12)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        [
            "*: 12 of 40 queries have different text in 'now' and 'baseline' (e.g. 'q0').",
            "*: Compared on the 28 queries that are the same in all evaluations.",
        ]
    )
    failed = builds.run(lost=30)
    failed.assert_outcomes(failed=1)
    failed.stdout.fnmatch_lines(["mrr worse: 1.000 -> 0.679 (p < 0.001), 18 of 28 * worse", "  q12 (question 12?): *"])


OTHER_RULES = SUITE.replace("baseline=True", "baseline=True, rules=RULES").replace(
    "    LOST",
    """    import retrieval_metrics as rm
    RULES = rm.Rules(name="standard", parameters={"mrr": {"rel": 2}})
    LOST""",
)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (SUITE.replace('"e": 1', '"e": 2'), "no query is identical *40 of 40 queries have different judgments*"),
        (SUITE.replace("True", 'True, rules="trec_eval"'), "*use different rules*"),
        (OTHER_RULES, "*metric parameters differ*"),
    ],
    ids=["judgments", "rules", "the content of rules"],
)
def test_where_nothing_can_be_compared_the_reason_is_said(builds: Builds, change: str, reason: str) -> None:
    builds.write_baseline()
    builds.write(change)
    result = builds.run(lost=12)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([f"ndcg@10 not compared: {reason}; --retrieval-update writes a new test_words.json"])
    result.stdout.no_fnmatch_line("*->*")


def test_what_ids_are_matched_by_is_part_of_the_baseline(builds: Builds) -> None:
    suite = """
    import retrieval_metrics as rm
    def found(query):
        return [rm.Retrieved(f"{query}#1", "text", source="d", metadata={"page": "d"})]
    def test_words(retrieval_check):
        retrieval_check({"q1": ["d"], "q2": ["d"]}, found, {"mrr": 1}, baseline=True, match="source")
"""
    builds.write(suite)
    builds.write_baseline()
    builds.run().assert_outcomes(passed=1)
    builds.write(suite.replace('"source")', '"metadata:page")'))
    result = builds.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["mrr not compared: *match=metadata:page vs source*"])
    builds.write(suite.replace('"source")', "lambda item: item.source)"))
    result = builds.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*a baseline cannot hold match=<function *match by 'source', 'filename' or 'metadata:<name>'"]
    )


def test_texts_and_times_stay_out_of_a_baseline_that_needs_ids_alone(builds: Builds) -> None:
    builds.write("""
    import retrieval_metrics as rm
    def found(query):
        return [rm.Retrieved("d", "a secret", metadata={"when": object()})]
    def test_words(retrieval_check):
        retrieval_check({"q1": ["d"]}, found, {"mrr": 1}, baseline=True)
        quotes = {"q1": [rm.Quote("a secret text")]}
        quoted = lambda query: [rm.Retrieved("d", "a secret text")]
        retrieval_check(quotes, quoted, {"mrr": 1}, baseline=True, name="quotes")
""")
    builds.write_baseline()
    text = (builds.path / WORDS).read_text()
    assert "secret" not in text
    assert "seconds" not in text
    assert "a secret text" in (builds.path / WORDS).with_name("test_words.quotes.json").read_text()
    builds.run().assert_outcomes(passed=1)


@pytest.mark.parametrize("match", ["id", "source", "filename", "metadata:page"])
def test_a_baseline_holds_no_texts_unless_asked_for(builds: Builds, match: str) -> None:
    suite = f"""
    import retrieval_metrics as rm
    def found(query):
        metadata = {{"page": "d", "note": "TOP SECRET"}}
        return [rm.Retrieved("d", "TOP SECRET", source="d", start=0, metadata=metadata)]
    def test_words(retrieval_check):
        retrieval_check({{"q1": ["d"]}}, found, {{"mrr": 1}}, baseline=True, match={match!r})
"""
    builds.write(suite)
    builds.write_baseline()
    text = (builds.path / WORDS).read_text()
    assert "SECRET" not in text
    builds.run().assert_outcomes(passed=1)
    baseline = rm.load(builds.path / WORDS)
    assert isinstance(baseline, rm.Evaluation)
    evaluation = baseline.scores
    assert evaluation.origin is not None
    assert rm.evaluate({"q1": ["d"]}, evaluation.origin.run, "mrr", match=match).means == {"mrr": 1.0}
    builds.write(suite.replace("baseline=True", "baseline=True, texts=True"))
    builds.run("--retrieval-update").assert_outcomes(passed=1)
    assert "TOP SECRET" in (builds.path / WORDS).read_text()


def test_a_parent_that_answers_for_a_chunk_counts_in_the_baseline_too(builds: Builds) -> None:
    builds.write("""
    import retrieval_metrics as rm
    def found(query):
        return [rm.Retrieved("parent", "a secret", contains=("d",))]
    def test_words(retrieval_check):
        retrieval_check({"q1": ["d"]}, found, {"mrr": 1}, baseline=True)
""")
    builds.write_baseline()
    baseline = rm.load(builds.path / WORDS)
    assert isinstance(baseline, rm.Evaluation)
    assert baseline.scores.origin is not None
    assert rm.evaluate({"q1": ["d"]}, baseline.scores.origin.run, "mrr").means == {"mrr": 1.0}
    assert "secret" not in (builds.path / WORDS).read_text()


def test_a_metric_that_the_baseline_lacks_is_computed_from_its_rankings(builds: Builds) -> None:
    builds.write_baseline()
    builds.write(SUITE.replace('"mrr"', '"recall@2"'))
    result = builds.run(lost=12)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["recall@2 worse: 1.000 -> 0.700 *"])


def test_a_metric_that_rankings_of_several_rounds_do_not_give_is_not_compared(builds: Builds) -> None:
    builds.write(SUITE.replace("baseline=True", "baseline=True, rounds=2"))
    builds.write_baseline()
    builds.write(SUITE.replace('"mrr"', '"recall@2"'))
    result = builds.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["recall@2 not compared: test_words.json does not contain it"])
    result.stdout.no_fnmatch_line("ndcg@10 not compared*")


DAMAGES: dict[str, tuple[Callable[[str], str], str]] = {
    "a conflict": (
        lambda text: text.replace('"labels"', '<<<<<<< HEAD\n"labels"'),
        "retrieval_baselines/test_search/test_words.json has an unresolved merge conflict at line 6; restore it *",
    ),
    "cut short": (lambda text: text[:400], "*test_words.json is damaged or cut short at line *"),
    "of a newer version": (
        lambda text: text.replace('"version": 1', '"version": 7'),
        "*has format version 7*pip install*",
    ),
    "another file": (lambda _: "[]", "*test_words.json holds no saved result*"),
    "of an earlier format": (
        lambda _: '{\n  "version": 1,\n  "qrels": "sha256:12"',
        "*a baseline of an earlier format*",
    ),
}


@pytest.mark.parametrize("kind", DAMAGES)
@pytest.mark.parametrize("options", [[], ["--retrieval-update"]])
def test_what_cannot_be_read_is_one_sentence_before_anything_is_retrieved(
    builds: Builds, kind: str, options: list[str]
) -> None:
    damage, message = DAMAGES[kind]
    builds.write(SUITE.replace("def found(query):", "def found(query):\n        open('asked', 'w')"))
    builds.write_baseline()
    path = builds.path / WORDS
    path.write_text(damage(path.read_text()))
    damaged = path.read_bytes()
    (builds.path / "asked").unlink()
    result = builds.run(*options, "--retrieval-report=r.json")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([message])
    assert len([line for line in result.outlines if "test_words.json" in line]) <= 2  # the sentence, cut in the summary
    assert not (builds.path / "asked").exists()
    assert path.read_bytes() == damaged
    (check,) = json.loads((builds.path / "r.json").read_text())["checks"]
    assert check["failure"].startswith("not compared: ")


def test_two_tests_whose_names_differ_in_case_alone_do_not_share_a_baseline(builds: Builds) -> None:
    builds.write_baseline()
    builds.write(SUITE.replace("test_words", "test_WORDS"))
    (builds.path / WORDS).rename((builds.path / WORDS).with_name("test_WORDS.json"))  # as such a file system would
    result = builds.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*is the baseline of test_words, whose name differs from test_WORDS only in case*"])


def test_a_baseline_can_be_compared_by_hand(builds: Builds) -> None:
    builds.write_baseline()
    run: Any = {query: ["x", "d"] for query in builds.load_baseline().queries}
    evaluation = rm.evaluate(builds.load_baseline().scores.require_origin("").judged.qrels, run, ["mrr"])
    assert (
        rm.compare({"now": evaluation, "baseline": builds.load_baseline()}, baseline="baseline")
        .difference("mrr")
        .paired.losses
        == 40
    )
