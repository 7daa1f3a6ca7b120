"""Many queries with long retrieved texts, for what a notebook shows of them."""

import retrieval_metrics as rm

N = 150
JUDGED = {f"q{number}": [f"needed {number}"] for number in range(N)}
TEXT = "<b>a passage</b> of some length that says what was looked for, " * 20


def run(every: int) -> dict[str, list[rm.Retrieved]]:
    """Return a run that misses what is needed in every so many queries."""
    rankings = {}
    for number, query in enumerate(JUDGED):
        rankings[query] = [rm.Retrieved(f"other {number}-{part}", TEXT) for part in range(9)]
        if number % every:
            rankings[query].append(rm.Retrieved(f"needed {number}", TEXT))
    return rankings
