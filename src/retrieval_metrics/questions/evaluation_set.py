"""The facade of evaluation sets: the questions, and everything one does with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from retrieval_metrics.inputs.questions import Questions
from retrieval_metrics.questions.lint import lint

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from retrieval_metrics.definition.metric import Metric
    from retrieval_metrics.questions.linting.lint import Lint


@dataclass(frozen=True, slots=True)
class EvaluationSet(Questions):
    """The questions to ask, what is relevant to each, and where they come from.

    Attributes:
        queries: The text of each query, by query id.
        qrels: The judgments of each query, by query id, in any shape that `evaluate` takes.
        provenance: Where a question comes from, by query id, for those of which it is known.
        changes: What was done to it since it was read, such as by `Lint.repaired`, a sentence each.

    Example:
        >>> questions = EvaluationSet.of([{"id": "q1", "query": "why?", "relevant": ["d7"], "source": "handbook.md"}])
        >>> questions.labels("source")
        {'q1': 'handbook.md'}
        >>> import retrieval_metrics as rm
        >>> rm.evaluate(questions, {"q1": ["d3", "d7"]}, "mrr").means
        {'mrr': 0.5}
    """

    def lint(
        self,
        corpus: Any = None,
        runs: Any = None,
        *,
        metric: str | Metric = "ndcg@10",
        difference: float = 0.05,
        show_progress: bool = False,
    ) -> Lint[EvaluationSet]:
        """Look for what is wrong with the questions and their judgments, without any model.

        Questions that repeat each other, contradict each other, lean on a passage that nobody sees or say too little;
        judgments that are not in the corpus, quotes and spans that moved; passages that nobody judged although they
        are like a relevant one; questions that repeat their answer, and questions that nothing answers. With neither
        corpus nor runs, the questions and judgments alone are looked at; what could not be is in `Lint.unchecked`.

        Args:
            corpus: What is searched: texts by id, a list of `Retrieved` with their texts (and sources and offsets, for
                spans), documents or nodes of a framework, or the ids of all documents alone.
            runs: A run, or several by name, to see which questions are always or never answered, and how much their
                results vary. Without it BM25 searches the corpus (`pip install 'retrieval-metrics[questions]'`).
            metric: The metric in which a difference is wanted.
            difference: The difference of means, at most 1, that the set should be able to tell, with 80 % power.
            show_progress: Show a progress bar on stderr; needs rich.

        Returns:
            The findings. `print` shows them, `.to_pandas()` has a row for each, and `.repaired()` mends what is safe.

        Raises:
            TypeError: If the corpus or the runs have another shape.
            ValueError: If the corpus is empty or has an id twice, or the difference is not above 0 and at most 1.

        Example:
            >>> import retrieval_metrics as rm
            >>> questions = rm.EvaluationSet(
            ...     {"q1": "Who may open the vault at night?", "q2": "who may open the vault at night"},
            ...     {"q1": ["d1"], "q2": ["d1"]},
            ... )
            >>> lint = questions.lint(["d1", "d2"])
            >>> [(finding.name, finding.query) for finding in lint.of("warning")]
            [('duplicate_question', 'q2')]
            >>> lint.repaired().queries
            {'q1': 'Who may open the vault at night?'}
        """
        return lint(self, corpus, runs, metric=metric, difference=difference, show_progress=show_progress)

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
