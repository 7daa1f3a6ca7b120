"""Files that the version before wrote, without a digest, are read; files of this version are not read without one."""

import shutil
from pathlib import Path

import pytest

import retrieval_metrics as rm
from retrieval_metrics.keeping.document import DIGEST

EARLIER = Path(__file__).parent / "earlier"
MEANS = {
    "ids": {"ndcg@10": 0.58688267143572, "mrr": 0.75, "err@5": 0.47265625, "rbp": 0.15333333333333332},
    "groups": {"ndcg@10": 0.6934264036172708, "full_recall@5": 0.5},
    "quotes": {"recall@5": 1.0, "mrr": 1.0},
}


@pytest.mark.parametrize("name", MEANS)
def test_an_evaluation_of_the_version_before_is_read_and_saved_with_a_digest(name: str, tmp_path: Path) -> None:
    found = rm.load(EARLIER / f"{name}.json")
    assert found.means == MEANS[name]
    found.save(tmp_path / "new.json")
    assert DIGEST in (tmp_path / "new.json").read_bytes()
    assert rm.load(tmp_path / "new.json").means == MEANS[name]
    assert len(rm.compare({"before": found, "now": rm.load(tmp_path / "new.json")}).differences) == len(MEANS[name])


def test_a_comparison_of_the_version_before_is_tested_anew() -> None:
    with pytest.warns(rm.RetrievalWarning, match="compared anew"):
        found = rm.load(EARLIER / "comparison.json")
    fresh = rm.compare({name: found.evaluations[name] for name in ("a", "b")})
    assert [one.interval for one in found.differences] == [one.interval for one in fresh.differences]
    assert found.difference("mrr").mean == 0.25


def test_a_value_that_is_not_that_of_its_ranking_is_refused_with_the_reason(tmp_path: Path) -> None:
    path = tmp_path / "old.json"
    text = (EARLIER / "ids.json").read_text(encoding="utf-8")
    assert '["q1", 1.0, 1.0' in text
    path.write_text(text.replace('["q1", 1.0, 1.0', '["q1", 1.0, 0.5', 1), encoding="utf-8")
    with pytest.raises(
        ValueError, match=r"saved by an earlier version, .* mrr of query 'q1' is 0.5, .* evaluate again"
    ):
        rm.load(path)


def test_a_file_of_this_version_needs_its_digest(tmp_path: Path) -> None:
    path = tmp_path / "new.json"
    rm.evaluate({"q": ["d"]}, {"q": ["d"]}, "mrr").save(path)
    path.write_bytes(path.read_bytes().partition(DIGEST)[0] + b"}")
    with pytest.raises(ValueError, match="the digest at its end is missing"):
        rm.load(path)


def test_a_history_goes_on_where_the_version_before_left_it(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    evaluation = rm.evaluate({"q": ["d"]}, {"q": ["d"]}, "mrr")
    rm.History(path).add(evaluation, "before")
    shutil.copy(path, tmp_path / "copy.jsonl")
    path.write_bytes(path.read_bytes().replace(b'"version": 2', b'"version": 1', 1))
    rm.History(path).add(evaluation, "now")
    assert [entry.label for entry in rm.History(path).entries()] == ["before", "now"]
