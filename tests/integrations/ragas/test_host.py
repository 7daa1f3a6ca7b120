"""Results, datasets and experiments of ragas in the gate of pytest: broken retrieval is red, improved stays green."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import retrieval_metrics as rm
from ragas_retrieval_metrics import HitRate

pytest_plugins = ["pytester"]

# A build over results of ragas: `retrieved` says what the retriever returns, `verdict` what the judge finds.
BUILD = """
import os
os.environ["RAGAS_DO_NOT_TRACK"] = "true"
import json, math, warnings
from langchain_core.outputs import Generation, LLMResult
from ragas import Dataset, EvaluationDataset, evaluate
from ragas.experiment import Experiment
from ragas.llms import BaseRagasLLM
from ragas.metrics import Faithfulness
from ragas_retrieval_metrics import HitRate, NDCG, evaluate_dataset, to_evaluation

class Judge(BaseRagasLLM):
    def generate_text(self, prompt, *args, **options):
        reply = {{"statements": ["It is so."]}}
        if '"verdict"' in prompt.to_string():
            reply = {{"statements": [{{"statement": "It is so.", "reason": "-", "verdict": {verdict}}}]}}
        return LLMResult(generations=[[Generation(text=json.dumps(reply))]])

    async def agenerate_text(self, prompt, *args, **options):
        return self.generate_text(prompt)

    def is_finished(self, response):
        return True

def passage(number):
    return f"passage number {{number}} says what the question with the number {{number}} asks for"

N = 12
rows = []
for number in range(N):
    row = {{"user_input": f"question {{number}}", "response": "It is so."}}
    retrieved = [passage((number + 1) % N), passage(number)]{order}
    row |= {{"retrieved_contexts": retrieved, "reference_contexts": [passage(number)]}}
    if {by_ids}:
        row["retrieved_context_ids"] = [text.split()[2] for text in retrieved]
        row["reference_context_ids"] = [str(number)]
    rows.append(row)
dataset = EvaluationDataset.from_list(rows)

def test_result(retrieval_check):
    result = evaluate(dataset, [Faithfulness(llm=Judge()), HitRate(k=5), NDCG(k=10)], show_progress=False)
    retrieval_check(result, at_least={{"ndcg@10": 0.5, "hit_rate@5": 0.9, "faithfulness": 0.8}}, baseline=True)

def test_dataset(retrieval_check):
    retrieval_check(dataset, at_least={{"ndcg@10": 0.5}}, baseline=True)

def test_experiment(retrieval_check):
    scored = [
        {{**row, "ndcg_at_10": NDCG(k=10).score(**row).value, "faithfulness": None if number < 3 else 0.9}}
        for number, row in enumerate(rows)
    ]
    floors = {{"ndcg@10": 0.5, "faithfulness": 0.8}}
    retrieval_check(Experiment("run", "inmemory", data=scored), at_least=floors, baseline=True)

def test_values_alone(retrieval_check):
    values = [{{"user_input": row["user_input"], "faithfulness": 0.9 * {verdict}}} for row in rows]
    retrieval_check(to_evaluation(values, scores=["faithfulness"]), at_least={{"faithfulness": 0.8}}, baseline=True)
"""

RIGHT_FIRST = "[::-1]"
RIGHT_SECOND = ""
BROKEN = "[:1]"


@pytest.fixture(autouse=True)
def modules_outlive_a_build() -> None:
    """Import here what a build needs: pytester forgets what it imports, and two builds would have two `GivenMetric`."""
    assert HitRate(k=1).name == "hit_rate_at_1"
    rm.Evaluation.from_scores({"faithfulness": {"q": 1.0}}, bounds=(0, 1))


def build(pytester: pytest.Pytester, *options: str, **changes: Any) -> pytest.RunResult:
    settings = {"order": RIGHT_SECOND, "verdict": 1, "by_ids": False, **changes}
    pytester.makepyfile(test_build=BUILD.format(**settings))
    return pytester.runpytest("-p", "no:randomly", "-W", "default", *options)


@pytest.mark.parametrize("by_ids", [False, True])
def test_broken_retrieval_fails_the_build_and_improved_retrieval_does_not(
    pytester: pytest.Pytester, by_ids: bool
) -> None:
    build(pytester, "--retrieval-update", by_ids=by_ids).assert_outcomes(passed=4)
    build(pytester, by_ids=by_ids, order=RIGHT_FIRST).assert_outcomes(passed=4)
    broken = build(pytester, by_ids=by_ids, order=BROKEN)
    broken.assert_outcomes(failed=3, passed=1)


def test_answers_that_are_not_faithful_fail_the_build(pytester: pytest.Pytester) -> None:
    build(pytester, "--retrieval-update").assert_outcomes(passed=4)
    unfaithful = build(pytester, "-k", "result or values", verdict=0)
    unfaithful.assert_outcomes(failed=2)
    unfaithful.stdout.fnmatch_lines(["*faithfulness below floor: 0.000 < 0.8, n = 12*"])


def test_rows_without_a_value_are_counted_in_the_gate(pytester: pytest.Pytester) -> None:
    result = build(pytester, "--retrieval-update", "-k", "experiment")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*faithfulness: 3 of 12 rows have no value*"])


def test_a_baseline_by_ids_holds_no_texts(pytester: pytest.Pytester) -> None:
    build(pytester, "--retrieval-update", by_ids=True).assert_outcomes(passed=4)
    stored = [path.read_text(encoding="utf-8") for path in Path(pytester.path).rglob("retrieval_baselines/**/*.json")]
    assert len(stored) == 4
    assert not [text for text in stored if "passage number" in text]
