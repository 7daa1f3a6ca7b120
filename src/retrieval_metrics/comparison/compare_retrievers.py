"""Ask several retrievers the same questions and compare what they return."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack
from urllib.parse import quote

from retrieval_metrics._internal.signatures import forward_arguments, takes_arguments_of
from retrieval_metrics.comparison.compare import compare
from retrieval_metrics.comparison.tests_of_pairs import list_pairs
from retrieval_metrics.evaluation.evaluation_task import make_first_answer_check
from retrieval_metrics.files.question_files import read_question_source
from retrieval_metrics.inputs.document_texts import with_document_texts
from retrieval_metrics.inputs.documents import keep_for_rereading
from retrieval_metrics.inputs.qrels import as_qrels
from retrieval_metrics.inputs.questions import Questions
from retrieval_metrics.matching.source_texts import with_source_texts
from retrieval_metrics.metrics.base.metric import DEFAULT_METRICS, Metric
from retrieval_metrics.retrieval.event_loop import run_until_complete
from retrieval_metrics.retrieval.retrieve import WORKERS, RetrievalTask, run_retrieval

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from os import PathLike

    from retrieval_metrics._internal.plain_types import QueryId
    from retrieval_metrics.comparison.comparison import Comparison
    from retrieval_metrics.inputs.clusters import ClustersBy
    from retrieval_metrics.inputs.documents import Documents
    from retrieval_metrics.inputs.exclusion import Exclude
    from retrieval_metrics.inputs.items import RunMapping
    from retrieval_metrics.inputs.match_key import Key
    from retrieval_metrics.inputs.question_rows import QuestionDataset
    from retrieval_metrics.inputs.retrieved_run import RetrievedRun
    from retrieval_metrics.inputs.run import Run
    from retrieval_metrics.matching.matching_options import Matching
    from retrieval_metrics.metrics.base.rules import Rules
    from retrieval_metrics.retrieval.retrieve import Retriever


class FurtherOptions(TypedDict, total=False):
    """The options that `compare_retrievers` passes on as they are; see `compare`."""

    margin: float | None
    clusters: ClustersBy
    unjudged: str | None
    unretrieved_relevant: int | Mapping[QueryId, int] | None
    ties: str | None
    level: float
    resamples: int
    seed: int
    documents: Documents | None
    exclude: Exclude | None


class _Retrieval:
    """The retrievers and the questions, checked before any retriever is asked."""

    def __init__(
        self,
        retrievers: Mapping[str, Retriever],
        questions: QuestionDataset,
        metrics: str | Metric | Iterable[str | Metric] = DEFAULT_METRICS,
        *,
        baseline: str | None = None,
        rules: str | Rules = "standard",
        match: str | Key | Matching = "id",
        workers: int = WORKERS,
        timeout: float | None = None,
        retries: int = 0,
        show_progress: bool = False,
        raise_on_error: bool = False,
        resume: str | PathLike[str] | None = None,
        **options: Unpack[FurtherOptions],
    ) -> None:
        if not isinstance(retrievers, Mapping):
            raise TypeError(
                f"retrievers must map the name of each system to its retriever, got {type(retrievers).__name__}"
            )
        names = list(retrievers)
        list_pairs(names, baseline)
        _refuse_unknown_options(options)
        self._metrics = metrics if isinstance(metrics, (str, Metric)) else list(metrics)
        self._questions = read_question_source(Questions, questions)
        self._qrels = as_qrels(self._questions)  # with the texts and sources of the questions
        self._baseline = baseline
        self._rules = rules
        documents = keep_for_rereading(options.pop("documents", None))
        self._match = with_source_texts(match, documents, self._qrels, self._questions)
        self._qrels = with_document_texts(self._qrels, documents)
        self._show_progress = show_progress
        self._options = options
        unjudged = options.get("unjudged")
        check = make_first_answer_check(
            self._qrels,
            self._metrics,
            rules=rules,
            match=self._match,
            ties=options.get("ties"),
            unjudged=None if unjudged == "bounds" else unjudged,
        )
        self._rehearse(names)
        self._retrievers = retrievers
        self._resume = resume
        self._plan_retrieval = partial(
            RetrievalTask,
            workers=workers,
            timeout=timeout,
            retries=retries,
            raise_on_error=raise_on_error,
            match=self._match,
            check=check,
        )

    async def retrieve(self) -> dict[str, RetrievedRun]:
        """Ask each retriever every question."""
        tasks = list(map(self._make_task, self._retrievers))
        runs = await run_retrieval(tasks, show_progress=self._show_progress)
        return dict(zip(self._retrievers, runs, strict=True))

    def _make_task(self, system: str) -> RetrievalTask:
        try:
            resume = None if self._resume is None else _prepare_answers_file(system, self._resume)
            return self._plan_retrieval(self._retrievers[system], self._questions, name=system, resume=resume)
        except (TypeError, ImportError) as error:
            error.add_note(f"this is the retriever of the system {system!r}")
            raise

    def _rehearse(self, systems: Sequence[str]) -> None:
        """Compare empty rankings, so that `compare` refuses wrong options before any retriever is called."""
        baseline = self._baseline or systems[0]
        other_system = next(system for system in systems if system != baseline)
        empty_run: Any = dict.fromkeys(self._qrels.queries, ())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._compare({baseline: empty_run, other_system: empty_run})

    def compare_runs(self, runs: dict[str, RetrievedRun]) -> Comparison:
        """Compare the runs."""
        # Not in a thread, even for an asynchronous caller: `compare` catches warnings, which is not thread-safe.
        return self._compare(runs)

    def _compare(self, runs: Mapping[str, RunMapping | Run]) -> Comparison:
        return compare(
            self._qrels,
            runs,
            self._metrics,
            baseline=self._baseline,
            rules=self._rules,
            match=self._match,
            show_progress=self._show_progress,
            **self._options,
        )


def _refuse_unknown_options(options: FurtherOptions) -> None:
    unknown = [name for name in options if name not in FurtherOptions.__annotations__]
    if unknown:
        raise TypeError(f"compare_retrievers and compare have no option {', '.join(map(repr, unknown))}")


@takes_arguments_of(_Retrieval)
def compare_retrievers(*args: Any, **options: Any) -> Comparison:
    """Run several retrievers on the same questions, and test in which metrics they differ.

    The retrievers are run one after the other, so that they do not slow each other down. Before that, each is run on
    the first question, so that an error in the answers of any of them is raised early. Judgments, metrics and options
    are checked before the first question.

    Args:
        retrievers: The retrievers by the name of the system, as in `retrieve`: functions, asynchronous functions, and
            retrievers of installed hosts, in any mixture.
        questions: An `EvaluationSet`, or anything that `EvaluationSet.from_dataset` reads, such as pairs
            `(query, relevant)`.
        metrics: Names such as `"ndcg@10"` or `["map", "mrr@10"]`.
        baseline: The name of the system that all others are compared with; None compares every pair.
        rules: The rules, as in `evaluate`.
        match: What an id of the judgments is compared with, as in `evaluate`.
        workers: How many queries may run at once.
        timeout: Seconds that one attempt may take, as in `retrieve`.
        retries: How many times a failed query is repeated, as in `retrieve`.
        show_progress: Show a progress bar on stderr, if rich is installed.
        raise_on_error: Raise the first failure instead of recording it.
        resume: A folder with a file per system to which every answer is written as it arrives, as in `retrieve`.
            Queries already answered there are not run again, so that an interrupted comparison can be resumed.
        **options: Other arguments of `compare`, such as `documents`, `level` and `seed`.

    Returns:
        The comparison of the runs of these retrievers. Its `seconds` and `errors` hold how long each system took for
        each query, and which queries failed; both are printed with it.

    Raises:
        TypeError: If `retrievers` does not map names to retrievers, an option is unknown, or as in `retrieve` and
            `compare`.
        ValueError: If there are fewer than two retrievers, the baseline is not among them, `resume` is a file, or as in
            `retrieve` and `compare`.
        ImportError: If a retriever is of a host whose integration is not installed.

    Warns:
        RetrievalWarning: As in `evaluate`, with the name of the system, for example if a retriever failed.

    Example:
        >>> questions = [(f"question {number}", ["d"]) for number in range(8)]
        >>> retrievers = {"second": lambda text: ["x", "d"], "first": lambda text: ["d", "x"]}
        >>> comparison = compare_retrievers(retrievers, questions, "mrr")
        >>> print(comparison.conclusions.get("mrr"))
        first is better than second in mrr by 0.500 on every query.
        >>> len(comparison.seconds["first"])
        8
    """
    retrieval = forward_arguments("compare_retrievers", _Retrieval, args, options)
    runs = run_until_complete(retrieval.retrieve())
    return retrieval.compare_runs(runs)


@takes_arguments_of(_Retrieval)
async def acompare_retrievers(*args: Any, **options: Any) -> Comparison:
    """Ask several retrievers the same questions on the running event loop, and compare them.

    This is the asynchronous version of `compare_retrievers`, with the same arguments, result and errors.
    """
    retrieval = forward_arguments("acompare_retrievers", _Retrieval, args, options)
    runs = await retrieval.retrieve()
    return retrieval.compare_runs(runs)


def _prepare_answers_file(system: str, folder: str | PathLike[str]) -> Path:
    """Create the folder of answers, and return the path of the file for a system, with its name escaped."""
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise ValueError(
            f"resume= must be a folder here, which gets a file per system, but {str(folder)!r} is a file or lies below "
            "one; pass a new path, such as 'answers'"
        ) from None
    return Path(folder) / f"{quote(system, safe=' =,()')}.jsonl"
