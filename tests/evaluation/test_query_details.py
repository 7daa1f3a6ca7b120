"""The details of queries on a page, and numbers as JSON holds them shortest."""

import math

import pytest

import retrieval_metrics as rm
from retrieval_metrics.evaluation.explainer import Explainer
from retrieval_metrics.evaluation.outcomes import OUTCOME_KINDS
from retrieval_metrics.evaluation.page_data import JUDGMENT_STATES, NeededRow, OutcomeRow, ResultRow, TextRow
from retrieval_metrics.evaluation.query_details import QueryDetails, short_number


@pytest.mark.parametrize(
    ("value", "short"),
    [(1.0, 1), (0.5, 0.5), (1 / 3, 0.333333), (-0.0, 0), (math.nan, None), (math.inf, None)],
)
def test_numbers_are_as_short_as_json_holds_them(value: float, short: float | None) -> None:
    assert short_number(value) == short
    assert type(short_number(value)) is type(short)


def test_a_query_has_what_it_needed_and_what_came_back() -> None:
    evaluation = rm.evaluate({"q": {"a": 1, "b": 0}}, {"q": ["x", "a", "b"]}, "mrr")
    explainer = Explainer(evaluation.scores)
    details = QueryDetails(1, 10, is_flat=True)
    (explained,) = explainer.explain(explainer.outcomes([0]))
    details.add(0, 0, explainer, explained)
    page_details = details.page_details(None)
    rows = page_details.rows
    assert page_details.texts == [TextRow("a"), TextRow("x"), TextRow("b")]
    found = OutcomeRow(OUTCOME_KINDS.index("found"), rank=2, sentence=0)
    assert rows[0].needed == [NeededRow(text_number=0, grade=1, groups=None, outcomes=[found])]
    relevant = JUDGMENT_STATES.index("relevant")
    not_relevant = JUDGMENT_STATES.index("not relevant")
    assert rows[0].results == [
        [
            ResultRow(text_number=1),
            ResultRow(text_number=0, judgment=relevant, grade=1.0, satisfied=(0,)),
            ResultRow(text_number=2, judgment=not_relevant, grade=0.0),
        ]
    ]
    assert details.number_by_sentence == {"found": 0}


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
    (rows,) = page_details.rows[0].results
    assert rows is not None
    assert rows[0] == ResultRow(text_number=1)
    assert (rows[1].satisfied, rows[1].marks) == ((0,), ((10, 25),))
