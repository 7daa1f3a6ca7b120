"""Turn grades into gains: what a document is worth in NDCG and related metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.definition.definition import Parameter, choice

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from retrieval_metrics.checks import FloatArray
    from retrieval_metrics.definition.definition import ParameterValue

LARGEST_EXPONENT = 1000
"""2 ** 1000 times a million documents still fits into a float."""


def gain_of(grade: FloatArray, gain: str, gains: str | None = None) -> FloatArray:
    """Return the gain of each grade above 0.

    Args:
        grade: Grades above 0.
        gain: `linear` (the grade), `exponential` (2^grade - 1) or `binary` (1).
        gains: The gains of particular grades, such as `1:0;3:7`.

    Raises:
        ValueError: If a grade is too large for an exponential gain, or gains would decrease with the grade.
    """
    result = _BY_NAME[gain](grade)
    if gains is None:
        return result
    result = result.copy()
    for named, value in _pairs(gains):
        result[grade == named] = value
    ascending = np.argsort(grade, kind="stable")
    drop = np.flatnonzero(np.diff(result[ascending]) < 0)
    if drop.size:
        low, high = grade[ascending][drop[0] : drop[0] + 2]
        raise ValueError(
            f"gains={gains} gives grade {low:g} a larger gain than grade {high:g}; gains must not fall as grades rise"
        )
    return result


def exponential(grade: FloatArray) -> FloatArray:
    """Return 2^grade - 1.

    Raises:
        ValueError: If a grade is so large that the power overflows a float.
    """
    largest = grade.max(initial=0.0)
    if largest > LARGEST_EXPONENT:
        raise ValueError(f"an exponential gain needs grades of at most {LARGEST_EXPONENT}, got {largest:g}")
    # Exact for whole grades; near 0, expm1 keeps the digits that the subtraction would cancel.
    return np.where(grade < 1, np.expm1(np.minimum(grade, 1) * np.log(2)), np.exp2(grade) - 1)


_BY_NAME: Mapping[str, Callable[[FloatArray], FloatArray]] = {
    "linear": lambda grade: grade,
    "exponential": exponential,
    "binary": np.ones_like,
}


def _pairs(text: str) -> list[tuple[float, float]]:
    pairs = (pair.split(":") for pair in text.split(";"))
    return [(float(grade), float(value)) for grade, value in pairs]


def _read_gains(value: Any) -> ParameterValue:
    try:
        pairs = sorted(_pairs(str(value).replace(" ", "")))
    except ValueError:
        pairs = []
    grades = [grade for grade, _ in pairs]
    valid = all(0 < grade < np.inf and 0 <= gain < np.inf for grade, gain in pairs)
    if not pairs or not valid or len(set(grades)) < len(grades):
        raise ValueError("must be grade:gain pairs such as 1:0;2:1, each grade above 0 and once, no gain below 0")
    return ";".join(f"{grade:g}:{gain:g}" for grade, gain in pairs)


GAIN = choice(
    "linear",
    "the grade (`linear`), 2^grade - 1 (`exponential`) or 1 (`binary`)",
    {
        "linear": "the gain is the grade",
        "exponential": "the gain is 2^grade - 1",
        "binary": "every relevant document gains 1, whatever its grade",
    },
    acts_on="grades",
)
GAINS = Parameter(_read_gains, None, "the gain of individual grades, such as `1:0;3:7`", examples=("0.5:0;1:0;3:7",))
