"""Hold the values of a library beside ours under its rules, case by case."""

import math
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from rule_cases import Case, cases, ours

Score = Callable[[Case], float]


def require_agreement(semantics: str, distribution: str, theirs: Mapping[str, Score], chosen: Iterable[Case]) -> None:
    """Print on how many cases both agree, and exit with an error at the first where they do not."""
    numbered = list(enumerate(chosen))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values = ours(numbered, theirs, semantics)
    for number, case in numbered:
        for name, score in theirs.items():
            expected = score(case)
            value = values[number, name]
            if not (math.isclose(value, expected, abs_tol=1e-9) or (math.isnan(value) and math.isnan(expected))):
                sys.exit(f"{case.metric(name)} of {case}: {distribution} {expected!r}, {semantics} rules {value!r}")
    print(f"{distribution} {version(distribution)}: {len(numbered)} cases agree in {', '.join(theirs)}")


__all__ = ["Case", "cases", "require_agreement"]
