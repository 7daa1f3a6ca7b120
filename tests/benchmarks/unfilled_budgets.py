# /// script
# requires-python = ">=3.11"
# dependencies = ["retrieval-metrics"]
#
# [tool.uv.sources]
# retrieval-metrics = { path = "../..", editable = true }
# ///
"""Random comparisons of chunkings at a budget that rankings may not fill.

    uv run tests/benchmarks/unfilled_budgets.py

In each, one retriever ranks the chunks of two sizes, both cut off after some number of results. What it says is held
against the same comparison of the whole rankings, which fill every budget. A confident verdict that the whole rankings
do not confirm was due to the budget, and there must be none.
"""

import argparse
import random
import sys
import warnings
from collections import Counter

import retrieval_metrics as rm

LENGTH = 12_000
QUESTIONS = 30
METRICS = ("recall", "ndcg", "mrr", "precision")
SIZES = (60, 100, 200, 300, 500, 800, 1_200)


def rankings(
    rng: random.Random, size: int, questions: dict[str, list[rm.Span]], noise: float
) -> dict[str, list[rm.Retrieved]]:
    """Rank all chunks of a size for each question: by how much of what is judged they hold, and by chance."""
    chunks = [
        rm.Retrieved(
            f"{size}-{offset}",
            None,
            "d",
            offset,
            min(offset + size, LENGTH),
            tokens=max(1, (min(offset + size, LENGTH) - offset) // 4),
        )
        for offset in range(0, LENGTH, size)
    ]

    def share_held(chunk: rm.Retrieved, spans: list[rm.Span]) -> float:
        start = chunk.start or 0
        end = chunk.end or 0
        return max(max(0, min(end, span.end) - max(start, span.start)) / (span.end - span.start) for span in spans)

    return {
        query: sorted(chunks, key=lambda chunk: share_held(chunk, spans) + rng.gauss(0, noise), reverse=True)
        for query, spans in questions.items()
    }


def verdict(
    questions: dict[str, list[rm.Span]], runs: dict[str, dict[str, list[rm.Retrieved]]], metric: str
) -> tuple[float, bool, rm.Comparison]:
    """Return the difference, whether its interval excludes 0, and the comparison."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rm.RetrievalWarning)
        comparison = rm.compare(questions, runs, metric)
    (difference,) = comparison.differences
    return difference.mean, difference.p_corrected < 0.05, comparison


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--comparisons", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    outcomes: Counter[str] = Counter()
    for number in range(options.comparisons):
        rng = random.Random(f"{options.seed} {number}")
        starts = [rng.randrange(LENGTH - 400) for _ in range(QUESTIONS)]
        questions = {
            f"q{index}": [rm.Span("d", start, start + rng.randint(20, 300))] for index, start in enumerate(starts)
        }
        noise = rng.choice([0.05, 0.2, 0.5])
        depth = rng.randint(2, 39)
        unit = rng.choice([("chars", 1), ("tokens", 4)])
        budget = rng.randint(400, 8_000)
        metric = f"{rng.choice(METRICS)}@{budget // unit[1]}{unit[0]}"
        full = {str(size): rankings(rng, size, questions, noise) for size in rng.sample(SIZES, 2)}
        cut = {name: {query: ranking[:depth] for query, ranking in run.items()} for name, run in full.items()}
        mean, apart, comparison = verdict(questions, cut, metric)
        true_mean, truly_apart, _ = verdict(questions, full, metric)
        undone = apart and not (truly_apart and mean * true_mean > 0)
        has_difference = any(difference.significant for difference in comparison.differences)
        outcomes["with p below .05"] += apart
        outcomes["of these, not confirmed by whole rankings"] += undone
        outcomes["confident verdicts"] += has_difference
        outcomes["confident verdicts not confirmed by whole rankings"] += has_difference and undone
        held_back = [use for use in comparison.budgets if use.unfilled]
        outcomes["held back, because a ranking ends before the budget"] += bool(held_back)
        outcomes["of these, with a budget that both fill"] += any(use.common_budget is not None for use in held_back)
    for name, count in outcomes.items():
        print(f"{count:4d}  {name}")
    return int(outcomes["confident verdicts not confirmed by whole rankings"] > 0)


if __name__ == "__main__":
    sys.exit(main())
