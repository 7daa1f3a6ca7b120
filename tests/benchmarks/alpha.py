# /// script
# requires-python = ">=3.11"
# dependencies = ["numpy", "retrieval-metrics", "scipy"]
#
# [tool.uv.sources]
# retrieval-metrics = { path = "../..", editable = true }
# ///
"""How often does the 95% CI of Krippendorff's alpha hold the alpha of all queries?

    uv run tests/benchmarks/alpha.py --draws 2000

Graders give ten documents a query grades from 0 to 3: the true grade, or a random one with a probability that is drawn
for each query (`even` queries are all alike, in `uneven` ones half of the queries hold nearly all mistakes). One in
five grades is missing. The alpha of all queries is that of 20,000 of them. `none` is the share of draws in which
the graders disagree in fewer than three queries, so that there is no interval; they are left out of the coverage.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.statistics import krippendorffs_alpha

if TYPE_CHECKING:
    from numpy.typing import NDArray

GRADES = 4
DOCUMENTS = 10
ALL = 20_000
MISSING = 0.2
MISTAKES = {"few": 0.05, "some": 0.2, "many": 0.5}


def coincidences(
    random: np.random.Generator, queries: int, graders: int, mistakes: float, *, even: bool
) -> NDArray[np.float64]:
    """Return the coincidences of each query, shape (queries, grades, grades)."""
    shape = queries, DOCUMENTS, graders
    true = random.choice(GRADES, size=shape[:2], p=[0.5, 0.2, 0.2, 0.1])
    rate = np.full(queries, mistakes) if even else mistakes * random.choice([0.1, 1.9], queries)
    wrong = random.random(shape) < rate[:, None, None]
    grades = np.where(wrong, random.integers(0, GRADES, shape), true[..., None])
    present = random.random(shape) >= MISSING
    counts = ((grades[..., None] == np.arange(GRADES)) & present[..., None]).sum(axis=2).astype(float)
    n_ratings = counts.sum(axis=-1)
    pairs = counts[..., :, None] * counts[..., None, :] - counts[..., None] * np.eye(GRADES)
    return np.asarray(
        (pairs / np.maximum(n_ratings - 1, 1)[..., None, None] * (n_ratings > 1)[..., None, None]).sum(axis=1)
    )


def main() -> None:
    """Print a row for each population."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=2_000)
    draws = parser.parse_args().draws
    print("mistakes  queries  graders  alpha    n=5   n=10   n=20   n=50   none, n=5")
    for name, mistakes in MISTAKES.items():
        for even in (True, False):
            for graders in (2, 3, 5):
                random = np.random.default_rng([graders, even, int(100 * mistakes)])
                alpha = krippendorffs_alpha(coincidences(random, ALL, graders, mistakes, even=even), "quadratic").value
                cells = []
                none = []
                for n in (5, 10, 20, 50):
                    intervals = [
                        krippendorffs_alpha(coincidences(random, n, graders, mistakes, even=even), "quadratic").interval
                        for _ in range(draws)
                    ]
                    finite = [ends for ends in intervals if not np.isnan(ends.low)]
                    cells.append(100 * float(np.mean([low <= alpha <= high for low, high in finite])))
                    none.append(100 * (1 - len(finite) / draws))
                row = "".join(f"{cell:7.1f}" for cell in cells)
                print(
                    f"{name:8}  {'even' if even else 'uneven':7}{graders:9}{alpha:7.3f}{row}{none[0]:12.1f}", flush=True
                )


if __name__ == "__main__":
    main()
