"""Cases in which libraries disagree, from a seed: repeats, ties, short and empty lists, groups, grades, no truth."""

import random
from collections.abc import Iterable
from typing import Any, NamedTuple

import retrieval_metrics as rm

IDS = "abcdefgh"


class Case(NamedTuple):
    """One query: its truth as groups of graded documents, its ranking, and a cutoff that may lie beyond the list."""

    groups: list[dict[str, float]]
    ranking: list[str]
    k: int | None

    @property
    def relevant(self) -> list[str]:
        """The documents with a grade above 0, each once."""
        return list(dict.fromkeys(d for group in self.groups for d, grade in group.items() if grade > 0))

    @property
    def first(self) -> list[str]:
        """What a library without cutoffs is given."""
        return self.ranking[: self.k]

    def metric(self, name: str) -> str:
        return name if self.k is None else f"{name}@{self.k}"


def cases(seed: int, count: int = 2000, *, grouped: bool = True) -> list[Case]:
    rng = random.Random(seed)
    return [_case(rng, grouped=grouped) for _ in range(count)]


def _case(rng: random.Random, *, grouped: bool) -> Case:
    documents = rng.sample(IDS, rng.randint(0, 6))
    grades: list[float] = [rng.choice([-1, 0, 1, 1, 1, 2, 3]) for _ in documents]
    if grouped and rng.random() < 0.4 and documents:
        groups: list[dict[str, float]] = [{} for _ in range(rng.randint(1, 3))]
        for document, grade in zip(documents, grades, strict=True):
            for group in rng.sample(groups, rng.choice([1, 1, 1, len(groups)])):
                group[document] = grade
        groups = [group for group in groups if group]
    else:
        groups = [{document: grade} for document, grade in zip(documents, grades, strict=True)]
    length = rng.choice([0, *range(1, 9)])
    ranking = [rng.choice(IDS) for _ in range(length)] if rng.random() < 0.6 else rng.sample(IDS, length)
    return Case(groups, ranking, rng.choice([None, 1, 2, 3, 5, 10]))


def ours(chosen: Iterable[tuple[int, Case]], names: Iterable[str], rules: str) -> dict[tuple[int, str], float]:
    """The value of each metric at the case's own cutoff, all cases in one evaluation for each cutoff."""
    by_cutoff: dict[int | None, dict[int, Case]] = {}
    for number, case in chosen:
        by_cutoff.setdefault(case.k, {})[number] = case
    values: dict[tuple[int, str], float] = {}
    for cases_by_number in by_cutoff.values():
        metrics = {name: next(iter(cases_by_number.values())).metric(name) for name in names}
        qrels = {number: case.groups for number, case in cases_by_number.items()}
        run = {number: case.ranking for number, case in cases_by_number.items()}
        result = rm.evaluate(qrels, run, list(metrics.values()), rules=rules).per_query
        values |= {
            (number, name): result[metric][number] for name, metric in metrics.items() for number in cases_by_number
        }
    return values


def audit_with(qrels: Any, run: Any, metrics: str | list[str], **rules: Any) -> rm.types.Audit:
    """Compare the standard with itself but for some rules."""
    return rm.audit(qrels, run, metrics, rules=["standard", rm.Rules(name="mine", **rules)])
