"""The result of a generation: its questions, what was rejected and why, and the rows of both."""

from pathlib import Path

import retrieval_metrics as rm
from corpus import topics
from scripted_model import ScriptedModel
from told_questions import OF_ONE_WORKER, qrels_of


@OF_ONE_WORKER
def test_what_is_rejected_is_counted_by_reason(lied: tuple[rm.types.GeneratedQuestions, ScriptedModel]) -> None:
    made, model = lied
    assert sum(made.reasons.values()) == len(made.rejected)
    assert {"quote not found", "not JSON", "not answerable", "answerable without", "not all needed"} <= {*made.reasons}
    assert 0 < made.reasons["duplicate question"] < model.done["repeated"]
    lies = [one for one in made.rejected if one.reason == "quote not found"]
    assert all(one.reply is not None and one.question is None for one in lies)
    assert "duplicate question" in str(made)


def test_the_set_is_saved_loaded_and_evaluated(tmp_path: Path) -> None:
    made = rm.generate_questions(topics(), ScriptedModel(), 6)
    made.questions.save(tmp_path / "questions.json")
    loaded = rm.load(tmp_path / "questions.json")
    for query, groups in qrels_of(made).items():
        assert [set(group) for group in loaded.qrels[query]] == [set(group) for group in groups]
    assert loaded.provenance == made.questions.provenance
    both = made.questions.merge(rm.generate_questions(topics(), ScriptedModel(), 6, seed=9).questions)
    assert len(both) == 12


@OF_ONE_WORKER
def test_the_frame_has_a_row_for_each_question_and_each_rejection(
    lied: tuple[rm.types.GeneratedQuestions, ScriptedModel],
) -> None:
    frame = lied[0].to_pandas()
    assert len(frame) == 380 + len(lied[0].rejected)
    assert (frame["outcome"] == "accepted").sum() == 380
    assert frame.iloc[0]["quotes"]
    assert 0 <= frame["overlap"].min() < frame["overlap"].max() <= 1
