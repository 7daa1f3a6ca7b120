"""Scores are read from tables with a row per query, or per query and metric."""

from typing import Any

import pandas as pd
import polars as pl
import pytest

import retrieval_metrics as rm


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame, lambda columns: pl.DataFrame(columns).to_arrow()])
def test_tables(make: Any) -> None:
    long = {"qid": ["1", "1", "2"], "measure": ["nDCG@10", "mrt", "nDCG@10"], "value": [0.5, 12.0, 1.0]}
    evaluation = rm.Evaluation.from_frame(make(long), query="qid", metric="measure")
    assert evaluation.per_query["ndcg@10"] == {"1": 0.5, "2": 1.0}
    assert evaluation.n == {"ndcg@10": 2, "mrt": 1}
    wide = {"id": [1, 2], "faithfulness": [0.5, None], "relevancy": [1.0, 0.0]}
    wide_evaluation = rm.Evaluation.from_frame(
        make(wide), query="id", value=["faithfulness", "relevancy"], bounds=(0, 1)
    )
    assert wide_evaluation.means == {"faithfulness": 0.5, "relevancy": 0.5}
    assert wide_evaluation.queries == (1, 2)
    with pytest.raises(ValueError, match="has no column 'query'; it has 'qid', 'measure', 'value'"):
        rm.Evaluation.from_frame(make(long), query="query", metric="measure")
    indexed = pd.DataFrame({"mrr": [0.5]}, index=pd.Index(["q1"], name="query"))
    with pytest.raises(ValueError, match=r"'query' is its index: pass frame\.reset_index\(\)"):
        rm.Evaluation.from_frame(indexed, query="query", value="mrr")
    assert rm.Evaluation.from_frame(indexed.reset_index(), query="query", value="mrr").means == {"mrr": 0.5}
    with pytest.raises(TypeError, match=r"Evaluation\.from_frame\(frame, query=\.\.\., value=\.\.\.\)"):
        rm.Evaluation.from_scores(indexed)  # type: ignore[arg-type]  # that is what is tested
    twice = {"qid": ["1", "1"], "measure": ["P@5", "P@5"], "value": [0.5, 0.6]}
    with pytest.raises(ValueError, match="query '1' has two scores of 'P@5'"):
        rm.Evaluation.from_frame(make(twice), query="qid", metric="measure")
