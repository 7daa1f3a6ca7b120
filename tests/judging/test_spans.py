"""Spans against sets of characters, and what no way of cutting may change."""

import csv
import itertools
import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

import piece_reference as naive
import retrieval_metrics as rm
from generated import cutoffs
from piece_reference import Chunk
from retrieval_metrics import Quote, Retrieved, Span, Text
from retrieval_metrics.judging.places import Union, merged
from retrieval_metrics.judging.places import shared as in_common
from retrieval_metrics.scoring.rules import RULE_SETS
from retrieval_metrics.scoring.table import DEFINITIONS

pytestmark = pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")

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
            result = rm.evaluate({"q": groups(truth)}, run, at, match=match, semantics=semantics)
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


class TestStretchesThatTouch:
    def test_their_union_is_one(self) -> None:
        assert merged([(3, 5), (0, 3)]) == [(0, 5)]
        assert merged([(4, 5), (0, 3)]) == [(0, 3), (4, 5)]

    def test_they_share_nothing(self) -> None:
        assert in_common([(3, 5)], [(0, 3), (4, 9)]) == [(4, 5)]
        assert in_common([(3, 5)], [(0, 3), (5, 9)]) == []
        assert in_common([(3, 5)], [(0, 4), (4, 9)]) == [(3, 4), (4, 5)]

    def test_each_is_new_and_they_become_one(self) -> None:
        union = Union()
        assert [union.add(*stretch) for stretch in ((4, 6), (2, 4), (6, 8), (9, 10))] == [
            [(4, 6)], [(2, 4)], [(6, 8)], [(9, 10)],
        ]  # fmt: skip
        assert union.stretches == [(2, 8), (9, 10)]
        assert (union.add(2, 8), union.add(8, 9)) == ([], [(8, 9)])
        assert union.stretches == [(2, 10)]


class TestBudgets:
    TRUTH: ClassVar = ["b"]
    RANKING: ClassVar = [Retrieved("a", "four"), Retrieved("b", "sixsix"), Retrieved("c", "x")]

    @pytest.mark.parametrize(("budget", "fits"), [(9, False), (10, True), (11, True)])
    def test_items_count_as_long_as_they_fit(self, budget: int, *, fits: bool) -> None:
        name = f"recall@{budget}chars"
        assert means(self.TRUTH, self.RANKING, [name]) == {name: fits}

    def test_precision_divides_by_the_number_that_fit(self) -> None:
        names = [f"precision@{budget}chars" for budget in (3, 4, 10, 99)]
        assert [*means(self.TRUTH, self.RANKING, names).values()] == [0, 0, 1 / 2, 1 / 3]

    def test_the_ideal_does_not_shrink_with_the_number_of_items_that_fit(self) -> None:
        result = means(["b", "d"], [Retrieved("b", "four")], ["ndcg@4chars", "ndcg@1"])
        assert result["ndcg@1"] == 1
        assert result["ndcg@4chars"] == pytest.approx(1 / (1 + 1 / math.log2(3)))

    def test_tokens_are_given_or_counted(self) -> None:
        given = [Retrieved("a", tokens=4), Retrieved("b", tokens=6)]
        assert means(self.TRUTH, given, ["recall@9tokens", "recall@10tokens"]) == {
            "recall@9tokens": 0,
            "recall@10tokens": 1,
        }
        match = rm.Matching(tokens=len)
        assert (
            rm.evaluate({"q": self.TRUTH}, {"q": self.RANKING}, "mrr@10 tokens", match=match).means["mrr@10tokens"]
            == 1 / 2
        )

    def test_a_length_that_nobody_knows_is_asked_for(self) -> None:
        with pytest.raises(ValueError, match="a cut-off of 9chars needs the lengths of the items"):
            rm.evaluate({"q": ["a"]}, {"q": ["a"]}, "mrr@9chars")
        with pytest.raises(ValueError, match="item 'a' of query 'q' has neither text nor offsets"):
            means(["a"], [Retrieved("a")], ["mrr@9chars"])
        with pytest.raises(ValueError, match="item 'a' of query 'q' has no number of tokens; pass Retrieved"):
            means(["a"], [Retrieved("a", "text")], ["mrr@9tokens"])

    def test_a_budget_holds_something(self) -> None:
        with pytest.raises(ValueError, match="a budget of chars must be a positive integer"):
            rm.Budget(0, "chars")
        with pytest.raises(ValueError, match="a budget must be in 'chars', 'tokens' or 'calls', got 'words'"):
            rm.Budget(5, "words")  # type: ignore[arg-type]  # what a user may write


class TestWhereAnItemStands:
    SOURCES: ClassVar = {"s": "one two\r\nthree four.\r\n\r\none two five"}

    def evaluate(self, *ranking: Retrieved) -> rm.Evaluation:
        truth = {"q": [Span("s", 9, 20)]}
        return rm.evaluate(truth, {"q": list(ranking)}, ["mrr"], match=rm.Matching(sources=self.SOURCES))

    def test_an_item_without_offsets_is_looked_for_in_its_source(self) -> None:
        result = self.evaluate(Retrieved("x", "one two five", "s"), Retrieved("y", "two\n\nthree  four.", "s"))
        assert (result.means["mrr"], result.counts["unplaced"], result.counts["ambiguous"]) == (1 / 2, 0, 0)

    def test_one_that_stands_there_twice_is_counted(self) -> None:
        result = self.evaluate(Retrieved("x", "one two", "s"), Retrieved("y", "three four.", "s"))
        assert (result.means["mrr"], result.counts["ambiguous"]) == (1 / 2, 1)
        assert "1 items that occur in their source more than once" in str(result)

    def test_of_several_places_of_the_same_words_the_judged_one_counts(self) -> None:
        sources = {"s": "The lock is open. Call us.\n\nElsewhere.\n\nThe lock is open. Call us."}
        second = sources["s"].rindex("The lock")
        for item in (Retrieved("x", "The lock is open.", "s"), Retrieved("x", "The lock is open.")):
            for start in (0, second):
                truth = {"q": [Span("s", start, start + 17)], "r": [Span("s", 28, 38)]}
                run = {"q": [item], "r": [item]}
                result = rm.evaluate(truth, run, ["mrr"], match=rm.Matching(sources=sources))
                assert list(result.per_query["mrr"].values()) == [1.0, 0.0], (item, start)
                assert result.counts["ambiguous"] == 1

    def test_one_whose_text_is_not_in_its_source_is_counted(self) -> None:
        result = self.evaluate(Retrieved("x", "not there", "s"), Retrieved("y", "nor there"))
        assert (result.means["mrr"], result.counts["unplaced"]) == (0, 2)

    def test_one_without_a_source_or_from_an_unknown_one_is_found_by_its_text(self) -> None:
        for source in (None, "a section of s"):
            result = self.evaluate(Retrieved("x", "x", "other"), Retrieved("y", "three four.", source))
            assert (result.means["mrr"], result.counts["unplaced"]) == (1 / 2, 0)

    def test_a_span_behind_the_end_of_its_source_is_refused(self) -> None:
        with pytest.raises(ValueError, match="ends beyond its source, which has 36 characters"):
            means([Span("s", 30, 37)], [], ["mrr"], self.SOURCES)

    def test_a_span_of_white_space_is_refused(self) -> None:
        with pytest.raises(ValueError, match="contains only white space"):
            means([Span("s", 20, 24)], [], ["mrr"], self.SOURCES)


# The public span collection: 472 questions over 5 texts.

SPLITTERS = ("256", "384", "512", "1024", "512 overlapping by 64", "recursive")


def recursive(text: str, start: int, end: int, size: int) -> Iterator[tuple[int, int]]:
    """Cut at the last paragraph, else line, else sentence, else word that fits; strip white space from the pieces."""
    while end - start > size:
        window = text[start : start + size]
        cut = next(
            (at + len(mark) for mark in ("\n\n", "\n", ". ", " ") if (at := window.rfind(mark)) > size // 4), size
        )
        yield from _stripped(text, start, start + cut)
        start += cut
    yield from _stripped(text, start, end)


def _stripped(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    piece = text[start:end]
    if piece.strip():
        yield start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())


def cut(text: str, splitter: str) -> list[tuple[int, int]]:
    if splitter == "recursive":
        return list(recursive(text, 0, len(text), 500))
    size, overlap = (int(number) for number in [*re.findall(r"\d+", splitter), "0"][:2])
    return [(start, min(start + size, len(text))) for start in range(0, len(text), size - overlap)]


@pytest.fixture(scope="module")
def corpora(shared_data: Path) -> dict[str, str]:
    folder = shared_data / "chroma_spans" / "corpora"
    return {path.stem: path.read_bytes().decode() for path in sorted(folder.glob("*.md"))}


@pytest.fixture(scope="module")
def questions(shared_data: Path) -> dict[str, list[Span]]:
    with (shared_data / "chroma_spans" / "questions_df.csv").open(newline="") as file:
        return {
            f"q{number}": [
                Span(row["corpus_id"], one["start_index"], one["end_index"]) for one in json.loads(row["references"])
            ]
            for number, row in enumerate(csv.DictReader(file))
        }


def chunked(corpora: dict[str, str], splitter: str) -> list[Retrieved]:
    return [
        Retrieved(f"{name}:{start}", text[start:end], name, start, end)
        for name, text in corpora.items()
        for start, end in cut(text, splitter)
    ]


def shared(chunk: Retrieved, span: Span) -> set[int]:
    """The offsets that a chunk and a span have in common."""
    assert chunk.start is not None
    assert chunk.end is not None
    return set(range(max(chunk.start, span.start), min(chunk.end, span.end)))


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


@pytest.mark.parametrize("with_sources", [True, False])
@pytest.mark.parametrize("splitter", SPLITTERS)
def test_gold_chunks_first_score_one_however_the_texts_are_cut(
    corpora: dict[str, str], questions: dict[str, list[Span]], splitter: str, *, with_sources: bool
) -> None:
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


@pytest.mark.parametrize("splitter", SPLITTERS)
def test_labels_on_512_characters_are_carried_over_without_a_loss(
    corpora: dict[str, str], questions: dict[str, list[Span]], splitter: str
) -> None:
    old = chunked(corpora, "512")
    labels: dict[str, list[Any]] = {
        query: [chunk.id for chunk in old for span in spans if chunk.source == span.source and shared(chunk, span)]
        for query, spans in questions.items()
    }
    new = chunked(corpora, splitter)
    result = rm.relabel(labels, old, new, match=rm.Matching(sources=corpora))
    assert result.counts["lost"] == 0
    assert len(result.labels) == sum(len(set(of_query)) for of_query in labels.values()) == 814
    fates = {fate for fate, count in result.counts.items() if count}
    expected = {"512": {"kept"}, "256": {"split"}, "1024": {"merged"}}
    assert fates <= expected.get(splitter, {"kept", "moved", "split", "merged"})
    # Whoever retrieves the new chunks of every label finds all that is relevant.
    by_id = {chunk.id: chunk for chunk in new}
    run: dict[str, list[Retrieved]] = {query: [] for query in questions}
    for label in result.labels:
        run[str(label.query)] += [by_id[one] for one in label.new]
    recall = rm.evaluate(result.qrels, run, ["recall", "hit_rate"], match=rm.Matching(sources=corpora)).means
    assert dict(recall) == {"recall": 1, "hit_rate": 1}


@pytest.mark.parametrize("splitter", SPLITTERS)
def test_chunks_without_offsets_are_found_in_the_sources(corpora: dict[str, str], splitter: str) -> None:
    chunks = chunked(corpora, splitter)
    located = rm.locate([Retrieved(chunk.id, chunk.text, chunk.source) for chunk in chunks], corpora)
    assert not located.unplaced
    ambiguous = set(located.ambiguous)
    compact = {name: "".join(text.split()) for name, text in corpora.items()}
    for chunk, found in zip(chunks, located, strict=True):
        assert (found.start, found.end) == stripped(corpora[chunk.source or ""], chunk)
        if chunk.id in ambiguous:
            assert compact[chunk.source or ""].count("".join((chunk.text or "").split())) > 1


def stripped(text: str, chunk: Retrieved) -> tuple[int, int]:
    """The offsets of a chunk without the white space at its edges."""
    assert chunk.start is not None
    piece = text[chunk.start : chunk.end]
    return chunk.start + len(piece) - len(piece.lstrip()), chunk.start + len(piece.rstrip())
