"""A set of questions in which a lint finds nothing, to be changed by one fault each."""

from typing import Any

import retrieval_metrics as rm

VAULT = (
    "The vault of the main branch may be opened at night by the duty officer together with a second member of staff. "
    "Both of them sign the register, which the auditor reads every Monday."
)
COFFEE = "Coffee machines are cleaned on Fridays. Whoever makes the last cup descales the machine with citric acid."
TRAVEL = "Travel costs are paid back within thirty days if the receipts were handed in before the end of the quarter."
CORPUS = {"vault": VAULT, "coffee": COFFEE, "travel": TRAVEL}
QUERIES = {
    "q1": "Who is allowed to unlock the strong room after hours?",
    "q2": "On which weekday does someone look after the espresso maker?",
    "q3": "How long until I get my money back for a train ticket?",
}
SUBJECTS = ["fish", "birds", "trees", "rivers", "bread", "wheels", "glass", "paper", "stone", "metal", "wool"]
QRELS: dict[str, Any] = {"q1": ["vault"], "q2": ["coffee"], "q3": ["travel"]}


def lint(queries: Any = None, qrels: Any = None, corpus: Any = CORPUS, runs: Any = None) -> Any:
    """The set above with some questions and judgments in place of its own."""
    return rm.EvaluationSet(QUERIES | (queries or {}), QRELS | (qrels or {})).lint(corpus, runs)


def find_queries(result: Any, name: str) -> list[Any]:
    return [finding.query for finding in result.named(name)]


def list_serious(result: Any) -> list[tuple[str, Any]]:
    return [(finding.name, finding.query) for finding in result if finding.severity != "note"]
