"""Every example prints what the core computes, and nothing on its error stream.

Here they run in the environment of the tests; test_own_environments.py runs them as their readers do.
"""

import re
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module

import pytest

import questions
import retrieval_metrics as rm
from corpus import passages
from retrievers import BM25, Dense, Retriever

LLAMA_INDEX_METRICS = ["hit_rate@5", "full_recall@5", "recall@10", "mrr@10", "map", "ndcg@10"]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[[str], str]:
    """Run an example and return what it prints."""

    def printed(name: str) -> str:
        monkeypatch.setattr(sys, "argv", [f"{name}.py"])
        import_module(name).main()
        out, err = capfd.readouterr()
        assert err == ""
        return out

    return printed


def test_the_first_command_prints_one_table_of_both_retrievers(run: Callable[[str], str]) -> None:
    row = re.search(r"^ndcg@10 +(0\.\d{3}) +(0\.\d{3})   whether", run("quickstart"), flags=re.MULTILINE)
    assert row is not None
    assert all(float(mean) > 0.2 for mean in row.groups())


@pytest.mark.thorough
def test_tuning_claims_less_than_the_winner_shows_on_its_own_questions(run: Callable[[str], str]) -> None:
    gains = re.findall(r"^gain +\+(0\.\d+) +([+-]0\.\d+) \[", run("tune_fusion"), flags=re.MULTILINE)
    assert len(gains) == 2
    assert all(0 < float(new) < float(own) for own, new in gains)


@pytest.mark.thorough
def test_the_table_of_llama_index_has_the_numbers_of_the_core(run: Callable[[str], str]) -> None:
    pytest.importorskip("llama_index.core")
    printed = run("llama_index_evaluation")
    table = {line.split()[1]: line.split()[2:] for line in printed.splitlines() if line[:1] in {"0", "1"}}
    pieces = passages()
    qrels = questions.qrels(pieces)
    texts = questions.queries()
    for name, retriever in zip(("BM25", "vectors"), load_retrievers().values(), strict=True):
        ranked = {query: list(retriever.search(text, 50)) for query, text in texts.items()}
        means = rm.evaluate(qrels, ranked, LLAMA_INDEX_METRICS).means
        assert list(map(float, table[name])) == pytest.approx(list(means.values()), abs=1e-6)
    assert "40 queries of 20 ms with 8 workers" in printed


def test_an_agent_loses_evidence_between_finding_and_citing(run: Callable[[str], str]) -> None:
    printed = run("agent_search")
    assert "<Trajectories: 123 queries, 369 calls, 0 failed>" in printed
    means = [float(number) for number in re.findall(r"^recall@\dcalls +(0\.\d+)", printed, flags=re.MULTILINE)]
    assert len(means) == 3
    assert means == sorted(means)
    assert re.search(r"^read, first call and cited are worse than all calls in recall by ", printed, flags=re.MULTILINE)
    assert "not found by any call" in printed


def test_the_comparison_prints_means_with_intervals_and_a_verdict(run: Callable[[str], str]) -> None:
    printed = run("compare_retrievers")
    assert re.search(r"^ndcg@10 +0\.\d{3} +0\.\d{3} +\+0\.\d{3,5} +\[", printed, flags=re.MULTILINE)
    assert re.search(
        r"^(dense is better than BM25|No significant difference between dense and BM25) in ",
        printed,
        flags=re.MULTILINE,
    )
    assert re.search(r"^\d+ of \d+ relevant facts missing across \d+ queries: ", printed, flags=re.MULTILINE)


def test_the_audit_has_a_column_for_every_rule_set_and_names_the_rules(run: Callable[[str], str]) -> None:
    printed = run("audit")
    header = printed.splitlines()[0].split()
    assert header == ["metric", "standard", "trec_eval", "llama_index", "haystack", "ragas", "autorag", "mlflow"]
    assert f"\n{len(questions.queries())} queries; compared with standard\n" in printed
    assert re.search(r"^llama_index: .*a duplicate document counts again", printed, flags=re.MULTILINE)


def test_every_chunking_is_scored_on_the_same_questions(run: Callable[[str], str]) -> None:
    printed = run("rechunking")
    assert printed.startswith(f"{len(questions.queries())} questions, judged once; ")
    sizes = re.search(r"^chunks +(\d+) +(\d+) +(\d+)$", printed, flags=re.MULTILINE)
    assert sizes is not None
    assert [int(sizes[1]), int(sizes[2])] == [len(passages()), len(passages(60))]


def test_questions_are_made_without_a_model_and_say_so(run: Callable[[str], str]) -> None:
    printed = run("generate_questions")
    assert printed.startswith("No model was asked")
    assert "60 of 60 requested questions" in printed
    assert len(re.findall(r"^(?:keywords|one_passage|other_words|several_passages): ", printed, re.MULTILINE)) == 4
    recalls = re.findall(r"^\w+ +\d+ chunks  recall@2000chars (0\.\d{3})", printed, re.MULTILINE)
    assert len(recalls) == 2
    assert all(float(recall) > 0.2 for recall in recalls)


@pytest.mark.thorough
def test_a_bad_judge_is_named_and_the_estimate_holds_what_people_say_of_all(run: Callable[[str], str]) -> None:
    printed = run("grade_with_a_model")
    assert "do not use shared words's grades alone" in printed
    assert re.search(r"^25 of \d+ queries graded by humans, all by a model$", printed, flags=re.MULTILINE)
    assert re.search(r"^ndcg@10 +dense - BM25 +[+-]0\.\d{3,5} ", printed, flags=re.MULTILINE)
    assert len(re.findall(r"all \d+ questions graded by hand: 0\.\d{3} \(inside the interval\)", printed)) == 2


@cache  # an index takes a third of a second
def load_retrievers() -> dict[str, Retriever]:
    return {"BM25": BM25(passages()), "dense": Dense(passages())}


def mean(retriever: Retriever, queries: dict[str, str], metric: str) -> float:
    ranked = {query: list(retriever.search(text, 10)) for query, text in queries.items()}
    qrels = {query: judgments for query, judgments in questions.qrels(passages()).items() if query in queries}
    return rm.evaluate(qrels, ranked, metric).means[metric]


@pytest.mark.examples  # making MLflow's database takes longer than all other examples
def test_mlflow_holds_the_numbers_of_the_core_and_the_comparison(
    run: Callable[[str], str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    example = pytest.importorskip("mlflow_evaluation")
    caplog.set_level("WARNING", logger="mlflow")  # it says on standard error that it makes a database
    monkeypatch.setattr(example, "QUESTIONS", 6)
    printed = run("mlflow_evaluation")
    some_questions = dict(list(questions.queries().items())[:6])
    for name, retriever in load_retrievers().items():
        assert f"{name:6} ndcg_at_10    {mean(retriever, some_questions, 'ndcg@10'):.3f} [" in printed
    assert re.search(r"^recall_at_10/dense - BM25/n +6$", printed, flags=re.MULTILINE)
    assert "\ncomparison/report.html\n" in printed


@pytest.mark.thorough
def test_pydantic_evals_reports_the_numbers_of_the_core(run: Callable[[str], str]) -> None:
    pytest.importorskip("pydantic_evals")
    printed = run("pydantic_evals_evaluation")
    for name, retriever in load_retrievers().items():
        table = printed.partition(f"{name}: {len(questions.queries())} cases: 0 failed")[2]
        assert f"  ndcg@10    {mean(retriever, questions.queries(), 'ndcg@10'):.3f} [" in table
    assert "\ndense is better than BM25 in " in printed


@pytest.mark.thorough
def test_the_pipelines_of_haystack_are_ranked(run: Callable[[str], str], monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("haystack")
    some_questions = dict(
        list(questions.queries().items())[:40]
    )  # each asks four pipelines, and Haystack copies every document
    judged = {query: judgments for query, judgments in questions.qrels(passages()).items() if query in some_questions}
    monkeypatch.setattr(questions, "queries", lambda: some_questions)
    monkeypatch.setattr(questions, "qrels", lambda _: judged)
    printed = run("haystack_evaluation")
    systems = [
        line.split("  ")[0] for line in printed.splitlines() if re.match(r"(vectors|BM25|ranker|retriever)", line)
    ]
    assert sorted(systems) == ["BM25", "ranker", "retriever", "vectors", "vectors + MMR"]
    assert f"{mean(load_retrievers()['dense'], questions.queries(), 'ndcg@10'):.3f} [" in printed
