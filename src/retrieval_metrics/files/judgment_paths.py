"""Take the path of a file or a folder wherever judgments or questions are taken."""

from __future__ import annotations

from os import PathLike
from os.path import exists
from typing import TYPE_CHECKING, Any, TypeAlias, cast

if TYPE_CHECKING:
    from retrieval_metrics.inputs.qrels import QuestionsOrQrels

    # Judgments, or the path of a file or a folder with some.
    JudgmentsOrPath: TypeAlias = QuestionsOrQrels | str | PathLike[str]

# The readers are imported where a path is given: most judgments are none, and the readers take longer to import than
# an evaluation takes.


def resolve_judgments(judgments: JudgmentsOrPath) -> QuestionsOrQrels:
    """Return judgments; those of a path are read from its file or folder.

    Every function that takes judgments takes a path through this one: of questions, as `read_questions` reads them, or
    of judgments, as `read_qrels` does.

    Raises:
        ValueError: If the file is damaged, or holds something else.
        OSError: If it cannot be opened.
    """
    if not is_path(judgments):
        return cast("QuestionsOrQrels", judgments)
    from retrieval_metrics.files.question_files import read_question_source, seems_to_hold_questions
    from retrieval_metrics.files.reading import read_qrels
    from retrieval_metrics.files.saved_format import is_saved
    from retrieval_metrics.inputs.questions import Questions

    path = cast("str | PathLike[str]", judgments)
    if is_saved(path) or seems_to_hold_questions(path):
        return read_question_source(Questions, path)
    return read_qrels(path)


def resolve_texts(questions: Any) -> Any:
    """Return questions to ask; those of a path are read from its file or folder, and those of an open file from it."""
    from retrieval_metrics.inputs.input_hints import is_open_file

    if not is_path(questions) and not is_open_file(questions):
        return questions
    from retrieval_metrics.files.question_files import read_question_source
    from retrieval_metrics.inputs.questions import Questions

    return read_question_source(Questions, questions)


def is_path(source: Any) -> bool:
    """Return whether something is a path: one of `pathlib`, or the text of one that exists or stands for stdin."""
    if isinstance(source, PathLike):
        return True
    if not isinstance(source, str):
        return False
    from retrieval_metrics.files.opening import STANDARD_INPUT

    return exists(source) or source == STANDARD_INPUT
