"""A file without rankings keeps what was found in the data: its warnings, and what cannot be compared."""

import json
from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.evaluation.data_findings import (
    find_judged_shares,
    find_own_obstacle,
    find_warnings_without_examples,
)
from retrieval_metrics.evaluation.data_warnings import find_data_warnings
from retrieval_metrics.files.saved_format import add_digest

pytestmark = pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")

QRELS = {number: {f"d{number}": 1, f"n{number}": 0} for number in range(12)}
GOOD = {number: [f"d{number}", f"n{number}"] for number in QRELS}
EXCLUDED = {number: [f"x{number}"] for number in QRELS}
RUNS: dict[str, dict[int, list[Any]]] = {
    "foreign_ids": {number: [f"https://{number}"] for number in QRELS},
    "no_results": {number: [] for number in QRELS},
    "near_misses": {number: [f"d{number}.txt" if number % 2 else f"d{number}"] for number in QRELS},
    "unused_exclusion": {number: [f"x{number}.txt", f"d{number}"] for number in QRELS},
}


def save_and_load(result: Any, path: Path) -> Any:
    result.save(path, rankings=False)
    return rm.load(path)


def leave_out_examples(text: str, evaluation: rm.Evaluation) -> str:
    """Return a printed text with the warnings as a file without rankings holds them."""
    warnings = find_data_warnings(evaluation.scores)
    for warning, stored in zip(warnings, find_warnings_without_examples(evaluation.scores), strict=True):
        text = text.replace(warning.message, stored.message)
    return text


def evaluate(run: dict[int, list[Any]]) -> rm.Evaluation:
    return rm.evaluate(QRELS, run, ["recall@2", "mrr"], exclude=EXCLUDED)


@pytest.mark.parametrize("obstacle", RUNS)
def test_what_was_not_comparable_stays_so_without_the_rankings(tmp_path: Path, obstacle: str) -> None:
    comparison = rm.compare(QRELS, {"good": GOOD, "other": RUNS[obstacle]}, ["recall@2", "mrr"], exclude=EXCLUDED)
    loaded = save_and_load(comparison, tmp_path / "comparison.json")
    other = comparison.evaluations["other"]
    assert str(loaded) == leave_out_examples(str(comparison), other)
    assert loaded.summary == [leave_out_examples(sentence, other) for sentence in comparison.summary]
    evaluations = {}
    for name, evaluation in comparison.evaluations.items():
        evaluations[name] = save_and_load(evaluation, tmp_path / f"{name}.json")
        assert str(evaluations[name]) == leave_out_examples(str(evaluation), evaluation)
    for conclusion in rm.compare(evaluations).conclusions:
        assert (conclusion.kind, conclusion.details.obstacle) == ("not_comparable", obstacle)


@pytest.mark.parametrize("obstacle", RUNS)
def test_the_warnings_are_those_of_the_rankings(tmp_path: Path, obstacle: str) -> None:
    evaluation = evaluate(RUNS[obstacle])
    expected = find_warnings_without_examples(evaluation.scores)
    data_warnings = find_data_warnings(evaluation.scores)
    assert [(warning.kind, warning.is_blocking) for warning in expected] == [
        (warning.kind, warning.is_blocking) for warning in data_warnings
    ]
    loaded = save_and_load(evaluation, tmp_path / "numbers.json")
    again = save_and_load(loaded, tmp_path / "again.json")
    for copy in (loaded, again):
        assert tuple(find_data_warnings(copy.scores)) == expected
        assert find_own_obstacle(copy.scores) == find_own_obstacle(evaluation.scores)
        for warning in expected:
            is_in_print_too = warning.kind == "unused_exclusion"
            assert str(copy).count(warning.message) == is_in_print_too


def test_no_system_is_compared_if_none_met_a_judgment(tmp_path: Path) -> None:
    foreign = save_and_load(evaluate(RUNS["foreign_ids"]), tmp_path / "numbers.json")
    with pytest.raises(ValueError, match="no system retrieved a judged document"):
        rm.compare({"old": foreign, "new": foreign})


def test_judgment_coverage_is_known_without_the_rankings(tmp_path: Path) -> None:
    unjudged = {number: [f"u{number}", f"d{number}"] for number in QRELS}
    evaluations = {"good": evaluate(GOOD), "other": evaluate(unjudged)}
    loaded = {name: save_and_load(result, tmp_path / f"{name}.json") for name, result in evaluations.items()}
    expected = rm.compare(evaluations).judged_coverage
    assert expected is not None
    assert expected.shares == {"good": 1.0, "other": 0.5}
    assert rm.compare(loaded).judged_coverage == expected
    assert rm.compare({"good": evaluations["good"], "other": loaded["other"]}).judged_coverage == expected
    shares = find_judged_shares(loaded["other"].scores, 2)
    assert shares is not None
    assert shares.tolist() == [0.5] * len(QRELS)


def test_queries_that_are_judged_differently_are_not_compared_without_the_rankings_either(tmp_path: Path) -> None:
    rejudged = rm.evaluate({**QRELS, 3: {"d3": 1, "n3": 1}}, GOOD, ["recall@2", "mrr"], exclude=EXCLUDED)
    loaded = {
        "old": save_and_load(evaluate(GOOD), tmp_path / "old.json"),
        "new": save_and_load(rejudged, tmp_path / "new.json"),
    }
    assert rm.compare(loaded).conclusions[0].n == len(QRELS) - 1
    other_match = rm.evaluate(QRELS, GOOD, "mrr")
    with pytest.raises(ValueError, match="exclude= for 'old' alone"):
        rm.compare({"old": loaded["old"], "new": save_and_load(other_match, tmp_path / "other.json")})


def test_equal_rankings_are_known_without_the_rankings(tmp_path: Path) -> None:
    comparison = rm.compare(QRELS, {"a": GOOD, "b": dict(GOOD)}, "mrr")
    loaded = save_and_load(comparison, tmp_path / "comparison.json")
    assert loaded.conclusions[0].same_rankings
    assert loaded.summary == comparison.summary


def replace_findings(path: Path, findings: Any) -> None:
    """Write a file with other findings, or with none, as files had before there were findings."""
    content = json.loads(path.read_text())
    del content["digest"]
    if findings is None:
        del content["evaluation"]["findings"]
    else:
        content["evaluation"]["findings"].update(findings)
    path.write_bytes(add_digest(json.dumps(content).encode()))


def test_a_file_without_findings_is_read(tmp_path: Path) -> None:
    evaluate(GOOD).save(tmp_path / "numbers.json", rankings=False)
    replace_findings(tmp_path / "numbers.json", None)
    loaded = rm.load(tmp_path / "numbers.json")
    assert loaded.means == evaluate(GOOD).means
    assert loaded.scores.findings is None
    assert find_data_warnings(loaded.scores) == ()


@pytest.mark.parametrize(
    "findings",
    [
        {"warnings": {"tuple": ["near ids"]}},
        {"has_near_ids": "no"},
        {"judged_shares": {"mapping": [[2, {"array": "float64", "values": [1.0]}]]}},
    ],
)
def test_damaged_findings_are_refused(tmp_path: Path, findings: dict[str, Any]) -> None:
    evaluate(GOOD).save(tmp_path / "numbers.json", rankings=False)
    replace_findings(tmp_path / "numbers.json", findings)
    with pytest.raises(ValueError, match="damaged at findings"):
        rm.load(tmp_path / "numbers.json")


SECRETS = ("SECRETDOC", "SECRETTEXT", "SECRETERROR", "SECRETPATH", "SECRETNAME")
QUERIES = [f"q{number}" for number in range(12)]
SECRET_QUESTIONS = rm.EvaluationSet(
    {query: f"SECRETTEXT {number}" for number, query in enumerate(QUERIES)},
    {query: {f"SECRETDOC{number}": 1} for number, query in enumerate(QUERIES)},
)
SECRET_RUN = {query: [f"SECRETDOC{number}"] for number, query in enumerate(QUERIES)}
SECRET_SPANS = {query: [rm.Span(f"/SECRETPATH/{number // 2}.md", 0, 9)] for number, query in enumerate(QUERIES)}


def answer(text: str) -> list[str]:
    """Return the answer of a retriever that fails on every third question."""
    number = int(text.removeprefix("SECRETTEXT "))
    if number % 3 == 0:
        raise RuntimeError("SECRETERROR")
    return SECRET_RUN[f"q{number}"]


def make_items(*, has_source: bool) -> dict[str, list[rm.Retrieved]]:
    run = {}
    for number, query in enumerate(QUERIES):
        item = rm.Retrieved(f"SECRETDOC{number}", text="SECRETTEXT")
        if has_source:
            source = f"/SECRETPATH/{number // 2}.md"
            item = rm.Retrieved(f"SECRETDOC{number}", text="SECRETTEXT", source=source, start=0, end=10)
        run[query] = [item]
    return run


def make_secret_evaluations() -> dict[str, rm.Evaluation]:
    foreign = {query: [f"SECRETDOC/{query}"] for query in QUERIES}
    near = {query: [f"SECRETDOC{number}.txt"] for number, query in enumerate(QUERIES)} | {"q0": ["SECRETDOC0"]}
    left_out = {query: ["SECRETDOCX"] for query in QUERIES}
    run_with_suffixes = {query: ["SECRETDOCX.txt", *ranking] for query, ranking in SECRET_RUN.items()}
    clusters = {query: f"SECRETNAME{number // 2}" for number, query in enumerate(QUERIES)}
    return {
        "no_common_ids": rm.evaluate(SECRET_QUESTIONS, foreign, "mrr"),
        "near_misses": rm.evaluate(SECRET_QUESTIONS, near, "mrr"),
        "unused_exclusion": rm.evaluate(SECRET_QUESTIONS, run_with_suffixes, "mrr", exclude=left_out),
        "empty_rankings": rm.evaluate(SECRET_QUESTIONS, rm.retrieve(answer, SECRET_QUESTIONS), "mrr"),
        "unlocated": rm.evaluate(SECRET_SPANS, make_items(has_source=False), "mrr"),
        "few_clusters": rm.evaluate(SECRET_QUESTIONS, SECRET_RUN, "mrr", clusters=clusters),
    }


def assert_no_secrets(path: Path) -> None:
    content = path.read_text()
    assert [secret for secret in SECRETS if secret in content] == []


def test_files_without_rankings_and_histories_name_queries_alone(tmp_path: Path) -> None:
    history = rm.History(tmp_path / "history.jsonl")
    for kind, evaluation in make_secret_evaluations().items():
        data_warnings = find_data_warnings(evaluation.scores)
        assert kind in {warning.kind for warning in data_warnings}
        loaded = save_and_load(evaluation, tmp_path / "numbers.json")
        assert_no_secrets(tmp_path / "numbers.json")
        stored = find_data_warnings(loaded.scores)
        assert [(warning.kind, warning.is_blocking) for warning in stored] == [
            (warning.kind, warning.is_blocking) for warning in data_warnings
        ]
        assert str(loaded) == leave_out_examples(str(evaluation), evaluation)
        assert loaded.intervals() == evaluation.intervals()
        history.add(evaluation, kind)
        history.add(loaded, f"{kind}, loaded")
        entry, loaded_entry = history.entries()[-2:]
        assert (entry.warnings, entry.is_measured) == (loaded_entry.warnings, loaded_entry.is_measured)
    assert_no_secrets(history.path)
    measured = [entry.label for entry in history.entries() if entry.is_measured and "loaded" not in entry.label]
    assert measured == ["empty_rankings", "few_clusters"]


def test_comparisons_and_tunings_without_rankings_name_queries_alone(tmp_path: Path) -> None:
    evaluations = make_secret_evaluations()
    foreign = evaluations["no_common_ids"].scores.require_origin("compared").run
    worse = {**SECRET_RUN, "q0": ["SECRETDOCX"]}
    located = make_items(has_source=True)
    runs_by_questions: list[tuple[Any, dict[str, Any]]] = [
        (SECRET_QUESTIONS, {"good": SECRET_RUN, "worse": worse, "foreign": foreign}),
        (SECRET_SPANS, {"good": located, "worse": {**located, "q0": located["q5"]}}),
    ]
    for questions, runs in runs_by_questions:
        comparison = rm.compare(questions, runs, "mrr")
        tuning = rm.tune(runs, questions, "mrr", default="worse")
        for result in (comparison, tuning):
            loaded = save_and_load(result, tmp_path / "result.json")
            assert_no_secrets(tmp_path / "result.json")
            assert loaded == result
        loaded = save_and_load(comparison, tmp_path / "result.json")
        for name, evaluation in comparison.evaluations.items():
            assert [warning.kind for warning in find_data_warnings(loaded.scores[name])] == [
                warning.kind for warning in find_data_warnings(evaluation.scores)
            ]
        assert [(conclusion.kind, conclusion.details.obstacle) for conclusion in loaded.conclusions] == [
            (conclusion.kind, conclusion.details.obstacle) for conclusion in comparison.conclusions
        ]
