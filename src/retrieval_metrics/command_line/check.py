"""`retrieval-metrics check SAVED [SAVED ...]`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import retrieval_metrics as rm
from retrieval_metrics.command_line import output
from retrieval_metrics.command_line.arguments import add_modules_to, add_result_to
from retrieval_metrics.comparing.recomputed import refuse_wrong_differences
from retrieval_metrics.keeping.document import read_document
from retrieval_metrics.keeping.saved import refuse_wrong_values
from retrieval_metrics.presentation.tables import Table

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    parser.add_argument("saved", metavar="SAVED", nargs="+", help="a file written by --save or a method save")
    add_result_to(parser)
    add_modules_to(parser)


def run(given: argparse.Namespace) -> bool:
    """Run the command; return whether every file is what was saved."""
    rows, failures = [], []
    for path in given.saved:
        try:
            held = rm.load(path)
            checked = sum(_checked(name, scores, path) for name, scores in _scores_of(held).items())
            differences = _differences_checked(held, path)
        except ValueError as error:
            failures.append(str(error))
            rows.append([path, "-", "-", "-"])
        else:
            rows.append([path, type(held).__name__, f"{checked:,}", f"{differences:,}"])
    header = ["file", "holds", "values checked", "differences checked"]
    files = [dict(zip(header, row, strict=True)) for row in rows]
    shown = output.Shown([Table(header, rows, words=(0, 1))], {"files": files, "failures": failures}, files)
    return output.finish(shown, given.format, given.output, failures)


def _differences_checked(held: Any, path: str) -> int:
    """Return how many differences follow from the values.

    Raises:
        ValueError: If one does not.
    """
    if not isinstance(held, rm.Comparison):
        return 0
    try:
        return refuse_wrong_differences(held, same_versions=read_document(path).is_of_these_versions)
    except ValueError as error:
        raise ValueError(f"{path} is damaged at differences: {error}") from error


def _scores_of(held: Any) -> Mapping[str, rm.types.Scores]:
    """Return the scores of each system that a file holds."""
    if isinstance(held, rm.Comparison):
        return held.scores
    if isinstance(held, rm.Evaluation) and isinstance(held.record, rm.types.Scores):
        return {"": held.record}
    if isinstance(held, rm.types.Tuning):
        return {name: each.scores for name, each in held.evaluations.items()}
    return {}


def _checked(name: str, scores: rm.types.Scores, path: str) -> int:
    """Return how many values follow from the saved rankings.

    Raises:
        ValueError: If one does not.
    """
    try:
        refuse_wrong_values(scores, few=None)
    except ValueError as error:
        raise ValueError(f"{path} is damaged at values{' of ' * bool(name)}{name}: {error}") from error
    return 0 if scores.origin is None or scores.origin.rounds > 1 else scores.values.size
