"""The class `EvaluationSet`, which reads, checks, splits, samples, saves and exports questions with judgments."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from retrieval_metrics._internal.optional_packages import import_optional
from retrieval_metrics.datasets.merge_and_split import merge_sets, select_queries, split_queries
from retrieval_metrics.files.question_files import read_question_source
from retrieval_metrics.inputs.column_detection import COUNT_COLUMN
from retrieval_metrics.inputs.conversations import texts_with_conversation
from retrieval_metrics.inputs.documents import SourceDocuments, source_text_by_name
from retrieval_metrics.inputs.pieces import Span
from retrieval_metrics.inputs.qrels import as_qrels
from retrieval_metrics.inputs.questions import Questions
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.display_text import shorten
from retrieval_metrics.reports.tables import Table

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping
    from os import PathLike

    import pandas as pd

    from retrieval_metrics._internal.plain_types import QueryId
    from retrieval_metrics.datasets.corpus_index import CorpusSource
    from retrieval_metrics.datasets.lint_report import Lint
    from retrieval_metrics.datasets.sample import Sample
    from retrieval_metrics.files.opening import Limits
    from retrieval_metrics.inputs.column_detection import Columns
    from retrieval_metrics.inputs.documents import Documents
    from retrieval_metrics.inputs.exclusion import Exclude
    from retrieval_metrics.inputs.items import RunMapping
    from retrieval_metrics.inputs.match_key import Key
    from retrieval_metrics.inputs.question_rows import QuestionDataset
    from retrieval_metrics.inputs.run import Run
    from retrieval_metrics.metrics.base.metric import Metric


# How many questions a notebook shows.
MAX_QUESTIONS_SHOWN = 10


@dataclass(frozen=True, slots=True, repr=False)
class EvaluationSet(Questions):
    """Questions with their judgments, answers and provenance.

    Attributes:
        queries: The text of each query, by query id.
        qrels: The judgments of each query, by query id, in any shape that `evaluate` takes.
        provenance: Where each question comes from, by query id, as far as it is known.
        changes: The changes since it was read, such as those of `Lint.fixed`, one sentence each.
        sources: The texts that spans refer to, or their digests; None if they were not kept.
        answers: The reference answer of each query, by query id, as far as it is known. No retrieval metric reads it.
        conversation: The conversation before a query, by query id: messages such as
            `{"role": "user", "content": "..."}`.
        corpus: The texts of all documents, by id, if the dataset has a `corpus`; not saved. If all retrieved documents
            have other ids and the same texts, as after an index was rebuilt, they are judged by these texts.

    Raises:
        TypeError: If a query or an answer is not text, or a conversation is not a list of messages.
        ValueError: If either belongs to no query, or a message is from neither the user nor the assistant.

    Example:
        >>> row = {"id": "q1", "query": "why?", "relevant": ["d7"], "source": "handbook.md"}
        >>> questions = EvaluationSet.from_dataset([row])
        >>> questions.provenance_values("source")
        {'q1': 'handbook.md'}
        >>> import retrieval_metrics as rm
        >>> rm.evaluate(questions, {"q1": ["d3", "d7"]}, "mrr").means
        {'mrr': 0.5}
        >>> questions
        <EvaluationSet: 1 question, e.g. 'q1': 'why?'>
    """

    @classmethod
    def from_dataset(
        cls, dataset: QuestionDataset, *, split: str = "test", separator: str | None = None
    ) -> EvaluationSet:
        """Read a dataset.

        Args:
            dataset: One of

                - pairs `(query text, relevant)`;
                - rows `{"query": text, "relevant": ..., "id": ...}`; the id is optional. The query can also be
                  called `question`, `user_input`, `input` or `text`, its judgments `relevant_ids`, `relevant_doc_ids`,
                  `expected_docs`, `gold_ids` and the like, `expected_sources`, `reference_context_ids`, `retrieval_gt`
                  (AutoRAG) or `qrels`, its id `query_id`, `question_id`, `qid` or `_id`. Forbidden documents are a list
                  `forbidden` beside them, or has a grade below 0. A row can say where the question comes from:
                  `source`, `kind`, `author`, `model`, `prompt`, `date` and `labels`, as in `Provenance`; its answer
                  (`answer`, `reference`, `expected_answer` or `ground_truth`); and its `conversation`, the messages
                  before it. The rows can stand in a mapping, under any key;
                - an object or a mapping with `queries` (id to text) and `relevant_docs` (id to judgments), such as
                  LlamaIndex's EmbeddingQAFinetuneDataset or its JSON;
                - a pandas or polars DataFrame, an Arrow table or a Hugging Face dataset with one row per question, with
                  columns named like the keys of rows;
                - LlamaIndex's LabelledRagDataset or its JSON; a Ragas EvaluationDataset or Testset, or the CSV of one;
                  goldens of DeepEval; the JSON of SQuAD; examples of LangSmith with the question in their inputs and
                  the judgments in their outputs. If such a dataset has texts but no ids, its judgments are `Text`;
                - a path or an open file, as in `read_questions`: a BEIR folder (`queries.jsonl`,
                  `qrels/test.tsv` and, up to 1 MB, `corpus.jsonl`), CSV, TSV, JSON, JSONL, Parquet, Arrow or Excel;
                - a mapping of query texts to judgments;
                - an `EvaluationSet`.

                `relevant` holds the judgments of a query as in `evaluate`: ids, grades, or groups. Without an id, the
                text is the id.
            split: The judgments of a BEIR folder to read; only queries that they judge are read.
            separator: What separates the ids in a cell of text; see `read_questions`.

        Raises:
            TypeError: If the dataset or one of its rows has another shape.
            ValueError: If it is empty, a row is incomplete, a query appears twice, or judgments have no query.
            OSError: If the path cannot be read.
        """
        return read_question_source(cls, dataset, separator=separator, split=split)

    def __repr__(self) -> str:
        example = ""
        for query, text in self.queries.items():
            example = f", e.g. {shorten(text)!r}"
            if query != text:
                example = f", e.g. {query!r}: {shorten(text)!r}"
            break
        return f"<EvaluationSet: {numbers.format_count(len(self.queries), 'question')}{example}>"

    def to_pandas(self) -> pd.DataFrame:
        """Return a DataFrame with one row per question: its text, how much is relevant, and where it comes from.

        `n_relevant` counts the documents, quotes or spans with a grade above 0. Columns of the provenance and of the
        answers are there if any question has them. The table is to look at: it does not name the documents, so no
        questions can be read from it; `save` writes what `load` reads.

        Raises:
            ImportError: If pandas is not installed; the message contains the command that installs it.
        """
        pandas = import_optional("pandas", "to_pandas")
        rows = list(self._rows())
        index = pandas.Index(list(self.queries), name="query")
        frame: pd.DataFrame = pandas.DataFrame(rows, index=index, columns=self._columns(rows))
        return frame

    def _rows(self) -> Iterator[dict[str, Any]]:
        grades_by_query = as_qrels(self.qrels).graded()
        for query, text in self.queries.items():
            grades = grades_by_query.get(query, {}).values()
            row: dict[str, Any] = {"text": text, COUNT_COLUMN: sum(grade > 0 for grade in grades)}
            if query in self.provenance:
                row |= {name: value for name, value in self.provenance[query].as_dict().items() if name != "labels"}
                row |= self.provenance[query].labels
            if query in self.answers:
                row["answer"] = self.answers[query]
            yield row

    @staticmethod
    def _columns(rows: Iterable[Mapping[str, Any]]) -> list[str]:
        columns = dict.fromkeys(["text", COUNT_COLUMN])
        for row in rows:
            columns |= dict.fromkeys(row)
        return list(columns)

    def _repr_html_(self) -> str:
        rows_by_query = zip(self.queries, self._rows(), strict=True)
        shown = list(islice(rows_by_query, MAX_QUESTIONS_SHOWN))
        columns = self._columns([row for _, row in shown])
        cells = []
        for query, row in shown:
            cells.append([str(query), *(shorten(str(row.get(column, ""))) for column in columns)])
        notes = [numbers.format_count(len(self.queries), "question")]
        if len(self.queries) > len(shown):
            notes.append(f"the first {len(shown)} are shown; .to_pandas() has all")
        words = tuple(number for number, column in enumerate(["query", *columns]) if column != COUNT_COLUMN)
        return Table(["query", *columns], cells, notes, words=words).html()

    @property
    def unanswerable(self) -> tuple[QueryId, ...]:
        """The ids of the questions that nothing in the corpus answers: nothing has a grade above 0.

        `false_answer` and `threshold` are about them; metrics that need something relevant are undefined for them.

        Example:
            >>> EvaluationSet({"q1": "why?", "q2": "who?"}, {"q1": ["d7"], "q2": {"d3": -1}}).unanswerable
            ('q2',)
        """
        queries = []
        for query, grades in as_qrels(self.qrels).graded().items():
            if not any(grade > 0 for grade in grades.values()):
                queries.append(query)
        return tuple(queries)

    def with_conversation(self) -> EvaluationSet:
        r"""Return the set with each question preceded by its conversation, one message per line.

        A follow-up such as "And at weekends?" finds nothing by itself. With this set, a retriever that takes one text
        gets all of it; a retriever that rewrites the question reads `conversation` instead.

        Example:
            >>> messages = [{"role": "user", "content": "Who may open the vault?"}]
            >>> questions = EvaluationSet({"q1": "And at night?"}, {"q1": ["d7"]}, conversation={"q1": messages})
            >>> questions.with_conversation().queries
            {'q1': 'Who may open the vault?\nAnd at night?'}
        """
        return replace(self, queries=texts_with_conversation(self.queries, self.conversation), conversation={})

    def with_sources(self, documents: Documents) -> EvaluationSet:
        """Return the set with the texts that its spans refer to.

        Evaluating then finds chunks in them by their text, with no need to pass `documents`.

        Args:
            documents: The whole documents: texts by source, `Retrieved` with texts, or documents of an installed host.

        Raises:
            TypeError: If they are anything else.
            ValueError: If two of them could be the source of a span, or none has the name of any.

        Example:
            >>> import retrieval_metrics as rm
            >>> questions = rm.EvaluationSet({"q1": "who?"}, {"q1": [rm.Span("a.md", 6, 11)]})
            >>> kept = questions.with_sources({"a.md": "Hello world"})
            >>> rm.evaluate(kept, {"q1": [rm.Retrieved("c", "world", source="a.md")]}, "recall").means["recall"]
            1.0
        """
        judged_sources = {piece.source for piece in as_qrels(self).documents if isinstance(piece, Span)}
        texts = source_text_by_name(documents, judged_sources)
        if judged_sources:
            texts = {name: texts[name] for name in texts if name in judged_sources}
        return replace(self, sources=SourceDocuments.from_documents(dict(texts)))

    def split(self, *shares: float, seed: int = 0) -> tuple[EvaluationSet, ...]:
        """Split the questions into parts without leakage, such as one for tuning and one for testing.

        Questions stay together if they come from one source, or if the same document, quote or span is judged for both,
        directly or through other questions. A retriever tuned on one part has therefore not seen the answers of
        another. The clusters are assigned in random order, largest first, so the shares are met only approximately.

        Args:
            shares: The share of the questions in each part; they add up to 1. The default is 0.8 and 0.2.
            seed: Seed of the random order; the same seed gives the same parts.

        Returns:
            The parts, in the order of their shares, each with its questions in their original order.

        Raises:
            ValueError: If the shares do not add up to 1, one is not positive, or a part would be empty.

        Example:
            >>> rows = [
            ...     {"id": f"q{number}", "query": f"{number}?", "relevant": [f"d{number}"], "source": f"s{number // 2}"}
            ...     for number in range(8)
            ... ]
            >>> tuning, testing = EvaluationSet.from_dataset(rows).split(0.5, 0.5)
            >>> sources = [set(half.provenance_values("source").values()) for half in (tuning, testing)]
            >>> len(tuning), len(testing), sources[0] & sources[1]
            (4, 4, set())
        """
        return tuple(select_queries(self, queries) for queries in split_queries(self, shares or (0.8, 0.2), seed))

    def sample(self, n: int, strata: str | Mapping[Any, Hashable] | None = None, seed: int = 0) -> Sample:
        """Draw a random sample of queries, for people to grade.

        `evaluate_with_labels` needs a random sample, because grades of hand-picked queries say nothing about the
        others. With one seed, a larger sample contains every smaller one, so you can add labels later.

        Args:
            n: How many queries.
            strata: Draw in proportion from each stratum, at least two: a mapping of query ids to strata, or an
                attribute of the provenance, such as `"kind"`. Strata help if systems do better in some than in others.
            seed: Seed of the sample; the same seed draws the same queries.

        Raises:
            TypeError: If `n` or `seed` is not an integer, or `strata` is neither text nor a mapping.
            ValueError: If there are fewer than `n` queries, a query has no stratum, a stratum has a single query, or
                `n` is less than twice the number of strata.

        Example:
            >>> questions = EvaluationSet.from_dataset({f"q{number}": ["d"] for number in range(40)})
            >>> sample = questions.sample(10)
            >>> len(sample), sample.probabilities[sample.queries[0]]
            (10, 0.25)
            >>> set(sample) < set(questions.sample(15))
            True
        """
        from retrieval_metrics.datasets.sample import draw

        if isinstance(strata, str):
            strata = self.provenance_values(strata)
        sources = {}
        for query, provenance in self.provenance.items():
            if provenance.source is not None:
                sources[query] = provenance.source
        return replace(draw(list(self.queries), n, strata, seed), sources=sources)

    def merge(self, *others: EvaluationSet) -> EvaluationSet:
        """Merge several sets into one.

        A question that is in several of them with the same text and the same judgments is kept once.

        Args:
            others: The sets to add.

        Raises:
            TypeError: If some ids are str and others int.
            ValueError: If two sets have different questions or judgments under one id.

        Example:
            >>> first = EvaluationSet({"q1": "why?"}, {"q1": ["d1"]})
            >>> second = EvaluationSet({"q2": "how?"}, {"q2": ["d2"]})
            >>> first.merge(second).queries
            {'q1': 'why?', 'q2': 'how?'}
        """
        return merge_sets(EvaluationSet, [self, *others])

    def to_beir(
        self, folder: str | PathLike[str], corpus: Mapping[str, str] | None = None, *, split: str = "test"
    ) -> None:
        """Write a BEIR folder: `queries.jsonl`, `qrels/<split>.tsv` and, if a corpus is given, `corpus.jsonl`.

        `EvaluationSet.from_dataset(folder)` reads it again; provenance, answers and conversations are
        in the metadata of the queries.

        Args:
            folder: The folder, which is created if it does not exist.
            corpus: The text of each document by id.
            split: The name of the judgments.

        Raises:
            ValueError: If a judgment is a quote or a span, a group has alternatives, or a grade is not a whole number,
                which BEIR cannot hold.
            OSError: If the folder cannot be written.
        """
        # Imported here, as whatever saves, exports or samples: evaluating needs none of it.
        from retrieval_metrics.datasets.beir import write_beir

        write_beir(self, Path(folder), corpus, split)

    def to_ragas(self, *, lossy: bool = False) -> list[dict[str, Any]]:
        """Return rows for `EvaluationDataset.from_list` of Ragas: `user_input`, the judgments and the `reference`.

        Ids become `reference_context_ids`; quotes and texts become `reference_contexts`, and a span beside one of them
        says the same; the answer becomes the `reference`. Ids and provenance of the questions are left out.

        Args:
            lossy: Write what Ragas has no place for as well as it can: it has neither grades nor groups, so everything
                relevant is listed alike, as if each of several alternatives were needed; what is forbidden is left out.

        Raises:
            ValueError: If a group has alternatives, grades differ or something is forbidden, and `lossy` is not set; if
                a group holds only spans or metadata, or a question has a conversation, which Ragas cannot hold
                at all.

        Example:
            >>> questions = EvaluationSet({"q1": "why?"}, {"q1": ["d7"]}, answers={"q1": "because"})
            >>> questions.to_ragas()
            [{'user_input': 'why?', 'reference_context_ids': ['d7'], 'reference': 'because'}]
        """
        from retrieval_metrics.datasets.export import ragas_rows

        return ragas_rows(self, lossy=lossy)

    def to_mlflow(self) -> list[dict[str, Any]]:
        """Return rows for `mlflow.genai.evaluate`: `inputs`, `expectations` and `tags`.

        The judgments are `relevant_ids` of the expectations, as the scorers of `mlflow-retrieval-metrics` read them;
        the answer is the `expected_response`, as MLflow's own scorers read it. The conversation before a question is
        the `conversation` of its inputs; the id is a tag, and the provenance is left out.

        Raises:
            ValueError: If something cannot be written as JSON.

        Example:
            >>> questions = EvaluationSet({"q1": "why?"}, {"q1": ["d7"]}, answers={"q1": "because"})
            >>> questions.to_mlflow()[0]["expectations"]
            {'relevant_ids': ['d7'], 'expected_response': 'because'}
        """
        from retrieval_metrics.datasets.export import mlflow_rows

        return mlflow_rows(self)

    def to_pydantic_evals(self) -> list[dict[str, Any]]:
        """Return the arguments of cases of Pydantic Evals: `[Case(**row) for row in questions.to_pydantic_evals()]`.

        The answer is the expected output, as LLM judges read it. The judgments are `relevant` in the metadata, beside
        the provenance: `RetrievalMetrics(relevant="metadata.relevant")` reads them.

        Raises:
            ValueError: If something cannot be written as JSON, or a question has a conversation.

        Example:
            >>> questions = EvaluationSet({"q1": "why?"}, {"q1": ["d7"]}, answers={"q1": "because"})
            >>> questions.to_pydantic_evals()
            [{'name': 'q1', 'inputs': 'why?', 'expected_output': 'because', 'metadata': {'relevant': ['d7']}}]
        """
        from retrieval_metrics.datasets.export import pydantic_evals_cases

        return pydantic_evals_cases(self)

    def to_langsmith(self) -> list[dict[str, Any]]:
        """Return examples for `Client.create_examples` of LangSmith: inputs, outputs and metadata.

        Nothing but the sources is lost: `EvaluationSet.from_dataset` reads the examples again, also as LangSmith
        returns them.
        Grades, groups, quotes, texts and spans are JSON as in a file of `save`; the answer is beside them in the
        outputs, the conversation before a question is in the inputs, and the id and the provenance are in the metadata.

        Raises:
            ValueError: If something cannot be written as JSON.

        Example:
            >>> import retrieval_metrics as rm
            >>> questions = rm.EvaluationSet({"q1": "why?"}, {"q1": [rm.Quote("because it is so")]})
            >>> (example,) = questions.to_langsmith()
            >>> example["outputs"]
            {'relevant': [{'type': 'quote', 'text': 'because it is so'}]}
            >>> rm.EvaluationSet.from_dataset([example]).qrels
            {'q1': [Quote(text='because it is so')]}
        """
        from retrieval_metrics.datasets.export import langsmith_examples

        return langsmith_examples(self)

    def to_llama_index(self, corpus: Mapping[str, str] | None = None, *, lossy: bool = False) -> dict[str, Any]:
        """Return the content of the JSON file of a dataset of LlamaIndex.

        If ids are judged, it is that of an EmbeddingQAFinetuneDataset, which has no place for answers. If quotes or
        texts are judged, it is that of a LabelledRagDataset, which holds the answers and who wrote the questions, but
        no ids of questions. The rest of the provenance is left out of both.

        Args:
            corpus: The text of each document by id.
            lossy: As in `to_ragas`: LlamaIndex has neither grades nor groups, so everything relevant is listed alike.

        Raises:
            ValueError: If a group has alternatives or grades differ, and `lossy` is not set; if a judgment is neither
                an id nor a text, ids stand beside texts, or a question has a conversation.
        """
        from retrieval_metrics.datasets.export import llama_index_dataset

        return llama_index_dataset(self, corpus, lossy=lossy)

    def lint(
        self,
        corpus: CorpusSource | None = None,
        runs: RunMapping | Run | Mapping[str, RunMapping | Run] | None = None,
        *,
        metric: str | Metric = "ndcg@10",
        difference: float = 0.05,
        match: str | Key = "id",
        exclude: Exclude | None = None,
        show_progress: bool = False,
    ) -> Lint[EvaluationSet]:
        """Find problems in the questions and their judgments, without a model.

        It finds questions that repeat or contradict each other, refer to an unseen passage or are too vague; judgments
        that are not in the corpus, and quotes and spans that moved; unjudged passages that resemble a relevant one;
        questions that repeat their answer, and questions without an answer. Without a corpus and runs, only the
        questions and judgments are checked; `Lint.skipped` lists what was not.

        Args:
            corpus: The corpus: texts by id, a list of `Retrieved` with their texts (and sources and offsets, for
                spans), documents or nodes of a framework, a folder of text files, a file that `read_corpus` reads, or
                only the ids of all documents.
            runs: A run, or several by name, to see which questions are always or never answered, and how much their
                results vary. Without runs, BM25 searches the corpus (`pip install 'retrieval-metrics[questions]'`).
            metric: The metric of the wanted difference.
            difference: The difference of means, at most 1, that the set should be able to detect with 80% power.
            match: What the judged ids are compared with, as in `evaluate`: `"source"` or `"filename"` for documents
                of a framework that have no ids.
            exclude: Documents to leave out of the runs, as in `evaluate`.
            show_progress: Show a progress bar on stderr, if rich is installed.

        Returns:
            The findings. `print` shows them, `.to_pandas()` has one row for each, and `.fixed()` makes safe repairs.

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
            >>> [(finding.name, finding.query) for finding in lint.named("warning")]
            [('duplicate_question', 'q2')]
            >>> lint.fixed().queries
            {'q1': 'Who may open the vault at night?'}
        """
        # Imported here because few programs that read questions check them.
        from retrieval_metrics.datasets.lint import lint

        return lint(
            self,
            corpus,
            runs,
            metric=metric,
            difference=difference,
            match=match,
            exclude=exclude,
            show_progress=show_progress,
        )

    def save(
        self,
        path: str | PathLike[str],
        *,
        labels: Mapping[str, str | float] | None = None,
        sources: bool = False,
    ) -> None:
        """Save the questions with their judgments, answers and provenance to a file that `load` reads.

        Args:
            path: The JSON file; a further `.gz` or `.zst` compresses it.
            sources: Write the texts of the sources too, so that the set can be used without the documents. Otherwise
                their digests are written, if the set has its sources, so that a changed document is noticed.
            labels: Labels of your own, such as `{"reviewed by": "Ada"}`; `load` ignores them.

        Raises:
            TypeError: If judgments have a shape that `evaluate` does not take.
            ValueError: If something cannot be written as JSON, or `sources` is set and the set has no texts. Nothing is
                written then.
            OSError: If the file cannot be written; an existing file stays as it was.

        Example:
            >>> from pathlib import Path
            >>> from tempfile import mkdtemp
            >>> import retrieval_metrics as rm
            >>> path = Path(mkdtemp()) / "questions.json"
            >>> rm.EvaluationSet({"q1": "why?"}, {"q1": [rm.Quote("because it is so")]}).save(path)
            >>> rm.load(path).queries
            {'q1': 'why?'}
        """
        from retrieval_metrics.files.saved_questions import save_questions

        save_questions(self, path, labels, sources=sources)


def read_questions(
    source: QuestionDataset,
    *,
    separator: str | None = None,
    columns: Columns | None = None,
    header: bool = True,
    format: str | None = None,  # noqa: A002  (the format of a file is called format= everywhere)
    split: str = "test",
    limits: Limits | None = None,
) -> EvaluationSet:
    r"""Read questions with their judgments, with one row per question or one per judgment.

    Args:
        source: A path, `"-"` for standard input, an open file, or anything that `EvaluationSet.from_dataset` reads. A
            file is CSV, TSV, JSON, JSONL, Parquet, Arrow, or an Excel workbook (with openpyxl), compressed or not; a
            folder is one of BEIR. The columns are those of `EvaluationSet.from_dataset`. In a table with one row per
            question, `relevant` holds a list of ids, a dict of grades, or objects such as quotes, as JSON or as Python
            prints it, or ids with a separator between them; an empty cell says that nothing is relevant. In a table
            with one row per judgment, `document` (or `file`, `filename`) and `grade` stand beside the question, and
            cells are read alike. A `query` that holds ids (numbers, or ASCII text with a digit and no blank) beside a
            `text` is the id, unless `columns` says `{"query": "query"}`. The case of names does not matter.
        separator: What separates ids in a cell: `separator=","`; `""` if each cell holds one id. By default it is
            `;`, `|` or a line break if every cell agrees, and a warning says so. Leave it out where no cell is text.
        columns: The names of the columns `id`, `query`, `relevant`, `document`, `grade` and `answer`, if they differ
            from the usual ones, or if several hold different judgments; None for a missing column.
        header: Whether the first line of a CSV, TSV or Excel file holds names. Without them, `columns` holds positions
            from 1: `{"id": 1, "query": 2, "relevant": 3}`.
        format: `"csv"`, `"tsv"`, `"json"`, `"jsonl"`, `"parquet"` or `"arrow"`, if neither the extension nor the
            content shows it.
        split: The judgments of a BEIR folder to read.
        limits: How well a file may be compressed, and how long a line may be; see `Limits`.

    Raises:
        TypeError: If the source or one of its rows has another shape.
        ValueError: If it is empty, a row is incomplete, cells can be read in several ways, a query appears twice,
            two columns of a row hold different judgments, or one that is not read says that a document is not relevant,
            a column is there twice (also as pandas renames the second, `relevant.1`), or there is no column that
            `columns` names, or it names one for two roles.
        OSError: If the path cannot be read.
        ImportError: If polars is not installed, or openpyxl for a workbook.

    Warns:
        RetrievalWarning: If a separator was recognised rather than passed.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> path = Path(mkdtemp()) / "questions.csv"
        >>> _ = path.write_text("id,query,relevant\nq1,why?,d1\nq2,how?,d2;d3\n")
        >>> read_questions(path, separator=";").qrels
        {'q1': ['d1'], 'q2': ['d2', 'd3']}
    """
    return read_question_source(
        EvaluationSet,
        source,
        separator=separator,
        columns=columns,
        header=header,
        format=format,
        split=split,
        limits=limits,
    )
