"""Compute probabilities and quantiles of the normal, Beta, chi-squared, Student's t and noncentral t distributions.

scipy.special has them all, but takes longer to import than numpy, this package and an evaluation together. These take
one number at a time, agree with scipy to about 1e-12, and need only the standard library. Statistics that take arrays
call scipy.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable


# From here on the series of Stirling's formula is exact to the last bit.
MIN_FOR_STIRLING_SERIES = 16.0

# Coefficients of 1 / z, 1 / z^3, 1 / z^5 ... in the series of Stirling's formula.
STIRLING_COEFFICIENTS = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188)

# A factor or a step that changes a number by less than this share is the last one.
RELATIVE_PRECISION = 2.0**-52

# Stands for zero in a denominator of a continued fraction.
SMALLEST_DENOMINATOR = 1e-300

# Newton's method doubles the correct digits with each step; bisection, which replaces a step that leads away, adds one
# binary digit.
MAX_STEPS = 200

# With fewer degrees of freedom, which samples of very uneven clusters have, the mean over s takes many more points.
MIN_NONCENTRAL_DF = 4.0

# From here on few points are enough for the mean over s, and Student's quantile differs from the normal one by a few
# terms in 1 / df.
MIN_DF_FOR_EXPANSION = 1e5

# The density of the standard deviation is summed down to exp(-45), and at so many points per standard deviation of it.
MIN_LOG_DENSITY = -45.0
POINTS_PER_DEVIATION = 6.0


class Tails(NamedTuple):
    """The probability of a smaller value and that of a larger one; each is exact when it is close to 0."""

    lower: float
    upper: float


class WeightedPoints(NamedTuple):
    """The points at which a function is evaluated to average it, and the weight of each."""

    points: tuple[float, ...]
    weights: tuple[float, ...]


def normal_cdf(value: float) -> float:
    """Return the probability that a standard normal variable is below a value."""
    return 0.5 * math.erfc(-value / math.sqrt(2))


def normal_quantile(probability: float) -> float:
    """Return the value below which a standard normal variable is with this probability.

    Example:
        >>> round(normal_quantile(0.975), 6)
        1.959964
    """
    if not 0 < probability < 1:
        return _end_of_support(probability, -math.inf, math.inf)
    if probability > 0.5:
        return -normal_quantile(1 - probability)
    # Abramowitz and Stegun 26.2.23, right to 0.00045; two of Halley's steps bring it to the last digits.
    root = math.sqrt(-2 * math.log(probability))
    numerator = 2.515517 + 0.802853 * root + 0.010328 * root**2
    denominator = 1 + 1.432788 * root + 0.189269 * root**2 + 0.001308 * root**3
    value = numerator / denominator - root
    for _ in range(3):
        density = math.exp(-(value**2) / 2) / math.sqrt(2 * math.pi)
        step = (normal_cdf(value) - probability) / density
        value -= step / (1 + value * step / 2)
    return value


def beta_cdf(a: float, b: float, value: float) -> float:
    """Return the probability that a Beta(a, b) variable is below a value, the regularised incomplete beta function."""
    if value <= 0:
        return 0.0
    if value >= 1:
        return 1.0
    return _beta_tails(a, b, value, 1 - value).lower


@lru_cache(maxsize=256)
def beta_quantile(a: float, b: float, probability: float) -> float:
    """Return the value below which a Beta(a, b) variable is with this probability.

    Example:
        >>> round(beta_quantile(2, 2, 0.5), 6)
        0.5
    """
    if not 0 < probability < 1:
        return _end_of_support(probability, 0.0, 1.0)
    return _beta_quantile(a, b, Tails(probability, 1 - probability))


@lru_cache(maxsize=256)
def chi_squared_quantile(df: float, upper: float) -> float:
    """Return the value that a chi-squared variable exceeds with this probability; NaN without degrees of freedom.

    Example:
        >>> round(chi_squared_quantile(10, 0.05), 4)
        18.307
    """
    if not df > 0:
        return math.nan
    # Wilson and Hilferty's cube of a normal variable.
    variance = 2 / (9 * df)
    guess = df * max(1 - variance + normal_quantile(1 - upper) * math.sqrt(variance), 0.0) ** 3
    shape = df / 2
    tails = Tails(1 - upper, upper)
    if guess <= 0 or shape < 1:
        # The first term of the series of the lower probability.
        guess = max(guess, 2 * math.exp((math.log(tails.lower) + math.lgamma(shape + 1)) / shape))

    def step(value: float) -> tuple[float, float]:
        reached = _gamma_tails(shape, value)
        density = math.exp(_log_gamma_factor(shape, value)) / value
        return _excess(reached, tails), _halley_step(_excess(reached, tails), density, (shape - 1) / value - 1)

    return 2 * _solve(step, guess / 2, 0.0, math.inf)


def t_cdf(df: float, value: float) -> float:
    """Return the probability that a Student's t variable is below a value; NaN without degrees of freedom."""
    if not df > 0 or math.isnan(value):
        return math.nan
    upper = _t_outside(df, abs(value)) / 2
    return upper if value < 0 else 1 - upper


@lru_cache(maxsize=256)
def t_quantile(df: float, probability: float) -> float:
    """Return the value below which a Student's t variable is with this probability; NaN without degrees of freedom.

    Example:
        >>> round(t_quantile(24, 0.975), 4)
        2.0639
    """
    if not df > 0:
        return math.nan
    if math.isinf(df):
        return normal_quantile(probability)
    if not 0 < probability < 1:
        return _end_of_support(probability, -math.inf, math.inf)
    if probability == 0.5:
        return 0.0
    if probability < 0.5:
        return -_upper_t_quantile(df, probability)
    return _upper_t_quantile(df, 1 - probability)


def noncentral_t_upper(df: float, noncentrality: float, value: float) -> float:
    """Return the probability that a noncentral t variable exceeds a value.

    With s^2 a chi-squared variable over its degrees of freedom, it is the mean of the normal probability of exceeding
    s times the value, over the distribution of s.
    """
    if df < MIN_NONCENTRAL_DF:
        from scipy.special import nctdtr

        return 1 - float(nctdtr(df, noncentrality, value))
    total = 0.0
    deviations = _deviation_points(df)
    for deviation, weight in zip(deviations.points, deviations.weights, strict=True):
        total += weight * math.erfc((value * deviation - noncentrality) / math.sqrt(2))
    return total / 2


@lru_cache(maxsize=256)
def noncentral_t_quantile(df: float, noncentrality: float, probability: float) -> float:
    """Return the value below which a noncentral t variable is with this probability."""
    if df < MIN_NONCENTRAL_DF:
        from scipy.special import nctdtrit

        return float(nctdtrit(df, noncentrality, probability))

    def excess(value: float) -> float:
        return 1 - probability - noncentral_t_upper(df, noncentrality, value)

    low = noncentrality
    width = 1.0
    while excess(low) > 0:
        low -= width
        width *= 2
    high = low + 1.0
    while excess(high) < 0:
        high += width
        width *= 2
    return find_root(excess, low, high)


def find_root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a rising function crosses 0 between two arguments, by false position (the Illinois method).

    Args:
        function: A continuous function, at most 0 at `low` and at least 0 at `high`.
        low: An argument at or below the root.
        high: An argument at or above the root.
    """
    below = function(low)
    above = function(high)
    if below >= 0:
        return low
    if above <= 0:
        return high
    last_side = 0
    for _ in range(MAX_STEPS):
        middle = high - above * (high - low) / (above - below)
        if not low < middle < high:
            middle = low + (high - low) / 2
        value = function(middle)
        if value == 0:
            return middle
        # An end that stays twice counts half, so that it moves too.
        if value < 0:
            low = middle
            below = value
            if last_side < 0:
                above /= 2
            last_side = -1
        else:
            high = middle
            above = value
            if last_side > 0:
                below /= 2
            last_side = 1
        if high - low <= RELATIVE_PRECISION * 4 * abs(high) or abs(value) < RELATIVE_PRECISION / 4:
            break
    return middle


def _end_of_support(probability: float, lowest: float, highest: float) -> float:
    if probability == 0:
        return lowest
    if probability == 1:
        return highest
    return math.nan


def _stirling_error(z: float) -> float:
    """Return by how much the logarithm of gamma(z + 1) exceeds Stirling's formula."""
    if z < MIN_FOR_STIRLING_SERIES:
        return math.lgamma(z + 1) - (z + 0.5) * math.log(z) + z - math.log(2 * math.pi) / 2
    error = 0.0
    for coefficient in reversed(STIRLING_COEFFICIENTS):
        error = error / z**2 + coefficient
    return error / z


def _log_ratio_excess(count: float, expected: float, excess: float) -> float:
    """Return count times (r - 1 - log r) for r = expected / count, where `excess` is r - 1."""
    if excess < -0.5:
        return count * (excess - math.log(expected / count))
    return count * (excess - math.log1p(excess))


def _beta_tails(a: float, b: float, x: float, y: float) -> Tails:
    """Return the probabilities that a Beta(a, b) variable is below and above x, where y is 1 - x."""
    log_factor = _log_beta_factor(a, b, x, y)
    if log_factor < math.log(SMALLEST_DENOMINATOR):
        factor = 0.0
    else:
        factor = math.exp(log_factor)
    if x * (a + b + 2) <= a + 1:
        lower = min(factor / a * _beta_fraction(a, b, x), 1.0)
        return Tails(lower, 1 - lower)
    upper = min(factor / b * _beta_fraction(b, a, y), 1.0)
    return Tails(1 - upper, upper)


def _log_beta_factor(a: float, b: float, x: float, y: float) -> float:
    """Return the logarithm of x^a y^b / B(a, b), without losing digits where a and b are large."""
    n = a + b
    # The smaller of x and y has all its digits.
    if x <= y:
        excess = n * x - a
    else:
        excess = b - n * y
    distance = _log_ratio_excess(a, n * x, excess / a) + _log_ratio_excess(b, n * y, -excess / b)
    errors = _stirling_error(n) - _stirling_error(a) - _stirling_error(b)
    return math.log(a / n * b / (2 * math.pi)) / 2 - distance + errors


def _beta_fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz's method."""
    numerator_ratio = 1.0
    denominator_ratio = 1 / _away_from_zero(1 - (a + b) * x / (a + 1))
    fraction = denominator_ratio
    m = 0
    while True:
        m += 1
        coefficient = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        denominator_ratio = 1 / _away_from_zero(1 + coefficient * denominator_ratio)
        numerator_ratio = _away_from_zero(1 + coefficient / numerator_ratio)
        fraction *= denominator_ratio * numerator_ratio
        coefficient = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        denominator_ratio = 1 / _away_from_zero(1 + coefficient * denominator_ratio)
        numerator_ratio = _away_from_zero(1 + coefficient / numerator_ratio)
        change = denominator_ratio * numerator_ratio
        fraction *= change
        if abs(change - 1) <= RELATIVE_PRECISION:
            return fraction


def _away_from_zero(number: float) -> float:
    if abs(number) < SMALLEST_DENOMINATOR:
        return SMALLEST_DENOMINATOR
    return number


def _beta_quantile(a: float, b: float, tails: Tails) -> float:
    def step(x: float) -> tuple[float, float]:
        y = max(1 - x, RELATIVE_PRECISION / 2)
        excess = _excess(_beta_tails(a, b, x, y), tails)
        log_density = _log_beta_factor(a, b, x, y) - math.log(x) - math.log(y)
        density = math.exp(min(log_density, 700.0))
        return excess, _halley_step(excess, density, (a - 1) / x - (b - 1) / y)

    guess = _guess_beta_quantile(a, b, tails)
    if guess < SMALLEST_DENOMINATOR or guess == 1:
        return guess
    return _solve(step, guess, 0.0, 1.0)


def _guess_beta_quantile(a: float, b: float, tails: Tails) -> float:
    """Return about where a Beta variable has these probabilities."""
    if a >= 1 and b >= 1:
        # Abramowitz and Stegun 26.5.22.
        z = normal_quantile(tails.lower) if tails.lower < 0.5 else -normal_quantile(tails.upper)
        room_a = 1 / (2 * a - 1)
        room_b = 1 / (2 * b - 1)
        harmonic = 2 / (room_a + room_b)
        curvature = (z**2 - 3) / 6
        shift = (room_b - room_a) * (curvature + 5 / 6 - 2 / (3 * harmonic))
        w = -z * math.sqrt(max(curvature + harmonic, 0.0)) / harmonic + shift
        return a / (a + b * math.exp(min(2 * w, 700.0)))
    # The density near each end alone.
    near_low = math.exp(a * math.log(a / (a + b))) / a
    near_high = math.exp(b * math.log(b / (a + b))) / b
    both = near_low + near_high
    if tails.lower < near_low / both:
        return math.pow(a * both * tails.lower, 1 / a)
    return 1 - math.pow(b * both * tails.upper, 1 / b)


def _log_gamma_factor(shape: float, value: float) -> float:
    """Return the logarithm of value^shape exp(-value) / gamma(shape)."""
    distance = _log_ratio_excess(shape, value, (value - shape) / shape)
    return math.log(shape / (2 * math.pi)) / 2 - distance - _stirling_error(shape)


def _gamma_tails(shape: float, value: float) -> Tails:
    """Return the probabilities that a gamma variable of scale 1 is below and above a value."""
    factor = math.exp(max(_log_gamma_factor(shape, value), math.log(SMALLEST_DENOMINATOR)))
    if value < shape + 1:
        term = 1 / shape
        total = term
        n = shape
        while term > total * RELATIVE_PRECISION / 2:
            n += 1
            term *= value / n
            total += term
        lower = min(factor * total, 1.0)
        return Tails(lower, 1 - lower)
    upper = min(factor * _gamma_fraction(shape, value), 1.0)
    return Tails(1 - upper, upper)


def _gamma_fraction(shape: float, value: float) -> float:
    """Return the continued fraction of the upper incomplete gamma function (DLMF 8.9.2), by Lentz's method."""
    partial_denominator = value + 1 - shape
    numerator_ratio = 1 / SMALLEST_DENOMINATOR
    denominator_ratio = 1 / partial_denominator
    fraction = denominator_ratio
    n = 0
    while True:
        n += 1
        partial_numerator = -n * (n - shape)
        partial_denominator += 2
        denominator_ratio = 1 / _away_from_zero(partial_denominator + partial_numerator * denominator_ratio)
        numerator_ratio = _away_from_zero(partial_denominator + partial_numerator / numerator_ratio)
        change = denominator_ratio * numerator_ratio
        fraction *= change
        if abs(change - 1) <= RELATIVE_PRECISION:
            return fraction


def _t_outside(df: float, value: float) -> float:
    """Return the probability that a Student's t variable is further from 0 than a value."""
    if math.isinf(df):
        return math.erfc(value / math.sqrt(2))
    if math.isinf(value):
        return 0.0
    if not value:
        return 1.0
    if df > MIN_DF_FOR_EXPANSION:
        return 2 * noncentral_t_upper(df, 0.0, value)
    square = value * value
    return _beta_tails(df / 2, 0.5, df / (df + square), square / (df + square)).lower


def _upper_t_quantile(df: float, upper: float) -> float:
    """Return the value that a Student's t variable exceeds with a probability below one half."""
    if df > MIN_DF_FOR_EXPANSION:
        # Cornish and Fisher's expansion, Abramowitz and Stegun 26.7.5.
        z = -normal_quantile(upper)
        first = (z**3 + z) / 4
        second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
        third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
        return z + (first + (second + third / df) / df) / df
    outside = 2 * upper
    # t^2 / (df + t^2) is a Beta variable, and so is the rest; the smaller of the two has more digits.
    if beta_cdf(df / 2, 0.5, 0.5) > outside:
        rest = _beta_quantile(df / 2, 0.5, Tails(outside, 1 - outside))
        return math.sqrt(df * (1 - rest) / rest)
    share = _beta_quantile(0.5, df / 2, Tails(1 - outside, outside))
    return math.sqrt(df * share / (1 - share))


@lru_cache(maxsize=64)
def _deviation_points(df: float) -> WeightedPoints:
    """Return points and weights of the distribution of s, where s^2 is a chi-squared variable over `df`.

    They are equally spaced on the scale of log s, on which the trapezoidal rule converges geometrically.
    """
    step = 1 / (math.sqrt(2 * df) * POINTS_PER_DEVIATION)
    points = []
    weights = []
    for direction in (-1, 1):
        n = 0 if direction < 0 else 1
        while True:
            log_deviation = direction * n * step
            log_density = -df * _exponential_excess(2 * log_deviation) / 2
            if log_density < MIN_LOG_DENSITY:
                break
            points.append(math.exp(log_deviation))
            weights.append(math.exp(log_density))
            n += 1
    total = math.fsum(weights)
    return WeightedPoints(tuple(points), tuple(weight / total for weight in weights))


def _exponential_excess(x: float) -> float:
    """Return exp(x) - 1 - x."""
    if abs(x) > 1e-3:
        return math.expm1(x) - x
    return x**2 / 2 * (1 + x / 3 * (1 + x / 4 * (1 + x / 5)))


def _excess(reached: Tails, wanted: Tails) -> float:
    """Return by how much the lower probability exceeds the wanted one, from the smaller of the two tails."""
    if wanted.lower <= wanted.upper:
        return reached.lower - wanted.lower
    return wanted.upper - reached.upper


def _halley_step(excess: float, density: float, log_density_slope: float) -> float:
    """Return by how much Halley's method lowers a value whose probability is too large by `excess`."""
    if not density:
        return math.copysign(math.inf, excess)
    newton = excess / density
    damping = 1 - min(max(newton * log_density_slope / 2, -1.0), 0.5)
    return newton / damping


def _solve(step: Callable[[float], tuple[float, float]], guess: float, low: float, high: float) -> float:
    """Return where a rising function is 0, by Halley's method within bounds that close in.

    Args:
        step: Returns the function at a value, and by how much to lower the value.
        guess: The value to begin with.
        low: The least value; the function is negative there.
        high: The largest value; the function is positive there.
    """
    value = guess
    if not low < value < high:
        value = _between(low, high)
    last_change = math.inf
    for _ in range(MAX_STEPS):
        excess, change = step(value)
        if not excess:
            return value
        if excess > 0:
            high = value
        else:
            low = value
        following = value - change
        if not low < following < high:
            following = _between(low, high)
        size = abs(following - value)
        value = following
        if size <= RELATIVE_PRECISION * value:
            break
        # Nothing but rounding is left of the function.
        if size <= value * 1e-13 and size >= last_change / 2:
            break
        last_change = size
    return value


def _between(low: float, high: float) -> float:
    """Return a value between two bounds; their geometric mean if it is the order of magnitude that is not known."""
    if math.isinf(high):
        return 2 * low + 1
    if low == 0 and high < 0.01:
        return high / 1000
    return low + (high - low) / 2
