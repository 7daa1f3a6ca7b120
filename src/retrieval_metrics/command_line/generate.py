"""`retrieval-metrics generate CORPUS --model MODULE:FUNCTION -n N -o QUESTIONS`."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import retrieval_metrics as rm
from retrieval_metrics.command_line import output
from retrieval_metrics.command_line.arguments import Target, add_arguments_of, passed_to
from retrieval_metrics.command_line.reading_options import add_reading_to, documents_at
from retrieval_metrics.questions.prompts import KINDS

if TYPE_CHECKING:
    import argparse


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    parser.add_argument("corpus", metavar="CORPUS", help="a folder of texts, or a file such as BEIR's corpus.jsonl")
    parser.add_argument(
        "--model", metavar="MODULE:FUNCTION", required=True, help="a function of a prompt that returns the reply"
    )
    parser.add_argument("-n", "--number", type=int, default=50, metavar="N", help="how many (default: %(default)s)")
    parser.add_argument(
        "-o", "--output", type=Target, metavar="FILE", required=True, help="where to save the questions, as JSON"
    )
    parser.add_argument(
        "--cache", type=Target, metavar="FILE", help="where replies are kept (default: FILE.replies.jsonl)"
    )
    parser.add_argument(
        "--sentences", action="store_true", help="the model names sentences by number: for models that copy badly"
    )
    parser.add_argument(
        "--kinds",
        nargs="+",
        type=_share,
        metavar="KIND[=SHARE]",
        help=f"the kinds of questions: {', '.join(KINDS)} (default: the first four, 4 : 3 : 2 : 1)",
    )
    parser.add_argument(
        "--persona", action="append", metavar="TEXT", help="a description of who asks; several of them ask in turn"
    )
    parser.add_argument("--language", help="the language of the questions (default: that of each passage)")
    add_arguments_of(
        rm.generate_questions,
        parser,
        model_name="NAME | the name under which replies are kept (default: MODULE:FUNCTION)",
        budget="N | the largest number of calls of the model",
        workers="N | calls at once",
        seed="seed of the choice of passages",
    )
    add_reading_to(parser)


def run(given: argparse.Namespace) -> bool:
    """Run the command; return whether there are as many questions as wanted."""
    made = rm.generate_questions(
        documents_at(given, given.corpus),
        _model(given.model),
        given.number,
        **passed_to(
            rm.generate_questions,
            given,
            kinds=None if given.kinds is None else dict(given.kinds),
            personas=given.persona,
            evidence="sentences" if given.sentences else "quotes",
            prompts=None if given.language is None else rm.QuestionPrompts(language=given.language),
            model_name=given.model_name or given.model,
            cache=given.cache or f"{given.output}.replies.jsonl",
            show_progress=sys.stderr.isatty(),
        ),
    )
    if len(made):
        made.questions.save(given.output)
    shown = output.Shown(made.tables, {}, [])
    return output.finish(shown, "text", None, [] if made.stopped is None else [made.stopped])


def _share(given: str) -> tuple[str, float]:
    kind, _, share = given.partition("=")
    return kind, float(share or 1)


def _model(named: str) -> Any:
    """Return the function that is named; modules of the current folder count."""
    module, colon, function = named.partition(":")
    if not colon or not module or not function:
        raise ValueError(f"--model must be MODULE:FUNCTION, such as my_models:ask, got {named!r}")
    if (here := os.getcwd()) not in sys.path:  # noqa: PTH109  (a text)
        sys.path.insert(0, here)
    try:
        found = import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.split(".")[0]:
            raise
        raise ValueError(
            f"--model names the module {module!r}, which is neither in {Path.cwd()} nor installed"
        ) from None
    if not hasattr(found, function):
        raise ValueError(f"--model names {function!r}, which is not in {found.__file__}")
    return getattr(found, function)
