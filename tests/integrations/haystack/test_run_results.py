"""The results of the evaluator in the reports of Haystack and in saved pipelines."""

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from haystack import Document, Pipeline, component
from haystack.core.errors import BreakpointException
from haystack.core.pipeline.breakpoint import load_pipeline_snapshot
from haystack.dataclasses.breakpoints import Breakpoint
from haystack.evaluation import EvaluationRunResult

import retrieval_metrics as rm
from haystack_integrations.components.evaluators.retrieval_metrics import RetrievalEvaluator, RetrievalRunResult

PARIS = Document(content="Paris")


ROME = Document(content="Rome")


BONN = Document(content="Bonn")


def test_several_metrics_are_what_a_run_result_takes_and_json_holds() -> None:
    rows: Any = {"ground_truth_documents": [[PARIS, ROME], []], "retrieved_documents": [[BONN, PARIS], [PARIS]]}
    outputs = RetrievalEvaluator(["mrr", "recall@2"]).run(**rows)
    assert outputs["score"] == outputs["individual_scores"][0] == 0.5
    assert math.isnan(outputs["individual_scores"][1])
    report = RetrievalRunResult("run", {"question": ["a", "b"]}, outputs["results"])
    detailed: Any = report.detailed_report()
    assert json.loads(json.dumps(detailed, allow_nan=False)) == detailed
    assert detailed == {"question": ["a", "b"], "mrr": [0.5, None], "recall@2": [0.5, None]}
    assert report.aggregated_report() == {"metrics": ["mrr", "recall@2"], "score": [0.5, 0.5]}
    stock = EvaluationRunResult("run", {"question": ["a", "b"]}, outputs["results"])
    frame: Any = stock.detailed_report(output_format="df")
    assert frame["mrr"].isna().tolist() == [False, True]


@component
class Reads:
    """Takes an evaluation, as a component that decides whether to go on."""

    @component.output_types(mean=float)
    def run(self, evaluation: rm.Evaluation) -> dict[str, Any]:
        return {"mean": evaluation.means["mrr"]}


def test_a_pipeline_resumes_from_a_breakpoint_behind_the_evaluation(tmp_path: Path) -> None:
    pipeline = Pipeline()
    pipeline.add_component("evaluator", RetrievalEvaluator("mrr"))
    pipeline.add_component("reads", Reads())
    pipeline.connect("evaluator.evaluation", "reads.evaluation")
    rows: Any = {
        "ground_truth_documents": [[PARIS], []],
        "retrieved_documents": [[ROME, PARIS], [PARIS]],
    }
    with pytest.raises(BreakpointException) as stopped:
        pipeline.run(
            {"evaluator": rows}, break_point=Breakpoint(component_name="reads"), include_outputs_from={"evaluator"}
        )
    snapshot = stopped.value.pipeline_snapshot
    assert snapshot is not None
    path = tmp_path / "snapshot.json"
    path.write_text(json.dumps(snapshot.to_dict(), allow_nan=False))
    resumed = pipeline.run({}, pipeline_snapshot=load_pipeline_snapshot(path), include_outputs_from={"evaluator"})
    assert resumed["reads"] == {"mean": 0.5}
    first, second = resumed["evaluator"]["individual_scores"]
    assert first == 0.5
    assert math.isnan(second)
    assert resumed["evaluator"]["results"]["mrr"]["score"] == 0.5


def test_it_takes_the_place_of_its_siblings_in_an_evaluation_run_result() -> None:
    rows: Any = {"ground_truth_documents": [[PARIS], [BONN]], "retrieved_documents": [[ROME, PARIS], [BONN]]}
    results = {name: RetrievalEvaluator(name).run(**rows) for name in ("mrr@10", "recall@1")}
    report = EvaluationRunResult("run", {"question": ["q1", "q2"]}, results)
    assert report.aggregated_report() == {"metrics": ["mrr@10", "recall@1"], "score": [0.75, 0.5]}
    detailed: Any = report.detailed_report()
    assert detailed == {"question": ["q1", "q2"], "mrr@10": [0.5, 1.0], "recall@1": [0.0, 1.0]}


def test_evaluating_loads_no_pandas() -> None:
    code = (
        "import sys; from haystack_integrations.components.evaluators.retrieval_metrics import RetrievalEvaluator\n"
        "from haystack_integrations.components.rankers.retrieval_metrics import *\n"
        "assert 'pandas' not in sys.modules, 'pandas'"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
