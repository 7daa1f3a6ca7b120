"""Check a saved comparison: its differences against those that its values give."""

from __future__ import annotations

from itertools import zip_longest
from math import isclose
from typing import TYPE_CHECKING, Any

from retrieval_metrics.comparing.compare import RESAMPLES, compare_evaluations
from retrieval_metrics.keeping.document import of_record

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from retrieval_metrics.comparing.comparison import Comparison

ROUNDING = 1e-9
"""Another processor may add the same numbers in another order."""
DRAWN = frozenset({"interval", "critical", "p_randomisation", "p_corrected", "margin", "p_values"})
"""What depends on random choices of signs, and so on the versions that drew them."""
NOTHING = ("nothing", None)


def refuse_wrong_differences(comparison: Comparison, *, same_versions: bool) -> int:
    """Return how many differences follow from the values of a saved comparison.

    Args:
        comparison: What was read from a file.
        same_versions: Whether this version of the package and of numpy wrote it. If not, what was drawn at random is
            not compared.

    Raises:
        ValueError: If one does not, naming it and both numbers.
    """
    resamples, seed = comparison.drawn or (RESAMPLES, 0)
    bounds = comparison.unjudged
    again = compare_evaluations(
        comparison.evaluations,
        comparison.metrics,
        baseline=comparison.baseline,
        level=comparison.level,
        resamples=resamples,
        seed=seed,
        margin=comparison.margin,
        looks=max((each.looks for each in comparison.differences), default=1),
        unjudged="bounds" if bounds is not None and bounds.unseen == 0 else None,
    )
    passed_over = frozenset[str]() if same_versions and comparison.drawn is not None else DRAWN
    for said, found in zip_longest(comparison.differences, again.differences):
        one = said or found
        _refuse_unequal(said, found, f"{one.system} - {one.baseline} in {one.metric}", passed_over)
    names = ["ignorance", "budgets", *(["unjudged"] if again.unjudged is not None else [])]
    for name in names:
        _refuse_unequal(getattr(comparison, name), getattr(again, name), name, passed_over)
    return len(comparison.differences)


def _refuse_unequal(said: Any, found: Any, what: str, passed_over: Collection[str]) -> None:
    pairs = zip_longest(*(_numbers(of_record(one, what), "", passed_over) for one in (said, found)), fillvalue=NOTHING)
    for (place, ours), (where, theirs) in pairs:
        if place != where or not _equal(ours, theirs):
            raise ValueError(f"{place or where} of {what} is {ours!r}, but the values in the file give {theirs!r}")


def _equal(ours: Any, theirs: Any) -> bool:
    if isinstance(ours, float) and isinstance(theirs, float):
        return isclose(ours, theirs, rel_tol=ROUNDING, abs_tol=ROUNDING)
    return bool(ours == theirs)


def _numbers(record: Any, name: str, passed_over: Collection[str]) -> Iterator[tuple[str, Any]]:
    """Yield every number and text of a record as JSON holds it, with the name of the field that it belongs to."""
    if isinstance(record, dict):
        for key, each in record.items():
            if key not in passed_over:
                of_a_kind = key in {"tuple", "mapping"} or "array" in record
                yield from _numbers(each, name if of_a_kind else key, passed_over)
    elif isinstance(record, list):
        for each in record:
            yield from _numbers(each, name, passed_over)
    else:
        yield name, record
