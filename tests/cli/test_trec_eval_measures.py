"""The measures that version 10 of trec_eval adds, against values worked out by hand."""

import pytest

from retrieval_metrics.cli.trec_eval_measures import Version10Values
from retrieval_metrics.inputs.qrels import as_qrels
from retrieval_metrics.matching.judge import judge
from retrieval_metrics.metrics.base.rules import TREC_EVAL


def test_rank_biased_precision_its_residual_and_the_share_of_unjudged_documents() -> None:
    run = {"q": {"a": 3.0, "unjudged": 2.0, "b": 1.0}}
    judged = judge(as_qrels({"q": {"a": 1, "b": 0}}), run, "id", TREC_EVAL.order)
    values = Version10Values(judged, 1, lambda: judged, TREC_EVAL)
    columns = values.columns({"rbp": (), "rbp_resid": (), "unj": (2,)})
    assert {name: float(column[0]) for name, column in columns.items()} == pytest.approx(
        {"rbp": 0.1, "rbp_resid": 1 - 0.1 * (1 + 0.9**2), "unj_2": 1 / 2}
    )
