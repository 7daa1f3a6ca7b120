"""A naive reference for every metric: one query, plain loops, written from the formulas of the docstrings.

Nothing here is fast or shared with the package. Truth is a list of groups, each a dict of ids to grades; a flat
judgment is a group of one. The ranking is a list of ids, best first, repeats allowed.
"""

import itertools
import math
from collections.abc import Callable, Iterable

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
        credited: list[float] = []
        for number, group in enumerate(truth):
            if number not in satisfied and document in group and relevant(group[document], rel):
                satisfied.add(number)
                credited.append(group[document])
        grades: list[float | None] = [*sorted(credited, reverse=True)]
        expanded += [(rank, grade) for grade in (grades or [None])]
    return expanded[:k]


def count_needed(truth: Truth, rel: float | None) -> int:
    return sum(any(relevant(grade, rel) for grade in group.values()) for group in truth)


def grade_of(truth: Truth, document: str) -> float | None:
    grades = [group[document] for group in truth if document in group]
    return max(grades) if grades else None


def hit_rate(truth: Truth, ranking: list[str], k: int | None = None, rel: float | None = None) -> float:
    return float(any(grade is not None for _, grade in rows(truth, ranking, k, rel)))


def count_satisfied(truth: Truth, ranking: list[str], k: int | None, rel: float | None) -> int:
    first = set(ranking[:k])
    return sum(any(d in first and relevant(g, rel) for d, g in group.items()) for group in truth)


def recall(truth: Truth, ranking: list[str], k: int | None = None, rel: float | None = None) -> float:
    return count_satisfied(truth, ranking, k, rel) / count_needed(truth, rel)


def full_recall(truth: Truth, ranking: list[str], k: int | None = None, rel: float | None = None) -> float:
    return float(count_satisfied(truth, ranking, k, rel) == count_needed(truth, rel))


def precision(
    truth: Truth, ranking: list[str], k: int | None = None, rel: float | None = None, norm: str = "k"
) -> float:
    first = ranking[:k]
    good = 0
    for document in set(first):
        grade = grade_of(truth, document)
        good += grade is not None and relevant(grade, rel)
    places = len(first) if k is None or norm == "retrieved" else k
    if norm == "distinct":
        places = len(set(first))
    return good / places if places else 0.0


def f1(truth: Truth, ranking: list[str], k: int | None = None, rel: float | None = None, norm: str = "k") -> float:
    p = precision(truth, ranking, k, rel, norm)
    r = recall(truth, ranking, k, rel)
    return 2 * p * r / (p + r) if p + r else 0.0


def mean_over_groups(truth: Truth, metric: Callable[[set[str]], float], rel: float | None) -> float:
    """The mean of a metric of each group by itself, given the relevant documents of the group."""
    groups = [{document for document, grade in group.items() if relevant(grade, rel)} for group in truth]
    return sum(metric(group) for group in groups if group) / count_needed(truth, rel)


def ranks_of(group: set[str], ranking: list[str], k: int | None) -> list[int]:
    """The ranks at which the documents of a group stand first."""
    return sorted(ranking.index(document) + 1 for document in group & set(ranking[:k]))


def mrr(truth: Truth, ranking: list[str], k: int | None = None, rel: float | None = None, per: str = "query") -> float:
    if per == "group":
        return mean_over_groups(truth, lambda group: 1 / min(ranks_of(group, ranking, k), default=math.inf), rel)
    for row, (_, grade) in enumerate(rows(truth, ranking, k, rel), start=1):
        if grade is not None:
            return 1 / row
    return 0.0


def average_precision(
    truth: Truth,
    ranking: list[str],
    k: int | None = None,
    *,
    rel: float | None = None,
    norm: str = "relevant",
    per: str = "query",
) -> float:
    if per == "group":

        def group_precision(group: set[str]) -> float:
            ranks = ranks_of(group, ranking, k)
            precisions = sum(hit / rank for hit, rank in enumerate(ranks, start=1))
            return precisions / ((len(group) if norm == "relevant" else len(ranks)) or 1)

        return mean_over_groups(truth, group_precision, rel)
    hits = 0
    total = 0.0
    for row, (_, grade) in enumerate(rows(truth, ranking, k, rel), start=1):
        if grade is not None:
            hits += 1
            total += hits / row
    divisor = count_needed(truth, rel) if norm == "relevant" else hits
    return total / divisor if divisor else 0.0


def worth(grade: float | None, gain: str, gains: str | None = None) -> float:
    if grade is None or grade <= 0:
        return 0.0
    for pair in gains.split(";") if gains else ():
        special, value = pair.split(":")
        if grade == float(special):
            return float(value)
    return {"linear": grade, "exponential": 2**grade - 1, "binary": 1.0}[gain]


def discounted(grades: Iterable[float | None], gain: str, gains: str | None) -> float:
    return sum(worth(grade, gain, gains) / math.log2(row + 1) for row, grade in enumerate(grades, start=1))


def dcg(
    truth: Truth, ranking: list[str], k: int | None = None, gain: str = "linear", gains: str | None = None
) -> float:
    return discounted((grade for _, grade in rows(truth, ranking, k)), gain, gains)


def ndcg(
    truth: Truth,
    ranking: list[str],
    k: int | None = None,
    *,
    gain: str = "linear",
    gains: str | None = None,
    ideal: str = "all",
    of: str = "groups",
) -> float:
    best = [max(group.values()) for group in truth]
    achieved = dcg(truth, ranking, k, gain, gains)
    if of == "documents":  # each member of each group is needed; an item gains at its rank, once
        best = [grade for group in truth for grade in group.values()]
        first = [
            document if document not in ranking[:position] else "" for position, document in enumerate(ranking[:k])
        ]
        achieved = discounted((grade_of(truth, document) for document in first), gain, gains)
    # "expanded" adds what repeats earn, which is nothing here.
    places = {"all": k, "uncut": None}.get(ideal, min(len(ranking), k or len(ranking)))
    if places == 0:
        return 0.0
    best = [grade for grade in sorted(best, reverse=True) if grade > 0]
    possible = discounted(best[:places], gain, gains)
    return min(achieved / possible, 1.0) if possible else math.nan


def alpha_dcg(truth: Truth, ranking: list[str], k: int | None, alpha: float, rel: float | None) -> float:
    total = 0.0
    n_seen = [0] * len(truth)
    for rank, document in enumerate(ranking[:k], start=1):
        if document in ranking[: rank - 1]:
            continue
        for number, group in enumerate(truth):
            if document in group and relevant(group[document], rel):
                total += (1 - alpha) ** n_seen[number] / math.log2(rank + 1)
                n_seen[number] += 1
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
    n_needed = count_needed(truth, rel)
    return sum(grade is not None for _, grade in rows(truth, ranking, None, rel)[:n_needed]) / n_needed


def iprec(
    truth: Truth, ranking: list[str], rel: float | None = None, recall: float | None = None, rounding: str = "up"
) -> float:
    n_needed = count_needed(truth, rel)
    allowance = {"up": 0.9, "nearest": 0.5}[rounding]
    n_found = 0
    points = []
    for place, (_, grade) in enumerate(rows(truth, ranking, None, rel), start=1):
        if grade is not None:
            n_found += 1
            points.append((n_found, n_found / place))
    levels = [recall] if recall is not None else [tenth / 10 for tenth in range(11)]
    total = 0.0
    for level in levels:
        min_found = int(level * n_needed + allowance)
        total += max([precision for n, precision in points if n >= min_found], default=0.0)
    return total / len(levels)


def rbp(truth: Truth, ranking: list[str], k: int | None = None, p: float = 0.8, max_grade: float = 1.0) -> float:
    graded = enumerate(rows(truth, ranking, k))
    return (1 - p) * sum(p**place * worth(grade, "linear") / max_grade for place, (_, grade) in graded)


def rbp_residual(truth: Truth, ranking: list[str], k: int | None = None, p: float = 0.8) -> float:
    settled = 0.0
    repeated_ids: set[str] = set()
    for place, (rank, grade) in enumerate(rows(truth, ranking, k)):
        document = ranking[rank - 1]
        # What is judged is known, and a repeat gains nothing whatever it is.
        if grade is not None or grade_of(truth, document) is not None or document in repeated_ids:
            settled += (1 - p) * p**place
        repeated_ids.add(document)
    return 1 - settled


def err(truth: Truth, ranking: list[str], k: int | None = None, max_grade: float = 1.0) -> float:
    total = 0.0
    going = 1.0
    for row, (_, grade) in enumerate(rows(truth, ranking, k), start=1):
        stop = worth(grade, "exponential") / 2**max_grade
        total += going * stop / row
        going *= 1 - stop
    return total


def bpref(truth: Truth, ranking: list[str], rel: float | None = None) -> float:
    n_needed = count_needed(truth, rel)
    grades = {document: grade_of(truth, document) or 0.0 for group in truth for document in group}
    nonrelevant = {d for d, grade in grades.items() if grade >= 0 and not relevant(grade, rel)}
    fewer = min(n_needed, len(nonrelevant))
    total = 0.0
    for rank, grade in rows(truth, ranking, None, rel):
        if grade is not None:
            above = len(nonrelevant & set(ranking[: rank - 1]))
            total += 1 - min(above, n_needed) / fewer if above else 1
    return total / n_needed


def infap(truth: Truth, ranking: list[str], rel: float | None = None) -> float:
    grades = {document: grade_of(truth, document) for group in truth for document in group}
    nonrelevant = {document for document, grade in grades.items() if grade is not None and not relevant(grade, rel)}
    total = 0.0
    good = 0
    epsilon = 1e-5
    for place, (rank, grade) in enumerate(rows(truth, ranking, None, rel), start=1):
        if grade is not None:
            n_judged_above = good + len(nonrelevant & set(ranking[: rank - 1]))
            total += (1 + n_judged_above * (good + epsilon) / (n_judged_above + 2 * epsilon)) / place
            good += 1
    return total / count_needed(truth, rel)


def judged(truth: Truth, ranking: list[str], k: int | None = None) -> float:
    first = ranking[:k]
    judged_ids = set(itertools.chain.from_iterable(truth))
    return len(judged_ids & set(first)) / len(first) if first else math.nan


def forbidden(truth: Truth, document: str, grade: float | None = None) -> bool:
    grades = [group[document] for group in truth if document in group]
    return any(g < 0 if grade is None else g <= grade for g in grades)


def leak(truth: Truth, ranking: list[str], k: int | None = None, grade: float | None = None) -> float:
    if not any(forbidden(truth, document, grade) for group in truth for document in group):
        return math.nan
    return float(any(forbidden(truth, document, grade) for document in ranking[:k]))


def inverted(truth: Truth, ranking: list[str], k: int | None = None, rel: float | None = None) -> float:
    if not count_needed(truth, rel) or not any(forbidden(truth, document) for group in truth for document in group):
        return math.nan
    for rank, document in enumerate(ranking, start=1):
        if (grade := grade_of(truth, document)) is not None and relevant(grade, rel):
            return 0.0
        if forbidden(truth, document):
            return float(k is None or rank <= k)
    return 0.0


def false_answer(truth: Truth, ranking: list[str], rel: float | None = None) -> float:
    return math.nan if count_needed(truth, rel) else float(len(ranking) > 0)


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
    "iprec": iprec,
    "rbp": rbp,
    "err": err,
    "bpref": bpref,
    "infap": infap,
    "judged": judged,
    "leak": leak,
    "inverted": inverted,
    "false_answer": false_answer,
}


def autorag(truth: Truth, ranking: list[str]) -> dict[str, float]:
    """AutoRAG's metrics of one query, from its documented method, for rankings without repeats."""
    all_relevant = {document for group in truth for document in group}
    hits = [document in all_relevant for document in ranking]
    p = sum(hits) / len(ranking) if ranking else 0.0
    r = sum(any(d in group for d in ranking) for group in truth) / len(truth)
    reciprocal: list[float] = []
    averages: list[float] = []
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
