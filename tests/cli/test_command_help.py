"""The help of a command shows calls of that command."""

import pytest

from retrieval_metrics.cli.command_help import COMMANDS, EXAMPLES


@pytest.mark.parametrize("name", COMMANDS)
def test_the_examples_of_a_command_call_it(name: str) -> None:
    title, *calls = COMMANDS[name].examples.splitlines()
    assert title == "examples:"
    assert any(f"retrieval-metrics {name} " in call for call in calls)


def test_the_examples_of_the_program_call_commands_that_exist() -> None:
    calls = [line.split() for line in EXAMPLES.splitlines() if line.startswith("  retrieval-metrics ")]
    assert {call[1] for call in calls} <= COMMANDS.keys()
