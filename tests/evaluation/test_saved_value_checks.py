"""What is loaded is checked again where its values follow from what is in the file."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import retrieval_metrics as rm

pytestmark = pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")


def test_means_over_several_runs_are_loaded_though_they_follow_from_no_single_ranking(tmp_path: Any) -> None:
    scores = rm.evaluate({"q": ["d"]}, {"q": ["x", "d"]}, "mrr").scores
    of_two = replace(scores.with_values(np.array([[0.75]])), origin=scores.require_origin("a mean")._replace(rounds=2))
    rm.Evaluation(of_two).save(tmp_path / "e.json")
    loaded: rm.Evaluation = rm.load(tmp_path / "e.json")
    assert (loaded.means["mrr"], loaded.scores.require_origin("a mean").rounds) == (0.75, 2)


@pytest.mark.parametrize("metric", ["leak@5", "inverted@5", "false_answer", "mrr"])
def test_a_query_whose_retriever_failed_is_loaded_as_it_was_saved(metric: str, tmp_path: Path) -> None:
    qrels = {"answered": {"d": 1, "bad": -1}, "failed": {"d": 1, "bad": -1}, "unanswerable": {"x": 0}}

    def search(text: str) -> list[str]:
        if text == "failed":
            raise ConnectionError("the store is gone")
        return ["d", "bad"]

    run = rm.retrieve(search, {query: query for query in qrels})
    evaluation = rm.evaluate(qrels, run, metric)
    evaluation.save(tmp_path / "evaluation.json")
    comparison = rm.compare(qrels, {"a": run, "b": rm.retrieve(lambda _: ["d"], dict.fromkeys(qrels, ""))}, metric)
    comparison.save(tmp_path / "comparison.json")

    loaded: rm.Evaluation = rm.load(tmp_path / "evaluation.json")
    assert np.array_equal(loaded.scores.values, evaluation.scores.values, equal_nan=True)
    assert rm.load(tmp_path / "comparison.json").means == comparison.means
