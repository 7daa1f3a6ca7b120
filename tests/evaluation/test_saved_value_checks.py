"""What is loaded is checked again where its values follow from what is in the file."""

from dataclasses import replace
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
