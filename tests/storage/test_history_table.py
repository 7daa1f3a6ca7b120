"""The table of a history tells where what is measured changed, and how often the questions were looked at."""

from pathlib import Path

import retrieval_metrics as rm
from retrieval_metrics.storage.history_table import entries_table

QRELS = {f"q{n}": ["d"] for n in range(8)}


def result(rank: int, *, qrels: dict[str, list[str]] = QRELS, **options: str) -> rm.Evaluation:
    run = dict.fromkeys(qrels, (*(f"x{number}" for number in range(rank - 1)), "d"))
    return rm.evaluate(qrels, run, ["mrr", "recall@5"], **options)  # type: ignore[arg-type]


def test_it_says_where_the_questions_or_the_rules_changed(tmp_path: Path) -> None:
    history = rm.History(tmp_path / "history.jsonl")
    history.add(result(1), "a")
    assert str(history).splitlines()[-1] == "1 evaluation on the current questions"
    history.add(result(1, qrels=QRELS | {"q8": ["d"]}), "b")
    history.add(result(1, qrels=QRELS | {"q8": ["d"]}, ties="input"), "c")
    lines = str(history).splitlines()
    assert lines[2].endswith("questions")
    assert lines[3].endswith("rules")
    assert lines[4] == (
        "2 evaluations on the current questions (1 earlier on other questions or judgments); "
        "the more there are, the more likely the best one is due to chance"
    )


def test_a_metric_that_an_entry_does_not_have_is_a_dash(tmp_path: Path) -> None:
    history = rm.History(tmp_path / "history.jsonl")
    history.add(result(1), "a")
    history.add(rm.evaluate(QRELS, dict.fromkeys(QRELS, ("d",)), "mrr"), "b")
    table = entries_table(history.entries())
    assert table.header == ["date", "label", "mrr", "recall@5", "changed"]
    assert table.rows[1][3] == "-"


def test_a_history_without_entries_says_nothing() -> None:
    table = entries_table([])
    assert (table.rows, table.notes) == ([], [])
