"""Draw a random sample of queries for people to grade."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from retrieval_metrics.checks import grouped, id_kind, integer, positive_integer, proportion
from retrieval_metrics.keeping.document import SavedFields
from retrieval_metrics.presentation.tables import Table

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from retrieval_metrics.checks import QueryId

EACH = 2
"""The fewest queries of each stratum, because a single one shows no spread."""


@dataclass(frozen=True, slots=True, eq=False)
class Sample(SavedFields):
    """A random sample of queries, with their probabilities of being drawn.

    Attributes:
        queries: The sampled queries, in the order in which they were drawn.
        of: All queries from which they were drawn.
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
    of: tuple[QueryId, ...]
    probabilities: Mapping[Any, float]
    strata: Mapping[Any, Hashable] | None = None
    sources: Mapping[Any, str] = field(default_factory=dict)
    seed: int | None = None

    def __post_init__(self) -> None:
        known = set(self.of)
        for query, probability in self.probabilities.items():
            proportion(probability, f"the probability of query {query!r}", one=True)
            if query not in known:
                raise ValueError(f"query {query!r} was drawn, but is not among the {len(known)} queries to draw from")
        if not self.queries or set(self.queries) != self.probabilities.keys():
            raise ValueError(f"a sample has queries, each with its probability, got {list(self.probabilities)}")

    @classmethod
    def given(cls, probabilities: Mapping[Any, float], of: Sequence[QueryId]) -> Sample:
        """Return a sample that was drawn elsewhere.

        Args:
            probabilities: The probability of drawing each sampled query.
            of: All queries from which they were drawn.

        Raises:
            TypeError: As `Sample`, or if the probabilities are no mapping.
            ValueError: As `Sample`.

        Example:
            >>> print(Sample.given({"q1": 0.5, "q4": 1.0}, of=["q1", "q2", "q4"]))
            2 of 3 queries, drawn with probabilities from 0.5 to 1
        """
        if not isinstance(probabilities, Mapping):
            raise TypeError(f"probabilities must map query ids to numbers, got {type(probabilities).__name__}")
        return cls(tuple(probabilities), tuple(of), dict(probabilities))

    def __len__(self) -> int:
        return len(self.queries)

    def __iter__(self) -> Iterator[Any]:  # ids of one type, which only the caller knows
        return iter(self.queries)

    def __contains__(self, query: object) -> bool:
        return query in self.probabilities

    def _tables(self) -> list[Table]:
        counts = f"{len(self):,} of {len(self.of):,} queries"
        if self.seed is None:
            ends = sorted(self.probabilities.values())
            return [Table((), (), [f"{counts}, drawn with probabilities from {ends[0]:g} to {ends[-1]:g}"])]
        if self.strata is None:
            return [Table((), (), [f"{counts}, drawn at random (seed {self.seed})"])]
        rows = []
        for stratum in dict.fromkeys(self.strata.values()):
            held = [query for query in self.of if self.strata[query] == stratum]
            rows.append([str(stratum), f"{sum(query in self for query in held):,}", f"{len(held):,}"])
        title = f"{counts}, drawn at random in strata (seed {self.seed})"
        return [Table(["stratum", "drawn", "of"], rows, title=title)]

    def __repr__(self) -> str:
        return f"<Sample: {len(self)} of {len(self.of)} queries>"


def draw(
    queries: Sequence[QueryId],
    n: int,
    strata: Mapping[Any, Hashable] | None,
    seed: int,
    shares: Mapping[Any, float] | None = None,
) -> Sample:
    """Draw queries; see `EvaluationSet.sample`.

    Args:
        queries: All queries.
        n: How many to draw.
        strata: The stratum of each query.
        seed: Seed of the draw.
        shares: The part of the draw that each stratum gets, until it is empty; None draws in proportion to their sizes.

    Raises:
        TypeError: As `EvaluationSet.sample`.
        ValueError: As `EvaluationSet.sample`.
    """
    id_kind(set(map(type, queries)), "query ids")
    wanted = positive_integer(n, "n")
    if wanted > len(queries):
        raise ValueError(f"{wanted} queries cannot be drawn from {len(queries)}")
    chance = random.Random(integer(seed, "seed"))  # noqa: S311  (not a secret)
    if strata is None:
        order = list(queries)
        chance.shuffle(order)
        chosen = tuple(order[:wanted])
        return Sample(chosen, tuple(queries), dict.fromkeys(chosen, wanted / len(order)), seed=seed)
    layers = _layers(queries, strata)
    if wanted < EACH * len(layers):
        raise ValueError(
            f"{len(layers)} strata need at least {EACH * len(layers)} queries, {EACH} of each, got n={wanted}; use "
            "fewer strata, or draw more"
        )
    places = []
    for stratum, held in layers.items():
        chance.shuffle(held)
        # First two of each stratum, then in proportion, so that a larger sample contains every smaller one.
        size = len(held) if shares is None else shares[stratum]
        places += [((at >= EACH, (at + 0.5) / size), stratum, query) for at, query in enumerate(held)]
    places.sort(key=lambda place: place[0])
    drawn = [(stratum, query) for _, stratum, query in places[:wanted]]
    of_layer = {stratum: sum(one == stratum for one, _ in drawn) / len(held) for stratum, held in layers.items()}
    chance.shuffle(drawn)
    where = {query: stratum for stratum, held in layers.items() for query in held}
    return Sample(
        tuple(query for _, query in drawn),
        tuple(queries),
        {query: of_layer[stratum] for stratum, query in drawn},
        {query: where[query] for query in queries},
        seed=seed,
    )


def _layers(queries: Sequence[QueryId], strata: Mapping[Any, Hashable]) -> dict[Hashable, list[QueryId]]:
    if not isinstance(strata, Mapping):
        raise TypeError(f"strata must map query ids to strata, got {type(strata).__name__}")
    if missing := [query for query in queries if query not in strata]:
        raise ValueError(f"{len(missing)} queries have no stratum, for example {missing[0]!r}")
    layers = grouped((strata[query], query) for query in queries)
    for stratum, held in layers.items():
        if len(held) < EACH:
            raise ValueError(f"stratum {stratum!r} has a single query, {held[0]!r}; put it into another stratum")
    return layers
