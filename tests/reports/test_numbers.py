"""Numbers are written for reading: with the digits that say something."""

from retrieval_metrics.reports import numbers
from retrieval_metrics.types import Interval


def test_numbers_are_written_for_reading() -> None:
    assert numbers.format_interval(Interval(0.1234, 1.0)) == "[0.123, 1.000]"
    assert numbers.format_interval(Interval(-0.1, 0.25), difference=True) == "[-0.100, +0.250]"
    assert numbers.format_interval(Interval(float("nan"), float("nan"))) == "-"
    assert numbers.format_interval(Interval(0, float("inf"))) == "-"
    assert numbers.format_mean(0.5, Interval(0.25, 0.75)) == "0.500 [0.250, 0.750]"
    assert numbers.format_mean(2.0, Interval(0, float("inf"))) == "2.00"
    assert numbers.format_mean(float("nan"), Interval(float("nan"), float("nan"))) == "-"
    assert (numbers.format_known_value(float("nan")), numbers.format_known_value(0.25)) == ("-", "0.250")
    assert (numbers.format_p_value(0.00003), numbers.format_p_value(0.0312)) == ("< 0.001", "0.0312")
    assert (numbers.format_query_count(1), numbers.format_query_count(1250)) == ("1 query", "1,250 queries")
    assert [numbers.format_signed(value) for value in (0.04449, -0.00004, 0.0, float("inf"))] == [
        "+0.0445", "-0.0000400", "0", "+inf",
    ]  # fmt: skip
    assert numbers.format_signed(float("nan")) == "nan"
    assert [numbers.format_value(number) for number in (0.99996, 0.00412, 1e-9, -0.0, 7.0, 812.3)] == [
        "1.000", "0.00412", "0.000", "0.000", "7.00", "812",
    ]  # fmt: skip
    assert numbers.format_interval(Interval(0.00003, 0.0412)) == "[0.0000, 0.0412]"  # as precise as the larger end
    assert numbers.format_change(0.71391, 0.71389) == "0.71391 -> 0.71389"
    assert numbers.format_distinct(0.79996, 0.8)[0] == "0.79996"  # what is below a floor is seen to be below it
    assert numbers.join_names(["a", "b"]) == "a and b"
    assert (numbers.format_size(float("inf")), numbers.format_size(0.05)) == ("-", "0.050")
    # One precision for all p values and effects of a column.
    assert [numbers.format_p_value(p) for p in (1.0, 0.9996, 0.0412)] == ["1.00", "1.00", "0.0412"]
    assert [numbers.format_two_digits(effect) for effect in (0.37, 0.4, 0.0996)] == ["0.37", "0.40", "0.10"]
