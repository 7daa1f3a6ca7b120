"""The probabilities and quantiles agree with scipy's, from one query to a million."""

import math

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import special

from retrieval_metrics.statistics.distributions import (
    beta_cdf,
    beta_quantile,
    chi_squared_quantile,
    find_root,
    noncentral_t_quantile,
    noncentral_t_upper,
    normal_cdf,
    normal_quantile,
    t_cdf,
    t_quantile,
)

SHAPES = (0.005, 0.25, 0.5, 1.0, 1.3, 5.5, 99.0, 12_345.6, 1e6)
DEGREES = (1.0, 1.5, 2.0, 5.0, 14.2, 49.0, 499.0, 6_979.0, 99_999.0, 1e6)
PROBABILITIES = (1e-9, 0.0005, 0.025, 0.1, 0.5, 0.77, 0.975, 0.9995, 1 - 1e-9)


@pytest.mark.parametrize("a", SHAPES)
@pytest.mark.parametrize("b", SHAPES)
def test_beta_quantiles_are_those_of_scipy(a: float, b: float) -> None:
    for probability in PROBABILITIES:
        value = beta_quantile(a, b, probability)
        expected = float(special.betaincinv(a, b, probability))
        assert value == pytest.approx(expected, rel=2e-5, abs=1e-290)
        # Where one shape is much larger than the other, scipy's quantile is off by up to 1e-5, but not its probability.
        if 1e-4 < a / b < 1e4:
            assert value == pytest.approx(expected, rel=1e-12, abs=1e-290)
        elif 1e-290 < value < 0.99:
            assert float(special.betainc(a, b, value)) == pytest.approx(probability, rel=1e-11)


@settings(max_examples=50)
@given(st.floats(0.5, 3_000), st.floats(0.5, 3_000), st.floats(0.001, 0.999))
@example(0.5, 1_000.5, 0.025)
def test_beta_quantiles_of_any_sample_are_those_of_scipy(a: float, b: float, probability: float) -> None:
    assert beta_quantile(a, b, probability) == pytest.approx(float(special.betaincinv(a, b, probability)), rel=1e-12)


@pytest.mark.parametrize("a", SHAPES)
def test_beta_probabilities_are_those_of_scipy(a: float) -> None:
    for b in SHAPES:
        for value in (0.0, 1e-9, 0.001, 0.3, a / (a + b), 0.7, 0.999, 1.0):
            expected = float(special.betainc(a, b, value))
            assert beta_cdf(a, b, value) == pytest.approx(expected, rel=1e-11, abs=1e-290)


@pytest.mark.parametrize("df", DEGREES)
def test_student_and_chi_squared_are_those_of_scipy(df: float) -> None:
    for probability in PROBABILITIES:
        expected = float(special.stdtrit(df, probability))
        assert t_quantile(df, probability) == pytest.approx(expected, rel=1e-9 if df < 2 else 1e-12, abs=1e-12)
        expected = float(special.chdtri(df, probability))
        assert chi_squared_quantile(df, probability) == pytest.approx(expected, rel=1e-12)
    for value in (-40.0, -8.0, -1.2, 0.0, 0.3, 5.0):
        assert t_cdf(df, value) == pytest.approx(float(special.stdtr(df, value)), rel=1e-11, abs=1e-290)


def test_the_normal_distribution_is_that_of_scipy() -> None:
    for probability in (1e-300, *PROBABILITIES):
        value = normal_quantile(probability)
        assert value == pytest.approx(float(special.ndtri(probability)), rel=1e-14)
        assert normal_cdf(value) == pytest.approx(probability, rel=1e-12)
    assert t_quantile(math.inf, 0.975) == normal_quantile(0.975)
    assert t_cdf(math.inf, 1.5) == pytest.approx(normal_cdf(1.5), rel=1e-15)
    assert (normal_quantile(0.0), normal_quantile(1.0)) == (-math.inf, math.inf)


@pytest.mark.parametrize("df", [1.5, 4.0, 4.3, 14.0, 49.0, 499.0, 6_979.0, 1e5])
def test_the_noncentral_t_is_that_of_scipy(df: float) -> None:
    for alpha in (0.1, 0.05, 0.001):
        critical = t_quantile(df, 1 - alpha / 2)
        for noncentrality in (0.0, 0.3, 2.0, 2.8, 8.0):
            expected = 1 - float(special.nctdtr(df, noncentrality, critical))
            assert noncentral_t_upper(df, noncentrality, critical) == pytest.approx(expected, abs=1e-12)
        for power in (0.2, 0.8, 0.99):
            noncentrality = normal_quantile(1 - alpha / 2)
            expected = float(special.nctdtrit(df, noncentrality, power))
            assert noncentral_t_quantile(df, noncentrality, power) == pytest.approx(expected, rel=1e-11)


def test_without_degrees_of_freedom_there_is_no_probability() -> None:
    assert math.isnan(t_cdf(0, -1.0))
    assert math.isnan(t_quantile(0, 0.975))
    assert math.isnan(chi_squared_quantile(0, 0.8))


def test_a_root_at_an_end_or_between_is_found() -> None:
    assert find_root(lambda value: value**3 - 8, 0.0, 5.0) == pytest.approx(2.0, rel=1e-15)
    assert find_root(lambda value: value, 0.0, 1.0) == 0
    assert find_root(lambda value: value - 1, 0.0, 1.0) == 1
