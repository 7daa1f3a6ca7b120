"""`retrieval-metrics`: parse the arguments, run the command, and report errors in one line."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import warnings
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

from retrieval_metrics._internal.warn import RetrievalWarning
from retrieval_metrics.cli import output
from retrieval_metrics.cli.command_help import COMMANDS, EXAMPLES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.cli.command import Command


# Exit codes. A metric misses its threshold, or another check that was asked for fails.
EXIT_CHECK_FAILED = 1
# The call or a file is invalid.
EXIT_INVALID = 2
# A bug in this package.
EXIT_BUG = 3
# Ctrl-C: 128 plus the number of SIGINT, as shells have it.
EXIT_INTERRUPTED = 130


def script() -> NoReturn:
    """Run the command line as a program."""
    # The handler raises SystemExit, so that files that are partly written are removed.
    signal.signal(signal.SIGTERM, _exit_terminated)
    sys.exit(main())


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    if sys.stdout is None or sys.stderr is None:
        return EXIT_INVALID  # there is nowhere to report it
    arguments = argparse.Namespace()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", RetrievalWarning)
            warnings.showwarning = partial(_show_warning, arguments)
            try:
                return _run(argv, arguments)
            finally:
                # Flush here what argparse or a command wrote, because its reader may have stopped early.
                with output.for_reader(sys.stdout):
                    pass
    except KeyboardInterrupt:
        output.say("interrupted")
        return EXIT_INTERRUPTED
    except (ImportError, MemoryError, OSError, TypeError, ValueError) as error:
        message = str(error) or "there is not enough memory; a TREC run can be streamed with --memory SIZE"
        if isinstance(error, OSError):
            # The number of the system's error tells a user nothing that its text does not.
            message = message.removeprefix(f"[Errno {error.errno}] ")
        output.say(f"error: {_with_option_names(message, arguments)}")
        _discard_output()
        return EXIT_INVALID
    except Exception as error:
        return _report_bug(error)


def _run(argv: Sequence[str] | None, arguments: argparse.Namespace) -> int:
    """Parse the arguments into the namespace, run the command that they name, and return the exit code."""
    is_completing = "_ARGCOMPLETE" in os.environ  # a shell asks how it can complete a line
    if is_completing:
        words: Sequence[str] = os.environ["COMP_LINE"].split()
    else:
        words = sys.argv[1:] if argv is None else argv
    command = next((word for word in words if word in COMMANDS), None)
    parser = _build_parser(command)
    if is_completing:
        import argcomplete

        argcomplete.autocomplete(parser)  # ends the process
    if command is None:
        parser.parse_args(argv)  # ends the program for --help, --version and invalid arguments
        parser.print_help()
        return EXIT_INVALID
    # Importing numpy takes tenths of a second. Here, inside the `try` of `main`, Ctrl-C meanwhile is reported as later.
    from retrieval_metrics.cli.argument_checks import refuse_overwritten_files, refuse_unknown_metrics
    from retrieval_metrics.cli.arguments import import_metrics

    import_metrics(argv)
    parser.parse_args(argv, arguments)
    refuse_unknown_metrics(arguments)
    refuse_overwritten_files(arguments)
    has_passed: bool = arguments.run_command(arguments)
    return 0 if has_passed else EXIT_CHECK_FAILED


def _with_option_names(message: str, arguments: argparse.Namespace) -> str:
    """Return a message of the library with the options of the command."""
    from retrieval_metrics.cli.option_names import translate

    return translate(message, arguments)


def _show_warning(
    arguments: argparse.Namespace, message: Warning | str, category: type[Warning], *_: object, **__: object
) -> None:
    kind = "warning" if issubclass(category, RetrievalWarning) else category.__name__
    output.say(f"{kind}: {_with_option_names(str(message), arguments)}")


def _report_bug(error: Exception) -> int:
    """Report an unexpected error with the file and the line that raised it, and return the exit code."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    location = ""
    if traceback is not None:
        location = f" ({os.path.basename(traceback.tb_frame.f_code.co_filename)}:{traceback.tb_lineno})"
    output.say(
        f"internal error: {type(error).__name__}: {error}{location}; this is a bug in retrieval-metrics, please report "
        "it with the command, this line and, if possible, the files"
    )
    return EXIT_BUG


def _discard_output() -> None:
    """Flush standard output, and discard it if it cannot be written."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        output.discard(sys.stdout)


def _exit_terminated(*_: Any) -> NoReturn:
    output.say("terminated")
    sys.exit(128 + signal.SIGTERM)


def _build_parser(called_command: str | None) -> argparse.ArgumentParser:
    """Return the parser of the whole command line, with the options of the command that is called."""
    program = Parser(
        prog="retrieval-metrics",
        description="Compute retrieval metrics from files, with the same results as the Python API.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    program.add_argument("--version", action=Version, nargs=0, help="print the version and exit")
    commands = program.add_subparsers(title="commands", metavar="COMMAND")
    for name, command_help in COMMANDS.items():
        summary = command_help.text.partition(". ")[0].removesuffix(".")
        parser = commands.add_parser(
            name,
            help=summary[0].lower() + summary[1:],
            description=command_help.text,
            epilog=command_help.examples,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if name == called_command:
            command: Command = import_module(f"{__package__}.{name}").COMMAND
            command.add_arguments(parser)
            parser.set_defaults(run_command=command.run)
    return program


class Parser(argparse.ArgumentParser):
    """A parser that reports an error in one line, like the rest of this program, without the usage above it."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        # Abbreviations are refused: --metrics would be read as --metrics-from, and its metrics ignored.
        options["allow_abbrev"] = False
        super().__init__(*arguments, **options)
        # The parser of the command, with which `argument_checks` reports what is wrong with several arguments together.
        self.set_defaults(parser=self)

    def error(self, message: str) -> NoReturn:
        """Report what is wrong with the call, and exit."""
        output.say(f"error: {message}; see {self.prog} --help")
        self.exit(EXIT_INVALID)


class Version(argparse.Action):
    """The action of `--version`, which looks the version up only when it is asked for, because that is slow."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        """Print the version to standard output, and exit."""
        from retrieval_metrics._internal.version import __version__

        with output.for_reader(sys.stdout):
            sys.stdout.write(f"{__version__}\n")
        parser.exit()
