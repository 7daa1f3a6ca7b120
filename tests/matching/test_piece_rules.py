"""What pieces of text give: spans against sets of characters, and the choice among alternatives."""

import itertools
import math
from itertools import product
from math import prod
from pathlib import Path
from random import Random
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

import piece_reference as naive
import retrieval_metrics as rm
from generated import cutoffs
from piece_reference import Chunk
from retrieval_metrics import Quote, Retrieved, Span, Text
from retrieval_metrics.matching import piece_rules as alternatives
from retrieval_metrics.matching.alternative_choice import Group, TextRanges, best_choice
from retrieval_metrics.metrics.base.rules import RULE_SETS
from retrieval_metrics.metrics.base.table import DEFINITIONS
from span_collection import SPLITTERS, chunked, corpora_in, questions_in, shared


def drawn(seed: int) -> tuple[list[Group], TextRanges]:
    """Groups whose alternatives share atoms."""
    random, atoms = Random(seed), TextRanges()
    pieces = range(6)
    for _ in range(8):
        size = random.randint(1, 9)
        atoms.add(random.sample(pieces, random.randint(1, 3)), random.randint(0, size), size)
    held = [atoms.of[piece] for piece in pieces if piece in atoms.of]
    return [random.sample(held, random.randint(1, 3)) for _ in range(4)], atoms


def share(choice: tuple[int, int]) -> float:
    return choice[0] / choice[1]


@pytest.mark.parametrize("seed", range(50))
def test_no_choice_covers_a_larger_share(seed: int) -> None:
    groups, atoms = drawn(seed)
    assert share(best_choice(groups, atoms)) == max(share(atoms.prefix_sums(pieces)) for pieces in product(*groups))


def test_exactly_so_many_choices_are_still_searched_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    searched = []
    for groups, atoms in map(drawn, range(50)):
        best = max(share(atoms.prefix_sums(pieces)) for pieces in product(*groups))
        monkeypatch.setattr(alternatives, "MOST_CHOICES", prod(map(len, groups)))
        assert share(best_choice(groups, atoms)) == best
        monkeypatch.setattr(alternatives, "MOST_CHOICES", 1)
        searched.append(share(best_choice(groups, atoms)) < best)
    assert any(searched)  # some need the search


@pytest.mark.parametrize("seed", range(50))
def test_beyond_so_many_choices_no_change_of_a_single_group_covers_more(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alternatives, "MOST_CHOICES", 1)
    groups, atoms = drawn(seed)
    found = best_choice(groups, atoms)
    choices = [pieces for pieces in product(*groups) if atoms.prefix_sums(pieces) == found]
    assert any(
        all(
            share(atoms.prefix_sums([*pieces[:at], other, *pieces[at + 1 :]])) <= share(found)
            for at, group in enumerate(groups)
            for other in group
        )
        for pieces in choices
    )


unwarned = pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")

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
    size, overlap = draw(st.integers(2, 12)), draw(st.integers(0, 1))
    for name, text in sources.items():
        chunks += [
            Chunk(f"{name}{start}", name, start, min(start + size, len(text)))
            for start in range(0, len(text), size - overlap)
        ]
    return sources, truth, draw(st.lists(st.sampled_from(chunks), max_size=12))


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


def means(truth: Any, ranking: list[Retrieved], metrics: list[str], sources: Any = None) -> dict[str, float]:
    return dict(rm.evaluate({"q": truth}, {"q": ranking}, metrics, match=rm.Matching(sources=sources)).means)


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
        result = means(groups(truth), items(sources, ranking), [name + suffix for name in self.NAMES], sources)
        if not any(naive.relevant(grade, rel) for group in truth for _, grade in group):
            assert all(map(math.isnan, result.values()))
            return
        expected = naive.metrics(truth, ranking, sources, k, rel=rel)
        assert result == pytest.approx({name + suffix: expected[name] for name in self.NAMES}, abs=1e-12)

    @given(situation=situations(), k=cutoffs)
    def test_ndcg(self, situation: tuple[dict[str, str], naive.Truth, list[Chunk]], k: int | None) -> None:
        sources, truth, ranking = situation
        name = "ndcg" + f"@{k}" * (k is not None)
        if any(grade > 0 for group in truth for _, grade in group):
            expected = naive.metrics(truth, ranking, sources, k)["ndcg"]
            assert means(groups(truth), items(sources, ranking), [name], sources)[name] == pytest.approx(expected)

    @given(situation=situations(), budget=st.integers(1, 60), with_text=st.booleans())
    def test_at_a_budget_of_characters(
        self, situation: tuple[dict[str, str], naive.Truth, list[Chunk]], budget: int, *, with_text: bool
    ) -> None:
        sources, truth, ranking = situation
        names = [f"{name}@{budget}chars" for name in (*self.NAMES, "ndcg")]
        if any(grade > 0 for group in truth for _, grade in group):
            expected = naive.metrics(truth, ranking, sources, budget=budget)
            result = means(groups(truth), items(sources, ranking, with_text=with_text), names, sources)
            assert result == pytest.approx({name: expected[name.split("@")[0]] for name in names}, abs=1e-12)

    @given(situation=situations(), k=cutoffs, budget=st.one_of(st.none(), st.integers(1, 60)))
    def test_every_metric_of_characters(
        self, situation: tuple[dict[str, str], naive.Truth, list[Chunk]], k: int | None, budget: int | None
    ) -> None:
        sources, truth, ranking = situation
        suffix = f"@{budget}chars" if budget else f"@{k}" * (k is not None)
        first = naive.fitting(ranking, budget) if budget else k
        names = [f"{name}{suffix}" for name in naive.COVERED]
        result = means(groups(truth), items(sources, ranking), names, sources)
        if not any(grade > 0 for group in truth for _, grade in group):
            assert all(map(math.isnan, result.values()))
            return
        length = sum(len(naive.characters(sources, *chunk[1:])) for chunk in ranking[:first])
        possible = [
            [formula(covered, total, length) for formula in naive.COVERED.values()]
            for covered, total in naive.best_choices(truth, ranking, sources, first)
        ]
        assert any([*result.values()] == pytest.approx(values) for values in possible)

    @given(situation=situations())
    def test_flat_truth_is_groups_of_one(self, situation: tuple[dict[str, str], naive.Truth, list[Chunk]]) -> None:
        sources, truth, ranking = situation
        flat = dict(pair for group in truth for pair in group)
        names = [*self.NAMES, "ndcg", "ndcg@3", "rbp", "err", "bpref", "r_precision", "judged"]
        one = means({Span(*place): grade for place, grade in flat.items()}, items(sources, ranking), names, sources)
        other = means([{Span(*place): grade} for place, grade in flat.items()], items(sources, ranking), names, sources)
        assert repr(one) == repr(other)

    @given(situation=situations())
    def test_every_bounded_metric_stays_in_bounds(
        self, situation: tuple[dict[str, str], naive.Truth, list[Chunk]]
    ) -> None:
        sources, truth, ranking = situation
        names = [name for name, one in DEFINITIONS.items() if one.bounded]
        match, run = rm.Matching(sources=sources), {"q": items(sources, ranking)}
        for semantics, cut in itertools.product(RULE_SETS, ("", "@1", "@4", "@15chars")):
            at = [name + cut for name in names if rm.Metric.parse(name).definition.takes_cutoff or not cut]
            if semantics == "trec_eval" and len(set(ranking)) < len(ranking):
                continue  # it refuses repeats
            if semantics == "llama_index" and not (ranking and any(grade > 0 for group in truth for _, grade in group)):
                continue  # it refuses queries without anything relevant or retrieved
            result = rm.evaluate({"q": groups(truth)}, run, at, match=match, rules=semantics)
            values = [*result.means.values(), *result.residuals.values()]
            assert all(math.isnan(value) or 0 <= value <= 1 for value in values), result.means

    @given(text=texts, data=st.data())
    def test_without_the_source_every_character_counts(self, text: str, data: st.DataObject) -> None:
        start, end = data.draw(stretches(text))
        ranking = [Chunk(f"c{at}", "s", at, min(at + 5, len(text))) for at in range(0, len(text), 5)]
        letters = {"s": "x" * len(text)}
        expected = naive.metrics([[(("s", start, end), 1.0)]], ranking, letters)
        result = means([Span("s", start, end)], items({"s": text}, ranking), ["mrr", "precision"])
        assert result == pytest.approx({name: expected[name] for name in ("mrr", "precision")})

    @given(situation=situations(), k=cutoffs)
    def test_the_residual_counts_hits_relevant_misses_and_repeats_as_settled(
        self, situation: tuple[dict[str, str], naive.Truth, list[Chunk]], k: int | None
    ) -> None:
        sources, truth, ranking = situation
        run = {"q": items(sources, ranking)}
        name = "rbp" + f"@{k}" * (k is not None)
        residual = rm.evaluate({"q": groups(truth)}, run, name, match=rm.Matching(sources=sources)).residuals[name]
        known = 0.0
        for row, (rank, grade) in enumerate(naive.rows(truth, ranking, sources, k)[:k]):
            first = naive.first_of_each_id(ranking)[rank - 1]
            settled = first is None or any(
                naive.precision([[(place, 1.0)]], [first], sources, 1, None) for group in truth for place, _ in group
            )
            known += 0.2 * 0.8**row * (grade is not None or settled)
        assert residual == pytest.approx(1 - known, abs=1e-12)


@unwarned
class TestCoverageAndDensity:
    TRUTH: ClassVar = [Span("s", 0, 10), Span("s", 30, 40)]

    def test_they_add_up_characters(self) -> None:
        ranking = [Retrieved("a", source="s", start=5, end=15), Retrieved("b", source="s", start=0, end=10)]
        assert means(self.TRUTH, ranking, ["coverage@1", "coverage", "density@1", "density"]) == {
            "coverage@1": 5 / 20,
            "coverage": 10 / 20,
            "density@1": 5 / 10,
            "density": 10 / 20,
        }

    def test_of_alternatives_the_best_counts(self) -> None:
        truth = [[Span("s", 0, 10), Span("s", 100, 120)], [Span("s", 30, 40)]]
        ranking = [Retrieved("a", source="s", start=95, end=125)]
        assert means(truth, ranking, ["coverage", "density"]) == {"coverage": 20 / 30, "density": 20 / 30}

    def test_what_two_spans_share_is_needed_once(self) -> None:
        ranking = [Retrieved("a", source="s", start=0, end=20)]
        assert means([Span("s", 0, 10), Span("s", 5, 20)], ranking, ["coverage", "density"]) == {
            "coverage": 1,
            "density": 1,
        }

    def test_of_alternatives_that_overlap_the_union_counts(self) -> None:
        # A[1:2] with A[1:3] needs 2 characters, with A[2:4] it needs 3; A[2:3] is one of either.
        truth = [[Span("A", 1, 2)], [Span("A", 2, 4), Span("A", 1, 3)]]
        ranking = [Retrieved("a", source="A", start=2, end=3)]
        assert means(truth, ranking, ["coverage", "density"]) == {"coverage": 1 / 2, "density": 1}

    def test_nothing_retrieved_covers_nothing(self) -> None:
        assert means(self.TRUTH, [], ["coverage", "density"]) == {"coverage": 0, "density": 0}

    def test_without_offsets_they_are_undefined_from_that_rank_on(self) -> None:
        ranking = [
            Retrieved("a", source="s", start=0, end=10),
            Retrieved("b", "x", source="s"),
            Retrieved("c", "x", "t"),
        ]
        result = means(self.TRUTH, ranking, ["coverage@1", "coverage@2", "density@2"])
        assert repr(result) == "{'coverage@1': 0.5, 'coverage@2': nan, 'density@2': nan}"

    @pytest.mark.parametrize("truth", [["a"], [Quote("some words of a text")], [[Span("s", 0, 10)], ["a"]]])
    def test_where_something_needed_has_no_place_they_are_undefined(self, truth: Any) -> None:
        ranking = [Retrieved("a", "text", source="s", start=0, end=10)]
        assert all(map(math.isnan, means(truth, ranking, ["coverage", "density"]).values()))

    def test_texts_are_covered_word_by_word(self) -> None:
        truth = [Text("one two three four, five six seven eight.")]
        ranking = [Retrieved("a", "one two three four five - other words"), Retrieved("b", "unrelated")]
        result = means(truth, ranking, ["coverage@1", "density@1"])
        assert result == pytest.approx({"coverage@1": 19 / 32, "density@1": 19 / 29})


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
    corpora, questions = corpora_in(shared_data), questions_in(shared_data)
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
