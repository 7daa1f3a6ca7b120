"""Check the parsed arguments together: metrics that nothing defines, and files that a command would overwrite."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import retrieval_metrics as rm
from retrieval_metrics._internal.atomic_write import STANDARD_OUTPUT
from retrieval_metrics.cli.arguments import Target
from retrieval_metrics.cli.option_names import translate
from retrieval_metrics.cli.trec_eval_lines import is_known_metric, is_trec_eval_only
from retrieval_metrics.files.saved_format import is_saved

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator


def refuse_unknown_metrics(arguments: argparse.Namespace) -> None:
    """Exit with an error if a metric is unknown and no saved file is named, which could hold its values."""
    metric_option = getattr(arguments, "metric", None)
    names = list(metric_option) if isinstance(metric_option, list) else []
    for option in ("at_least", "at_most"):
        names += [str(metric) for metric, _ in getattr(arguments, option, ())]
    unknown = [name for name in names if not is_trec_eval_only(name) and not is_known_metric(name)]
    if unknown and not any(map(is_saved, _possible_input_paths(arguments))):
        try:
            rm.Metric.parse(unknown[0])
        except ValueError as error:
            message = translate(str(error), arguments)
            arguments.parser.error(f"{message} (for a metric of your own, pass --metrics-from MODULE)")


def refuse_overwritten_files(arguments: argparse.Namespace) -> None:
    """Raise before anything is read if the command would write a file that the call also names for something else."""
    texts = list(_text_arguments(arguments))
    for position, target in enumerate(texts):
        if not isinstance(target, Target) or target == STANDARD_OUTPUT:
            continue
        target_identity = _file_identity(target)
        for other in (*texts[:position], *texts[position + 1 :]):
            if target_identity in {_file_identity(other), _file_identity(_without_run_name(other))}:
                use = (
                    "is written by another option too"
                    if isinstance(other, Target)
                    else "is one of the files that are read"
                )
                same = "it" if other == target else f"the same file, {other},"
                raise ValueError(f"cannot write {target}: {same} {use}")


def _possible_input_paths(arguments: argparse.Namespace) -> Iterator[str]:
    """Yield every text that can be the path of a file to read, also without the name in `NAME=FILE`."""
    for text in _text_arguments(arguments):
        if not isinstance(text, Target):
            yield from {text, _without_run_name(text)}


def _without_run_name(text: str) -> str:
    """Return the path in `NAME=FILE`, as which a run can be given; any other text as it is."""
    path = text.partition("=")[2]
    return path or text


def _text_arguments(arguments: argparse.Namespace) -> Iterator[str]:
    """Yield all values that are texts, also those of options that can be repeated."""
    for value in vars(arguments).values():
        entries = value if isinstance(value, list) else [value]
        for entry in entries:
            if isinstance(entry, str):
                yield entry


def _file_identity(path: str) -> object:
    """Return a value that is equal for two paths of one regular file."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):  # no file yet, or no path at all
        return os.path.realpath(path) if path.isprintable() else path
    if stat.S_ISREG(status.st_mode):
        return status.st_dev, status.st_ino
    return object()  # equal to no other: two outputs can both go to /dev/null
