"""A naive reference for every metric: one query, plain loops, written from the formulas of the docstrings.

Nothing here is fast or shared with the package. Truth is a list of groups, each a dict of ids to grades; a flat
judgment is a group of one. The ranking is a list of ids, best first, repeats allowed.
"""

import itertools
import math
from collections.abc import Callable

Truth = list[dict[str, float]]


def relevant(grade: float, rel: float | None) -> bool:
    return grade > 0 if rel is None else grade >= rel


def rows(truth: Truth, ranking: list[str], k: int | None, rel: float | None = None) -> list[tuple[int, float | None]]:
    """The expanded ranking as (item rank, grade of the hit or None), cut at k by items and then by rows."""
    satisfied: set[int] = set()
    expanded: list[tuple[int, float | None]] = []
    for rank, document in enumerate(ranking, start=1):
        if k is not None and rank > k:
            break
        new = {
            number: group[document]
            for number, group in enumerate(truth)
            if number not in satisfied and document in group and relevant(group[document], rel)
        }
        satisfied |= set(new)
        grades: list[float | None] = [*sorted(new.values(), reverse=True)]
        expanded += [(rank, grade) for grade in (grades or [None])]
    return expanded[:k]


def needed(truth: Truth, rel: float | None) -> int:
    return sum(any(relevant(grade, rel) for grade in group.values()) for group in truth)


def grade_of(truth: Truth, document: str) -> float | None:
    grades = [group[document] for group in truth if document in group]
    return max(grades) if grades else None


def hit_rate(truth: Truth, ranking: list[str], k: int | None = None, rel: float | None = None) -> float:
    return float(any(grade is not None for _, grade in rows(truth, ranking, k, rel)))


def found(truth: Truth, ranking: list[str], k: int | None, rel: float | None) -> int:
    first = set(ranking[:k])
    return sum(any(d in first and relevant(g, rel) for d, g in group.items()) for group in truth)


def recall(truth: Truth, ranking: list[str], k: int | None = None, rel: float | None = None) -> float:
    return found(truth, ranking, k, rel) / needed(truth, rel)


def full_recall(truth: Truth, ranking: list[str], k: int | None = None, rel: float | None = None) -> float:
    return float(found(truth, ranking, k, rel) == needed(truth, rel))


def precision(
    truth: Truth, ranking: list[str], k: int | None = None, rel: float | None = None, norm: str = "k"
) -> float:
    first = ranking[:k]
    good = 0
    for document in set(first):
        grade = grade_of(truth, document)
        good += grade is not None and relevant(grade, rel)
    places = len(first) if k is None or norm == "retrieved" else k
    return good / places if places else 0.0


def f1(truth: Truth, ranking: list[str], k: int | None = None, rel: float | None = None) -> float:
    p, r = precision(truth, ranking, k, rel), recall(truth, ranking, k, rel)
    return 2 * p * r / (p + r) if p + r else 0.0


def mrr(truth: Truth, ranking: list[str], k: int | None = None, rel: float | None = None) -> float:
    for row, (_, grade) in enumerate(rows(truth, ranking, k, rel), start=1):
        if grade is not None:
            return 1 / row
    return 0.0


def average_precision(
    truth: Truth, ranking: list[str], k: int | None = None, rel: float | None = None, norm: str = "relevant"
) -> float:
    hits, total = 0, 0.0
    for row, (_, grade) in enumerate(rows(truth, ranking, k, rel), start=1):
        if grade is not None:
            hits += 1
            total += hits / row
    divisor = needed(truth, rel) if norm == "relevant" else hits
    return total / divisor if divisor else 0.0


def worth(grade: float | None, gain: str) -> float:
    if grade is None or grade <= 0:
        return 0.0
    return {"linear": grade, "exponential": 2**grade - 1, "binary": 1.0}[gain]


def dcg(truth: Truth, ranking: list[str], k: int | None = None, gain: str = "linear") -> float:
    gains = (worth(grade, gain) for _, grade in rows(truth, ranking, k))
    return sum(value / math.log2(row + 1) for row, value in enumerate(gains, start=1))


def ndcg(truth: Truth, ranking: list[str], k: int | None = None, gain: str = "linear") -> float:
    best = sorted((max(group.values()) for group in truth), reverse=True)[:k]
    ideal = sum(worth(grade, gain) / math.log2(row + 1) for row, grade in enumerate(best, start=1))
    return dcg(truth, ranking, k, gain) / ideal


def alpha_dcg(truth: Truth, ranking: list[str], k: int | None, alpha: float, rel: float | None) -> float:
    total, seen = 0.0, [0] * len(truth)
    for rank, document in enumerate(ranking[:k], start=1):
        if document in ranking[: rank - 1]:
            continue
        for number, group in enumerate(truth):
            if document in group and relevant(group[document], rel):
                total += (1 - alpha) ** seen[number] / math.log2(rank + 1)
                seen[number] += 1
    return total


def alpha_ndcg(
    truth: Truth, ranking: list[str], k: int | None = None, alpha: float = 0.5, rel: float | None = None
) -> float:
    left = sorted({document for group in truth for document in group}, reverse=True)
    ideal: list[str] = []
    while left:  # the document after which alpha-DCG is largest; max takes the first of several
        ideal.append(max(left, key=lambda document: round(alpha_dcg(truth, [*ideal, document], None, alpha, rel), 12)))
        left.remove(ideal[-1])
    return alpha_dcg(truth, ranking, k, alpha, rel) / alpha_dcg(truth, ideal, k, alpha, rel)


def r_precision(truth: Truth, ranking: list[str], rel: float | None = None) -> float:
    wanted = needed(truth, rel)
    return sum(grade is not None for _, grade in rows(truth, ranking, None, rel)[:wanted]) / wanted


def rbp(truth: Truth, ranking: list[str], k: int | None = None, p: float = 0.8, top: float = 1.0) -> float:
    graded = enumerate(rows(truth, ranking, k))
    return (1 - p) * sum(p**place * worth(grade, "linear") / top for place, (_, grade) in graded)


def rbp_residual(truth: Truth, ranking: list[str], k: int | None = None, p: float = 0.8) -> float:
    known, seen = 0.0, set()
    for place, (rank, grade) in enumerate(rows(truth, ranking, k)):
        document = ranking[rank - 1]
        # What is judged is known, and a repeat gains nothing whatever it is.
        if grade is not None or grade_of(truth, document) is not None or document in seen:
            known += (1 - p) * p**place
        seen.add(document)
    return 1 - known


def err(truth: Truth, ranking: list[str], k: int | None = None, top: float = 1.0) -> float:
    total, going = 0.0, 1.0
    for row, (_, grade) in enumerate(rows(truth, ranking, k), start=1):
        stop = worth(grade, "exponential") / 2**top
        total += going * stop / row
        going *= 1 - stop
    return total


def bpref(truth: Truth, ranking: list[str], rel: float | None = None) -> float:
    wanted = needed(truth, rel)
    grades = {document: grade_of(truth, document) or 0.0 for group in truth for document in group}
    nonrelevant = {d for d, grade in grades.items() if grade >= 0 and not relevant(grade, rel)}
    fewer, total = min(wanted, len(nonrelevant)), 0.0
    for rank, grade in rows(truth, ranking, None, rel):
        if grade is not None:
            above = len(nonrelevant & set(ranking[: rank - 1]))
            total += 1 - min(above, wanted) / fewer if above else 1
    return total / wanted


def judged(truth: Truth, ranking: list[str], k: int | None = None) -> float:
    first = ranking[:k]
    known = set(itertools.chain.from_iterable(truth))
    return len(known & set(first)) / len(first) if first else math.nan


METRICS: dict[str, Callable[..., float]] = {
    "hit_rate": hit_rate,
    "full_recall": full_recall,
    "recall": recall,
    "precision": precision,
    "f1": f1,
    "mrr": mrr,
    "map": average_precision,
    "ndcg": ndcg,
    "dcg": dcg,
    "alpha_ndcg": alpha_ndcg,
    "r_precision": r_precision,
    "rbp": rbp,
    "err": err,
    "bpref": bpref,
    "judged": judged,
}


def autorag(truth: Truth, ranking: list[str]) -> dict[str, float]:
    """AutoRAG's metrics of one query, from its documented method, for rankings without repeats."""
    every = {document for group in truth for document in group}
    hits = [document in every for document in ranking]
    p = sum(hits) / len(ranking) if ranking else 0.0
    r = sum(any(d in group for d in ranking) for group in truth) / len(truth)
    reciprocal, averages = [], []
    for group in truth:
        ranks = [rank for rank, document in enumerate(ranking, start=1) if document in group]
        reciprocal.append(1 / ranks[0] if ranks else 0.0)
        averages.append(sum((i + 1) / rank for i, rank in enumerate(ranks)) / len(ranks) if ranks else 0.0)
    gain = sum(hit / math.log2(rank + 1) for rank, hit in enumerate(hits, start=1))
    length = min(sum(map(len, truth)), len(ranking))
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, length + 1))
    return {
        "precision": p,
        "recall": r,
        "f1": 2 * p * r / (p + r) if p + r else 0.0,
        "mrr": sum(reciprocal) / len(truth),
        "map": sum(averages) / len(truth),
        "ndcg": gain / ideal if ideal else 0.0,
    }
