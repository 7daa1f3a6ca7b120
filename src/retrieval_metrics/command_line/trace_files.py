"""Views of an agent's searches in the arguments: `--view context`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, get_args

import retrieval_metrics as rm
from retrieval_metrics.command_line.named_files import read_both

if TYPE_CHECKING:
    import argparse


def add_traces_to(parser: argparse.ArgumentParser) -> None:
    """Add the options for traces of agents."""
    traces = parser.add_argument_group("traces of agents")
    traces.add_argument(
        "--view",
        choices=get_args(rm.types.CallsView),
        help="the runs are traces of agents: score all searches (union, with metrics such as recall@3calls; or "
        "interleaved), the first or the last one, what the answering model read (context), or what it cited",
    )
    traces.add_argument(
        "--question-id",
        metavar="PATH",
        help="where a trace has the id of its question, such as metadata.question_id (default: its own id)",
    )
    traces.add_argument(
        "--tool", action="append", default=[], metavar="NAME", help="a tool that searches; repeat for several"
    )
    traces.add_argument(
        "--citations",
        metavar="PATTERN",
        help=r"a regular expression for the ids that an answer cites, such as \[(\w+)\]",
    )


def read_judged(given: argparse.Namespace, paths: dict[str, str]) -> dict[str, tuple[Any, Any]]:
    """Read judgments and runs, or judgments and views of traces: both for each name.

    Raises:
        ValueError: If an option is about traces and there are none, or something in a file is wrong.
    """
    if given.view is None and (given.question_id or given.tool or given.citations):
        raise ValueError("--question-id, --tool and --citations are about traces; name a view of them with --view")
    qrels, runs = read_both(given, paths if given.view is None else {})
    if given.view is None:
        return {name: (qrels, one) for name, one in runs.items()}
    return {name: _view_at(given, path, qrels) for name, path in paths.items()}


def _view_at(given: argparse.Namespace, path: str, questions: Any) -> tuple[Any, rm.types.View]:
    """Return the judgments of the trajectories in a file, and the view of them that was asked for.

    Raises:
        ValueError: If the pattern is no regular expression, or the traces lack what the view needs.
    """
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
