"""Metrics whose value depends on several documents at once: their mean over all orders, block by block."""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from retrieval_metrics.definition.gain import exponential
from retrieval_metrics.definition.largest_grade import largest_grade

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from retrieval_metrics.judging.judged_run import JudgedRun
    from retrieval_metrics.scoring.ties.blocks import Block
    from retrieval_metrics.types import FloatArray

    Step: TypeAlias = Callable[[JudgedRun, int, Sequence[Block], int | None, Mapping[str, Any]], float]


def chance(size: int, relevant: int, drawn: int, hits: int) -> float:
    """Return the probability that `drawn` of the documents of a block hold `hits` of its relevant ones.

    Example:
        >>> chance(4, 2, 2, 1)  # 2 * 2 of the 6 pairs
        0.6666666666666666
    """
    if not 0 <= hits <= drawn:
        return 0.0
    return comb(relevant, hits) * comb(size - relevant, drawn - hits) / comb(size, drawn)


def _hit_rate(
    judged: JudgedRun,  # noqa: ARG001  (the steps share one signature)
    query: int,  # noqa: ARG001
    blocks: Sequence[Block],
    k: int | None,
    parameters: Mapping[str, Any],  # noqa: ARG001
) -> float:
    missed = 1.0
    for block in blocks:
        missed *= chance(block.size, block.relevant, block.within(k), 0)
    return 1 - missed


def _full_recall(
    judged: JudgedRun, query: int, blocks: Sequence[Block], k: int | None, parameters: Mapping[str, Any]
) -> float:
    if sum(block.relevant for block in blocks) < judged.n_relevant(parameters.get("rel"))[query]:
        return 0.0
    complete = 1.0
    for block in blocks:
        complete *= chance(block.size, block.relevant, block.within(k), block.relevant)
    return complete


def _reciprocal_rank(
    judged: JudgedRun,  # noqa: ARG001
    query: int,  # noqa: ARG001
    blocks: Sequence[Block],
    k: int | None,
    parameters: Mapping[str, Any],  # noqa: ARG001
) -> float:
    block = next((block for block in blocks if block.relevant), None)
    if block is None:
        return 0.0
    total, not_yet = 0.0, 1.0
    for place in range(1, min(block.within(k), block.size - block.relevant + 1) + 1):
        here = block.relevant / (block.size - place + 1)
        total += not_yet * here / (block.above + place)
        not_yet *= 1 - here
    return total


def _precisions(above: int, hits_above: int, size: int, relevant: int, places: int) -> float:
    """Return the mean sum of the precisions at the relevant documents among the first places of a block.

    A place is relevant with probability r / b; given that, each place before it in the block with (r - 1) / (b - 1).
    """
    place = np.arange(1.0, places + 1)
    before = (place - 1) * ((relevant - 1) / (size - 1)) if size > 1 else 0.0
    return float(np.sum((hits_above + 1 + before) / (above + place))) * relevant / size


def _average_precision(
    judged: JudgedRun, query: int, blocks: Sequence[Block], k: int | None, parameters: Mapping[str, Any]
) -> float:
    total, hits = 0.0, 0
    for block in blocks:
        total += _precisions(block.above, hits, block.size, block.relevant, block.within(k))
        hits += block.relevant
    needed = hits if parameters.get("norm") == "retrieved" else judged.n_relevant(parameters.get("rel"))[query]
    return total / float(max(needed, 1))


def average_precision_of_found(blocks: Sequence[Block], k: int) -> tuple[float, float, float]:
    """Return mean, smallest and largest average precision at `k` divided by the hits among the first `k`.

    Only the block that the cut goes through leaves the number of hits open; for each number its places are like a
    block of their own.
    """
    total, low, high, hits = 0.0, 0.0, 0.0, 0
    for block in blocks:
        places = block.within(k)
        if places < block.size:
            cases = [
                _found_in_cut(block, (total, low, high), hits, places, here)
                for here in range(max(places - block.size + block.relevant, 0), min(places, block.relevant) + 1)
            ]
            mean = sum(case[0] * chance(block.size, block.relevant, places, case[3]) for case in cases)
            return mean, min(case[1] for case in cases), max(case[2] for case in cases)
        total += _precisions(block.above, hits, block.size, block.relevant, places)
        low += _sum_of_precisions(block.above + block.size - block.relevant, hits, block.relevant)
        high += _sum_of_precisions(block.above, hits, block.relevant)
        hits += block.relevant
    divisor = max(hits, 1)
    return total / divisor, low / divisor, high / divisor


def _found_in_cut(
    block: Block, so_far: tuple[float, float, float], hits: int, places: int, here: int
) -> tuple[float, float, float, int]:
    """Return mean, smallest, largest, and the number itself, if the cut leaves `here` hits in its block."""
    divisor = max(hits + here, 1)
    if not here:
        return so_far[0] / divisor, so_far[1] / divisor, so_far[2] / divisor, here
    mean = so_far[0] + _precisions(block.above, hits, places, here, places)
    low = so_far[1] + _sum_of_precisions(block.above + places - here, hits, here)
    high = so_far[2] + _sum_of_precisions(block.above, hits, here)
    return mean / divisor, low / divisor, high / divisor, here


def _sum_of_precisions(above: int, hits: int, relevant: int) -> float:
    """Return the sum of the precisions at relevant documents that follow each other."""
    return sum((hits + step) / (above + step) for step in range(1, relevant + 1))


def _err(judged: JudgedRun, query: int, blocks: Sequence[Block], k: int | None, parameters: Mapping[str, Any]) -> float:  # noqa: ARG001
    top = float(exponential(np.array([largest_grade(judged, parameters.get("max_grade"))]))[0]) + 1
    total, going = 0.0, 1.0
    for block in blocks:
        goes_on = 1 - exponential(block.grades[block.grades > 0]) / top
        means = _mean_products(goes_on)
        previous = 1.0
        # Going on past i documents less going on past i - 1 is stopping at the i-th.
        for place in range(1, block.within(k) + 1):
            passed = sum(chance(block.size, len(goes_on), place, drawn) * mean for drawn, mean in enumerate(means))
            total += going * (previous - passed) / (block.above + place)
            previous = passed
        going *= float(np.prod(goes_on))
    return total


def _mean_products(factors: FloatArray) -> list[float]:
    """Return the mean product of 0, 1, 2, ... of some factors drawn at random: elementary symmetric polynomials.

    Example:
        >>> _mean_products(np.array([0.5, 0.25]))  # 1, (1/2 + 1/4) / 2, 1/2 * 1/4
        [1.0, 0.375, 0.125]
    """
    sums = np.zeros(len(factors) + 1)
    sums[0] = 1.0
    for factor in factors:
        sums[1:] += factor * sums[:-1]
    return [float(total) / comb(len(factors), drawn) for drawn, total in enumerate(sums)]


def _bpref(
    judged: JudgedRun,
    query: int,
    blocks: Sequence[Block],
    k: int | None,  # noqa: ARG001
    parameters: Mapping[str, Any],
) -> float:
    rel = parameters.get("rel")
    qrels = judged.qrels
    threshold = np.nextafter(0, 1) if rel is None else rel
    every = qrels.document_grade[qrels.bounds[query] : qrels.bounds[query + 1]]
    relevant = float(judged.n_relevant(rel)[query])
    fewer = max(min(relevant, float(np.sum((every >= 0) & (every < threshold)))), 1.0)
    total, above = 0.0, 0
    for block in blocks:
        here = int(np.sum((block.grades >= 0) & (block.grades < threshold)))
        # Above a relevant document stand 0, 1, ... or all of the block's others that are not, each equally likely.
        counts = np.minimum(above + np.arange(here + 1), relevant)
        total += block.relevant * float(np.mean(1 - counts / fewer))
        above += here
    return total / max(relevant, 1.0)


STEPWISE: Mapping[str, Step] = {
    "hit_rate": _hit_rate,
    "full_recall": _full_recall,
    "mrr": _reciprocal_rank,
    "map": _average_precision,
    "err": _err,
    "bpref": _bpref,
}
