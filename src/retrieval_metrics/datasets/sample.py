"""Draw questions from a set, and part a set."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

from retrieval_metrics._internal.validation import common_id_type, group_pairs, integer, positive_integer, proportion
from retrieval_metrics.files.saved_format import SavedFields
from retrieval_metrics.inputs.clusters import Clusters, iterate_relevant
from retrieval_metrics.inputs.documents import SourceDocuments
from retrieval_metrics.inputs.items import Metadata, Span
from retrieval_metrics.inputs.qrels import as_qrels, judgments_by_query
from retrieval_metrics.inputs.questions import Questions, QuestionsT
from retrieval_metrics.reports.tables import Table

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterator, Sequence

    from retrieval_metrics._internal.validation import QueryId


MIN_PER_STRATUM = 2
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
    population: tuple[QueryId, ...]
    probabilities: Mapping[Any, float]
    strata: Mapping[Any, Hashable] | None = None
    sources: Mapping[Any, str] = field(default_factory=dict)
    seed: int | None = None

    def __post_init__(self) -> None:
        known = set(self.population)
        for query, probability in self.probabilities.items():
            proportion(probability, f"the probability of query {query!r}", allow_one=True)
            if query not in known:
                raise ValueError(f"query {query!r} was drawn, but is not among the {len(known)} queries to draw from")
        if not self.queries or set(self.queries) != self.probabilities.keys():
            raise ValueError(f"a sample has queries, each with its probability, got {list(self.probabilities)}")

    @classmethod
    def from_probabilities(cls, probabilities: Mapping[Any, float], population: Sequence[QueryId]) -> Sample:
        """Return a sample that was drawn elsewhere.

        Args:
            probabilities: The probability of drawing each sampled query.
            population: All queries from which they were drawn.

        Raises:
            TypeError: As `Sample`, or if the probabilities are no mapping.
            ValueError: As `Sample`.

        Example:
            >>> print(Sample.from_probabilities({"q1": 0.5, "q4": 1.0}, population=["q1", "q2", "q4"]))
            2 of 3 queries, drawn with probabilities from 0.5 to 1
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
            ends = sorted(self.probabilities.values())
            return [Table((), (), [f"{counts}, drawn with probabilities from {ends[0]:g} to {ends[-1]:g}"])]
        if self.strata is None:
            return [Table((), (), [f"{counts}, drawn at random (seed {self.seed})"])]
        rows = []
        for stratum in dict.fromkeys(self.strata.values()):
            held = [query for query in self.population if self.strata[query] == stratum]
            rows.append([str(stratum), f"{sum(query in self for query in held):,}", f"{len(held):,}"])
        title = f"{counts}, drawn at random in strata (seed {self.seed})"
        return [Table(["stratum", "drawn", "of"], rows, title=title)]

    def __repr__(self) -> str:
        return f"<Sample: {len(self)} of {len(self.population)} queries>"


def draw(
    queries: Sequence[QueryId],
    n: int,
    strata: Mapping[Any, Hashable] | None,
    seed: int,
    shares: Mapping[Any, float] | None = None,
) -> Sample:
    """Draw queries; see `EvaluationSet.sample`."""
    common_id_type(set(map(type, queries)), "query ids")
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
    if wanted < MIN_PER_STRATUM * len(layers):
        raise ValueError(
            f"{len(layers)} strata need at least {MIN_PER_STRATUM * len(layers)} queries, {MIN_PER_STRATUM} of each, "
            f"got n={wanted}; use "
            "fewer strata, or draw more"
        )
    places = []
    for stratum, held in layers.items():
        chance.shuffle(held)
        # First two of each stratum, then in proportion, so that a larger sample contains every smaller one.
        size = len(held) if shares is None else shares[stratum]
        places += [((at >= MIN_PER_STRATUM, (at + 0.5) / size), stratum, query) for at, query in enumerate(held)]
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
    layers = group_pairs((strata[query], query) for query in queries)
    for stratum, held in layers.items():
        if len(held) < MIN_PER_STRATUM:
            raise ValueError(f"stratum {stratum!r} has a single query, {held[0]!r}; put it into another stratum")
    return layers


# Split question sets without leakage, merge them, and leave questions out.


def select_queries(questions: QuestionsT, queries: Collection[QueryId]) -> QuestionsT:
    """Return a set with the given queries alone, in the order of the set."""

    def kept(by_query: Mapping[Any, Any]) -> dict[Any, Any]:
        return {query: value for query, value in by_query.items() if query in queries}

    return replace(
        questions,
        queries=kept(questions.queries),
        qrels=kept(judgments_by_query(questions.qrels)),
        provenance=kept(questions.provenance),
        answers=kept(questions.answers),
        conversation=kept(questions.conversation),
    )


def split_queries(questions: Questions, shares: Sequence[float], seed: int) -> list[set[QueryId]]:
    """Return the ids of each part; `EvaluationSet.split` says how they are chosen."""
    if any(not share > 0 for share in shares) or not math.isclose(math.fsum(shares), 1, abs_tol=1e-9):
        raise ValueError(f"the shares of a split must be positive and add up to 1, got {', '.join(map(str, shares))}")
    clusters = _clusters(questions)
    if len(clusters) < len(shares):
        raise ValueError(
            f"{len(questions)} questions cannot be split into {len(shares)} parts, because their sources and "
            f"judgments connect them to {len(clusters)} clusters that must stay together"
        )
    chance = random.Random(integer(seed, "seed"))  # noqa: S311  (not a secret)
    chance.shuffle(clusters)
    clusters.sort(key=len, reverse=True)  # stable, so that equal ones stay in random order
    found: list[set[QueryId]] = [set() for _ in shares]
    for number, cluster in enumerate(clusters):
        lacking = [share * len(questions) - len(part) for share, part in zip(shares, found, strict=True)]
        empty = [at for at, part in enumerate(found) if not part]
        # Each empty part needs at least one of the remaining clusters.
        allowed = empty if len(clusters) - number == len(empty) else range(len(shares))
        found[max(allowed, key=lambda at: lacking[at])].update(cluster)
    return found


def _clusters(questions: Questions) -> list[list[QueryId]]:
    """Return the questions that must stay together: those of one source, and those with a judgment in common."""
    truth = as_qrels(questions)
    names: dict[QueryId, set[Hashable]] = {query: set() for query in truth.queries}
    for at, judged in iterate_relevant(truth):
        names[truth.queries[at]].add(("judged", judged))
        if isinstance(judged, (Span, Metadata)) and judged.source is not None:
            names[truth.queries[at]].add(("source", judged.source))
    for query, made in questions.provenance.items():
        if made.source is not None and query in names:
            names[query].add(("source", made.source))
    labels = Clusters(truth.queries, [tuple(named) for named in names.values()], by_source=False).labels
    if labels is None:
        return [[query] for query in truth.queries]
    return list(group_pairs(zip(labels.tolist(), truth.queries, strict=True)).values())


def merge_sets(kind: type[QuestionsT], sets: Sequence[Questions]) -> QuestionsT:
    """Merge several sets; see `EvaluationSet.merge`."""
    for each in sets:
        if not isinstance(each, Questions):
            raise TypeError(f"an EvaluationSet can be merged only with EvaluationSets, got {type(each).__name__}")
    texts = _agreeing([each.queries for each in sets], "query {!r} is", "rename one")
    judged = [
        {query: judgments for query, judgments in judgments_by_query(each.qrels).items() if query in each.queries}
        for each in sets
    ]
    qrels = _agreeing(judged, "query {!r} is judged", "merge these judgments first, or rename one of the two")
    for query in texts:
        said = [each.conversation.get(query) for each in sets if query in each.queries]
        if any(one != said[0] for one in said):
            raise ValueError(f"something else was said before query {query!r} in one set than in another; rename one")
    answers = _agreeing([each.answers for each in sets], "the answer to query {!r} is", "leave one of the two out")
    provenance = {query: made for each in reversed(sets) for query, made in each.provenance.items()}
    history = {query: said for each in sets for query, said in each.conversation.items()}
    changes = dict.fromkeys(change for each in sets for change in each.changes)
    common_id_type(set(map(type, texts)), "query ids of the sets together")
    return kind(texts, qrels, provenance, tuple(changes), _together(sets), answers, history)


def _agreeing(sets: Sequence[Mapping[Any, Any]], what: str, advice: str) -> dict[Any, Any]:
    """Return what several sets have of each query; what differs is refused in the words of `what` and `advice`."""
    found: dict[Any, Any] = {}
    for each in sets:
        for query, value in each.items():
            if found.setdefault(query, value) != value:
                raise ValueError(f"{what.format(query)} {found[query]!r} in one set and {value!r} in another; {advice}")
    return found


def _together(sets: Sequence[Questions]) -> SourceDocuments | None:
    kept = [each.sources for each in sets if each.sources is not None]
    digests: dict[str, str] = {}
    for sources in kept:
        for name, digest in sources.digests.items():
            if digests.setdefault(name, digest) != digest:
                raise ValueError(f"the text of source {name!r} differs between the sets; rename it in one of them")
    texts = {name: text for sources in kept for name, text in sources.texts.items()}
    return SourceDocuments(texts, digests) if kept else None
