"""A mutated file has two outcomes: the number that it says, or an input error with its name."""

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import retrieval_metrics as rm
from mutated_files import KINDS, Unreadable, compressed, mutated, parsed, written

ROWS = [(f"q{at // 4}", f"d{at}", 20 - at / 7) for at in range(16)]
QRELS = {f"q{query}": {f"d{query * 4 + 1}": 2, f"d{query * 4 + 3}": 1} for query in range(4)}
one_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def check(path: Path, kind: str, content: bytes) -> str:
    """Read a file and compare it with the second parser; return which of the two outcomes it had."""
    path.write_bytes(content)
    try:
        run = rm.read_run(path, format=kind)
        read = {query: run[query] for query in run}
    except ValueError as error:
        assert path.name in str(error)  # noqa: PT017  (one of the two outcomes)
        return "refused"
    expected = parsed(content, kind)
    assert {query: ranking for query, ranking in read.items() if ranking} == {
        query: ranking for query, ranking in expected.items() if ranking
    }
    return "read"


def outcome(path: Path, kind: str, seed: int) -> str:
    chance = random.Random(seed)
    content = mutated(written(ROWS, kind), chance)
    try:
        return check(path, kind, content)
    except Unreadable as error:
        raise AssertionError(f"{kind} was read, and holds no run: {error}: {content!r}") from error


@pytest.mark.parametrize("kind", KINDS)
@one_folder
@given(seed=st.integers(0, 2**32))
def test_a_mutated_file_is_read_right_or_refused_by_name(tmp_path: Path, kind: str, seed: int) -> None:
    assert outcome(tmp_path / "mutated", kind, seed) in {"read", "refused"}


@one_folder
@given(seed=st.integers(0, 2**32), kind=st.sampled_from(KINDS))
def test_a_damaged_gzip_file_is_read_right_or_refused_by_name(tmp_path: Path, kind: str, seed: int) -> None:
    path, content = tmp_path / "mutated", written(ROWS, kind)
    path.write_bytes(compressed(content, random.Random(seed)))
    try:
        read = dict(rm.read_run(path, format=kind))
    except ValueError as error:
        assert path.name in str(error)  # noqa: PT017  (one of the two outcomes)
    else:
        assert read == parsed(content, kind)


@pytest.mark.parametrize("kind", ["trec", "csv", "json", "jsonl"])
@one_folder
@given(seed=st.integers(0, 2**32))
def test_mutated_judgments_are_read_or_refused_by_name(tmp_path: Path, kind: str, seed: int) -> None:
    path = tmp_path / "mutated"
    rm.write_qrels(QRELS, path, format=kind)
    path.write_bytes(mutated(path.read_bytes(), random.Random(seed)))
    try:
        rm.read_qrels(path, format=kind)
    except ValueError as error:
        assert path.name in str(error)  # noqa: PT017  (one of the two outcomes)
