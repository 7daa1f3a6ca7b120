"""What is printed of the agreement of two graders."""

from pathlib import Path
from typing import Any

import retrieval_metrics as rm
from golden_texts import check_golden_texts
from retrieval_metrics.datasets.agreement_wording import calibration_label, chance_text, relevance_text
from two_graders import ADA, ADA_GRADES, BEN, label_by_rubric

GOLDEN = Path(__file__).parent / "golden" / "agreement_wording.txt"


def kinds_of_documents() -> dict[Any, dict[str, str]]:
    kinds = {}
    for query, grades in ADA_GRADES.items():
        for document in grades:
            length = "long" if document in {"d6", "d7"} else "short"
            kinds[query, document] = {"length": length, "found by": "bm25 only"}
    return kinds


def agreement_of(first: Any, second: Any) -> rm.types.Agreement:
    return rm.Labels.from_qrels(first, "Ada").agreement(rm.Labels.from_qrels(second, "Ben"))


def make_texts() -> dict[str, list[str]]:
    by_rubric = label_by_rubric(ADA_GRADES).agreement(BEN)
    equal = agreement_of({"q1": {"a": 1, "b": 1}, "q2": {"a": 1}}, {"q1": {"a": 1, "b": 1}, "q2": {"a": 1}})
    one_query = agreement_of({"q1": {"a": 1, "b": 0, "c": 3}}, {"q1": {"a": 1, "b": 0, "c": 3}})
    queries = [f"q{number}" for number in range(9)]
    reversed_scale = agreement_of(
        {query: {"a": number % 4, "b": 3} for number, query in enumerate(queries)},
        {query: {"a": 3 - number % 4, "b": 0} for number, query in enumerate(queries)},
    )
    random = agreement_of(
        {query: {"a": 0, "b": 1, "c": 0, "d": 1} for query in queries},
        {query: {"a": 0, "b": 0, "c": 1, "d": 1} for query in queries},
    )
    return {
        "two graders": str(ADA.agreement(BEN)).splitlines(),
        "kinds": str(ADA.agreement(BEN, kinds=kinds_of_documents())).splitlines(),
        "a rubric": str(by_rubric).splitlines(),
        "what is relevant": [relevance_text(equal), relevance_text(by_rubric)],
        "calibration": [*calibration_label(equal).splitlines(), *calibration_label(by_rubric).splitlines()],
        "chance": [chance_text(agreement) for agreement in (equal, one_query, reversed_scale, random)],
        "equal grades": str(equal).splitlines(),
        "one query": str(one_query).splitlines(),
    }


def test_the_texts_are_those_of_the_golden_file() -> None:
    check_golden_texts(GOLDEN, make_texts())
