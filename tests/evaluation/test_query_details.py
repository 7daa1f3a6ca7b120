"""Numbers and results as a page holds them shortest."""

import math

import pytest

import retrieval_metrics as rm
from retrieval_metrics.evaluation.explainer import Explainer
from retrieval_metrics.evaluation.query_details import QueryDetails, short_number


@pytest.mark.parametrize(
    ("value", "short"),
    [(1.0, 1), (0.5, 0.5), (1 / 3, 0.333333), (-0.0, 0), (math.nan, None), (math.inf, None)],
)
def test_numbers_are_as_short_as_json_holds_them(value: float, short: float | None) -> None:
    assert short_number(value) == short
    assert type(short_number(value)) is type(short)


def test_a_result_is_as_short_as_what_is_known_of_it() -> None:
    evaluation = rm.evaluate({"q": {"a": 1, "b": 0}}, {"q": ["x", "a", "b"]}, "mrr")
    explainer = Explainer(evaluation.scores)
    details = QueryDetails(1, 10, is_flat=True)
    (explained,) = explainer.explain(explainer.outcomes([0]))
    details.add(0, 0, explainer, explained)
    page_details = details.page_details(None)
    rows = page_details.rows
    assert page_details.documents == [["a"], ["x"], ["b"]]
    assert rows[0]["needed"] == [[0, 1, None, [[10, 2, 0]]]]
    # The unjudged one is the number of its text alone; the others have their state, no score, and their grade.
    assert rows[0]["results"] == [[1, [0, 0, None, 1.0, [0]], [2, 1, None, 0.0]]]
    assert details.number_by_detail == {"found": 0}


def test_a_text_is_marked_where_it_is_relevant_and_only_in_relevant_results() -> None:
    quote = rm.Quote("keys are hashed")
    results = [rm.Retrieved("x", "No keys here."), rm.Retrieved("a", "In a set, keys are hashed once.")]
    evaluation = rm.evaluate({"q": [quote]}, {"q": results}, "mrr")
    explainer = Explainer(evaluation.scores)
    details = QueryDetails(1, 10, is_flat=True)
    (explained,) = explainer.explain(explainer.outcomes([0]))
    details.add(0, 0, explainer, explained)
    page_details = details.page_details(None)
    # The first result is unjudged; in the second, characters 10 to 25 are the quote.
    assert page_details.rows[0]["results"] == [[1, [2, 0, None, 1.0, [0], [[10, 25]]]]]
