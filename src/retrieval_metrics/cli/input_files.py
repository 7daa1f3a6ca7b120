"""Read the files that are named in the arguments."""

from __future__ import annotations

import re
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import retrieval_metrics as rm
from retrieval_metrics._internal.validation import positive_integer
from retrieval_metrics.cli.option_names import reading
from retrieval_metrics.cli.option_types import has_positions, parse_clusters, parse_columns
from retrieval_metrics.files.compressions import COMPRESSIONS
from retrieval_metrics.files.formats import blank_system_description
from retrieval_metrics.files.opening import STANDARD_INPUT, open_source
from retrieval_metrics.files.question_files import seems_to_hold_questions
from retrieval_metrics.files.saved_format import is_saved
from retrieval_metrics.files.text_folders import read_texts
from retrieval_metrics.files.trec_lines import COMMENT_PATTERN, RUN_LAYOUT
from retrieval_metrics.inputs.column_detection import DOCUMENT_COLUMNS, JUDGMENT_ROLES, QUERY_COLUMNS
from retrieval_metrics.inputs.exclusion import QUERY_ID
from retrieval_metrics.inputs.question_columns import NAMES_BY_ROLE
from retrieval_metrics.inputs.run import StreamedRun
from retrieval_metrics.traces.merged_searches import truncate_ranking

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from retrieval_metrics.inputs.items import RunMapping

    Runs = dict[str, rm.Run | rm.RetrievedRun]


# The value of --exclude for the id of the query.
QUERY_ID_OPTION = "query-id"

# A larger file, in bytes, is read with a progress bar.
MIN_PROGRESS_SIZE = 50_000_000

# What a saved file holds, by the name of the type that is loaded from it; anything else is a run.
SAVED_KINDS = {
    "Comparison": "a comparison",
    "Evaluation": "an evaluation",
    "EvaluationSet": "a set of questions",
    "Labels": "labels",
    "Sample": "a sample of questions",
    "Tuning": "a tuning",
}


def paths_by_name(arguments: Sequence[str]) -> dict[str, str]:
    """Return the file of each run by the name of the run."""
    paths: dict[str, str] = {}
    for argument in arguments:
        name, equals, path = argument.partition("=")
        if not equals or Path(argument).exists():
            name = _name_of_file(argument)
            path = argument
        if name in paths:
            raise ValueError(f"two runs are named {name!r}: {paths[name]} and {path}; name them with NAME=FILE")
        paths[name] = path
    return paths


def read_named_inputs(arguments: argparse.Namespace, paths: dict[str, str]) -> dict[str, tuple[Any, Any]]:
    """Return the judgments and the run of each name; with `--view`, the run is a view of traces."""
    if arguments.view is None and (arguments.question_id or arguments.tool or arguments.citations):
        raise ValueError("--question-id, --tool and --citations are for traces; name a view of them with --view")
    qrels, runs = read_qrels_and_run(arguments, paths if arguments.view is None else {})
    if arguments.view is None:
        return {name: (qrels, run) for name, run in runs.items()}
    return {name: _read_view(arguments, path, qrels) for name, path in paths.items()}


def _read_view(arguments: argparse.Namespace, path: str, questions: Any) -> tuple[Any, rm.types.View]:
    """Read a file of traces; return the judgments of its trajectories, and the view that `--view` names."""
    try:
        pattern = None if arguments.citations is None else re.compile(arguments.citations)
    except re.error as error:
        raise ValueError(f"--citations is not a regular expression: {error}") from None
    if arguments.view == "cited" and pattern is None:
        raise ValueError(r"--view cited needs --citations, such as --citations '\[(\w+)\]'")
    citations = None if pattern is None else pattern.findall
    trajectories = rm.read_traces(path, query=arguments.question_id, citations=citations, tools=arguments.tool)
    judgments = trajectories.judgments(questions)
    if arguments.question_id is None and not any(query in trajectories for query in judgments.qrels):
        raise ValueError(
            f"no trace of {path} has the id of a judged question, only its own, such as {next(iter(trajectories))!r}; "
            "pass where the id is, such as --question-id metadata.question_id"
        )
    return judgments, getattr(trajectories, arguments.view)()


def read_qrels_and_run(arguments: argparse.Namespace, runs: dict[str, str]) -> tuple[rm.Qrels | rm.EvaluationSet, Runs]:
    """Read the judgments and the runs of a command."""
    if [arguments.qrels, *runs.values()].count(STANDARD_INPUT) > 1:
        raise ValueError("standard input (-) can be read only once")
    return read_judgments(arguments), {name: read_run_or_saved(arguments, path) for name, path in runs.items()}


def read_judgments(arguments: argparse.Namespace) -> rm.Qrels | rm.EvaluationSet:
    """Return the judgments that the arguments name: those of a file, or of a saved set of questions."""
    if not is_saved(arguments.qrels):
        if _names_questions(arguments) or (_fits_questions(arguments) and seems_to_hold_questions(arguments.qrels)):
            return _read_questions(arguments, arguments.qrels)
        return read_qrels_file(arguments, arguments.qrels)
    saved = rm.load(arguments.qrels)
    if not isinstance(saved, rm.EvaluationSet):
        raise ValueError(f"{arguments.qrels} holds {format_saved_kind(saved)}, not judgments")
    return saved


def _is_judged_file(arguments: argparse.Namespace, path: str) -> bool:
    """Return whether a path is that of the judgments, which `report` has not."""
    return path == getattr(arguments, "qrels", None)


def _names_questions(arguments: argparse.Namespace) -> bool:
    """Return whether `--qrels-column` names a column that only a table of questions has."""
    roles_of_questions = NAMES_BY_ROLE.keys() - JUDGMENT_ROLES.keys()
    columns = parse_columns(arguments.qrels_column) or {}
    return not roles_of_questions.isdisjoint(columns)


def _fits_questions(arguments: argparse.Namespace) -> bool:
    """Return whether a table of questions may have the columns that `--qrels-column` names, by their names."""
    columns = parse_columns(arguments.qrels_column) or {}
    return columns.keys() <= {"document", "grade"} and not has_positions(columns)


def _read_questions(arguments: argparse.Namespace, path: str) -> rm.EvaluationSet:
    """Read a table with one row per question, a workbook, or a BEIR folder."""
    separator = dict(arguments.reading).get("separator")
    columns = None
    if _is_judged_file(arguments, path):
        columns = parse_columns(arguments.qrels_column)
    with reading(arguments, "qrels"):
        return rm.read_questions(
            path,
            separator=separator,
            columns=columns,
            header=not has_positions(columns),
            format=arguments.qrels_format,
            limits=_limits(arguments),
        )


def read_run_or_saved(arguments: argparse.Namespace, path: str) -> rm.Run | rm.RetrievedRun:
    """Return the run of a file, or the one that was saved to it."""
    if not is_saved(path):
        return read_run_file(arguments, path)
    saved = rm.load(path)
    if type(saved) is dict:  # rankings without errors or seconds
        return rm.RetrievedRun(saved, {})
    if isinstance(saved, (rm.Run, rm.RetrievedRun)):
        return saved
    raise ValueError(f"{path} holds {format_saved_kind(saved)}, not a run")


def read_saved_evaluations(arguments: Sequence[str]) -> dict[str, rm.Evaluation] | None:
    """Return the saved evaluations that arguments name; None if the first is a file of judgments."""
    (first_path,) = paths_by_name(arguments[:1]).values()
    if not is_saved(first_path) or read_saved_questions(first_path) is not None:
        return None
    paths = paths_by_name(arguments)
    evaluations = {name: rm.load(path) for name, path in paths.items()}
    for name, saved in evaluations.items():
        if not isinstance(saved, rm.Evaluation):
            raise ValueError(f"{paths[name]} holds {format_saved_kind(saved)}, not an evaluation")
    return evaluations


def read_saved_questions(path: str) -> rm.EvaluationSet | None:
    """Return the evaluation set that was saved to a file; None if it holds anything else."""
    if not is_saved(path):
        return None
    saved = rm.load(path)
    return saved if isinstance(saved, rm.EvaluationSet) else None


def format_saved_kind(saved: Any) -> str:
    """Return what a saved file holds, as the documentation calls it."""
    return SAVED_KINDS.get(type(saved).__name__, "a run")


def read_qrels_file(arguments: argparse.Namespace, path: str) -> rm.Qrels:
    """Read judgments as the options say."""
    qrels_columns = parse_columns(arguments.qrels_column)
    with reading(arguments, "qrels"):
        return rm.read_qrels(
            path,
            format=arguments.qrels_format,
            columns=qrels_columns,
            header=not has_positions(qrels_columns),
            allow=arguments.allow,
            limits=_limits(arguments),
        )


def read_run_file(arguments: argparse.Namespace, path: str) -> rm.Run | rm.RetrievedRun:
    """Read a run as the options say, with a progress bar if it is large, and a note if it is too large for memory."""
    settings = dict(arguments.reading)
    run_columns = parse_columns(arguments.run_column)
    with reading(arguments, "run"):
        run = rm.read_run(
            path,
            format=arguments.run_format,
            columns=run_columns,
            header=not has_positions(run_columns),
            memory=arguments.memory,
            show_progress=settings.get("progress", True) and _should_show_progress(path),
            allow=arguments.allow,
            limits=_limits(arguments),
            subset=settings.get("subset"),
            split=settings.get("split"),
        )
    if isinstance(run, StreamedRun):
        sys.stderr.write(f"retrieval-metrics: note: {run!r}: larger than its memory limit, read again at every use\n")
    return run


def _should_show_progress(path: str) -> bool:
    """Return whether to show a progress bar: on a terminal, for a large file, if rich is installed."""
    file = Path(path)
    is_large = file.is_file() and file.stat().st_size > MIN_PROGRESS_SIZE
    return is_large and sys.stderr.isatty() and find_spec("rich") is not None


def read_query_texts(arguments: argparse.Namespace, path: str) -> dict[str, str]:
    """Read the texts of queries, within the limits of the options; those of a saved set of questions too."""
    questions = read_saved_questions(path)
    is_named = _is_judged_file(arguments, path) and _names_questions(arguments)
    if questions is None and (is_named or seems_to_hold_questions(path)):
        questions = _read_questions(arguments, path)
    if questions is not None:
        return {str(query): text for query, text in questions.queries.items()}
    return rm.read_queries(path, limits=_limits(arguments))


def read_document_texts(arguments: argparse.Namespace, path: str) -> dict[str, str]:
    """Read the texts of a folder or of a corpus, within the limits of the options."""
    return read_texts(path, _limits(arguments))


def _limits(arguments: argparse.Namespace) -> rm.Limits:
    return rm.Limits(**{key: value for key, value in arguments.reading if key in {"compression", "line"}})


def scoring_arguments(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the options of `add_rule_options`, as arguments of `evaluate`."""
    options: dict[str, Any] = {}
    if arguments.rules is not None:
        options["rules"] = arguments.rules
    if arguments.ties is not None:
        options["ties"] = arguments.ties
    if arguments.documents is not None:
        options["documents"] = read_document_texts(arguments, arguments.documents)
    if arguments.match != "id":
        options["match"] = arguments.match
    if arguments.exclude is not None:
        options["exclude"] = read_exclusion(arguments.exclude)
    if arguments.clusters != "source":
        options["clusters"] = parse_clusters(arguments.clusters)
    return options


def read_exclusion(value: str) -> Any:
    """Return the value of `--exclude` as that of `exclude=`: the query's own id, or the documents that a file lists.

    Raises:
        ValueError: If the file has no two columns; the message names the line.
    """
    if value in {QUERY_ID_OPTION, QUERY_ID}:
        return QUERY_ID
    ids_by_query: dict[str, set[str]] = {}
    with open_source(value) as reader:
        lines = reader.read_text().decode("utf-8").splitlines()
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        columns = _split_columns(line)
        if len(columns) != 2 or not all(columns):
            raise ValueError(f"{value}, line {number}: {line!r} must hold a query and a document, separated by a tab")
        query, document = columns
        is_header = number == 1 and query.lower() in QUERY_COLUMNS and document.lower() in DOCUMENT_COLUMNS
        if not is_header:
            ids_by_query.setdefault(query, set()).add(document)
    if not ids_by_query:
        raise ValueError(f"{value} lists no document to leave out")
    return ids_by_query


def _split_columns(line: str) -> list[str]:
    """Return the columns of a line: separated by tabs, or else by commas, or else by blanks."""
    for separator in ("\t", ","):
        if separator in line:
            return [column.strip() for column in line.split(separator)]
    return line.split()


def read_report_texts(arguments: argparse.Namespace) -> dict[str, Any]:
    """Read the texts that `--queries` and `--corpus` name; return them as arguments of a report."""
    has_texts = arguments.queries is not None or arguments.corpus is not None
    if has_texts and getattr(arguments, "report", "") is None:  # `report` itself has no such option
        raise ValueError("--queries and --corpus are shown in a report, so they need --report FILE")
    texts: dict[str, Any] = {"queries": None, "corpus": None}
    if arguments.queries is not None:
        texts["queries"] = read_query_texts(arguments, arguments.queries)
    if arguments.corpus is not None:
        texts["corpus"] = read_document_texts(arguments, arguments.corpus)
    return texts


def truncate_rankings(run: rm.Run | rm.RetrievedRun, max_documents: int) -> RunMapping:
    """Return a run with the first documents of each query, in the order of trec_eval where they have scores."""
    positive_integer(max_documents, "-M")
    return {query: truncate_ranking(ranking, max_documents) for query, ranking in run.items()}


def read_run_name(path: str) -> str:
    """Return the name of a run: the last column of a TREC file, else the name of the file."""
    if not Path(path).is_file():
        return "standard input"
    with open_source(path) as source:
        beginning = blank_system_description(source.beginning())
        words = COMMENT_PATTERN.sub(b"", beginning).lstrip().partition(b"\n")[0].split()
    return words[-1].decode(errors="replace") if len(words) == len(RUN_LAYOUT.fields) else _name_of_file(path)


def _name_of_file(path: str) -> str:
    file = Path(path)
    return Path(file.stem).stem if file.suffix in COMPRESSIONS else file.stem
