"""The facade of evaluation sets: the questions, and everything one does with them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from retrieval_metrics.inputs.qrels import judgments_by_query
from retrieval_metrics.inputs.questions import Questions
from retrieval_metrics.presentation import numbers
from retrieval_metrics.presentation.beginnings import beginning
from retrieval_metrics.questions.exchange import (
    llama_index_content,
    ragas_rows,
    read_beir,
    read_json,
    write_beir,
)
from retrieval_metrics.questions.lint import lint
from retrieval_metrics.questions.parting import merged, parts
from retrieval_metrics.questions.sample import Sample, draw

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Mapping

    from retrieval_metrics.definition.metric import Metric
    from retrieval_metrics.questions.linting.lint import Lint
    from retrieval_metrics.types import QueryId


@dataclass(frozen=True, slots=True, repr=False)
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
        >>> questions
        <EvaluationSet: 1 question, such as 'q1': 'why?'>
    """

    @classmethod
    def of(cls, dataset: Any, *, split: str = "test") -> EvaluationSet:
        """Read a dataset.

        Args:
            dataset: One of

                - pairs `(query text, relevant)`;
                - rows `{"query": text, "relevant": ..., "id": ...}`; the id is optional. The query may also be
                  called `question`, `user_input` or `text`, its judgments `relevant_docs`, `expected_ids`,
                  `reference_context_ids` or `qrels`, its id `query_id` or `_id`. A row may say where the question comes
                  from: `source`, `kind`, `person`, `model`, `prompt`, `date` and `labels`, as `Provenance` takes them;
                - an object or a mapping with `queries` (id to text) and `relevant_docs` (id to judgments), such as
                  LlamaIndex's EmbeddingQAFinetuneDataset or its JSON;
                - a pandas or polars DataFrame, an Arrow table or a Hugging Face dataset with a row per question, its
                  columns named as the entries of rows;
                - LlamaIndex's LabelledRagDataset or its JSON; a Ragas EvaluationDataset or Testset; examples of
                  LangSmith, whose inputs hold the question and whose outputs the judgments. Where such a dataset has
                  texts and no ids, its judgments are `Text`;
                - the path of a BEIR folder (`queries.jsonl` and `qrels/test.tsv`), or of a JSON file that holds one
                  of the mappings above;
                - a mapping of query texts to judgments;
                - an `EvaluationSet`.

                `relevant` is whatever `evaluate` takes as the judgments of a query: ids, grades, or groups. Without an
                id, the text is the id.
            split: Which judgments of a BEIR folder to read; of its queries, those that they judge.

        Raises:
            TypeError: If the dataset or one of its rows has another shape.
            ValueError: If it is empty, a row is incomplete, a query appears twice, or judgments have no query.
            OSError: If the path cannot be read.
        """
        if isinstance(dataset, PathLike) or (isinstance(dataset, str) and Path(dataset).exists()):
            path = Path(dataset)
            return read_beir(cls, path, split) if path.is_dir() else cls.of(read_json(path))
        return super(EvaluationSet, cls).of(dataset)

    def __repr__(self) -> str:
        first = next(((query, text) for query, text in self.queries.items()), None)
        such = "" if first is None else f", such as {first[0]!r}: {beginning(first[1])!r}"
        return f"<EvaluationSet: {numbers.count(len(self.queries), 'question')}{such}>"

    def split(self, *shares: float, seed: int = 0) -> tuple[EvaluationSet, ...]:
        """Split the questions into parts between which nothing leaks.

        Questions go to one part together if they come from one source, or if the same document, quote or span is
        judged for both, also by way of others. So a retriever that is tuned on one part has not seen the answers of
        the other. Within that, the parts are as near to their shares as a random order, largest clusters first, gets.

        Args:
            shares: The share of the questions in each part, which add up to 1. 0.8 and 0.2 if there are none.
            seed: Of several ways to split, which one to take; the same seed gives the same parts.

        Returns:
            The parts, in the order of their shares, each with its questions in the order they have here.

        Raises:
            ValueError: If the shares do not add up to 1, one is not positive, or a part would be empty.

        Example:
            >>> rows = [
            ...     {"id": f"q{at}", "query": f"{at}?", "relevant": [f"d{at}"], "source": f"s{at // 2}"}
            ...     for at in range(8)
            ... ]
            >>> tuning, testing = EvaluationSet.of(rows).split(0.5, 0.5)
            >>> (
            ...     len(tuning),
            ...     len(testing),
            ...     set(tuning.labels("source").values()) & set(testing.labels("source").values()),
            ... )
            (4, 4, set())
        """
        return tuple(self._only(queries) for queries in parts(self, shares or (0.8, 0.2), seed))

    def sample(self, n: int, strata: str | Mapping[Any, Hashable] | None = None, seed: int = 0) -> Sample:
        """Draw queries at random, such as those that people are to grade.

        `evaluate_with_labels` needs a sample: what people say of queries that somebody chose holds for these alone. Of
        one seed a larger sample holds every smaller one, so that further labels add to those that are there.

        Args:
            n: How many queries.
            strata: Draw in proportion from each stratum, at least two: a mapping of query ids, or an entry of where
                the questions come from, such as `"kind"`. It pays where strata differ in how well systems do.
            seed: The same seed draws the same queries.

        Raises:
            TypeError: If `n` or `seed` is not an integer, or `strata` is neither text nor a mapping.
            ValueError: If there are fewer than `n` queries, a query has no stratum, a stratum has a single query, or
                `n` is less than twice the number of strata.

        Example:
            >>> questions = EvaluationSet.of({f"q{at}": ["d"] for at in range(40)})
            >>> sample = questions.sample(10)
            >>> len(sample), sample.probabilities[sample.queries[0]]
            (10, 0.25)
            >>> set(sample) < set(questions.sample(15))
            True
        """
        layers = self.labels(strata) if isinstance(strata, str) else strata
        sources = {query: made.source for query, made in self.provenance.items() if made.source is not None}
        return replace(draw(list(self.queries), n, layers, seed), sources=sources)

    def merge(self, *others: EvaluationSet) -> EvaluationSet:
        """Return the questions of several sets as one.

        A question that is in several of them with the same text and the same judgments is taken once.

        Args:
            others: The sets to add.

        Raises:
            TypeError: If some ids are str and others int.
            ValueError: If two sets have different questions or judgments under one id.

        Example:
            >>> one, other = (
            ...     EvaluationSet({"q1": "why?"}, {"q1": ["d1"]}),
            ...     EvaluationSet({"q2": "how?"}, {"q2": ["d2"]}),
            ... )
            >>> one.merge(other).queries
            {'q1': 'why?', 'q2': 'how?'}
        """
        return merged(EvaluationSet, [self, *others])

    def to_beir(
        self, folder: str | PathLike[str], corpus: Mapping[str, str] | None = None, *, split: str = "test"
    ) -> None:
        """Write a BEIR folder: `queries.jsonl`, `qrels/<split>.tsv` and, if it is given, `corpus.jsonl`.

        `EvaluationSet.of(folder)` reads it again; where the questions come from is in the metadata of the queries.

        Args:
            folder: The folder, which is made if it is not there.
            corpus: The text of each document by id.
            split: The name of the judgments.

        Raises:
            ValueError: If a judgment is a quote or a span, a group has alternatives, or a grade is not a whole number:
                BEIR has no place for these.
            OSError: If it cannot be written.
        """
        write_beir(self, Path(folder), corpus, split)

    def to_ragas(self) -> list[dict[str, Any]]:
        """Return rows for `EvaluationDataset.from_list` of Ragas: `user_input` and what is relevant.

        Ids become `reference_context_ids`; quotes and texts become `reference_contexts`. Ragas has neither grades nor
        groups, so of groups all alternatives are listed, but for spans where a quote or a text says the same.

        Raises:
            ValueError: If a span or a property is alone in its group: Ragas has no place for it.
        """
        return ragas_rows(self)

    def to_llama_index(self, corpus: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Return what the JSON of LlamaIndex's EmbeddingQAFinetuneDataset holds.

        LlamaIndex has neither grades nor groups, so everything that is relevant is listed.

        Args:
            corpus: The text of each document by id.

        Raises:
            ValueError: If a judgment is not an id.
        """
        return llama_index_content(self, corpus)

    def _only(self, queries: Collection[QueryId]) -> EvaluationSet:
        texts: Mapping[Any, str] = self.queries
        return EvaluationSet(
            {query: text for query, text in texts.items() if query in queries},
            {query: judgments for query, judgments in judgments_by_query(self.qrels).items() if query in queries},
            {query: made for query, made in self.provenance.items() if query in queries},
            self.changes,
        )

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
