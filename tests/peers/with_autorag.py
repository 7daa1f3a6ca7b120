# /// script
# requires-python = ">=3.11"
# dependencies = ["retrieval-metrics", "AutoRAG==0.3.27"]
#
# [tool.uv.sources]
# retrieval-metrics = { path = "../..", editable = true }
# ///
"""Compare the rules "autorag" with AutoRAG itself: `uv run tests/peers/with_autorag.py`."""

from agreement import Case, cases, require_agreement
from autorag.evaluation.metric import retrieval
from autorag.schema.metricinput import MetricInput


def metric(function):
    """Score a case with one of its functions, without the decorator that gives None for what is empty."""

    def score(case: Case) -> float:
        truth = [[document for document, grade in group.items() if grade > 0] for group in case.groups]
        groups = [group for group in truth if group]
        if not (groups and case.ranking):
            decorated = function([MetricInput(retrieval_gt=groups, retrieved_ids=case.first)])
            assert decorated == [None], decorated
            return (
                0.0 if not groups else float(function.__wrapped__(MetricInput(retrieval_gt=groups, retrieved_ids=[])))
            )
        return float(function([MetricInput(retrieval_gt=groups, retrieved_ids=case.first)])[0])

    return score


if __name__ == "__main__":
    require_agreement(
        "autorag",
        "AutoRAG",
        {
            "precision": metric(retrieval.retrieval_precision),
            "recall": metric(retrieval.retrieval_recall),
            "f1": metric(retrieval.retrieval_f1),
            "mrr": metric(retrieval.retrieval_mrr),
            "map": metric(retrieval.retrieval_map),
            "ndcg": metric(retrieval.retrieval_ndcg),
        },
        cases(6),
    )
