"""Whichever method computes it, and in whichever precision, the selection is that of the formula."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import retrieval_metrics as rm
from mmr_reference import Situation, cosine, situations
from retrieval_metrics.retrieval import mmr_methods
from retrieval_metrics.retrieval.mmr_methods import MmrPicks, ScoreBounds
from retrieval_metrics.retrieval.mmr_problem import read_problem
from retrieval_metrics.retrieval.unit_vectors import UnitVectors

WAYS = ["all cosines in advance", "all at once", "a few leaders"]
BEYOND = 10**18
LIMITS = {
    WAYS[0]: {"_FEW_CANDIDATES": BEYOND, "_FEW_CANDIDATES_PER_PICK": BEYOND, "_LAZY_CANDIDATES": BEYOND},
    WAYS[1]: {"_FEW_CANDIDATES": 0, "_LAZY_CANDIDATES": BEYOND},
    WAYS[2]: {"_FEW_CANDIDATES": 0, "_LAZY_CANDIDATES": 0, "_LAZY_BYTES": 0},
}


def take(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compute in this way, whatever the number of candidates."""
    for name, limit in LIMITS[way].items():
        monkeypatch.setattr(mmr_methods, name, limit)


def rehearsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list to which every rehearsal adds its way from now on; cosines in advance need none."""
    ways: list[str] = []

    def watched(picks: MmrPicks, candidates: UnitVectors, problem: Any, leaders: int) -> ScoreBounds:
        ways.append(WAYS[1 if leaders == len(candidates.vectors) else 2])
        return ScoreBounds(picks, candidates, problem, leaders)

    monkeypatch.setattr(mmr_methods, "ScoreBounds", watched)
    return ways


def selected(situation: Situation) -> rm.types.Selection:
    query = situation.query if situation.relevance is None else None
    problem = read_problem(query, situation.candidates, situation.relevance)
    return mmr_methods.select_by_mmr([problem], situation.k, situation.lambda_mult)[0]


def clustered(n: int, d: int, seed: int = 0) -> tuple[Any, Any]:
    """A query and float32 candidates around a few centres, as passages about a few topics are."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(1 + n // 20, d))
    candidates = centres[rng.integers(len(centres), size=n)] + 0.6 * rng.normal(size=(n, d))
    return (candidates[0] + rng.normal(size=d)).astype(np.float32), candidates.astype(np.float32)


def in_float64(query: Any, candidates: Any, k: int, lambda_mult: float) -> list[int]:
    """The formula with the largest similarity kept, for more candidates than plain loops can take."""
    vectors = candidates.astype(np.float64)
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    relevance = units @ (query / np.linalg.norm(query.astype(np.float64)))
    picks = [int(relevance.argmax())]
    redundancy = np.full(len(units), -np.inf)
    while len(picks) < k:
        redundancy = np.maximum(redundancy, units @ units[picks[-1]])
        score = lambda_mult * relevance - (1 - lambda_mult) * redundancy
        score[picks] = -np.inf
        picks.append(int(score.argmax()))
    return picks


def select_whole_numbers(query: Any, candidates: Any, k: int, lambda_mult: float) -> list[int]:
    """The formula, as it reads, for whole numbers: their products are exact in whatever order they are added."""
    wide = candidates.astype(np.float64)
    query_vector = query.astype(np.float64)
    lengths = np.sqrt((wide * wide).sum(axis=1))

    def cosines(vector: Any) -> Any:
        products_of_lengths = lengths * np.sqrt(vector @ vector)
        return np.divide(wide @ vector, products_of_lengths, out=np.zeros(len(wide)), where=products_of_lengths > 0)

    relevance = cosines(query_vector)
    picks = [int(relevance.argmax())]
    redundancy = np.full(len(wide), -np.inf)
    while len(picks) < k:
        redundancy = np.maximum(redundancy, cosines(wide[picks[-1]]))
        score = lambda_mult * relevance - (1 - lambda_mult) * redundancy
        score[picks] = -np.inf
        picks.append(int(score.argmax()))
    return picks


@pytest.mark.parametrize("way", WAYS)
def test_every_way_selects_what_the_formula_says(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    take(way, monkeypatch)
    for situation in situations(250, seed=1):
        picks, scores = situation.expected()
        selection = selected(situation)
        assert list(selection) == picks, situation
        assert selection.scores == pytest.approx(scores, abs=1e-12)


@pytest.mark.parametrize(("min_leaders", "max_leaders", "n_compared"), [(1, 1, 1), (2, 3, 4), (3, 8, 5), (5, 6, 25)])
def test_a_few_leaders_compete_for_what_the_formula_says(
    min_leaders: int, max_leaders: int, n_compared: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    take("a few leaders", monkeypatch)
    monkeypatch.setattr(mmr_methods, "_MIN_LEADERS", min_leaders)
    monkeypatch.setattr(mmr_methods, "_MAX_LEADERS", max_leaders)
    monkeypatch.setattr(mmr_methods, "_MIN_COMPARED", n_compared)
    for situation in situations(250, seed=4):
        picks, scores = situation.expected()
        selection = selected(situation)
        assert list(selection) == picks, situation
        assert selection.scores == pytest.approx(scores, abs=1e-12)


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 3000), k=st.integers(1, 120), way=st.sampled_from(WAYS[1:]))
@settings(max_examples=60, deadline=None)
def test_among_very_many_ties_repeats_and_zero_vectors_the_lowest_index_is_first(
    seed: int, n: int, k: int, way: str
) -> None:
    rng = np.random.default_rng(seed)
    d = rng.integers(1, 7)
    largest = rng.integers(1, 5)
    candidates = rng.integers(-largest, largest + 1, (n, d)).astype(np.float32)
    query = rng.integers(-largest, largest + 1, d)
    lambda_mult = float(rng.choice([0, 0.25, 0.5, 0.75, 1, rng.random()]))
    expected = select_whole_numbers(query, candidates, min(k, n), lambda_mult)
    with pytest.MonkeyPatch.context() as patch:
        take(way, patch)
        assert list(rm.mmr(query, candidates, k=k, lambda_mult=lambda_mult)) == expected


@pytest.mark.parametrize("lambda_mult", [0.0, 0.3, 0.5, 0.9, 1.0])
def test_leaders_of_more_candidates_than_are_compared_at_once(
    lambda_mult: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    ways = rehearsed(monkeypatch)
    query, candidates = clustered(5000, 120)
    picks = in_float64(query, candidates, 200, lambda_mult)
    for vectors in (candidates, candidates.astype(np.float64)):
        assert list(rm.mmr(query, vectors, k=200, lambda_mult=lambda_mult)) == picks
    assert ways == ["a few leaders"] * 2


@pytest.mark.thorough
def test_mmr_itself_selects_what_the_formula_says() -> None:
    for situation in situations(1000, seed=2):
        picks, scores = situation.expected()
        selection = selected(situation)
        assert list(selection) == picks, situation
        assert selection.scores == pytest.approx(scores, abs=1e-12)


@pytest.mark.parametrize(
    ("n", "d", "k", "way"),
    [(20, 384, 10, WAYS[0]), (100, 64, 50, WAYS[0]), (400, 100, 20, WAYS[1]), (2500, 1000, 30, WAYS[2])],
)
def test_each_size_takes_its_way_and_selects_the_same(
    n: int, d: int, k: int, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ways = rehearsed(monkeypatch)
    query, candidates = clustered(n, d)
    for lambda_mult in (0.2, 0.5, 0.9):
        picks = in_float64(query, candidates, k, lambda_mult)
        for vectors in (candidates, candidates.astype(np.float64), np.asfortranarray(candidates)):
            assert list(rm.mmr(query, vectors, k=k, lambda_mult=lambda_mult)) == picks
    assert ways == ([] if way == WAYS[0] else [way] * 9)


@pytest.mark.parametrize("way", WAYS[1:])
def test_what_float32_cannot_tell_apart_is_told_apart(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    take(way, monkeypatch)
    wrong = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        candidates = (1 + 1e-6 * rng.normal(size=(60, 32))).astype(np.float32)  # all but the same direction
        query = rng.normal(size=32)
        expected = in_float64(query, candidates, 12, 0.5)
        single = candidates / np.linalg.norm(candidates, axis=1, keepdims=True)
        wrong += int((single @ query.astype(np.float32)).argmax()) != expected[0]
        assert list(selected(Situation(query, candidates, None, 12, 0.5))) == expected
    assert wrong > 0  # else this would test nothing


def test_where_float32_tells_nothing_apart_the_rest_is_computed_in_float64(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(8)
    candidates = (1 + 1e-6 * rng.normal(size=(300, 384))).astype(np.float32)  # all but the same direction
    query = rng.normal(size=384)
    settled: list[int] = []
    take_exactly = MmrPicks.take_exactly

    def counted(self: MmrPicks, rows: Any) -> bool:
        settled.append(len(rows))
        return take_exactly(self, rows)

    monkeypatch.setattr(MmrPicks, "take_exactly", counted)
    for way in WAYS[1:]:
        take(way, monkeypatch)
        assert list(rm.mmr(query, candidates, k=40)) == in_float64(query, candidates, 40, 0.5)
    assert len(settled) == 2  # the first step of each way


def test_repeats_come_in_the_order_of_their_places_wherever_they_stand() -> None:
    query, candidates = clustered(1000, 96)
    best = candidates[int(rm.mmr(query, candidates, k=1).indices[0])].copy()
    for places in ([3, 998, 999], [0, 511, 512, 777], list(range(0, 1000, 7))):
        repeated = candidates.copy()
        repeated[places] = best
        selection = list(rm.mmr(query, repeated, lambda_mult=1))
        # At lambda 1 equal candidates are next to each other.
        start = selection.index(places[0])
        picked = selection[start : start + len(places)]
        assert picked == sorted(picked)
        assert set(places) <= {*picked, int(rm.mmr(query, candidates, k=1).indices[0])}


def test_a_query_that_is_a_candidate_makes_exact_ties_at_one_half() -> None:
    # Beside the query itself, rel(d) = sim(d, s): every score is 0, so the lowest index is next.
    _, candidates = clustered(600, 200)
    selection = rm.mmr(candidates[5], candidates, k=2)
    assert list(selection) == [5, 0]
    assert selection.scores == pytest.approx([0.5, 0], abs=1e-15)


@pytest.mark.parametrize("way", WAYS[1:])
@pytest.mark.parametrize("max_close", [0, 1, 1000])
def test_however_many_seem_to_tie_before_they_are_settled_at_once(
    way: str, max_close: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    take(way, monkeypatch)
    monkeypatch.setattr(mmr_methods, "_MAX_CLOSE", max_close)
    for situation in situations(150, seed=5):
        picks, scores = situation.expected()
        selection = selected(situation)
        assert list(selection) == picks, situation
        assert selection.scores == pytest.approx(scores, abs=1e-12)


def test_what_was_expected_is_picked_until_another_is_ahead() -> None:
    candidates = UnitVectors(np.array([[1, 0], [0, 1], [1, 1], [1, 1]], dtype=np.float32), "candidates")
    problem = read_problem(None, candidates.vectors, [0.9, 0.5, 0.6, 0.6])
    # At lambda 1, after 0, the second is 2: level with 3 and ahead of 1.
    for expected, right, rows in (([0, 2], True, [0, 2]), ([0, 3], False, [0, 2]), ([0, 1, 2], False, [0, 2])):
        picks = MmrPicks(candidates, problem, 3, 1.0)
        assert picks.take_each(expected, [3, 1, 2]) is right
        assert picks.rows == rows
        assert picks.scores == [0.9, 0.6]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_candidate_that_is_the_query_makes_all_others_tie(
    way: str, dtype: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Beside the query itself every score is 0 at lambda one half, at every step in which nothing else is nearer.
    take(way, monkeypatch)
    _, candidates = clustered(700, 40)
    vectors = candidates.astype(dtype)
    expected = selected(Situation(vectors[5], vectors, None, 30, 0.5))
    wide = vectors.astype(np.float64)
    lengths = np.sqrt(np.einsum("ij,ij->i", wide, wide))

    def cosines(row: int) -> Any:
        return np.einsum("ij,ij->i", wide, np.broadcast_to(wide[row], wide.shape)) / (lengths * lengths[row])

    relevance = cosines(5)
    redundancy = np.full(700, -np.inf)
    picks = [5]
    while len(picks) < 30:
        redundancy = np.maximum(redundancy, cosines(picks[-1]))
        score = 0.5 * relevance - 0.5 * redundancy
        score[picks] = -np.inf
        picks.append(int(score.argmax()))
    assert list(expected) == picks


@pytest.mark.parametrize("way", WAYS[1:])
def test_relevance_far_beyond_the_precision_of_float32_still_decides(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    take(way, monkeypatch)
    _, candidates = clustered(500, 60)
    relevance = 1e12 + np.arange(500.0)
    assert list(rm.mmr(None, candidates, relevance=relevance, k=3, lambda_mult=0.9)) == [499, 498, 497]
    assert list(rm.mmr(None, candidates, relevance=1e290 * relevance, k=1)) == [499]
    opposed = np.where(np.arange(500) == 7, 1.5e308, -1.5e308)
    assert list(rm.mmr(None, candidates, relevance=opposed, k=3, lambda_mult=1)) == [7, 0, 1]


def test_scores_are_float64_also_of_float32_vectors() -> None:
    query, candidates = clustered(300, 768)
    selection = rm.mmr(query, candidates, k=5)
    assert selection.scores.dtype == np.float64
    first, second = selection.indices[:2]
    relevance = cosine(query, candidates[second])
    redundancy = cosine(candidates[first], candidates[second])
    assert selection.scores[1] == pytest.approx(0.5 * relevance - 0.5 * redundancy, abs=1e-14)


LAMBDAS = (0.0, 0.3, 0.5, 0.7, 1.0)


def plain_cosine(a: Any, b: Any) -> float:
    lengths = float(np.sqrt(a @ a)) * float(np.sqrt(b @ b))
    return float(a @ b) / lengths if lengths else 0.0


def double_loop(query: Any, candidates: Any, k: int, lambda_mult: float, relevance: Any = None) -> list[int]:
    """The definition, in float64: most relevant first, then the formula, ties to the lowest index."""
    vectors = np.asarray(candidates, dtype=np.float64)
    query_vector = np.asarray(query, np.float64)
    relevant = [plain_cosine(query_vector, row) for row in vectors] if relevance is None else list(relevance)
    picks: list[int] = []
    while len(picks) < min(k, len(vectors)):
        best = -1
        best_score = -np.inf
        for index, row in enumerate(vectors):
            if index in picks:
                continue
            redundant = max((plain_cosine(row, vectors[pick]) for pick in picks), default=0.0)
            score = relevant[index] if not picks else lambda_mult * relevant[index] - (1 - lambda_mult) * redundant
            if score > best_score:
                best = index
                best_score = score
        picks.append(best)
    return picks


def hard_situations(seed: int, number: int) -> Any:
    """Random candidates with exact duplicates, zero vectors and exact ties among them."""
    rng = np.random.default_rng(seed)
    for case in range(number):
        n = int(rng.integers(1, 25))
        d = int(rng.integers(1, 9))
        if case % 3 == 0:
            vectors = rng.integers(-2, 3, size=(n, d)).astype(np.float32)  # small whole numbers tie exactly
        else:
            vectors = rng.normal(size=(n, d)).astype(np.float32)
        for _ in range(int(rng.integers(0, 4))):
            vectors[rng.integers(n)] = vectors[rng.integers(n)]
        if case % 5 == 0:
            vectors[rng.integers(n)] = 0
        query = np.zeros(d, np.float32) if case % 17 == 0 else rng.normal(size=d).astype(np.float32)
        yield query, vectors, int(rng.integers(1, n + 4)), LAMBDAS[case % len(LAMBDAS)]


@pytest.mark.thorough
def test_it_selects_what_a_double_loop_selects() -> None:
    for query, vectors, k, lambda_mult in hard_situations(1, 1000):
        expected = double_loop(query, vectors, k, lambda_mult)
        for candidates in (vectors, vectors.astype(np.float64)):
            assert rm.mmr(query, candidates, k=k, lambda_mult=lambda_mult).indices.tolist() == expected


def test_it_selects_what_langchain_selects() -> None:
    module = pytest.importorskip("langchain_core.vectorstores.utils")
    rng = np.random.default_rng(2)
    for case in range(500):
        n = int(rng.integers(1, 40))
        d = int(rng.integers(2, 33))
        k = int(rng.integers(1, 20))
        vectors = rng.normal(size=(n, d))
        query = rng.normal(size=d)
        lambda_mult = LAMBDAS[case % len(LAMBDAS)]
        theirs = module.maximal_marginal_relevance(query, list(vectors), lambda_mult=lambda_mult, k=k)
        assert rm.mmr(query, vectors, k=k, lambda_mult=lambda_mult).indices.tolist() == theirs


@pytest.mark.parametrize(("n", "d", "k"), [(30, 16, 30), (300, 64, 40), (700, 8, 100), (3000, 400, 25)])
def test_every_size_selects_the_same_whatever_method_it_takes(n: int, d: int, k: int) -> None:
    rng = np.random.default_rng(n)
    centres = rng.normal(size=(12, d))
    vectors = (centres[rng.integers(12, size=n)] + 0.3 * rng.normal(size=(n, d))).astype(np.float32)
    vectors[n // 2] = vectors[n // 3]
    query = centres[0] + rng.normal(size=d)
    unit = vectors.astype(np.float64) / np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    relevance = unit @ (query / np.linalg.norm(query))
    for lambda_mult in (0.3, 0.5, 0.9):
        picks = [int(relevance.argmax())]
        redundant = np.full(n, -np.inf)
        while len(picks) < k:
            redundant = np.maximum(redundant, unit @ unit[picks[-1]])
            score = lambda_mult * relevance - (1 - lambda_mult) * redundant
            score[picks] = -np.inf
            picks.append(int(score.argmax()))
        assert rm.mmr(query, vectors, k=k, lambda_mult=lambda_mult).indices.tolist() == picks
