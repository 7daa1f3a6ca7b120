"""A saved evaluation set is loaded as it was."""

import datetime as dt
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

import retrieval_metrics as rm
from saved_inputs import assert_same, inputs, quick, texts

pytestmark = pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")


@quick
@given(inputs(), texts)
def test_an_evaluation_set(tmp_path: Any, judged_run: Any, text: str) -> None:
    qrels, run = judged_run
    provenance = rm.Provenance(source="a.md", date=dt.date(2026, 5, 31), labels={"n": 1, "share": 0.1, "checked": True})
    questions = rm.EvaluationSet(dict.fromkeys(qrels, text), qrels, {next(iter(qrels)): provenance})
    questions.save(tmp_path / "questions.json")
    loaded = rm.load(tmp_path / "questions.json")
    assert loaded.queries == questions.queries
    assert loaded.provenance == questions.provenance
    before, after = (rm.evaluate(each, run, ["ndcg", "map"]) for each in (questions, loaded))
    assert_same(before, after)
    assert before.values.tobytes() == after.values.tobytes()  # judgments in a set have no order in an explanation


def test_saving_a_set_looks_up_no_query_in_a_list(tmp_path: Path) -> None:
    class Unsearchable(list[Any]):
        def index(self, *_: Any) -> int:
            raise AssertionError("one search of all queries for each query")

    qrels = rm.Qrels({f"q{number}": [["a", "b"], [f"d{number}"]] for number in range(5)})
    qrels.queries = Unsearchable(qrels.queries)
    judged: Any = qrels  # as `read_qrels` returns it
    questions = rm.EvaluationSet({f"q{number}": "why?" for number in range(5)}, judged)
    questions.save(tmp_path / "set.json")
    assert rm.load(tmp_path / "set.json").qrels == qrels.as_dict()


@pytest.mark.parametrize(
    "relevant",
    [
        ["d", "e"],
        {"d": 2, "e": 0},
        [["a", "b"], ["c"]],
        [{"a": 2, "b": 1}, {"c": 3}],
        [rm.Quote("the duty officer opens the vault")],
        [[rm.Quote("the duty officer opens the vault"), rm.Span("a.md", 0, 9)], [rm.Span("b.md", 3, 30)]],
        [{rm.Quote("the duty officer opens the vault"): 2, rm.Span("a.md", 0, 9): 1}],
        {rm.Metadata(page=3): 0.5},
    ],
)
def test_a_loaded_set_is_equal_to_the_saved_one(relevant: Any, tmp_path: Path) -> None:
    questions = rm.EvaluationSet({"q": "who opens it?"}, {"q": relevant})
    questions.save(tmp_path / "questions.json")
    assert rm.load(tmp_path / "questions.json") == questions


def test_sources_that_a_set_has_not_are_not_saved(tmp_path: Path) -> None:
    questions = rm.EvaluationSet({"q": "why?"}, {"q": ["d"]})
    assert questions.sources is None
    with pytest.raises(ValueError, match="the set has no source texts to save"):
        questions.save(tmp_path / "set.json", sources=True)
    assert list(tmp_path.iterdir()) == []


def test_letters_stand_in_the_file_as_they_are_and_halves_of_characters_are_escaped(tmp_path: Path) -> None:
    path = tmp_path / "set.json"
    rm.EvaluationSet({"q": "où?", "cut": "où \ud83d"}, {"q": ["d"], "cut": ["d"]}).save(path)
    written = path.read_text(encoding="utf-8")
    assert '"où?"' in written
    assert rm.load(path).queries == {"q": "où?", "cut": "où \ud83d"}
