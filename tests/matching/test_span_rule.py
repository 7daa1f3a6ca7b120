"""Judged spans: the items together cover them, however the texts are cut; checked against sets of characters."""

import itertools
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import piece_reference as naive
import retrieval_metrics as rm
from generated import cutoffs
from piece_reference import Chunk
from retrieval_metrics import Retrieved, Span
from retrieval_metrics.metrics.base.registry import DEFINITIONS
from retrieval_metrics.metrics.base.rules import RULE_SETS
from span_collection import SPLITTERS, chunked, corpora_in, questions_in, shared

unwarned = pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")


def means(truth: Any, ranking: Any, metrics: list[str], **options: Any) -> dict[str, float]:
    return dict(rm.evaluate({"q": truth}, {"q": ranking}, metrics, **options).means)


class TestSpans:
    def test_halves_complete_a_span_that_a_boundary_cuts(self) -> None:
        items = [Retrieved(f"c{number}", source="a", start=number * 100, end=number * 100 + 100) for number in range(3)]
        result = means(
            [Span("a", 60, 160)], [items[0], items[2], items[1]], ["recall@2", "recall@3", "mrr", "precision"]
        )
        # c0 adds to it and gives no row, c2 is a miss, c1 completes it: row 2.
        assert result == {"recall@2": 0, "recall@3": 1, "mrr": 1 / 2, "precision": 1 / 3}

    def test_four_fifths_are_enough_and_a_character_less_is_not(self) -> None:
        span = Span("a", 0, 10)
        for end, recall in ((8, 1), (7, 0)):
            assert means([span], [Retrieved("c", source="a", start=0, end=end)], ["recall"]) == {"recall": recall}

    def test_what_follows_when_exactly_the_share_is_covered_does_not_count_again(self) -> None:
        stretches = [(0, 8), (8, 10), (20, 30)]
        items = [
            Retrieved(f"c{number}", source="a", start=start, end=end) for number, (start, end) in enumerate(stretches)
        ]
        truth = [Span("a", 0, 10), Span("a", 20, 30)]
        assert [match.rank for match in rm.match({"q": truth}, {"q": items})] == [1, 3]
        assert means(truth, items, ["recall", "ndcg", "map"]) == {"recall": 1, "ndcg": 1, "map": 1}

    def test_what_is_covered_already_adds_nothing_and_is_a_miss(self) -> None:
        stretches = [(0, 5), (0, 5), (5, 10)]
        items = [
            Retrieved(f"c{number}", source="a", start=start, end=end) for number, (start, end) in enumerate(stretches)
        ]
        # The first adds to it and gives no row, the second is a miss, the third completes it: row 2.
        assert means([Span("a", 0, 10)], items, ["mrr"]) == {"mrr": 1 / 2}
        assert means([Span("a", 0, 10)], [items[0], items[2], items[1]], ["mrr"]) == {"mrr": 1}

    @pytest.mark.filterwarnings("ignore:no retrieved document is judged")
    def test_half_of_the_shorter_of_the_two_is_enough_for_precision(self) -> None:
        span = Span("a", 10, 20)
        for (start, end), counts in (
            ((5, 15), 1),
            ((4, 14), 0),
            ((8, 12), 1),
            ((7, 12), 0),
            ((0, 15), 1),
            ((0, 14), 0),
        ):
            values = means([span], [Retrieved("c", source="a", start=start, end=end)], ["precision"])
            assert values == {"precision": counts}

    @pytest.mark.filterwarnings("ignore:no retrieved document is judged")
    def test_what_only_touches_a_span_holds_nothing_of_it(self) -> None:
        items = [Retrieved("c", source="a", start=0, end=10), Retrieved("d", source="a", start=20, end=30)]
        match = rm.Matching(min_coverage=1e-9, min_overlap=1e-9)
        assert means([Span("a", 10, 20)], items, ["recall", "precision"], match=match) == {"recall": 0, "precision": 0}
        near = [Retrieved("c", source="a", start=0, end=11), Retrieved("d", source="a", start=19, end=30)]
        assert means([Span("a", 10, 20)], near, ["recall", "precision"], match=match) == {"recall": 1, "precision": 1}

    def test_another_source_is_another_place(self) -> None:
        items = [Retrieved("c", source="b", start=0, end=100), Retrieved("d", source="a", start=0, end=100)]
        assert means([Span("a", 5, 50)], items, ["mrr"]) == {"mrr": 1 / 2}

    def test_an_uncertain_span_is_the_same_place(self) -> None:
        assert {Span("a", 0, 5, uncertain=True)} == {Span("a", 0, 5)}
        assert Span("a", 0, 5) != ("a", 0, 5)

    def test_it_needs_characters(self) -> None:
        with pytest.raises(TypeError, match=r"the offsets of a Span must be integers, got 0\.5 in 'a'"):
            Span("a", 0.5, 5)  # type: ignore[arg-type]  # what a user may do
        with pytest.raises(ValueError, match="a Span needs 0 <= start < end, got 5 and 5 in 'a'"):
            Span("a", 5, 5)


# Combining marks, scripts without spaces, emoji beyond the basic plane, both line ends, spaces of several widths.
LETTERS = ["a", "b", " ", "\n", "\r\n", "\u0301", "e\u0301", "\u6587", "\u3000", "\u00a0", "\U0001f600", "\u200b", "\t"]


texts = st.lists(st.sampled_from(LETTERS), min_size=1, max_size=40).map(lambda parts: "x" + "".join(parts) + "x")


@st.composite
def stretches(draw: st.DrawFn, text: str) -> tuple[int, int]:
    """Two offsets with something between them that is not white space."""
    start = draw(st.integers(0, len(text) - 1))
    end = draw(st.integers(start + 1, len(text)))
    return (start, end) if text[start:end].strip() else (0, end)


@st.composite
def situations(draw: st.DrawFn) -> tuple[dict[str, str], naive.Truth, list[Chunk]]:
    sources = {"s": draw(texts), "t": draw(texts)}
    names = st.sampled_from(sorted(sources))
    truth: naive.Truth = []
    for _ in range(draw(st.integers(1, 4))):
        group: dict[naive.Place, float] = {}
        for _ in range(draw(st.integers(1, 3))):
            name = draw(names)
            group[name, *draw(stretches(sources[name]))] = draw(st.sampled_from([0.0, 1.0, 1.0, 2.0, 3.0]))
        truth.append([*group.items()])
    chunks: list[Chunk] = []
    size = draw(st.integers(2, 12))
    overlap = draw(st.integers(0, 1))
    for name, text in sources.items():
        chunks += [
            Chunk(f"{name}{start}", name, start, min(start + size, len(text)))
            for start in range(0, len(text), size - overlap)
        ]
    return sources, truth, draw(st.lists(st.sampled_from(chunks), max_size=12))


def has_relevant(truth: naive.Truth, rel: float | None = None) -> bool:
    return any(naive.relevant(grade, rel) for _, grade in itertools.chain.from_iterable(truth))


def groups(truth: naive.Truth) -> list[dict[Span, float]]:
    return [{Span(*place): grade for place, grade in group} for group in truth]


def items(sources: dict[str, str], ranking: list[Chunk], *, with_text: bool = True) -> list[Retrieved]:
    return [
        Retrieved(
            chunk.id,
            sources[chunk.source][chunk.start : chunk.end] if with_text else None,
            chunk.source,
            chunk.start,
            chunk.end,
        )
        for chunk in ranking
    ]


def means_with_sources(
    truth: Any, ranking: list[Retrieved], metrics: list[str], sources: Any = None
) -> dict[str, float]:
    return means(truth, ranking, metrics, match=rm.Matching(sources=sources))


@unwarned
@pytest.mark.filterwarnings("ignore:.* spans fit the words of their sources only if")
class TestAgainstSetsOfCharacters:
    NAMES = ("hit_rate", "recall", "full_recall", "precision", "mrr", "map")

    @given(situation=situations(), k=cutoffs, rel=st.sampled_from([None, 2]))
    def test_every_metric(
        self, situation: tuple[dict[str, str], naive.Truth, list[Chunk]], k: int | None, rel: float | None
    ) -> None:
        sources, truth, ranking = situation
        suffix = f"(rel={rel})" * (rel is not None) + f"@{k}" * (k is not None)
        result = means_with_sources(
            groups(truth), items(sources, ranking), [name + suffix for name in self.NAMES], sources
        )
        if not has_relevant(truth, rel):
            assert all(map(math.isnan, result.values()))
            return
        expected = naive.metrics(truth, ranking, sources, k, rel=rel)
        assert result == pytest.approx({name + suffix: expected[name] for name in self.NAMES}, abs=1e-12)

    @given(situation=situations(), k=cutoffs)
    def test_ndcg(self, situation: tuple[dict[str, str], naive.Truth, list[Chunk]], k: int | None) -> None:
        sources, truth, ranking = situation
        name = "ndcg" + f"@{k}" * (k is not None)
        if has_relevant(truth):
            expected = naive.metrics(truth, ranking, sources, k)["ndcg"]
            assert means_with_sources(groups(truth), items(sources, ranking), [name], sources)[name] == pytest.approx(
                expected
            )

    @given(situation=situations(), budget=st.integers(1, 60), with_text=st.booleans())
    def test_at_a_budget_of_characters(
        self, situation: tuple[dict[str, str], naive.Truth, list[Chunk]], budget: int, *, with_text: bool
    ) -> None:
        sources, truth, ranking = situation
        names = [f"{name}@{budget}chars" for name in (*self.NAMES, "ndcg")]
        if has_relevant(truth):
            expected = naive.metrics(truth, ranking, sources, budget=budget)
            result = means_with_sources(groups(truth), items(sources, ranking, with_text=with_text), names, sources)
            assert result == pytest.approx({name: expected[name.split("@")[0]] for name in names}, abs=1e-12)

    @given(situation=situations(), k=cutoffs, budget=st.one_of(st.none(), st.integers(1, 60)))
    def test_every_metric_of_characters(
        self, situation: tuple[dict[str, str], naive.Truth, list[Chunk]], k: int | None, budget: int | None
    ) -> None:
        sources, truth, ranking = situation
        suffix = f"@{budget}chars" if budget else f"@{k}" * (k is not None)
        first = naive.fitting(ranking, budget) if budget else k
        names = [f"{name}{suffix}" for name in naive.COVERED]
        result = means_with_sources(groups(truth), items(sources, ranking), names, sources)
        if not has_relevant(truth):
            assert all(map(math.isnan, result.values()))
            return
        length = sum(len(naive.characters(sources, *chunk[1:])) for chunk in ranking[:first])
        possible = []
        for covered, total in naive.best_choices(truth, ranking, sources, first):
            values = [formula(covered, total, length) for formula in naive.COVERED.values()]
            possible.append([*result.values()] == pytest.approx(values))
        assert any(possible)

    @given(situation=situations())
    def test_flat_truth_is_groups_of_one(self, situation: tuple[dict[str, str], naive.Truth, list[Chunk]]) -> None:
        sources, truth, ranking = situation
        flat = dict(itertools.chain.from_iterable(truth))
        names = [*self.NAMES, "ndcg", "ndcg@3", "rbp", "err", "bpref", "r_precision", "judged"]
        flat_means = means_with_sources(
            {Span(*place): grade for place, grade in flat.items()}, items(sources, ranking), names, sources
        )
        grouped_means = means_with_sources(
            [{Span(*place): grade} for place, grade in flat.items()], items(sources, ranking), names, sources
        )
        assert repr(flat_means) == repr(grouped_means)

    def test_a_judged_piece_within_a_partly_covered_one_is_not_counted_above_it(self) -> None:
        judgments = [{Span("s", 0, 1): 0}, {Span("s", 0, 3): 1}]
        chunks = [Chunk("s0", "s", 0, 2), Chunk("s2", "s", 2, 3)]
        sources = {"s": "xax"}
        assert means_with_sources(judgments, items(sources, chunks), ["infap", "map"], sources) == {
            "infap": 1.0,
            "map": 1.0,
        }

    @pytest.mark.thorough
    @given(situation=situations())
    def test_every_bounded_metric_stays_in_bounds(
        self, situation: tuple[dict[str, str], naive.Truth, list[Chunk]]
    ) -> None:
        sources, truth, ranking = situation
        names = [name for name, definition in DEFINITIONS.items() if definition.bounded]
        match = rm.Matching(sources=sources)
        run = {"q": items(sources, ranking)}
        for semantics, cut in itertools.product(RULE_SETS, ("", "@1", "@4", "@15chars")):
            metrics = [name + cut for name in names if rm.Metric.parse(name).definition.takes_cutoff or not cut]
            if semantics == "trec_eval" and len(set(ranking)) < len(ranking):
                continue  # it refuses repeats
            if semantics == "llama_index" and not (ranking and has_relevant(truth)):
                continue  # it refuses queries without anything relevant or retrieved
            result = rm.evaluate({"q": groups(truth)}, run, metrics, match=match, rules=semantics)
            values = [*result.means.values(), *result.residuals.values()]
            assert all(math.isnan(value) or 0 <= value <= 1 for value in values), result.means

    @given(text=texts, data=st.data())
    def test_without_the_source_every_character_counts(self, text: str, data: st.DataObject) -> None:
        start, end = data.draw(stretches(text))
        ranking = [
            Chunk(f"c{start_of_chunk}", "s", start_of_chunk, min(start_of_chunk + 5, len(text)))
            for start_of_chunk in range(0, len(text), 5)
        ]
        letters = {"s": "x" * len(text)}
        expected = naive.metrics([[(("s", start, end), 1.0)]], ranking, letters)
        result = means_with_sources([Span("s", start, end)], items({"s": text}, ranking), ["mrr", "precision"])
        assert result == pytest.approx({name: expected[name] for name in ("mrr", "precision")})

    @given(situation=situations(), k=cutoffs)
    def test_the_residual_counts_hits_relevant_misses_and_repeats_as_settled(
        self, situation: tuple[dict[str, str], naive.Truth, list[Chunk]], k: int | None
    ) -> None:
        sources, truth, ranking = situation
        run = {"q": items(sources, ranking)}
        name = "rbp" + f"@{k}" * (k is not None)
        residual = rm.evaluate({"q": groups(truth)}, run, name, match=rm.Matching(sources=sources)).residuals[name]
        settled_weight = 0.0
        for row, (rank, grade) in enumerate(naive.rows(truth, ranking, sources, k)[:k]):
            first = naive.first_of_each_id(ranking)[rank - 1]
            settled = first is None or any(
                naive.precision([[(place, 1.0)]], [first], sources, 1, None) for group in truth for place, _ in group
            )
            settled_weight += 0.2 * 0.8**row * (grade is not None or settled)
        assert residual == pytest.approx(1 - settled_weight, abs=1e-12)


def gold_first(spans: list[Span], chunks: list[Retrieved]) -> list[Retrieved]:
    """First the chunks that bring most of what is still missing, then some that bring nothing."""
    left = {span: set(range(span.start, span.end)) for span in spans}
    holding = [chunk for chunk in chunks if any(shared(chunk, span) for span in spans)]
    ranking: list[Retrieved] = []

    def brings(chunk: Retrieved) -> int:
        return sum(len(left[span] & shared(chunk, span)) for span in spans)

    while holding and brings(best := max(holding, key=brings)):
        ranking.append(best)
        for span in spans:
            left[span] -= shared(best, span)
    return [*ranking, *(chunk for chunk in chunks[:60] if chunk not in ranking)]


@unwarned
@pytest.mark.parametrize("with_sources", [True, False])
@pytest.mark.parametrize("splitter", SPLITTERS)
def test_gold_chunks_first_score_one_however_the_texts_are_cut(
    shared_data: Path, splitter: str, *, with_sources: bool
) -> None:
    corpora = corpora_in(shared_data)
    questions = questions_in(shared_data)
    chunks = chunked(corpora, splitter)
    by_source = {name: [chunk for chunk in chunks if chunk.source == name] for name in corpora}
    run = {query: gold_first(spans, by_source[spans[0].source]) for query, spans in questions.items()}
    match = rm.Matching(sources=corpora if with_sources else None)
    result = rm.evaluate(
        questions, run, ["recall", "full_recall", "hit_rate", "mrr", "map", "ndcg", "r_precision"], match=match
    )
    assert dict(result.means) == dict.fromkeys(result.means, 1.0)
    assert result.counts["scored"] == len(questions) == 472
    assert sum(map(len, questions.values())) == 790
