# /// script
# requires-python = ">=3.11"
# dependencies = ["retrieval-metrics", "haystack-ai>=3.4"]
#
# [tool.uv.sources]
# retrieval-metrics = { path = "../..", editable = true }
# ///
"""Compare the rules "haystack" with Haystack itself: `uv run tests/peers/with_haystack.py`."""

from agreement import Case, cases, require_agreement
from haystack import Document
from haystack.components.evaluators import (
    DocumentMAPEvaluator,
    DocumentMRREvaluator,
    DocumentNDCGEvaluator,
    DocumentRecallEvaluator,
)


def evaluator(component, *, graded: bool):
    """Score a case with one of its evaluators, documents compared by id."""

    def score(case: Case) -> float:
        grades: dict[str, float] = {}
        for group in case.groups:
            for document, grade in group.items():
                grades[document] = max(grade, grades.get(document, grade))
        truth = [
            Document(id=document, score=grade if graded else None) for document, grade in grades.items() if grade > 0
        ]
        retrieved = [Document(id=document) for document in case.first]
        return component.run(ground_truth_documents=[truth], retrieved_documents=[retrieved])["score"]

    return score


BY_ID = {"document_comparison_field": "id"}

if __name__ == "__main__":
    require_agreement(
        "haystack",
        "haystack-ai",
        {
            "ndcg": evaluator(DocumentNDCGEvaluator(**BY_ID), graded=True),
            "map": evaluator(DocumentMAPEvaluator(**BY_ID), graded=False),
            "mrr": evaluator(DocumentMRREvaluator(**BY_ID), graded=False),
            "recall": evaluator(DocumentRecallEvaluator(mode="multi_hit", **BY_ID), graded=False),
            "hit_rate": evaluator(DocumentRecallEvaluator(mode="single_hit", **BY_ID), graded=False),
        },
        cases(4),
    )
