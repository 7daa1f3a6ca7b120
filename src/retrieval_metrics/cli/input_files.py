"""Read the files that are named in the arguments."""

from __future__ import annotations

import re
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import retrieval_metrics as rm
from retrieval_metrics._internal.validation import positive_integer
from retrieval_metrics.agents.trajectory import truncate_ranking
from retrieval_metrics.cli.option_names import use_option_names
from retrieval_metrics.cli.option_types import parse_clusters, parse_columns
from retrieval_metrics.files.opening import COMPRESSIONS, STANDARD_INPUT, open_source
from retrieval_metrics.files.saved_format import is_saved
from retrieval_metrics.files.text_files import read_texts
from retrieval_metrics.files.trec import COMMENT, RUN_LAYOUT
from retrieval_metrics.inputs.run import StreamedRun

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from retrieval_metrics.inputs.items import RunMapping

    Runs = dict[str, rm.Run | rm.RetrievedRun]


KINDS = {
    "Comparison": "a comparison",
    "Evaluation": "an evaluation",
    "EvaluationSet": "a set of questions",
    "Labels": "labels",
    "Sample": "a sample of questions",
    "Tuning": "a tuning",
}
"""What a saved file holds, by the type that is loaded from it; anything else is a run."""


def paths_by_name(arguments: Sequence[str]) -> dict[str, str]:
    """Return the file of each run by the name of the run."""
    paths: dict[str, str] = {}
    for argument in arguments:
        name, equals, path = argument.partition("=")
        if not equals or Path(argument).exists():
            name, path = _name_of(argument), argument
        if name in paths:
            raise ValueError(f"two runs are named {name!r}: {paths[name]} and {path}; name them with NAME=FILE")
        paths[name] = path
    return paths


def read_named_inputs(given: argparse.Namespace, paths: dict[str, str]) -> dict[str, tuple[Any, Any]]:
    """Read judgments and runs, or judgments and views of traces: both for each name."""
    if given.view is None and (given.question_id or given.tool or given.citations):
        raise ValueError("--question-id, --tool and --citations are about traces; name a view of them with --view")
    qrels, runs = read_qrels_and_run(given, paths if given.view is None else {})
    if given.view is None:
        return {name: (qrels, one) for name, one in runs.items()}
    return {name: _view_at(given, path, qrels) for name, path in paths.items()}


def _view_at(given: argparse.Namespace, path: str, questions: Any) -> tuple[Any, rm.types.View]:
    """Return the judgments of the trajectories in a file, and the view of them that was asked for."""
    try:
        pattern = None if given.citations is None else re.compile(given.citations)
    except re.error as error:
        raise ValueError(f"--citations is no regular expression: {error}") from None
    if given.view == "cited" and pattern is None:
        raise ValueError(r"--view cited needs --citations, such as --citations '\[(\w+)\]'")
    trajectories = rm.read_traces(
        path, query=given.question_id, citations=None if pattern is None else pattern.findall, tools=given.tool
    )
    judged = trajectories.judgments(questions)
    if given.question_id is None and not any(row in trajectories for row in judged.qrels):
        raise ValueError(
            f"no trace of {path} has the id of a judged question, only its own, such as {next(iter(trajectories))!r}; "
            "--question-id says where the id is, such as metadata.question_id"
        )
    return judged, getattr(trajectories, given.view)()


def read_qrels_and_run(given: argparse.Namespace, runs: dict[str, str]) -> tuple[rm.Qrels | rm.EvaluationSet, Runs]:
    """Read the judgments and the runs of a command."""
    if [given.qrels, *runs.values()].count(STANDARD_INPUT) > 1:
        raise ValueError("standard input (-) can be read only once")
    return read_judgments(given), {name: read_run_or_saved(given, path) for name, path in runs.items()}


def read_judgments(given: argparse.Namespace) -> rm.Qrels | rm.EvaluationSet:
    """Return the judgments that the arguments name: those of a file, or of a saved set of questions."""
    if not is_saved(given.qrels):
        return read_qrels_file(given, given.qrels)
    found = rm.load(given.qrels)
    if not isinstance(found, rm.EvaluationSet):
        raise ValueError(f"{given.qrels} holds {format_saved_kind(found)}, not judgments")  # noqa: TRY004  (said of the file)
    return found


def read_run_or_saved(given: argparse.Namespace, path: str) -> rm.Run | rm.RetrievedRun:
    """Return the run of a file, or the one that was saved to it."""
    if not is_saved(path):
        return read_run_file(given, path)
    found = rm.load(path)
    if type(found) is dict:  # rankings without errors or seconds
        return rm.RetrievedRun(found, {})
    if isinstance(found, (rm.Run, rm.RetrievedRun)):
        return found
    raise ValueError(f"{path} holds {format_saved_kind(found)}, not a run")


def read_saved_evaluations(arguments: Sequence[str]) -> dict[str, rm.Evaluation] | None:
    """Return the saved evaluations that arguments name; None if the first is a file of judgments."""
    (first,) = paths_by_name(arguments[:1]).values()
    if not is_saved(first) or questions_at(first) is not None:
        return None
    paths = paths_by_name(arguments)
    evaluations = {name: rm.load(path) for name, path in paths.items()}
    for name, one in evaluations.items():
        if not isinstance(one, rm.Evaluation):
            raise ValueError(f"{paths[name]} holds {format_saved_kind(one)}, not an evaluation")  # noqa: TRY004  (said of the file)
    return evaluations


def questions_at(path: str) -> rm.EvaluationSet | None:
    """Return the evaluation set that was saved to a file; None if it holds anything else."""
    if not is_saved(path):
        return None
    found = rm.load(path)
    return found if isinstance(found, rm.EvaluationSet) else None


def format_saved_kind(saved: Any) -> str:
    """Return what a saved file holds, in the words of the pages."""
    return KINDS.get(type(saved).__name__, "a run")


LARGE = 50_000_000
"""The size in bytes above which a file gets a progress bar."""


def read_qrels_file(given: argparse.Namespace, path: str) -> rm.Qrels:
    """Read judgments as the options say."""
    with use_option_names(given, "qrels"):
        return rm.read_qrels(
            path,
            format=given.qrels_format,
            columns=parse_columns(given.qrels_column),
            allow=given.allow,
            limits=_limits(given),
        )


def read_run_file(given: argparse.Namespace, path: str) -> rm.Run | rm.RetrievedRun:
    """Read a run as the options say, with a progress bar if it is large, and a note if it is too large for memory."""
    settings = dict(given.reading)
    with use_option_names(given, "run"):
        run = rm.read_run(
            path,
            format=given.run_format,
            columns=parse_columns(given.run_column),
            memory=given.memory,
            show_progress=settings.get("progress", True) and _deserves_progress(path),
            allow=given.allow,
            limits=_limits(given),
            subset=settings.get("subset"),
            split=settings.get("split"),
        )
    if isinstance(run, StreamedRun):
        sys.stderr.write(f"retrieval-metrics: note: {run!r}: larger than its memory limit, read again at every use\n")
    return run


def _deserves_progress(path: str) -> bool:
    """Return whether to show a progress bar: on a terminal, for a large file, if rich is installed."""
    file = Path(path)
    large = file.is_file() and file.stat().st_size > LARGE
    return large and sys.stderr.isatty() and find_spec("rich") is not None


def read_query_texts(given: argparse.Namespace, path: str) -> dict[str, str]:
    """Read the texts of queries, within the limits of the options; those of a saved set of questions too."""
    if (questions := questions_at(path)) is not None:
        return {str(query): text for query, text in questions.queries.items()}
    return rm.read_queries(path, limits=_limits(given))


def read_document_texts(given: argparse.Namespace, path: str) -> dict[str, str]:
    """Read the texts of a folder or of a corpus, within the limits of the options."""
    return read_texts(path, _limits(given))


def _limits(given: argparse.Namespace) -> rm.Limits:
    return rm.Limits(**{key: value for key, value in given.reading if key in {"compression", "line"}})


def scoring_arguments(given: argparse.Namespace) -> dict[str, Any]:
    """Return what was given of the options of `add_rule_options`, as arguments of `evaluate`."""
    documents = None if given.documents is None else read_document_texts(given, given.documents)
    found = {"rules": given.rules, "ties": given.ties, "documents": documents}
    found = {name: value for name, value in found.items() if value is not None}
    if given.match != "id":
        found["match"] = given.match
    if given.clusters != "source":
        found["clusters"] = parse_clusters(given.clusters)
    return found


def read_report_texts(given: argparse.Namespace) -> dict[str, Any]:
    """Return what a report takes of the texts that `--queries` and `--corpus` name."""
    if getattr(given, "report", "") is None and (given.queries, given.corpus) != (None, None):
        raise ValueError("--queries and --corpus are shown in a report, so they need --report FILE")
    return {
        "queries": None if given.queries is None else read_query_texts(given, given.queries),
        "corpus": None if given.corpus is None else read_document_texts(given, given.corpus),
    }


def truncate_rankings(run: rm.Run | rm.RetrievedRun, most: int) -> RunMapping:
    """Return a run with the first documents of each query, in the order of trec_eval where they have scores."""
    positive_integer(most, "-M")
    return {query: truncate_ranking(ranking, most) for query, ranking in run.items()}


def read_run_name(path: str) -> str:
    """Return the name of a run: the last column of a TREC file, else that of its file."""
    if not Path(path).is_file():
        return "standard input"
    with open_source(path) as source:
        words = COMMENT.sub(b"", source.beginning()).lstrip().partition(b"\n")[0].split()
    return words[-1].decode(errors="replace") if len(words) == len(RUN_LAYOUT.fields) else _name_of(path)


def _name_of(path: str) -> str:
    file = Path(path)
    return Path(file.stem).stem if file.suffix in COMPRESSIONS else file.stem
