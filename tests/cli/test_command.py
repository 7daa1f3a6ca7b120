"""Every command that the help names has a module of its name that says how it is declared and run."""

import argparse
from importlib import import_module

import pytest

from retrieval_metrics.cli.command import Command
from retrieval_metrics.cli.command_help import COMMANDS


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_a_module_of_its_name(name: str) -> None:
    command = import_module(f"retrieval_metrics.cli.{name}").COMMAND
    assert isinstance(command, Command)
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    assert len(parser.format_help().splitlines()) > len(argparse.ArgumentParser().format_help().splitlines())
