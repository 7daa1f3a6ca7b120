"""What is printed of labels."""

from pathlib import Path

import retrieval_metrics as rm
from golden_texts import check_golden_texts
from two_graders import ADA, ADA_GRADES, BEN, label_by_rubric

GOLDEN = Path(__file__).parent / "golden" / "label_wording.txt"
REASONS = ("not JSON", "not JSON", "not JSON", "timed out", "timed out", "no grade", "stopped early")


def failed_labels() -> rm.Labels:
    """Return the labels of a model that often failed, for more reasons than are printed."""
    labels = [rm.Label(query="q", document="graded", grade=2, grader="a model", kind="model")]
    for number, reason in enumerate(REASONS):
        labels.append(
            rm.Label(query="q", document=f"d{number}", grade=None, grader="a model", kind="model", reason=reason)
        )
    return rm.Labels(labels, notes=["8 model calls"])


def make_texts() -> dict[str, list[str]]:
    third = rm.Labels.from_qrels(ADA_GRADES, "Cid", kind="model")
    elsewhere = rm.Labels.from_qrels({"another query": {"d0": 1}}, "Dot")
    return {
        "nobody": str(rm.Labels([])).splitlines(),
        "one grader": str(ADA).splitlines(),
        "two graders": str(ADA.merge(BEN)).splitlines(),
        "three graders": str(ADA.merge(BEN, third)).splitlines(),
        "graders with nothing in common": str(ADA.merge(elsewhere)).splitlines(),
        "a rubric": str(label_by_rubric(ADA_GRADES)).splitlines(),
        "failures": str(failed_labels()).splitlines(),
        "a resolved conflict": str(ADA.merge(BEN).resolved("lowest")).splitlines(),
    }


def test_the_texts_are_those_of_the_golden_file() -> None:
    check_golden_texts(GOLDEN, make_texts())
