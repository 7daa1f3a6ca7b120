"""Pool the first documents of several systems, for people or a model to grade."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn, TypeAlias

from retrieval_metrics._internal.optional_packages import to_data_frame
from retrieval_metrics._internal.signatures import forward_arguments, takes_arguments_of
from retrieval_metrics._internal.validation import UnknownKeyError, integer, positive_integer
from retrieval_metrics.datasets.corpus_index import CorpusIndex
from retrieval_metrics.datasets.disagreement_strata import stratify_by_disagreement
from retrieval_metrics.datasets.grade_effects import compute_effects
from retrieval_metrics.datasets.grading import read_grades
from retrieval_metrics.datasets.grading_pages import write_grading_pages
from retrieval_metrics.datasets.label_wording import format_found_by, format_passage_kinds
from retrieval_metrics.datasets.pooled_documents import PooledDocument, find_passage_kinds, require_texts
from retrieval_metrics.datasets.rubric import RELEVANT_FROM
from retrieval_metrics.datasets.sample import draw
from retrieval_metrics.files.judgment_paths import resolve_texts
from retrieval_metrics.files.saved_fields import SavedFields
from retrieval_metrics.inputs.qrels import as_qrels
from retrieval_metrics.inputs.questions import Questions
from retrieval_metrics.inputs.run import name_runs
from retrieval_metrics.matching.ranking_order import OrderedRankings
from retrieval_metrics.metrics.base.metric import Metric, as_metric
from retrieval_metrics.metrics.base.rules import STANDARD
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.display_text import shorten
from retrieval_metrics.reports.tables import Table
from retrieval_metrics.retrieval.event_loop import run_until_complete

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterable, Iterator
    from os import PathLike
    from pathlib import Path

    import pandas as pd

    from retrieval_metrics.datasets.corpus_index import CorpusSource
    from retrieval_metrics.datasets.grader_agreement import GraderKinds
    from retrieval_metrics.datasets.labels import Labels
    from retrieval_metrics.datasets.sample import Sample
    from retrieval_metrics.inputs.items import QueryTexts, RunMapping
    from retrieval_metrics.inputs.match_key import Key
    from retrieval_metrics.inputs.qrels import QuestionsOrQrels
    from retrieval_metrics.inputs.run import Run
    from retrieval_metrics.matching.matching_options import Matching


TopBy: TypeAlias = Literal["rank", "effect", "random"]
COLUMNS = ("query", "document", "text", "best_rank", "found_by", "effect")


@dataclass(frozen=True, eq=False, repr=False)
class Pool(SavedFields):
    """Documents to grade, each with its ranks in the systems that found it.

    Attributes:
        items: The documents, query by query.
        queries: The text of every pooled query, including those with nothing left to grade.
        systems: The names of the systems.
        depth: How many documents of each ranking were taken.
        n_judged: How many were left out because they are judged.
        sources: The document that each query comes from, as far as it is known.
    """

    kind: ClassVar[str] = "pool"
    records: ClassVar[tuple[type, ...]] = (PooledDocument,)

    items: tuple[PooledDocument, ...]
    queries: Mapping[Any, str]
    systems: tuple[str, ...]
    depth: int
    n_judged: int = 0
    sources: Mapping[Any, str] = field(default_factory=dict)

    def for_queries(self, queries: Iterable[Any]) -> Pool:
        """Return the pool of the given queries, such as those of a sample.

        Raises:
            KeyError: If a query was not pooled.
        """
        selected = dict.fromkeys(queries)
        for query in selected:
            if query not in self.queries:
                raise UnknownKeyError(f"query {query!r} is not among the {len(self.queries)} queries of the pool")
        items = tuple(item for item in self.items if item.query in selected)
        texts = {query: text for query, text in self.queries.items() if query in selected}
        return replace(self, items=items, queries=texts)

    def top(self, n: int, by: TopBy = "rank", *, seed: int = 0) -> Pool:
        """Return at most `n` documents of the pool.

        Documents left out count as not relevant, so use a limited pool to compare systems or for a first look;
        `evaluate_with_labels` needs the whole pool of each sampled query.

        Args:
            n: How many documents.
            by: `rank` takes the first of every query and system before the second of any; `effect` takes those whose
                grade could change a difference between systems most (computed by `pool(..., metric=...)`); `random`
                draws them.
            seed: Seed of the draw, and of the order of documents with equal rank.

        Raises:
            ValueError: If `by` is none of these, or effects were not computed.
        """
        size = positive_integer(n, "n")
        order = list(self.items)
        random.Random(integer(seed, "seed")).shuffle(order)
        if by == "rank":
            order.sort(key=lambda item: min(item.ranks.values()))
        elif by == "effect":
            if any(item.effect is None for item in order):
                raise ValueError(
                    "the pool has no effects; compute them with rm.pool(..., metric='ndcg@10'), which needs several "
                    "systems and judgments by ID"
                )
            order.sort(key=lambda item: -(item.effect or 0.0))
        elif by != "random":
            raise ValueError(f"by must be 'rank', 'effect' or 'random', got {by!r}")
        selected = set(map(id, order[:size]))
        return replace(self, items=tuple(item for item in self.items if id(item) in selected))

    def sample(
        self,
        n: int,
        strata: Mapping[Any, Hashable] | None = None,
        seed: int = 0,
        *,
        graded: Labels | QuestionsOrQrels | None = None,
        runs: Mapping[str, RunMapping | Run] | None = None,
        metrics: str | Metric | Iterable[str | Metric] = "ndcg@10",
    ) -> Sample:
        """Draw a sample of queries for people to grade, each with its whole pool; see `EvaluationSet.sample`.

        Without grades, it is a simple random sample: every query has the same probability. With the grades of a model,
        queries on which the systems differ most by these grades are drawn more often: there, human grades say most
        about the difference, and reveal a model that favours a system. How many these are, and how much of the sample
        they get, follows from the differences (Neyman 1934, Dalenius 1950). The estimate weights every query by its
        probability.

        Args:
            n: How many queries.
            strata: The stratum of each query; see `EvaluationSet.sample`.
            seed: Seed of the sample.
            graded: A model's grades of the pool, `pool.grade(model)`, or judgments.
            runs: With `graded`, the run of each system, two or more.
            metrics: With `graded`, the metrics in which the systems are compared.

        Raises:
            TypeError: As `EvaluationSet.sample`.
            ValueError: As `EvaluationSet.sample`, if only one of `graded` and `runs` is given, if there are strata as
                well, or if there are fewer than two systems or they differ nowhere.
        """
        shares = None
        if graded is not None or runs is not None:
            if graded is None or runs is None or strata is not None:
                raise ValueError("pass graded= and runs= together, or strata=, not both")
            disagreement = stratify_by_disagreement(list(self.queries), graded, runs, metrics)
            strata = disagreement.stratum_by_query
            shares = disagreement.share_of_labels
        return replace(draw(list(self.queries), n, strata, seed, shares), sources=self.sources)

    @cached_property
    def kinds(self) -> GraderKinds:
        """The kind of each document: which systems found it, its best rank, its length, its words of the question.

        `labels.agreement(other, kinds=pool.kinds)` shows on which kinds two graders disagree.
        """
        return format_passage_kinds(find_passage_kinds(self.items, self.queries, self.systems), self.systems)

    def labelling_page(
        self,
        path: str | PathLike[str],
        *,
        title: str = "Which passages answer the question?",
        rubric: Collection[str] | None = None,
        relevant_from: int = RELEVANT_FROM,
        seed: int = 0,
        people: Iterable[str] | None = None,
        overlap: float = 0.2,
    ) -> tuple[Path, ...]:
        """Write a self-contained HTML page on which a person grades the pool; it needs no server.

        It asks for the name, and shows questions with their passages in random order, one at a time or as a list,
        without ids, systems and ranks. Grades 0 to 3 are given by key, with the rubric in view. There are keys for
        "cannot tell", skip and undo, and words that answer the question can be marked. The browser keeps every grade
        with its grader, rubric and time, and any page with the same passage finds it. "Export" saves a file that `load`
        reads as `Labels`, and that the page takes in again on another machine; merge files of several people with
        `Labels.merge`.

        Args:
            path: The file to write.
            title: The title.
            rubric: The meanings of the grades 0, 1, 2 and 3, four texts; None takes those in the prompts for models.
            relevant_from: The lowest of these grades with which a document is relevant; the labels carry it.
            seed: Seed of the order of questions and passages, and of who grades what.
            people: The names of several people; each gets a page of their own, `label-Ada.html` for `label.html`, with
                whole questions and about as many passages as the others.
            overlap: With `people`, the part of the questions that everybody grades, so that
                `first.merge(second).agreement()` says how far they agree.

        Returns:
            The files written.

        Raises:
            TypeError: If people are not names.
            ValueError: If there is nothing to grade, a document has no text, there are not four texts in the rubric,
                `relevant_from` is not 1, 2 or 3, names are empty, equal or make equal files, somebody would have
                nothing to grade, or the overlap is not from 0 to 1.
            OSError: If a file cannot be written.
        """
        return write_grading_pages(
            path,
            require_texts(self.items, self.queries),
            self.queries,
            people=people,
            overlap=overlap,
            seed=seed,
            title=title,
            rubric=rubric,
            relevant_from=relevant_from,
        )

    @takes_arguments_of(read_grades)
    def grade(self, *args: Any, **options: Any) -> Labels:
        """Ask a model to grade the pool.

        The prompt has the rubric, the question and the passage, but no ids, systems or ranks. The reply must be JSON of
        the requested form; after a second bad reply, the passage is counted as failed and gets no grade. Passages are
        sent in random order. Compare the grades with human ones before you use them: `labels.agreement(people)`. Small
        local models grade no better than chance.

        Args:
            model: A function of a prompt that returns its reply, synchronous or not, a model of an installed host, or a
                `Model`, which also sets the cache of replies and the budget.
            batch: How many passages of a question are graded in one prompt. Larger batches cost less, but the grade of
                a passage then depends on the others in its batch.
            rubric: The meanings of the grades 0, 1, 2 and 3, four texts; None takes those shown to people.
            relevant_from: The lowest of these grades with which a document is relevant.
            seed: Seed of the order of passages, and of their position in a batch.
            show_progress: Show a progress bar on stderr, if rich is installed.

        Returns:
            The grades, with the name of the model, the version of the prompt, the date, and the model's reasons.

        Raises:
            TypeError: If it is not a model, or an option has another type.
            ValueError: If there is nothing to grade, a document has no text, an option is out of range, or no
                reply could be used at all.
            Exception: The error of a model that never replied.

        Warns:
            RetrievalWarning: If documents got no grade, which judgments cannot show.

        Example:
            >>> import retrieval_metrics as rm
            >>> pooled = rm.pool(
            ...     {"q1": "who opens?"}, {"q1": ["d1", "d2"]}, {"d1": "The guard opens.", "d2": "Closed."}
            ... )
            >>> labels = pooled.grade(lambda prompt: '{"grade": %d}' % (3 if "guard" in prompt else 0))
            >>> labels.qrels
            {'q1': {'d1': 3.0, 'd2': 0.0}}
        """
        return run_until_complete(forward_arguments("grade", read_grades, (self, *args), options))

    @takes_arguments_of(read_grades)
    async def agrade(self, *args: Any, **options: Any) -> Labels:
        """Ask a model to grade the pool, on the running event loop; the asynchronous version of `grade`."""
        return await forward_arguments("agrade", read_grades, (self, *args), options)

    def to_pandas(self) -> pd.DataFrame:
        """Return a DataFrame with one row per document.

        The columns are `query`, `document`, `text`, `best_rank`, `found_by` and `effect`.

        Raises:
            ImportError: If pandas is not installed; the message contains the command.
        """
        rows = [
            (item.query, item.document, item.text, min(item.ranks.values()), ", ".join(item.ranks), item.effect)
            for item in self.items
        ]
        return to_data_frame(rows, COLUMNS)

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[PooledDocument]:
        return iter(self.items)

    def __repr__(self) -> str:
        return f"<Pool: {len(self.items)} documents of {len(self.queries)} queries>"

    def _tables(self) -> list[Table]:
        counts = Counter(item.found_by(self.systems) for item in self.items)
        rows = []
        for systems in sorted(counts, key=lambda systems: (len(systems), systems)):
            rows.append([format_found_by(systems, self.systems), f"{counts[systems]:,}"])
        queries = numbers.format_query_count(len({item.query for item in self.items}))
        title = f"{numbers.format_count(len(self.items), 'query-document pair')} to grade, {queries}"
        notes = [f"depth {self.depth}, {numbers.format_count(len(self.systems), 'system')}"]
        if self.n_judged:
            notes.append(f"{self.n_judged:,} already judged, excluded")
        return [Table(["found by", "n"], rows, notes, title)]


def pool(
    questions: Questions | QueryTexts | str | PathLike[str],
    runs: Mapping[str, RunMapping | Run] | RunMapping | Run,
    corpus: CorpusSource | None = None,
    depth: int = 10,
    *,
    judged: bool = False,
    metric: str | Metric | None = None,
    match: str | Key | Matching = "id",
) -> Pool:
    """Return a pool of documents to grade: the first documents of several systems, without those already judged.

    If only the documents of one system are judged, other systems are at a disadvantage; a pool treats all of them alike
    (Sparck Jones and van Rijsbergen 1975).

    Args:
        questions: An `EvaluationSet` or the path of one, or texts by query id if nothing is judged yet.
        runs: The run of each system, by the name of the system; or a single run.
        corpus: The texts: a mapping of ids to texts, a list of `Retrieved` or documents of a framework. None takes the
            texts of the retrieved items.
        depth: How many documents of each ranking are taken.
        judged: Keep the judged documents too, so that people grade the whole pool again.
        metric: Also compute how much a difference between two systems in this metric would change if a document had the
            highest grade, for `Pool.top(n, "effect")`. If nothing is judged, how much if it alone were relevant.
        match: What an id of the judgments is compared with, as in `evaluate`.

    Raises:
        TypeError: If `runs` or `questions` have another shape.
        ValueError: If no query of the runs has a text, a document has no id, or `metric` is set for a single system or
            for judgments that are not by id.

    Example:
        >>> runs = {"bm25": {"q1": ["d1", "d2"]}, "dense": {"q1": ["d2", "d3"]}}
        >>> pooled = pool({"q1": "why?"}, runs, {"d1": "one", "d2": "two", "d3": "three"})
        >>> [(item.document, item.why) for item in pooled]
        [('d1', 'bm25: rank 1'), ('d2', 'bm25: rank 2, dense: rank 1'), ('d3', 'dense: rank 2')]
    """
    if _are_questions(runs):
        raise TypeError("the questions come first: swap the first two arguments, pool(questions, runs)")
    questions = resolve_texts(questions)
    texts = questions.queries if isinstance(questions, Questions) else questions
    if not isinstance(texts, Mapping) or not all(isinstance(text, str) for text in texts.values()):
        raise TypeError(f"questions must be an EvaluationSet or map query IDs to texts, got {type(questions).__name__}")
    named_runs = name_runs(runs, texts, "asked")
    resolved_depth = positive_integer(depth, "depth")
    judged_documents: Mapping[Any, Any] = {}
    if isinstance(questions, Questions) and not judged:
        judged_documents = as_qrels(questions).graded()  # quotes and spans exclude no document
    retrieved = _find_first_documents(named_runs, texts, resolved_depth, match)
    text_by_document = retrieved.text_by_document
    if corpus is not None:
        _add_corpus_texts(text_by_document, retrieved, corpus)
    effects: dict[tuple[Any, Any], float] = {}
    default_effect = None
    if metric is not None:
        effects = compute_effects(named_runs, questions, texts, as_metric(metric), match)
        default_effect = 0.0
    items = []
    n_judged = 0
    for query, ranks_by_document in retrieved.ranks.items():
        for document, ranks in ranks_by_document.items():
            if document in judged_documents.get(query, ()):
                n_judged += 1
                continue
            effect = effects.get((query, document), default_effect)
            items.append(PooledDocument(query, document, text_by_document.get(document), ranks, effect))
    sources = {}
    if isinstance(questions, Questions):
        for query, provenance in questions.provenance.items():
            if provenance.source is not None:
                sources[query] = provenance.source
    return Pool(tuple(items), dict(texts), tuple(named_runs), resolved_depth, n_judged, sources)


def _are_questions(argument: Any) -> bool:
    """Return whether an argument holds questions, although a run is expected."""
    if isinstance(argument, Questions):
        return True
    if not isinstance(argument, Mapping) or not argument:
        return False
    return all(isinstance(text, str) for text in argument.values())


@dataclass(frozen=True, slots=True)
class _FirstDocuments:
    """The first documents of every system.

    Attributes:
        ranks: By query, document and system, the rank of the document in each system that retrieved it.
        text_by_document: The texts of the retrieved items, as far as they are known.
    """

    ranks: dict[Any, dict[Any, dict[str, int]]]
    text_by_document: dict[Any, str | None]


def _find_first_documents(runs: Mapping[str, Any], texts: Mapping[Any, str], depth: int, match: Any) -> _FirstDocuments:
    ranks: dict[Any, dict[Any, dict[str, int]]] = {query: {} for query in texts}
    text_by_document: dict[Any, str | None] = {}
    for system, run in runs.items():
        rankings = OrderedRankings(run, match, STANDARD.order)
        for query, ranking in rankings.iterate(texts):
            for rank, (document, item) in enumerate(rankings.first_items(ranking, depth), start=1):
                if document is None:
                    _refuse_missing_id(system, query, rank, item)
                ranks[query].setdefault(document, {}).setdefault(system, rank)
                if item is not None and item.text is not None:
                    text_by_document.setdefault(document, item.text)
    if not any(ranks.values()):
        example = numbers.format_example(len(texts), repr(next(iter(texts))))
        raise ValueError(f"nothing was retrieved for any query of the pool ({example})")
    return _FirstDocuments(ranks, text_by_document)


def _refuse_missing_id(system: str, query: Any, rank: int, item: Any) -> NoReturn:
    text = getattr(item, "text", None)
    beginning = f" ({shorten(text)!r})" if text else ""
    raise ValueError(
        f"the document at rank {rank} of query {query!r} in {system!r}{beginning} has no ID, so its grade "
        "cannot be stored; give every chunk an ID before indexing, or pass match= to say what identifies one, "
        'such as match=lambda item: f"{item.source}@{item.start}"'
    )


def _add_corpus_texts(
    text_by_document: dict[Any, str | None], retrieved: _FirstDocuments, corpus: CorpusSource
) -> None:
    """Replace the text of each retrieved document that is in the corpus by its text there."""
    passage_by_id = CorpusIndex.from_corpus(corpus).by_id
    for documents in retrieved.ranks.values():
        for document in documents:
            if document in passage_by_id:
                text_by_document[document] = passage_by_id[document].text
