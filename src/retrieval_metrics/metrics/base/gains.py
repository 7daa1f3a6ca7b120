"""Turn grades into gains: what a document is worth in NDCG and related metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.metrics.base.definition import Parameter, ParameterValue, make_choice

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from retrieval_metrics._internal.plain_types import FloatArray


# 2 ** 1000 times a million documents still fits into a float.
MAX_EXPONENT = 1000


def compute_gain(grade: FloatArray, gain: str, gains: str | None = None) -> FloatArray:
    """Return the gain of each grade above 0."""
    gain_of_grade = _GAIN_BY_NAME[gain](grade)
    if gains is None:
        return gain_of_grade
    gain_of_grade = gain_of_grade.copy()
    for listed_grade, listed_gain in _split_pairs(gains):
        gain_of_grade[grade == listed_grade] = listed_gain
    ascending = np.argsort(grade, kind="stable")
    drop = np.flatnonzero(np.diff(gain_of_grade[ascending]) < 0)
    if drop.size:
        low, high = grade[ascending][drop[0] : drop[0] + 2]
        raise ValueError(
            f"gains={gains} gives grade {low:g} a larger gain than grade {high:g}; gains must not fall as grades rise"
        )
    return gain_of_grade


def exponential(grade: FloatArray) -> FloatArray:
    """Return 2^grade - 1."""
    largest = grade.max(initial=0.0)
    if largest > MAX_EXPONENT:
        raise ValueError(f"an exponential gain needs grades of at most {MAX_EXPONENT}, got {largest:g}")
    # Exact for whole grades; near 0, expm1 keeps the digits that the subtraction would cancel.
    return np.where(grade < 1, np.expm1(np.minimum(grade, 1) * np.log(2)), np.exp2(grade) - 1)


_GAIN_BY_NAME: Mapping[str, Callable[[FloatArray], FloatArray]] = {
    "linear": lambda grade: grade,
    "exponential": exponential,
    "binary": np.ones_like,
}


def _split_pairs(text: str) -> list[tuple[float, float]]:
    """Return the grades and gains of a text such as `1:0;3:7`."""
    pairs = []
    for pair in text.split(";"):
        grade, gain = pair.split(":")
        pairs.append((float(grade), float(gain)))
    return pairs


def _read_gains(value: Any) -> ParameterValue:
    try:
        pairs = sorted(_split_pairs(str(value).replace(" ", "")))
    except ValueError:
        pairs = []
    distinct_grades = {grade for grade, _ in pairs}
    are_valid = all(0 < grade < np.inf and 0 <= gain < np.inf for grade, gain in pairs)
    if not pairs or not are_valid or len(distinct_grades) < len(pairs):
        raise ValueError("must be grade:gain pairs such as 1:0;2:1, each grade above 0 and once, no gain below 0")
    return ";".join(f"{grade:g}:{gain:g}" for grade, gain in pairs)


GAIN = make_choice(
    "linear",
    "the grade (`linear`), 2^grade - 1 (`exponential`) or 1 (`binary`)",
    {
        "linear": "the gain is the grade",
        "exponential": "the gain is 2^grade - 1",
        "binary": "every relevant document has gain 1 regardless of grade",
    },
    acts_on="grades",
)


GAINS = Parameter(_read_gains, None, "the gain of individual grades, such as `1:0;3:7`", examples=("0.5:0;1:0;3:7",))
