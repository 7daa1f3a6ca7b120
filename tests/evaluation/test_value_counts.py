"""How many queries have which value: in fifths between 0 and a perfect value, or by value of given scores."""

import retrieval_metrics as rm
from retrieval_metrics.evaluation.value_counts import values_chart, values_table

QRELS = {f"q{number}": ["d"] for number in range(4)}
RUN = {"q0": ["d"], "q1": ["x", "d"], "q2": ["y", "d"], "q3": ["x", "y"]}
WITH_UNDEFINED = {**QRELS, "none": {"d": 0}}


def counts(evaluation: rm.Evaluation) -> dict[str, int]:
    return dict(values_chart(evaluation.scores, evaluation.metrics[0]).rows)


def test_values_are_counted_in_fifths_between_0_and_a_perfect_one() -> None:
    counted = counts(rm.evaluate(QRELS, RUN, "mrr"))
    assert (counted["0"], counted["0.4 to 0.6"], counted["perfect"]) == (1, 2, 1)
    assert sum(counted.values()) == 4


def test_a_metric_of_two_values_has_nothing_between_them() -> None:
    assert counts(rm.evaluate(QRELS, RUN, "hit_rate@1")) == {"0": 3, "perfect": 1}


def test_queries_without_a_defined_value_are_counted_apart() -> None:
    assert counts(rm.evaluate(WITH_UNDEFINED, {**RUN, "none": ["x"]}, "mrr"))["undefined"] == 1


def test_given_scores_of_few_values_are_counted_by_value() -> None:
    assert counts(rm.Evaluation.from_scores({"calls": {"q0": 1.0, "q1": 3.0, "q2": 3.0}})) == {"1": 1, "3": 2}


def test_the_table_has_a_column_for_each_system_and_perfect_before_undefined() -> None:
    first = rm.evaluate(WITH_UNDEFINED, {**RUN, "none": ["x"]}, "mrr")
    second = rm.evaluate(WITH_UNDEFINED, dict.fromkeys(WITH_UNDEFINED, ("d",)), "mrr")
    table = values_table({"a": first.scores, "b": second.scores}, first.metrics[0])
    assert table.header == ["queries by mrr", "a", "b"]
    assert [row[0] for row in table.rows][-2:] == ["perfect", "undefined"]
    assert table.rows[0] == ["0", "1", "0"]


def test_given_scores_are_listed_by_size_and_not_as_texts() -> None:
    first = rm.Evaluation.from_scores({"calls": {"q0": 2.0, "q1": 10.0}})
    second = rm.Evaluation.from_scores({"calls": {"q0": 9.0, "q1": 10.0}})
    table = values_table({"a": first.scores, "b": second.scores}, first.metrics[0])

    assert table.rows == [["2", "1", "0"], ["9", "0", "1"], ["10", "1", "1"]]


def test_systems_are_counted_over_the_same_ranges() -> None:
    few = rm.Evaluation.from_scores({"seconds": {f"q{number}": float(number) for number in range(10)}})
    many = rm.Evaluation.from_scores({"seconds": {f"q{number}": 10.0 * number for number in range(11)}})
    table = values_table({"a": few.scores, "b": many.scores}, few.metrics[0])

    assert [row[0] for row in table.rows] == ["0 to 20", "20 to 40", "40 to 60", "60 to 80", "80 to 100"]
    assert [row[1] for row in table.rows] == ["10", "0", "0", "0", "0"]
    assert [row[2] for row in table.rows] == ["2", "2", "2", "2", "3"]
