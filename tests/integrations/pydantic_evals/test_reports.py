"""Whole reports: what failed counts as 0, and what cannot be judged is left out and counted."""

from typing import Any

import pytest
from pydantic_evals import Case, Dataset

import retrieval_metrics as rm
from pydantic_evals_hosts import answer_or_fail
from pydantic_evals_retrieval_metrics import RetrievalMetrics, RetrievalReport, to_evaluation
from pytest_retrieval_metrics import RetrievalCheck
from retrieval_builds import SETTINGS


def test_cases_with_equal_names_are_numbered() -> None:
    cases = [
        Case(name="Case 2", inputs="a", expected_output=["d1"]),
        Case(inputs="b", expected_output=["d7"]),
        Case(inputs="c", expected_output=["d7"]),
    ]
    report = Dataset(name="equal", cases=cases).evaluate_sync(lambda _: ["d7"], progress=False)
    evaluation = to_evaluation(report, "mrr")
    assert sorted(evaluation.per_query["mrr"].items()) == [("Case 2", 0.0), ("Case 2 (2)", 1.0), ("Case 3", 1.0)]


def test_a_case_that_only_the_core_refuses_is_left_out_of_the_report_too() -> None:
    outputs: dict[str, Any] = {"good": ["d7"], "number": [7], "nameless": [rm.Retrieved(None, "a text")]}
    cases = [Case(name=name, inputs=name, expected_output=["d7"]) for name in outputs]
    report = Dataset[str, Any, Any](name="left", cases=cases).evaluate_sync(outputs.__getitem__, progress=False)
    with pytest.warns(rm.RetrievalWarning, match="2 of 3 cases are left out; case 'number' cannot be judged: .* int"):
        evaluation = to_evaluation(report, "mrr")
    assert evaluation.per_query["mrr"] == {"good": 1.0}


def test_what_cannot_be_judged_is_left_out_of_the_report_and_counted() -> None:
    cases = [Case(name=name, inputs=name, expected_output=["d7"]) for name in ("good", "wrong")]
    cases.append(Case(name="unjudged", inputs="good"))
    dataset = Dataset[str, Any, Any](name="left", cases=cases, report_evaluators=[RetrievalReport("mrr")])
    with pytest.warns(rm.RetrievalWarning, match="2 of 3 cases are left out; case 'wrong' cannot be judged"):
        report = dataset.evaluate_sync(lambda name: ["d7"] if name == "good" else "d7", progress=False)
    table: Any = report.analyses[0]
    assert table.rows[0][:2] == ["mrr", 1.0]
    assert table.rows[0][-1] == 1
    assert "excluded: 0 without relevant documents, 2 that cannot be judged" in table.description
    with pytest.raises(ValueError, match="no case can be judged: case 'good' cannot be judged"):
        to_evaluation(report, "mrr", retrieved="output.documents")


@pytest.mark.parametrize("relevant", [[1], [1.0], "d7", "['d7']", [None], [["d7"], "d1"], [[]], 7, [""], None])
def test_one_case_with_wrong_judgments_does_not_remove_the_table(relevant: Any) -> None:
    cases = [Case(name=f"good {number}", inputs="q", expected_output=["d7"]) for number in range(3)]
    cases.append(Case(name="bad", inputs="q", expected_output=relevant))
    dataset = Dataset[str, Any, Any](
        name="bad", cases=cases, evaluators=[RetrievalMetrics("mrr")], report_evaluators=[RetrievalReport("mrr")]
    )
    with pytest.warns(rm.RetrievalWarning, match="1 of 4 cases are left out; case 'bad' "):
        report = dataset.evaluate_sync(lambda _: ["d7"], progress=False)
    assert [len(case.evaluator_failures) for case in report.cases] == [0, 0, 0, 1]
    table: Any = report.analyses[0]
    assert (table.rows[0][1], table.rows[0][-1]) == (1.0, 3)


def test_a_build_fails_where_retrieval_is_broken(request: pytest.FixtureRequest) -> None:
    cases = [Case(name=f"{number}", inputs="q", expected_output=["d7"]) for number in range(12)]
    dataset = Dataset[str, Any, Any](name="gate", cases=cases)
    check = RetrievalCheck(request.node, SETTINGS, checks=1, records=[])
    rankings = {"as it is": ["x", "d7"], "improved": ["d7", "x"], "broken": ["x", "y", "z", "d7"]}
    for name, ranking in rankings.items():
        report = dataset.evaluate_sync(lambda _, ranking=ranking: ranking, progress=False)
        evaluation = to_evaluation(report, "mrr")
        if name == "broken":
            with pytest.raises(pytest.fail.Exception, match="mrr below floor"):
                check(evaluation, at_least={"mrr": 0.4}, name=name)
        else:
            assert check(evaluation, at_least={"mrr": 0.4}, name=name).verdicts[0].outcome == "passed"


TEXTS = {"shop.md": "Refunds take five working days. Shipping is free.", "help.md": "Ask us by mail."}

# Per kind of judgment: what is judged for a question that `TEXTS["shop.md"]` answers.
JUDGED: dict[str, Any] = {
    "quote": [rm.Quote("five working days")],
    "graded quotes": {rm.Quote("five working days"): 2, rm.Quote("Shipping is free"): 1},
    "groups": [[rm.Quote("no such words"), rm.Text(TEXTS["shop.md"])]],
    "metadata": [rm.Metadata(page=3)],
    "span": [rm.Span("shop.md", 0, 10)],
    "forbidden": {rm.Quote("five working days"): 1, ~rm.Metadata(page=3): -1},
}


@pytest.mark.parametrize("kind", list(JUDGED))
def test_questions_judged_by_pieces_are_gated_like_those_judged_by_ids(
    kind: str, request: pytest.FixtureRequest
) -> None:
    texts = {f"q{number}": f"{number}: how long does a refund take?" for number in range(12)}
    questions = rm.EvaluationSet(texts, dict.fromkeys(texts, JUDGED[kind]))
    settings: Any = {"relevant": "metadata.relevant"}
    dataset = Dataset[str, Any, Any](
        name="pieces",
        cases=[Case(**fields) for fields in questions.to_pydantic_evals()],
        evaluators=[RetrievalMetrics(["mrr"], **settings, evaluation_name="")],
        report_evaluators=[RetrievalReport(["mrr"], **settings, evaluation_name="")],
    )
    right = rm.Retrieved("c1", TEXTS["shop.md"], "shop.md", 0, metadata={"page": 3})
    wrong = rm.Retrieved("c2", TEXTS["help.md"], "help.md", 0, metadata={"page": 4})
    check = RetrievalCheck(request.node, SETTINGS, checks=1, records=[])

    def gate(name: str, retrieve: Any, mean: float) -> None:
        report = dataset.evaluate_sync(retrieve, progress=False)
        averages = report.averages()
        assert averages is not None
        assert averages.scores == {"mrr": mean}
        assert not report.report_evaluator_failures
        table: Any = report.analyses[0]
        assert table.rows[0][:2] == ["mrr", mean]
        evaluation = to_evaluation(report, "mrr", **settings)
        assert evaluation.means["mrr"] == mean
        check(evaluation, at_least={"mrr": 0.8}, name=name)

    gate("good", lambda _: [right, wrong], 1.0)
    with pytest.raises(pytest.fail.Exception, match="mrr below floor"):
        gate("broken", lambda text: [wrong, right] if int(text.partition(":")[0]) % 2 else [right, wrong], 0.75)


def test_one_case_with_a_wrong_piece_is_left_out_of_the_report() -> None:
    pieces = {"good": [{"type": "quote", "text": "five working days"}], "bad": [{"type": "quote"}]}
    cases = [Case(name=name, inputs=name, expected_output=relevant) for name, relevant in pieces.items()]
    found = [{"id": "c1", "text": TEXTS["shop.md"]}]
    report = Dataset[str, Any, Any](name="wrong", cases=cases).evaluate_sync(lambda _: found, progress=False)
    with pytest.warns(rm.RetrievalWarning, match="1 of 2 cases are left out; case 'bad' cannot be judged"):
        evaluation = to_evaluation(report, "mrr")
    assert evaluation.per_query["mrr"] == {"good": 1.0}


def test_a_task_that_failed_counts_as_0_in_the_report() -> None:
    cases = [Case(name=name, inputs=name, expected_output=["d7"]) for name in ("good", "bad", "fine")]
    cases.append(Case(name="bad, nothing relevant", inputs="bad", expected_output=[]))
    dataset = Dataset(
        name="answer_or_fail",
        cases=cases,
        evaluators=[RetrievalMetrics(["mrr"])],
        report_evaluators=[RetrievalReport(["mrr"])],
    )
    with pytest.warns(rm.RetrievalWarning):
        report = dataset.evaluate_sync(answer_or_fail, progress=False)
    averages = report.averages()
    assert averages is not None
    assert averages.scores == {"mrr": 0.5}  # Pydantic Evals leaves failures out
    with pytest.warns(rm.RetrievalWarning, match="failed"):
        evaluation = to_evaluation(report, "mrr")
    assert evaluation.means["mrr"] == 1 / 3
    assert evaluation.counts["failed"] == 2
    assert str(evaluation.errors["bad"]) == "ConnectionError: the store is down"
    table: Any = report.analyses[0]
    low, high = evaluation.intervals()["mrr"]
    assert table.columns == ["metric", "mean", "low 95%", "high 95%", "n"]
    assert table.rows == [["mrr", 0.3333, round(low, 4), round(high, 4), 3]]
    assert table.title == "retrieval, 4 cases; 2 failed, scored 0 here (excluded from report.averages())"
    assert table.description == (
        "4 cases: 2 failed, scored 0 here (excluded from report.averages()); excluded: 1 without relevant documents, 0 "
        "that cannot be judged"
    )


def test_the_table_says_that_rankings_end_before_k() -> None:
    cases = [Case(name=name, inputs=name, expected_output=["d7"]) for name in ("good", "fine")]
    dataset = Dataset[str, Any, Any](
        name="short", cases=cases, report_evaluators=[RetrievalReport(["recall@10", "recall@2"])]
    )
    report = dataset.evaluate_sync(lambda _: ["d7", "d1"], progress=False)
    table: Any = report.analyses[0]
    assert "recall@10 equals recall@2" in table.description
    assert "retrieve 10 or more" in table.description


def test_where_every_task_failed_there_is_no_number() -> None:
    dataset = Dataset(
        name="down",
        cases=[Case(name=name, inputs="a question that fails", expected_output=["d7"]) for name in ("a", "b")],
        evaluators=[RetrievalMetrics(["mrr"])],
        report_evaluators=[RetrievalReport(["mrr"])],
    )

    def refused(_: str) -> list[str]:
        raise PermissionError("401")

    report = dataset.evaluate_sync(refused, progress=False)
    assert (report.cases, report.analyses) == ([], [])
    (failure,) = report.report_evaluator_failures
    assert "nothing to evaluate: the retriever failed for every query, 2 of 2" in failure.error_message
    with pytest.raises(ValueError, match=r"failed for every query, 2 of 2; the first, 'a': .*401"):
        to_evaluation(report, "mrr")


def test_repeated_cases_do_not_narrow_the_interval() -> None:
    cases = []
    for number in range(24):
        relevant = ["d7"] if number % 2 else ["d3"]
        cases.append(Case(name=f"q{number}", inputs=number, expected_output=relevant))
    dataset = Dataset(name="repeated", cases=cases)
    once = to_evaluation(dataset.evaluate_sync(lambda _: ["d3", "d7"], progress=False), "mrr")
    often = to_evaluation(dataset.evaluate_sync(lambda _: ["d3", "d7"], progress=False, repeat=4), "mrr")
    assert often.n["mrr"] == 4 * once.n["mrr"]
    assert often.means["mrr"] == once.means["mrr"]
    low, high = often.intervals()["mrr"]
    low_once, high_once = once.intervals()["mrr"]
    assert high - low == pytest.approx(high_once - low_once, rel=0.15)
