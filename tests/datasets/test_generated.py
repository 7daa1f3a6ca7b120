"""The result of a generation: its questions, what was rejected and why, and the rows of both."""

from pathlib import Path

import retrieval_metrics as rm
from corpus import topics
from scripted_model import ScriptedModel
from told_questions import ON_ONE_WORKER, qrels_of


@ON_ONE_WORKER
def test_what_is_rejected_is_counted_by_reason(
    generated_by_liar: tuple[rm.types.GeneratedQuestions, ScriptedModel],
) -> None:
    generated, model = generated_by_liar
    assert sum(generated.reasons.values()) == len(generated.rejected)
    assert {"quote not found", "not JSON", "not answerable", "answerable without its quotes", "passage not needed"} <= {
        *generated.reasons
    }
    assert 0 < generated.reasons["duplicate question"] < model.done["repeated"]
    lies = [question for question in generated.rejected if question.reason == "quote not found"]
    assert all(question.reply is not None and question.question is None for question in lies)
    assert "duplicate question" in str(generated)


def test_the_set_is_saved_loaded_and_evaluated(tmp_path: Path) -> None:
    generated = rm.generate_questions(topics(), ScriptedModel(), 6)
    generated.questions.save(tmp_path / "questions.json")
    loaded = rm.load(tmp_path / "questions.json")
    for query, groups in qrels_of(generated).items():
        assert [set(group) for group in loaded.qrels[query]] == [set(group) for group in groups]
    assert loaded.provenance == generated.questions.provenance
    merged = generated.questions.merge(rm.generate_questions(topics(), ScriptedModel(), 6, seed=9).questions)
    assert len(merged) == 12


@ON_ONE_WORKER
def test_the_frame_has_a_row_for_each_question_and_each_rejection(
    generated_by_liar: tuple[rm.types.GeneratedQuestions, ScriptedModel],
) -> None:
    generated, _ = generated_by_liar
    frame = generated.to_pandas()
    assert len(frame) == len(generated) + len(generated.rejected)
    assert (frame["outcome"] == "accepted").sum() == len(generated)
    assert frame.iloc[0]["quotes"]
    assert 0 <= frame["overlap"].min() < frame["overlap"].max() <= 1
