"""Nothing is concluded about a system whose ids do not, or nearly do not, match the judgments."""

from typing import Any

import pytest

import retrieval_metrics as rm
from data_warning_kinds import evaluate_silently
from retrieval_metrics.comparison.id_obstacles import find_unmeasured
from retrieval_metrics.evaluation.data_warnings import find_near_misses_note
from run_shapes import in_columns, with_items

QRELS: Any = {f"q{number}": [f"doc{number}.pdf"] for number in range(30)}
IDS = [f"doc{number}.pdf" for number in range(30)]
GOOD: Any = {f"q{number}": (IDS[number:] + IDS)[:3] for number in range(30)}


def cut_into_chunks(run: Any, n_whole: int = 1) -> Any:
    """Return the same ranking by the ids of chunks, but for the first documents, which were not cut."""
    whole = {f"doc{number}.pdf" for number in range(n_whole)}
    chunks = {}
    for query, documents in run.items():
        chunks[query] = [document if document in whole else f"{document}#0" for document in documents]
    return chunks


def compare(runs: Any, metrics: Any = "mrr", qrels: Any = QRELS) -> rm.Comparison:
    evaluations = {name: evaluate_silently(qrels, run, metrics) for name, run in runs.items()}
    return rm.compare(evaluations)


def find_outcome(runs: Any, qrels: Any = QRELS) -> tuple[str, str]:
    (conclusion,) = compare(runs, qrels=qrels).conclusions
    return conclusion.kind, conclusion.details.obstacle


@pytest.mark.parametrize("n_whole", [1, 10])
def test_the_same_ranking_under_ids_of_chunks_is_not_worse(n_whole: int) -> None:
    runs = {"old": GOOD, "new": cut_into_chunks(GOOD, n_whole)}
    assert find_outcome(runs) == ("not_comparable", "near_misses")
    comparison = compare(runs)
    assert not comparison.differences[0].significant
    assert comparison.evaluations["new"].counts["near_misses"] == 30 - n_whole
    assert "doc" in comparison.conclusions.caveats[0]


def test_near_misses_that_cannot_change_the_sign_leave_the_conclusion() -> None:
    worse: Any = {query: ["x", "y", *documents] for query, documents in GOOD.items()}
    runs = {"old": GOOD, "new": worse | {"q1": ["doc1.pdf\u200b"], "q2": ["doc2.pdf\u200b"]}}
    assert find_outcome(runs)[0] == "worse"
    assert compare(runs).conclusions.caveats


def test_a_difference_that_is_not_significant_may_hide_one() -> None:
    late: Any = {query: ["x", *documents] for query, documents in GOOD.items()}
    runs = {"old": late, "new": {query: ["x", documents[0]] for query, documents in cut_into_chunks(GOOD, 29).items()}}
    assert find_outcome(runs)[0] in ("not_significant", "not_comparable")
    half = {"old": {query: ["x", documents[0]] for query, documents in GOOD.items()}, "new": cut_into_chunks(GOOD, 15)}
    assert find_outcome(half) == ("not_comparable", "near_misses")


OLD: Any = {f"q{number}": [f"old-{number}"] for number in range(30)}
REBUILT: Any = {query: ["y", f"new{documents[0]}"] for query, documents in OLD.items()}
MEASURED: Any = {query: ["x", documents[0]] for query, documents in OLD.items()}
SHARED: Any = {query: ["x"] for query in OLD}
# Known documents, none of them relevant, and not those of the query before or after.
OTHERS: Any = {f"q{number}": [f"old-{(number + 7) % 30}"] for number in range(30)}


@pytest.mark.parametrize("shape", [dict, in_columns, with_items])
@pytest.mark.parametrize(
    ("run", "outcome"),
    [
        (REBUILT, ("not_comparable", "foreign_ids")),
        (SHARED, ("worse", "budget")),
        (OTHERS, ("worse", "budget")),
    ],
)
def test_foreign_ids_are_not_measured_and_known_documents_are(run: Any, outcome: tuple[str, str], shape: Any) -> None:
    assert find_outcome({"a": shape(MEASURED), "b": shape(run)}, OLD) == outcome


def test_a_system_that_retrieves_nothing_is_measured() -> None:
    scores = {name: evaluate_silently(OLD, run).scores for name, run in {"a": MEASURED, "b": {"q0": []}}.items()}
    assert find_unmeasured(scores) == {}


def test_spans_that_cannot_be_looked_for_are_not_measured() -> None:
    qrels: Any = {f"q{number}": [rm.Span("a.md", number, number + 1)] for number in range(10)}
    located: Any = {query: [rm.Retrieved("c", source="a.md", start=0, end=50)] for query in qrels}
    unlocated: Any = {query: [rm.Retrieved("c", source="a.md")] for query in qrels}
    assert find_outcome({"a": located, "b": unlocated}, qrels) == ("not_comparable", "unlocated")


def test_three_systems_of_which_one_is_foreign() -> None:
    other: Any = {query: ["x", "z", documents[0]] for query, documents in OLD.items()}
    comparison = compare({"a": MEASURED, "b": REBUILT, "c": other}, qrels=OLD)
    kinds = {(conclusion.system, conclusion.baseline): conclusion.kind for conclusion in comparison.conclusions}
    assert kinds == {("b", "a"): "not_comparable", ("c", "a"): "worse", ("c", "b"): "not_comparable"}


class TestTune:
    @pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
    @pytest.mark.parametrize(
        ("runs", "qrels"),
        [
            ({"a": MEASURED, "b": REBUILT}, OLD),
            ({"a": GOOD, "b": cut_into_chunks(GOOD)}, QRELS),
            ({"b": cut_into_chunks(GOOD), "a": GOOD}, QRELS),
        ],
    )
    def test_it_refuses_such_settings(self, runs: Any, qrels: Any) -> None:
        with pytest.raises(ValueError, match=r"cannot choose a setting on this data.* b: "):
            rm.tune(runs, qrels, "mrr", default="a")

    @pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
    def test_it_refuses_where_another_setting_could_win(self) -> None:
        default: Any = {query: ["x", "y", "z", *documents] for query, documents in GOOD.items()}
        second: Any = {query: ["x", *documents] for query, documents in GOOD.items()}
        hidden: Any = cut_into_chunks(GOOD, 18)
        for number in range(18):
            hidden[f"q{number}"] = ["x", "y", f"doc{number}.pdf"]
        with pytest.raises(ValueError, match="cannot choose a setting on this data"):
            rm.tune({"default": default, "second": second, "hidden": hidden}, QRELS, "mrr", default="default")


def test_a_floor_that_near_misses_would_reach_was_not_measured() -> None:
    scores = evaluate_silently(QRELS, cut_into_chunks(GOOD), "mrr").scores
    assert find_near_misses_note(scores, "mrr", 0.9)
    assert not find_near_misses_note(scores, "mrr", 1.1)
    assert not find_near_misses_note(evaluate_silently(QRELS, GOOD, "mrr").scores, "mrr", 0.9)
