"""The facade of evaluation sets: the questions, and everything one does with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from retrieval_metrics.inputs.questions import Questions

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike


@dataclass(frozen=True, slots=True)
class EvaluationSet(Questions):
    """The questions to ask, what is relevant to each, and where they come from.

    Attributes:
        queries: The text of each query, by query id.
        qrels: The judgments of each query, by query id, in any shape that `evaluate` takes.
        provenance: Where a question comes from, by query id, for those of which it is known.

    Example:
        >>> questions = EvaluationSet.of([{"id": "q1", "query": "why?", "relevant": ["d7"], "source": "handbook.md"}])
        >>> questions.labels("source")
        {'q1': 'handbook.md'}
        >>> import retrieval_metrics as rm
        >>> rm.evaluate(questions, {"q1": ["d3", "d7"]}, "mrr").means
        {'mrr': 0.5}
    """

    def save(self, path: str | PathLike[str], *, labels: Mapping[str, str | float] | None = None) -> None:
        """Write the questions with their judgments and where they come from to a file that `load` reads.

        Args:
            path: The file, JSON; with a further `.gz` or `.zst` it is compressed.
            labels: Labels of your own, such as `{"reviewed by": "Ada"}`; `load` ignores them.

        Raises:
            TypeError: If judgments have another shape than `evaluate` takes.
            ValueError: If JSON cannot hold something, before anything is written.
            OSError: If it cannot be written; a file that was there stays as it was.

        Example:
            >>> from pathlib import Path
            >>> from tempfile import mkdtemp
            >>> import retrieval_metrics as rm
            >>> path = Path(mkdtemp()) / "questions.json"
            >>> rm.EvaluationSet({"q1": "why?"}, {"q1": [rm.Quote("because it is so")]}).save(path)
            >>> rm.load(path).queries
            {'q1': 'why?'}
        """
        from retrieval_metrics.keeping.question_sets import save_questions  # noqa: PLC0415  (seldom asked for)

        save_questions(self, path, labels)
