"""The commonest first calls that are wrong: each is answered with the line to write, and that line is right."""

from collections import namedtuple
from collections.abc import Iterator
from typing import Any

import pytest

import retrieval_metrics as rm

QRELS: Any = {"q1": {"d3": 2, "d7": 1}, "q2": ["d1"]}
RUN: Any = {"q1": ["d7", "d2", "d3"], "q2": ["d4", "d1"]}
PAIRS: Any = [("how?", ["d1"]), ("why?", ["d7"])]
RESULT = rm.evaluate(QRELS, RUN, "mrr")
anything: Any = rm
untyped: Any = RESULT

Qrel = namedtuple("Qrel", ["query_id", "doc_id", "relevance"])
ScoredDoc = namedtuple("ScoredDoc", ["query_id", "doc_id", "score"])


class OfRanx:
    """What ranx calls Qrels or Run."""

    def __init__(self, data: Any) -> None:
        self.data = data

    def to_dict(self) -> Any:
        return self.data


class Measure:
    """What ir_measures calls nDCG@10."""

    def __str__(self) -> str:
        return "nDCG@10"


class Framework:
    """A retriever of a framework that can be iterated over, as models of pydantic can."""

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        return iter([("name", None)])

    def invoke(self, text: str) -> list[str]:
        return retriever(text)


def retriever(text: str) -> list[str]:
    return ["d1" if text == "how?" else "d7"]


WRONG: dict[str, tuple[Any, str]] = {
    "two evaluations": (lambda: anything.compare(RESULT, RESULT), 'write compare({"a": first, "b": second})'),
    "a metric that the evaluations lack": (
        lambda: anything.compare({"a": RESULT, "b": RESULT}, "recall@100chars"),
        "for recall@100chars, evaluate each system with metrics=['recall@100chars']",
    ),
    "a list of runs": (lambda: anything.compare(QRELS, [RUN, RUN]), 'write compare(qrels, {"a": run, "b": other_run})'),
    "no runs": (lambda: rm.compare(QRELS), 'write compare(qrels, {"a": run, "b": other_run})'),
    "one run": (lambda: rm.compare(QRELS, RUN), "Write compare(qrels, {'bm25': run, 'other name': another_run})"),
    "runs first": (lambda: anything.compare({"a": RUN}, QRELS), "with the judgments first"),
    "judgments of ranx": (lambda: anything.evaluate(OfRanx(QRELS), RUN), "pass qrels.to_dict()"),
    "a run of ranx": (lambda: anything.evaluate(QRELS, OfRanx(RUN)), "pass run.to_dict()"),
    "judgments of ir_measures": (
        lambda: anything.evaluate([Qrel("q1", "d1", 1)], RUN),
        "pass Qrels.from_frame(pandas.DataFrame(qrels))",
    ),
    "a run of ir_measures": (
        lambda: anything.evaluate(QRELS, [ScoredDoc("q1", "d1", 2.0)]),
        "pass Run.from_frame(pandas.DataFrame(run))",
    ),
    "a measure": (lambda: anything.evaluate(QRELS, RUN, Measure()), "pass 'ndcg@10'"),
    "measures": (lambda: anything.evaluate(QRELS, RUN, [Measure()]), "pass 'ndcg@10'"),
    "pairs and a retriever": (
        lambda: anything.evaluate(PAIRS, retriever),
        "questions = EvaluationSet.from_dataset(qrels): evaluate(questions, retrieve(retriever, questions))",
    ),
    "a retriever": (lambda: anything.evaluate(QRELS, retriever), "evaluate(questions, retrieve(retriever, questions))"),
    "retrievers": (lambda: anything.compare(QRELS, {"a": retriever, "b": retriever}), "compare_retrievers for several"),
    "questions first": (lambda: anything.retrieve(QRELS, retriever), "retrieve(retriever, questions) takes the ret"),
    "lists of lists": (
        lambda: anything.evaluate([["d1"], ["d2"]], [["d1"], ["d2"]]),
        "evaluate(dict(enumerate(qrels)), dict(enumerate(run)))",
    ),
    "a vector of grades": (lambda: rm.evaluate({"q1": [1, 0, 1]}, {"q1": ["a", "b", "c"]}), "write {id: grade}"),
    "grades as text": (lambda: anything.evaluate({"q1": {"a": "1"}}, {"q1": ["a"]}), "convert it, as float('1')"),
    "a grade in words": (
        lambda: anything.evaluate({"q1": {"a": "forbidden"}}, {"q1": ["a"]}),
        "above 0 is relevant, 0 is not, and below 0 is forbidden",
    ),
    "a retriever for questions": (
        lambda: rm.EvaluationSet.from_dataset(Framework()),
        "check the order of the arguments",
    ),
    "a metric as a function": (
        lambda: anything.mrr(QRELS, RUN),
        "write evaluate(qrels, run, 'mrr'), or for one ranking metrics.reciprocal_rank(gains)",
    ),
    "with its cutoff": (lambda: anything.ndcg_at_10, "write evaluate(qrels, run, 'ndcg')"),
    "MMR": (lambda: anything.MMR, "maximal marginal relevance is rm.mmr(query, candidates)"),
    "the diversity of a list": (lambda: anything.diversity, "is rm.intra_list_diversity(vectors)"),
    "another field's name": (lambda: anything.sensitivity, "write evaluate(qrels, run, 'recall')"),
    "AutoRAG's name": (lambda: anything.retrieval_map, "write evaluate(qrels, run, 'map')"),
    "a key": (lambda: untyped["MRR"], "use result.means['mrr'] or result.per_query['mrr']"),
    "an attribute": (lambda: untyped.mrr, "use result.means['mrr']"),
    "another attribute": (lambda: untyped.to_json, "write result.save(path)"),
    "a position": (lambda: untyped[0], "use result.means or result.per_query"),
}


@pytest.mark.parametrize("name", WRONG)
def test_the_line_to_write_is_in_the_message(name: str) -> None:
    call, line = WRONG[name]
    with pytest.raises((TypeError, AttributeError)) as caught:
        call()
    assert line in str(caught.value)


def test_the_lines_are_right() -> None:
    import pandas as pd

    assert rm.compare({"old": RESULT, "new": RESULT}).systems == ("old", "new")
    assert rm.evaluate(OfRanx(QRELS).to_dict(), OfRanx(RUN).to_dict(), "mrr") == RESULT
    qrels = rm.Qrels.from_frame(pd.DataFrame([Qrel("q1", "d1", 1)]))
    run = rm.Run.from_frame(pd.DataFrame([ScoredDoc("q1", "d1", 2.0)]))
    assert rm.evaluate(qrels, run, str(Measure())).means == {"ndcg@10": 1.0}
    questions = rm.EvaluationSet.from_dataset(PAIRS)
    assert rm.evaluate(questions, rm.retrieve(retriever, questions), "mrr").means["mrr"] == 1.0
    assert rm.evaluate(dict(enumerate([["d1"], ["d2"]])), dict(enumerate([["d1"], ["d2"]])), "mrr").means["mrr"] == 1.0
    assert rm.metrics.reciprocal_rank([0, 1]) == 0.5


def test_names_that_mean_nothing_get_no_advice() -> None:
    for owner, name in ((rm, "evalute"), (rm, "_mrr"), (RESULT, "nothing"), (RESULT, "_mrr")):
        with pytest.raises(AttributeError, match=f"has no attribute '{name}'$"):
            getattr(owner, name)
