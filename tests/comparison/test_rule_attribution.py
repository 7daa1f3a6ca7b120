"""Every difference between rule sets has one explanation, and switching its rules gives the value of the library."""

import math
from functools import cache
from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.comparison.rule_attribution import RuleChange, apply_rule_changes, effective_rules
from retrieval_metrics.metrics.base.rules import RULE_SETS
from rule_cases import cases

NAMES = ["ndcg@3", "ndcg", "map@5", "map", "mrr@10", "precision@5", "recall@2", "f1@3", "hit_rate@1", "bpref"]


@cache
def generated() -> tuple[dict[int, Any], dict[int, Any]]:
    """2,000 cases as lists and as scored rankings with ties, some missing from the run."""
    qrels: dict[int, Any] = {}
    run: dict[int, Any] = {}
    for number, case in enumerate(cases(9)):
        qrels[number] = [dict(group) for group in case.groups]
        if number % 3 == 0:
            run[number] = {d: float(-(place // 2)) for place, d in enumerate(dict.fromkeys(case.ranking))}
        elif number % 20:
            run[number] = case.ranking
    return qrels, run


@cache
def audited() -> rm.types.Audit:
    return rm.audit(*generated(), NAMES)


def agree(left: float, right: float) -> bool:
    return (math.isnan(left) and math.isnan(right)) or abs(left - right) < 1e-9


class TestAttribution:
    def test_every_difference_has_a_rule_and_only_one_explanation(self) -> None:
        audit = audited()
        explained: dict[tuple[str, str, Any], int] = {}
        for difference in audit.differences:
            assert difference.rules
            assert difference.meaning
            for query in difference.queries:
                key = (difference.rule_name, difference.metric, query)
                explained[key] = explained.get(key, 0) + 1
        assert set(explained.values()) == {1}
        differing = set()
        for name in audit.rule_names[1:]:
            for index, metric in enumerate(audit.metrics):
                if RULE_SETS[name].has(metric.name):
                    values = audit.values
                    columns = zip(audit.queries, values[name][:, index], values["standard"][:, index], strict=True)
                    differing |= {(name, str(metric), q) for q, theirs, ours in columns if not agree(theirs, ours)}
        assert set(explained) == differing
        assert len(differing) > 10_000

    @pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
    def test_an_evaluation_with_those_rules_switched_has_the_value_of_the_library(self) -> None:
        qrels, run = generated()
        checked = 0
        for difference in audited().differences:
            metric = rm.Metric.parse(difference.metric)
            other = RULE_SETS[difference.rule_name]
            theirs = effective_rules(other, metric)
            ours = effective_rules(RULE_SETS["standard"], metric)
            chosen = [switch for switch in _all_switches(theirs, metric) if str(switch) in difference.rules]
            assert len(chosen) == len(difference.rules)
            rules = apply_rule_changes(ours, chosen, metric)
            if "error" in {rules.duplicates, rules.empty, rules.no_relevant} or rules.grades == "integer":
                assert math.isnan(difference.value) or "error" not in str(difference.rules)
                continue
            query: Any = difference.example
            single_run = {query: run.get(query, [])}
            if query not in run and rules.missing == "skip":
                assert math.isnan(difference.value)
                continue
            result = rm.evaluate({query: qrels[query]}, single_run, metric, rules=rules)
            assert agree(result.per_query[str(metric)][query], difference.value), difference
            checked += 1
        assert checked > 100

    def test_one_rule_is_enough_for_most(self) -> None:
        sizes = [len(difference.rules) for difference in audited().differences for _ in difference.queries]
        assert sizes.count(1) > 0.7 * len(sizes)
        assert max(sizes) <= 4

    def test_the_means_are_those_of_an_evaluation(self) -> None:
        qrels, run = generated()
        rules = RULE_SETS["haystack"]
        with pytest.warns(rm.RetrievalWarning, match="judged queries"):
            result = rm.evaluate(qrels, run, NAMES, rules=rules)
        means = audited().means["haystack"]
        assert set(means) == {name for name in NAMES if rules.has(rm.Metric.parse(name).name)}
        assert dict(means) == {name: result.means[name] for name in means}

    def test_ties_averaged_over_their_orders_are_named(self) -> None:
        mine = rm.Rules(name="mine", ties="expected")
        audit = rm.audit({"q": ["a"]}, {"q": {"a": 1.0, "b": 1.0}}, "mrr", rules=["standard", mine])
        (difference,) = audit.differences
        assert (difference.rules, difference.value, difference.reference) == (("ties=expected",), 0.75, 0.5)
        assert difference.detail == "document 'a' has the same score as 1 other"


def _all_switches(rules: rm.Rules, metric: rm.Metric) -> list[RuleChange]:
    fields = ("duplicates", "ties", "groups", "negative", "grades", "missing", "empty", "no_relevant")
    parameters = rules.parameters[metric.name]
    return [
        *(RuleChange(field, getattr(rules, field)) for field in fields),
        *(RuleChange(key, value, is_parameter=True) for key, value in parameters.items()),
    ]
