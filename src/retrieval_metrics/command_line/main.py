"""`retrieval-metrics`: parse the arguments, run the command, and report errors in one line."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from typing import TYPE_CHECKING, Any, NoReturn

from retrieval_metrics.checks import RetrievalWarning, spelled_by
from retrieval_metrics.command_line import output
from retrieval_metrics.command_line.commands import WRONG, command_in, parser
from retrieval_metrics.command_line.completion import complete, typed

if TYPE_CHECKING:
    from collections.abc import Sequence

BELOW, DEFECT, INTERRUPTED = 1, 3, 130
"""Further exit codes: a threshold is missed; a bug in this package; Ctrl-C."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Every error ends here: errors of the call and of files with code 2 and a line that says what is wrong, all others
    with code 3 and a line that says how to report them.
    """
    if sys.stdout is None or sys.stderr is None:
        return WRONG  # there is nowhere to report it
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", RetrievalWarning)
            warnings.showwarning = _show_warning
            try:
                return _run(arguments)
            finally:
                with output.for_reader(sys.stdout):
                    """What argparse or a command wrote, and nobody may read."""
    except KeyboardInterrupt:
        output.say("interrupted")
        return INTERRUPTED
    except (ImportError, MemoryError, OSError, TypeError, ValueError) as error:
        output.say(f"error: {error or 'there is not enough memory; a TREC run can be streamed with --memory SIZE'}")
        _discard_output()
        return WRONG
    except Exception as error:  # noqa: BLE001  (reported with its place and a separate exit code)
        return _defect(error)


def _run(arguments: Sequence[str] | None) -> int:
    called = command_in(typed(sys.argv[1:] if arguments is None else arguments))
    top = parser(called)
    complete(top)
    if called is None:
        top.parse_args(arguments)  # --help, --version and what is wrong end the program
        top.print_help()
        return WRONG
    # Imported here, because numpy and what a command needs take tenths of a second, in which Ctrl-C ends it as later.
    from retrieval_metrics.command_line import arguments as shared  # noqa: PLC0415
    from retrieval_metrics.command_line.options import Options  # noqa: PLC0415

    shared.import_metrics(arguments)
    given = top.parse_args(arguments)
    shared.refuse_unknown_metrics(given)
    shared.refuse_lost_files(given)
    with spelled_by(Options(given)):
        met: bool = given.run_command(given)
    return 0 if met else BELOW


def _defect(error: Exception) -> int:
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    where = "" if place is None else f" ({os.path.basename(place.tb_frame.f_code.co_filename)}:{place.tb_lineno})"  # noqa: PTH119  (a name for the message)
    output.say(
        f"internal error: {type(error).__name__}: {error}{where}; this is a bug in retrieval-metrics, please report "
        "it with the command, this line and, if possible, the files"
    )
    return DEFECT


def _discard_output() -> None:
    """Discard the output that cannot be written."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        output.discard(sys.stdout)


def _show_warning(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
    kind = "warning" if issubclass(category, RetrievalWarning) else category.__name__
    output.say(f"{kind}: {message}")


def _terminated(*_: Any) -> NoReturn:
    output.say("terminated")
    sys.exit(128 + signal.SIGTERM)


def script() -> NoReturn:
    """Run the command line as a program."""
    signal.signal(signal.SIGTERM, _terminated)  # as an exception, so that no partly written file stays behind
    sys.exit(main())
