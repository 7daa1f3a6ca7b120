"""Warn of retrieved items whose place in their source is unknown, though a span of it is judged."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import TYPE_CHECKING

from retrieval_metrics.argument_names import argument, in_python
from retrieval_metrics.checks import RetrievalWarning

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics.judging.judged_run import JudgedRun
    from retrieval_metrics.judging.matching.places import Doubt

_DOUBTS: Mapping[Doubt, str] = {
    "no offsets": "without offsets",
    "unchecked": "with offsets that a framework recorded and nothing confirms",
    "wrong length": "with offsets that do not fit their text",
    "not in the source": "whose text is not in their source",
    "another source": "of a run in which no source is a judged one, as after two splitters",
}


def warn_of_unplaced(judged: JudgedRun, stacklevel: int) -> None:
    """Warn if spans could not be looked for in some items: how many, why, and what to pass.

    Args:
        judged: The judged run.
        stacklevel: Which caller the warning names, as in `warnings.warn`; 2 is the caller of this function.
    """
    if judged.doubtful:
        warnings.warn(
            f'{len(judged.doubtful)} spans cut words of their sources as they stand, but would not if "\\r\\n" and '
            f'"\\n" were of one length; for example {judged.doubtful[0]!r}. Pass the texts that they were written '
            f"against as {argument('documents')}, or put a Quote beside each span, which settles it",
            RetrievalWarning,
            stacklevel=stacklevel,
        )
    if not judged.unplaced:
        return
    numbers = Counter(one.doubt for one in judged.unplaced)
    reasons = ", ".join(f"{numbers[doubt]} {said}" for doubt, said in _DOUBTS.items() if numbers[doubt])
    first = judged.unplaced[0]
    what = in_python("the texts by source or the documents of the framework", "what they were cut from")
    advice = f"pass {argument('documents')}, {what}, and they are found by their texts"
    if numbers["not in the source"] == len(judged.unplaced):
        advice = "look at how their texts were changed, or judge by Quote"
    nothing = ", nor is anything else judged, so every metric is 0" if judged.is_empty else ""
    warnings.warn(
        f"the place of {len(judged.unplaced)} retrieved items is unknown, so no span was found in them{nothing}: "
        f"{reasons}; for "
        f"example {first.document!r} for query {first.query!r} ({first.doubt}). To place them, {advice}",
        RetrievalWarning,
        stacklevel=stacklevel,
    )
