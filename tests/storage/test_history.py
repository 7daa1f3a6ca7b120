"""What a history remembers."""

import multiprocessing
import random
import shutil
import subprocess
from pathlib import Path

import pytest

import retrieval_metrics as rm
from retrieval_metrics.storage.history_table import entries_table

QRELS = {f"q{n}": ["d"] for n in range(8)}


def result(rank: int, *, qrels: dict[str, list[str]] = QRELS, **options: str) -> rm.Evaluation:
    run = dict.fromkeys(qrels, (*(f"x{number}" for number in range(rank - 1)), "d"))
    return rm.evaluate(qrels, run, ["mrr", "recall@5"], **options)  # type: ignore[arg-type]


def test_it_remembers_numbers_in_order(tmp_path: Path) -> None:
    history = rm.History(tmp_path / "history.jsonl")
    assert history.entries() == []
    for rank in (2, 1):
        history.add(result(rank), f"rank {rank}")
    first, second = rm.History(tmp_path / "history.jsonl").entries()
    assert (first.label, first.means, first.n) == ("rank 2", {"mrr": 0.5, "recall@5": 1.0}, {"mrr": 8, "recall@5": 8})
    assert first.intervals == dict(result(2).intervals())
    assert second.mean("rr") == 1.0
    assert second.differs_from(first) == []
    assert second.rankings != first.rankings


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
def test_an_entry_whose_ids_match_no_judgment_says_so(tmp_path: Path) -> None:
    history = rm.History(tmp_path / "history.jsonl")
    history.add(result(1), "good")
    history.add(rm.evaluate(QRELS, dict.fromkeys(QRELS, ("9f8a",)), "mrr"), "foreign")
    good, foreign = history.entries()
    assert (good.warnings, foreign.mean("mrr")) == ((), 0)
    (warning,) = foreign.warnings
    assert f"foreign: {warning}" in str(history)
    assert entries_table([good, foreign]).rows[1][2:4] == ["-", "-"]
    frame = history.table()
    assert frame.loc[frame.label == "good", "mean"].tolist() == [1.0, 1.0]
    assert frame.loc[frame.label == "foreign", ["mean", "low", "high"]].isna().all().all()
    assert frame.loc[frame.label == "foreign", "warnings"].tolist() == [warning]


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
def test_means_are_left_out_where_near_ids_explain_more_than_chance(tmp_path: Path) -> None:
    history = rm.History(tmp_path / "history.jsonl")
    qrels = {f"q{number}": [f"d{number}"] for number in range(24)}
    for n_near in (1, 12):
        run = {}
        for number, (query, relevant) in enumerate(qrels.items()):
            run[query] = [f"{relevant[0]}.txt"] if number < n_near else relevant
        run["q23"] = ["x"]
        history.add(rm.evaluate(qrels, run, "mrr"), f"{n_near} near")
    few, many = history.entries()
    assert (few.is_measured, many.is_measured) == (True, False)
    assert many.mean("mrr") == pytest.approx(11 / 24)
    assert "slightly different ID" in many.warnings[0]


def test_saved_evaluations_are_compared(tmp_path: Path) -> None:
    history = rm.History(tmp_path / "h" / "history.jsonl")
    for rank in (2, 1):
        (tmp_path / "h").mkdir(exist_ok=True)
        history.add(result(rank), f"rank {rank}", save=tmp_path / "h" / f"{rank}.json.gz")
    (tmp_path / "h").rename(tmp_path / "moved")  # what is saved is found from the history
    moved = rm.History(tmp_path / "moved" / "history.jsonl")
    comparison = moved.compare("rank 2", "rank 1")
    assert comparison.difference("mrr").mean == 0.5
    assert (comparison.baseline, comparison.notes) == ("rank 2", ())
    with pytest.raises(KeyError, match="no entry has the label 'rank 3'; the newest labels are 'rank 2', 'rank 1'"):
        moved.compare("rank 2", "rank 3")
    moved.add(result(1), "means alone")
    with pytest.raises(ValueError, match="has only means"):
        moved.compare("rank 2", "means alone")


def test_a_saved_file_can_be_added_with_its_labels(tmp_path: Path) -> None:
    result(1).save(tmp_path / "now.json", labels={"commit": "4f2a91c"})
    history = rm.History(tmp_path / "history.jsonl")
    history.add(tmp_path / "now.json")
    history.add(result(1))
    assert [(entry.label, entry.saved, entry.labels) for entry in history.entries()] == [
        ("4f2a91c", "now.json", {"commit": "4f2a91c"}),
        ("#2", None, {}),
    ]
    frame = history.table()
    assert list(frame["metric"]) == ["mrr", "recall@5"] * 2


def test_what_is_no_evaluation_changes_nothing(tmp_path: Path) -> None:
    history = rm.History(tmp_path / "history.jsonl")
    with pytest.raises(TypeError, match="a history can hold only evaluations, got dict"):
        history.add({})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="has no entries yet"):
        history.plot()
    assert not list(tmp_path.iterdir())


def add_five(path: Path, process: int) -> None:
    for number in range(5):
        rm.History(path).add(result(1), f"{process}-{number}")


def test_processes_add_at_once(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=add_five, args=(tmp_path / "history.jsonl", process)) for process in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    labels = [entry.label for entry in rm.History(tmp_path / "history.jsonl").entries()]
    assert sorted(labels) == [*(f"0-{number}" for number in range(5)), *(f"1-{number}" for number in range(5))]


def add_unlabelled(path: Path) -> None:
    for _ in range(20):
        rm.History(path).add(rm.evaluate({"q1": ["d7"]}, {"q1": ["d3", "d7"]}, "mrr"))


def test_entries_without_a_label_get_different_ones(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=add_unlabelled, args=(tmp_path / "history.jsonl",)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    history = rm.History(tmp_path / "history.jsonl")
    assert [entry.label for entry in history.entries()] == [f"#{number}" for number in range(1, 41)]
    result = rm.evaluate({"q1": ["d7"]}, {"q1": ["d7"]}, "mrr")
    history.add(result, "#42")
    history.add(result)
    assert [entry.label for entry in history.entries()][-2:] == ["#42", "#43"]


def test_histories_of_two_branches_are_merged_by_git(tmp_path: Path) -> None:
    def git(*call: str) -> subprocess.CompletedProcess[str]:
        who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]
        return subprocess.run(["git", *who, *call], cwd=tmp_path, check=False, capture_output=True, text=True)

    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    git("init")
    (tmp_path / "readme").write_text("x")
    git("add", "."), git("commit", "-m", "start")
    history = rm.History(tmp_path / "history.jsonl")
    for branch, rankings in (("one", ["d7"]), ("two", ["d3", "d7"])):
        git("checkout", "-b", branch, "main")
        history.add(rm.evaluate({"q1": ["d7"]}, {"q1": rankings}, "mrr"), branch)
        git("add", "."), git("commit", "-m", branch)
    assert git("merge", "one").returncode != 0
    for use in (history.entries, lambda: history.add(rm.evaluate({"q1": ["d7"]}, {"q1": ["d7"]}, "mrr"), "x")):
        with pytest.raises(ValueError, match=r"history\.jsonl, line \d: '<<<<<<< HEAD' marks a conflict"):
            use()
    git("merge", "--abort")
    (tmp_path / ".gitattributes").write_text("*.jsonl merge=union\n")
    assert git("merge", "one").returncode == 0
    assert sorted((entry.label, entry.mean("mrr")) for entry in history.entries()) == [("one", 1.0), ("two", 0.5)]


def test_a_choice_of_entries_is_corrected_for(tmp_path: Path) -> None:
    """Thirty builds of a random retriever: the best against the worst is a choice from 435 pairs."""
    rng = random.Random(5)
    history = rm.History(tmp_path / "history.jsonl")
    qrels = {f"q{number}": ["d"] for number in range(60)}
    for build in range(30):
        run = {}
        for query in qrels:
            run[query] = [*"xyz"[: rng.randrange(4)], "d"]
        history.add(rm.evaluate(qrels, run, "mrr"), f"b{build}", save=tmp_path / f"{build}.json")
    history.add(tmp_path / "7.json", "b7 again")  # the same result is no further choice
    means = {entry.label: entry.mean("mrr") or 0.0 for entry in history.entries()}
    worst = min(means, key=means.__getitem__)
    best = max(means, key=means.__getitem__)
    chosen = history.compare(worst, best)
    (planned,) = history.compare(worst, best, planned=True).conclusions
    (conclusion,) = chosen.conclusions
    assert (planned.kind, conclusion.kind) == ("better", "not_significant")
    assert conclusion.p_corrected == pytest.approx(min(435 * planned.p_corrected, 1), rel=0.5)
    assert conclusion.interval.low < 0 < planned.interval.low
    assert "for selection from 435 pairs of results" in str(chosen)
    assert "435" not in str(history.compare(worst, best, planned=True))
    assert "95% CI" in str(chosen)
    chosen.save(tmp_path / "chosen.json")
    again = rm.load(tmp_path / "chosen.json")
    assert str(again) == str(chosen)
    assert list(history.compare(worst, best, metrics="mrr").means) == ["mrr"]
    with pytest.raises(ValueError, match="unretrieved_relevant= requires"):
        history.compare(worst, best, unretrieved_relevant=1)
    with pytest.raises(ValueError, match="unjudged cannot be changed for evaluations"):
        history.compare(worst, best, unjudged="condensed")


def test_an_entry_whose_file_another_one_was_saved_over_is_not_compared(tmp_path: Path) -> None:
    history = rm.History(tmp_path / "history.jsonl")
    history.add(result(1), "one", save=tmp_path / "saved.json")
    assert history.load("one") == result(1)
    history.add(result(2), "two", save=tmp_path / "saved.json")
    with pytest.raises(ValueError, match=r"'one' of .*: its mrr is 0\.500 and not 1\.000; was another"):
        history.compare("one", "two")
    history.add(result(1), "again", save=tmp_path / "again.json")
    result(1, ties="input").save(tmp_path / "again.json")
    with pytest.raises(ValueError, match="its rules differ"):
        history.load("again")
    rm.evaluate(QRELS, {query: ["d"] for query in QRELS}, "recall@5").save(tmp_path / "again.json")
    with pytest.raises(ValueError, match="it has no mrr"):
        history.load("again")


def test_an_option_that_there_is_not_is_named(tmp_path: Path) -> None:
    history = rm.History(tmp_path / "history.jsonl")
    for rank in (1, 2):
        history.add(result(rank), f"{rank}", save=tmp_path / f"{rank}.json")
    with pytest.raises(TypeError, match="unknown option 'levle'; the options are level, margin, metrics, resamples"):
        history.compare("1", "2", levle=0.9)  # type: ignore[call-arg]  # wrong on purpose
