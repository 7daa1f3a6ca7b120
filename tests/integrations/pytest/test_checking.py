"""What a test may hand over, and what is said of what it may not."""

import asyncio
import math
from dataclasses import replace
from typing import Any

import pytest
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever as LangChainRetriever
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

import retrieval_metrics as rm
from pytest_retrieval_metrics import CheckResult, RetrievalCheck
from pytest_retrieval_metrics.regression import (
    better_queries,
    compare_with_baseline,
    deterministic_gate,
    no_regression_gate,
    worse_queries,
)
from pytest_retrieval_metrics.settings import Settings

QRELS = {"what does yield do?": ["yield#1"], "what is a closure?": ["naming#2"]}

SETTINGS = Settings(
    "mean", 0.95, 0.05, 1, 0, "pass", "fail", 5, "retrieval_baselines", "", "", update=False, accept_worse=()
)


@pytest.fixture
def check(request: pytest.FixtureRequest) -> RetrievalCheck:
    return RetrievalCheck(request.node, SETTINGS, checks=1, records=[])


class Search(BaseRetriever):
    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        names = ["yield#1", "with#2"] if "yield" in query_bundle.query_str else ["with#2", "naming#2"]
        return [NodeWithScore(node=TextNode(id_=name, text=f"about {name}")) for name in names]


def test_a_retriever_of_llama_index_is_asked_and_read(check: RetrievalCheck) -> None:
    assert check(QRELS, Search(), {"mrr": 0.75}).evaluation.means["mrr"] == 0.75


class SearchDocuments(LangChainRetriever):
    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        del run_manager
        names = ["yield#1", "with#2"] if "yield" in query else ["with#2", "naming#2"]
        return [Document(f"about {name}", id=name) for name in names]


def test_a_retriever_of_langchain_is_asked_and_read(check: RetrievalCheck) -> None:
    assert check(QRELS, SearchDocuments(), {"mrr": 0.75}).evaluation.means["mrr"] == 0.75


def test_its_texts_can_be_judged(check: RetrievalCheck) -> None:
    qrels = {"what does yield do?": [rm.Quote("about yield")]}
    assert check(qrels, Search(), {"mrr": 1}).evaluation.means["mrr"] == 1


@pytest.mark.parametrize(
    "qrels",
    [
        QRELS,
        rm.Qrels(QRELS),
        list(QRELS.items()),
        [{"id": len(text), "query": text, "relevant": ids} for text, ids in QRELS.items()],
        {"queries": {"a": next(iter(QRELS))}, "relevant_docs": {"a": ["yield#1"]}},
    ],
)
def test_judgments_come_in_every_shape_of_the_core(check: RetrievalCheck, qrels: Any) -> None:
    asked = []

    def search(text: str) -> list[str]:
        asked.append(text)
        return QRELS[text]

    assert check(qrels, search, {"mrr": 1}).evaluation.means["mrr"] == 1
    assert set(asked) <= set(QRELS)


def test_the_texts_of_queries_can_stand_beside_the_judgments(check: RetrievalCheck) -> None:
    async def search(text: str) -> list[str]:
        await asyncio.sleep(0)
        return [text]

    result = check({7: ["seven"]}, search, {"mrr": 1}, queries={7: "seven", 8: "not judged"})
    assert isinstance(result, CheckResult)


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        ((QRELS, QRELS, ["mrr"]), TypeError, "at_least must map metrics to floors"),
        ((QRELS, QRELS, {}), ValueError, "at_least is empty"),
        ((QRELS, QRELS, {"mrrr": 1}), ValueError, "mrr"),
        (
            (QRELS, QRELS, {"mrr": "high"}),
            TypeError,
            "the floor of mrr must be a number, a pair of it and .* got 'high'",
        ),
        ((QRELS, QRELS, {"mrr": (0.5, 0)}), ValueError, "queries that the floor of mrr needs"),
        ((QRELS, QRELS, {"mrr": math.nan}), ValueError, "the floor of mrr must be finite"),
        ((QRELS, QRELS, {"mrr": 60}), ValueError, "at_least of mrr is 60, which no value can keep: .*; 0.6 may be mea"),
        ((QRELS, QRELS, {"mrr": (-1, 3)}), ValueError, "at_least of mrr is -1, which every value keeps: .* 0 to 1$"),
        ((QRELS, QRELS, {"map": 0, "ap": 1}), ValueError, "at_least has map twice"),
        ((QRELS, 3, {"mrr": 1}), TypeError, "a retriever must be a function .* got int"),
        (({7: ["a"]}, len, {"mrr": 1}), TypeError, "there is no text to ask for query 7: pass queries="),
    ],
)
def test_what_makes_no_sense_is_said(
    check: RetrievalCheck, arguments: tuple[Any, Any, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        check(*arguments)


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"at_least_per_query": [0.5]}, TypeError, "at_least_per_query must map metrics to the floor of every query"),
        ({"at_least_per_query": {"mrr": {"what is a cell?": 1}}}, ValueError, "there is no judged query 'what is a c"),
        ({"at_least_per_query": {"mrr": 60}}, ValueError, "at_least_per_query of mrr is 60, .* 0.6 may be meant"),
        ({"at_most": {"leak@5": 5}}, ValueError, "at_most of leak@5 is 5, which every value keeps: .* 0.05 may be"),
        ({"no_regression": "q7", "baseline": True}, TypeError, r"must be a list of query ids, got 'q7'; pass \['q7'\]"),
        ({"no_regression": ["what is a closure"], "baseline": True}, ValueError, r"did you mean 'what is a closure\?'"),
        ({"queries": {}}, TypeError, "queries= are texts for a retriever; a run needs none"),
        ({"rounds": 0}, ValueError, "rounds"),
    ],
)
def test_what_is_asked_of_queries_is_read_before_anything_is_retrieved(
    check: RetrievalCheck, options: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        check(QRELS, QRELS, {"mrr": 1}, **options)


def test_a_dataset_has_its_own_texts(check: RetrievalCheck) -> None:
    with pytest.raises(TypeError, match="queries= are for judgments by query id; a dataset has its own texts"):
        check(list(QRELS.items()), len, {"mrr": 1}, queries=dict.fromkeys(QRELS, "text"))


def test_a_mean_of_nothing_is_below_its_floor_and_says_why(check: RetrievalCheck) -> None:
    with pytest.raises(pytest.fail.Exception, match="mrr below the floor: undefined for every query: none has a rel"):
        check({"q1": {"d1": 0}}, {"q1": ["d1"]}, {"mrr": 0.5})


def test_where_every_query_fails_the_gate_says_why_and_not_that_the_retriever_is_bad(check: RetrievalCheck) -> None:
    def refused(text: str) -> list[str]:
        raise PermissionError(f"401 for {text}")

    with pytest.raises(PermissionError, match="401 for one"):
        check({"one": ["d"], "two": ["d"]}, refused, {"mrr": 0.5})
    failed = rm.RetrievedRun({"q1": [], "q2": []}, dict.fromkeys(["q1", "q2"], PermissionError("401")))
    with pytest.raises(ValueError, match="failed for every query, 2 of 2; the first, 'q1': PermissionError: 401"):
        check({"q1": ["d"], "q2": ["d"]}, failed, {"mrr": 0.5}, name="failed")


def test_texts_must_fit_the_judgments(check: RetrievalCheck) -> None:
    with pytest.raises(ValueError, match=r"no text for 1 judged queries, for example 'what is a closure\?'"):
        check(QRELS, len, {"mrr": 1}, queries={"what does yield do?": "yield"}, name="absent")
    with pytest.raises(TypeError, match="a run needs none"):
        check(QRELS, QRELS, {"mrr": 1}, queries={}, name="run")


def test_two_checks_of_a_test_need_names(check: RetrievalCheck) -> None:
    check(QRELS, QRELS, {"mrr": 1})
    with pytest.raises(ValueError, match="this test already has a check without a name"):
        check(QRELS, QRELS, {"mrr": 1})


def test_arguments_are_shown_and_a_wrong_one_is_refused_in_the_name_of_the_fixture(check: RetrievalCheck) -> None:
    wrong: Any = {"at_leats": {"mrr": 1}}
    with pytest.raises(TypeError, match=r"^retrieval_check: got an unexpected keyword argument 'at_leats'"):
        check(QRELS, QRELS, **wrong)
    with pytest.raises(TypeError, match=r"^acheck: got an unexpected keyword argument 'at_leats'"):
        asyncio.run(check.acheck(QRELS, QRELS, {"mrr": 1}, **wrong))


FORBIDDEN = {f"q{at}": {f"a{at}": 1, "secret": -1} for at in range(26)} | {f"n{at}": {"x": 0} for at in range(20)}
SAFE = {f"q{at}": [f"a{at}", "x"] for at in range(26)} | {f"n{at}": ["x"] if at < 7 else [] for at in range(20)}


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
class TestCeilings:
    """What must not come back, and what fails because nothing could have shown it."""

    def lines(self, check: RetrievalCheck, *, run: Any = None, qrels: Any = FORBIDDEN, **options: Any) -> list[str]:
        return [verdict.line for verdict in check(qrels, SAFE if run is None else run, **options).verdicts]

    def test_what_passes_says_what_it_promises(self, check: RetrievalCheck) -> None:
        assert self.lines(check, at_most={"leak@5": 0, "false_answer": 0.4}) == [
            "leak@5 passed: 0 of 26 queries; up to 10.9 % of new ones (95 % sure)",
            "false_answer passed: 7 of 20 queries; up to 55.8 % of new ones (95 % sure)",
        ]

    @pytest.mark.parametrize(
        ("given", "said"),
        [
            (
                {"run": SAFE | {"q3": ["secret", "a3"]}, "at_most": {"leak@5": 0}},
                "leak@5 above the ceiling: 1 of 26 queries; up to 17.0 % of new ones .*; at most 0 % are",
            ),
            (
                {"qrels": {"q0": ["a0"]}, "at_most": {"leak@5": 0}},
                "leak@5 not checked: no query has anything that must not come back",
            ),
            (
                {"qrels": {"q0": ["a0"]}, "at_most": {"false_answer": 0}},
                "false_answer not checked: every query has a relevant document",
            ),
            (
                {
                    "run": {query: [f"{one}#1" for one in found] for query, found in SAFE.items()},
                    "at_most": {"leak@5": 0},
                },
                "leak@5 not checked: nothing that is judged came back for any query, relevant or not, so the ids may",
            ),
        ],
    )
    def test_what_fails(self, check: RetrievalCheck, options: dict[str, Any], message: str) -> None:
        with pytest.raises(pytest.fail.Exception, match=message):
            self.lines(check, **options)

    def test_what_came_back_and_must_not_is_named_with_its_rank(self, check: RetrievalCheck) -> None:
        run = SAFE | {"q3": ["secret", "a3"], "q7": ["a7", "x", "secret"], "n9": ["y", "z"]}
        with pytest.raises(pytest.fail.Exception) as failure:
            check(FORBIDDEN, run, at_most={"leak@5": 0, "false_answer": 0.1}, at_least={"mrr": 0.99})
        lines = str(failure.value).splitlines()
        q3 = lines.index("  q3: 1.000")
        assert lines[q3:][:4] == [
            "  q3: 1.000",
            "      secret at rank 1, above a3 at rank 2",
            "  q7: 1.000",
            "      secret at rank 3, above nothing relevant",
        ]
        assert "      a3 (grade 1): now rank 2, found" in lines  # a missed floor is explained beside it
        answered = {query: ranking for query, ranking in run.items() if query[0] == "n"}
        with pytest.raises(pytest.fail.Exception, match="\n      x at rank 1, but there is no answer\n"):
            check({query: FORBIDDEN[query] for query in answered}, answered, at_most={"false_answer": 0.1}, name="n")

    def test_only_what_a_grade_forbids_is_named(self, check: RetrievalCheck) -> None:
        qrels, run = {"q": {"mild": -1, "bad": -2, "a": 1}}, {"q": ["mild", "bad", "a"]}
        with pytest.raises(pytest.fail.Exception, match="bad at rank 2, above a at rank 3") as failure:
            check(qrels, run, at_most={"leak(grade=-2)@5": 0})
        assert "mild" not in str(failure.value)

    def test_a_query_that_got_nothing_is_one_of_those_that_nothing_came_back_for(self, check: RetrievalCheck) -> None:
        run = {**{query: [] for query in FORBIDDEN}, "q0": ["a0"]}
        assert self.lines(check, run=run, at_most={"leak@5": 0})[0].startswith("leak@5 passed: 0 of 26 queries")

    def test_a_ceiling_of_the_bound(self, request: pytest.FixtureRequest) -> None:
        strict = RetrievalCheck(request.node, replace(SETTINGS, floor="ci_low"), checks=1, records=[])
        assert "passed" in self.lines(strict, at_most={"leak@5": 0.11})[0]
        with pytest.raises(pytest.fail.Exception, match="at most 5 % are allowed"):
            self.lines(strict, at_most={"leak@5": 0.05}, name="narrow")

    @pytest.mark.parametrize(
        ("given", "said"),
        [
            ({"at_least": {"leak@5": 0}}, r"lower is better in leak@5, .* bound it: at_most=\{\.\.\.\}"),
            ({"at_least": {"mrr": 0}, "at_least_per_query": {"leak@5": 0}}, "lower is better in leak@5"),
            (
                {"at_most": {"mrr": 0.9}},
                r"higher is better in mrr, so it has no ceiling; write at_least=\{'mrr': 0.9\}",
            ),
        ],
    )
    def test_a_bound_in_the_wrong_direction_is_refused(self, check: RetrievalCheck, options: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            self.lines(check, **options)

    def test_a_leak_is_a_loss_against_the_baseline(self) -> None:
        before = rm.evaluate(FORBIDDEN, SAFE, "leak@5")
        now = rm.evaluate(FORBIDDEN, SAFE | {"q3": ["secret"]}, "leak@5")
        comparison = compare_with_baseline(now, before, 0.05)
        (difference,) = comparison.differences
        assert (worse_queries(difference), better_queries(difference)) == ([("q3", 1.0)], [])
        (verdict,) = no_regression_gate(comparison, ["q3"])
        assert verdict.line == "leak@5 worse: 1 of 1 query that must not get worse: q3 0.000 -> 1.000"
        assert len(deterministic_gate(comparison)) == 1


@pytest.mark.parametrize("floor", [None, 0])
def test_a_metric_that_nothing_bounds_is_not_compared(check: RetrievalCheck, floor: float | None) -> None:
    run = {query: ["x", *ranking] for query, ranking in QRELS.items()}
    with pytest.raises(pytest.fail.Exception, match=r"mrr not compared: nothing can fail: .* a floor in at_least, or"):
        check(QRELS, run, {"recall@5": 1, "mrr": floor})
    check(QRELS, run, {"mrr": floor}, at_least_per_query={"mrr": 0.5}, name="bounded")
    with pytest.raises(pytest.fail.Exception, match="give a ceiling in at_most"):
        check({"q": {"a": 1, "x": -1}}, {"q": ["x"]}, {"leak@5": None}, name="falls")
