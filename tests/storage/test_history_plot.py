"""The figure of a history joins what can be compared, and has room for its labels."""

from pathlib import Path

import numpy as np
import pytest
from matplotlib.container import ErrorbarContainer

import retrieval_metrics as rm

QRELS = {f"q{n}": ["d"] for n in range(8)}


def result(rank: int, *, qrels: dict[str, list[str]] = QRELS, **options: str) -> rm.Evaluation:
    ranking = [*(f"x{number}" for number in range(rank - 1)), "d"]
    run = dict.fromkeys(qrels, ranking)
    return rm.evaluate(qrels, run, ["mrr", "recall@5"], **options)  # type: ignore[arg-type]


def test_lines_break_where_the_questions_or_the_rules_changed(tmp_path: Path) -> None:
    history = rm.History(tmp_path / "history.jsonl")
    history.add(result(1), "a")
    history.add(result(1, qrels=QRELS | {"q8": ["d"]}), "b")
    history.add(result(1, qrels=QRELS | {"q8": ["d"]}, ties="input"), "c")
    figure = history.plot("mrr")
    assert [text.get_text() for text in figure.axes[0].texts] == ["questions changed", "rules changed"]
    assert [text.xy[0] for text in figure.axes[0].texts] == [0.5, 1.5]  # type: ignore[attr-defined]
    assert len(figure.axes[0].containers) == 3
    assert "2 evaluations on the current questions" in " ".join(figure.axes[0].get_xlabel().split())


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
def test_what_was_not_measured_is_not_drawn(tmp_path: Path) -> None:
    history = rm.History(tmp_path / "history.jsonl")
    history.add(result(1), "good")
    history.add(rm.evaluate(QRELS, dict.fromkeys(QRELS, ("9f8a",)), "mrr"), "foreign")
    (axes,) = history.plot("mrr").axes
    assert [(text.get_text(), text.xy[0]) for text in axes.texts] == [("not measured", 1)]  # type: ignore[attr-defined]
    means = axes.containers[0]
    assert isinstance(means, ErrorbarContainer)
    drawn = np.asarray(means.lines[0].get_ydata(), dtype=np.float64)
    assert [bool(value == 1) for value in drawn] == [True, False]
    assert np.isnan(drawn[1])


def test_a_long_label_leaves_room_for_the_plot(tmp_path: Path) -> None:
    history = rm.History(tmp_path / "history.jsonl")
    for number in range(3):
        history.add(result(1), f"commit {number} with a label of many words, as a message has")
    figure = history.plot(across=1)
    figure.draw_without_rendering()
    (axes,) = figure.axes
    assert [label.get_text() for label in axes.get_xticklabels()] == [f"commit {number} with a…" for number in range(3)]
    assert axes.get_position().height > 0.4


def test_a_metric_without_an_entry_is_an_error(tmp_path: Path) -> None:
    history = rm.History(tmp_path / "history.jsonl")
    history.add(result(1), "a")
    with pytest.raises(ValueError, match="no entry has map; the metrics are mrr, recall@5"):
        history.plot("map")
