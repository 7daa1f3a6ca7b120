"""Draw random samples of queries, for people to grade."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from retrieval_metrics._internal.grouping import group_pairs
from retrieval_metrics._internal.validation import common_id_type, integer, positive_integer, proportion
from retrieval_metrics.files.saved_fields import SavedFields
from retrieval_metrics.reports.tables import Table

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from retrieval_metrics._internal.plain_types import QueryId

# The smallest number of queries drawn from each stratum: a single one shows no spread.
MIN_PER_STRATUM = 2


@dataclass(frozen=True, slots=True, eq=False)
class Sample(SavedFields):
    """A random sample of queries, with their probabilities of being drawn.

    Attributes:
        queries: The sampled queries, in the order in which they were drawn.
        population: All queries from which they were drawn.
        probabilities: The probability of drawing each sampled query.
        strata: The stratum of each of all queries; None if there are none.
        sources: The document that each query comes from, as far as it is known.
        seed: The seed of the sample; None if the probabilities were given.

    Raises:
        TypeError: If a probability is not a number.
        ValueError: If it is not above 0 and at most 1, nothing was drawn, or a drawn query is not among all.
    """

    kind: ClassVar[str] = "sample"

    queries: tuple[QueryId, ...]
    population: tuple[QueryId, ...]
    probabilities: Mapping[Any, float]
    strata: Mapping[Any, Hashable] | None = None
    sources: Mapping[Any, str] = field(default_factory=dict)
    seed: int | None = None

    def __post_init__(self) -> None:
        population = set(self.population)
        for query, probability in self.probabilities.items():
            proportion(probability, f"the probability of query {query!r}", allow_one=True)
            if query not in population:
                raise ValueError(
                    f"query {query!r} was drawn, but is not among the {len(population)} queries to draw from"
                )
        if not self.queries or set(self.queries) != self.probabilities.keys():
            raise ValueError(f"a sample has queries, each with its probability, got {list(self.probabilities)}")

    @classmethod
    def from_probabilities(cls, probabilities: Mapping[Any, float], population: Sequence[QueryId]) -> Sample:
        """Return a sample that was drawn elsewhere.

        Args:
            probabilities: The probability of drawing each sampled query.
            population: All queries from which they were drawn.

        Raises:
            TypeError: As `Sample`, or if the probabilities are not a mapping.
            ValueError: As `Sample`.

        Example:
            >>> print(Sample.from_probabilities({"q1": 0.5, "q4": 1.0}, population=["q1", "q2", "q4"]))
            2 of 3 queries, sampled with probabilities 0.5 to 1
        """
        if not isinstance(probabilities, Mapping):
            raise TypeError(f"probabilities must map query ids to numbers, got {type(probabilities).__name__}")
        return cls(tuple(probabilities), tuple(population), dict(probabilities))

    def __len__(self) -> int:
        return len(self.queries)

    def __iter__(self) -> Iterator[Any]:  # ids of one type, which only the caller knows
        return iter(self.queries)

    def __contains__(self, query: object) -> bool:
        return query in self.probabilities

    def _tables(self) -> list[Table]:
        counts = f"{len(self):,} of {len(self.population):,} queries"
        if self.seed is None:
            lowest = min(self.probabilities.values())
            highest = max(self.probabilities.values())
            return [Table((), (), [f"{counts}, sampled with probabilities {lowest:g} to {highest:g}"])]
        if self.strata is None:
            return [Table((), (), [f"{counts}, simple random sample (seed {self.seed})"])]
        rows = []
        for stratum in dict.fromkeys(self.strata.values()):
            queries = [query for query in self.population if self.strata[query] == stratum]
            n_drawn = sum(query in self for query in queries)
            rows.append([str(stratum), f"{n_drawn:,}", f"{len(queries):,}"])
        title = f"{counts}, stratified random sample (seed {self.seed})"
        return [Table(["stratum", "sampled", "of"], rows, title=title)]

    def __repr__(self) -> str:
        return f"<Sample: {len(self)} of {len(self.population)} queries>"


def draw(
    queries: Sequence[QueryId],
    n: int,
    strata: Mapping[Any, Hashable] | None,
    seed: int,
    shares: Mapping[Any, float] | None = None,
) -> Sample:
    """Draw queries; see `EvaluationSet.sample`. `shares` are the parts of the sample for each stratum."""
    common_id_type(set(map(type, queries)), "query ids")
    size = positive_integer(n, "n")
    if size > len(queries):
        raise ValueError(f"n must be at most {len(queries)}, the number of queries, got {size}")
    generator = random.Random(integer(seed, "seed"))
    if strata is None:
        return _draw_plainly(queries, size, seed, generator)
    queries_by_stratum = _group_by_stratum(queries, strata)
    min_size = MIN_PER_STRATUM * len(queries_by_stratum)
    if size < min_size:
        raise ValueError(
            f"n must be at least {min_size}, {MIN_PER_STRATUM} for each of {len(queries_by_stratum)} strata, got "
            f"{size}. Use fewer strata, or a larger n."
        )
    drawn = _draw_from_strata(queries_by_stratum, size, shares, generator)
    n_drawn = Counter(candidate.stratum for candidate in drawn)
    generator.shuffle(drawn)
    stratum_by_query = {}
    for stratum, members in queries_by_stratum.items():
        stratum_by_query.update(dict.fromkeys(members, stratum))
    probabilities = {}
    for candidate in drawn:
        n_members = len(queries_by_stratum[candidate.stratum])
        probabilities[candidate.query] = n_drawn[candidate.stratum] / n_members
    return Sample(
        queries=tuple(candidate.query for candidate in drawn),
        population=tuple(queries),
        probabilities=probabilities,
        strata={query: stratum_by_query[query] for query in queries},
        seed=seed,
    )


def _draw_plainly(queries: Sequence[QueryId], size: int, seed: int, generator: random.Random) -> Sample:
    order = list(queries)
    generator.shuffle(order)
    drawn = tuple(order[:size])
    return Sample(drawn, tuple(queries), dict.fromkeys(drawn, size / len(order)), seed=seed)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A query that can be drawn, and its place in the order of drawing.

    Attributes:
        stratum: Its stratum.
        query: The query.
        is_further: Whether it comes after the first queries of every stratum, of which each needs some.
        share_before: The part of its stratum that is drawn before it, by which strata take turns.
    """

    stratum: Hashable
    query: QueryId
    is_further: bool
    share_before: float


def _draw_from_strata(
    queries_by_stratum: Mapping[Hashable, list[QueryId]],
    size: int,
    shares: Mapping[Any, float] | None,
    generator: random.Random,
) -> list[_Candidate]:
    """Draw a few queries of each stratum, then in proportion, so that larger samples contain smaller ones."""
    candidates = []
    for stratum, queries in queries_by_stratum.items():
        generator.shuffle(queries)
        share = len(queries) if shares is None else shares[stratum]
        for index, query in enumerate(queries):
            candidates.append(_Candidate(stratum, query, index >= MIN_PER_STRATUM, (index + 0.5) / share))
    candidates.sort(key=lambda candidate: (candidate.is_further, candidate.share_before))
    return candidates[:size]


def _group_by_stratum(queries: Sequence[QueryId], strata: Mapping[Any, Hashable]) -> dict[Hashable, list[QueryId]]:
    if not isinstance(strata, Mapping):
        raise TypeError(f"strata must map query ids to strata, got {type(strata).__name__}")
    missing = [query for query in queries if query not in strata]
    if missing:
        raise ValueError(f"{len(missing)} queries have no stratum, for example {missing[0]!r}")
    queries_by_stratum = group_pairs((strata[query], query) for query in queries)
    for stratum, members in queries_by_stratum.items():
        if len(members) < MIN_PER_STRATUM:
            raise ValueError(f"stratum {stratum!r} has a single query, {members[0]!r}; put it into another stratum")
    return queries_by_stratum
