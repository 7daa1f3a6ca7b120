"""The table of the known metrics: each has one canonical name, and every spelling leads to it."""

import subprocess
import sys

import pytest

import retrieval_metrics as rm
from retrieval_metrics.metrics.base.registry import DEFINITIONS, NAME_BY_ALIAS
from retrieval_metrics.metrics.base.user_metrics import forget_metric


def test_every_spelling_leads_to_one_metric_and_none_to_two() -> None:
    spellings: list[str] = []
    for definition in DEFINITIONS.values():
        spellings += [definition.name, *definition.aliases]
    assert sorted(spellings) == sorted(NAME_BY_ALIAS)
    assert len(spellings) == len(set(spellings))
    for name, definition in DEFINITIONS.items():
        assert definition.name == name
        assert all(NAME_BY_ALIAS[alias] == name for alias in definition.aliases)
    assert (NAME_BY_ALIAS["ap"], NAME_BY_ALIAS["map"], NAME_BY_ALIAS["rr"]) == ("map", "map", "mrr")


def test_a_metric_that_is_defined_is_known_and_one_that_is_forgotten_is_not() -> None:
    before = {**NAME_BY_ALIAS}
    rm.define_metric("first_grade", lambda grades: float(grades[0]), bounded=False)
    assert (DEFINITIONS["first_grade"].name, NAME_BY_ALIAS["first_grade"]) == ("first_grade", "first_grade")
    assert len(NAME_BY_ALIAS) == len(before) + 1
    with pytest.raises(ValueError, match="'map'"):
        rm.define_metric("ap", lambda grades: float(grades[0]))
    forget_metric("first_grade")
    assert before == NAME_BY_ALIAS
    assert "first_grade" not in DEFINITIONS


def test_the_table_knows_the_metrics_wherever_it_is_imported_from() -> None:
    code = "from retrieval_metrics.metrics.base.registry import DEFINITIONS\nprint('ndcg' in DEFINITIONS)\n"
    output = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert output == "True\n"
