"""An audit says which rule makes each difference, and switching that rule alone makes it again."""

import math
from dataclasses import replace
from functools import cache
from typing import Any

import pandas as pd
import pytest

import retrieval_metrics as rm
from retrieval_metrics.comparison.audit import RuleChange, effective, switched
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
        for found in audit.differences:
            assert found.rules
            assert found.meaning
            for query in found.queries:
                key = (found.rule_name, found.metric, query)
                explained[key] = explained.get(key, 0) + 1
        assert set(explained.values()) == {1}
        differing = set()
        for name in audit.rule_names[1:]:
            for at, metric in enumerate(audit.metrics):
                if RULE_SETS[name].has(metric.name):
                    values = audit.values
                    columns = zip(audit.queries, values[name][:, at], values["standard"][:, at], strict=True)
                    differing |= {(name, str(metric), q) for q, theirs, ours in columns if not agree(theirs, ours)}
        assert set(explained) == differing
        assert len(differing) > 10_000

    @pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
    def test_an_evaluation_with_those_rules_switched_has_the_value_of_the_library(self) -> None:
        qrels, run = generated()
        checked = 0
        for found in audited().differences:
            metric, other = rm.Metric.parse(found.metric), RULE_SETS[found.rule_name]
            theirs = effective(other, metric)
            ours = effective(RULE_SETS["standard"], metric)
            chosen = [switch for switch in _all_switches(theirs, metric) if str(switch) in found.rules]
            assert len(chosen) == len(found.rules)
            rules = switched(ours, chosen, metric)
            if "error" in {rules.duplicates, rules.empty, rules.no_relevant} or rules.grades == "integer":
                assert math.isnan(found.value) or "error" not in str(found.rules)
                continue
            query: Any = found.example
            one = {query: run.get(query, [])}
            if query not in run and rules.missing == "skip":
                assert math.isnan(found.value)
                continue
            result = rm.evaluate({query: qrels[query]}, one, metric, rules=rules)
            assert agree(result.per_query[str(metric)][query], found.value), found
            checked += 1
        assert checked > 100

    def test_one_rule_is_enough_for_most(self) -> None:
        sizes = [len(found.rules) for found in audited().differences for _ in found.queries]
        assert sizes.count(1) > 0.7 * len(sizes)
        assert max(sizes) <= 4

    def test_the_means_are_those_of_an_evaluation(self) -> None:
        qrels, run = generated()
        rules = RULE_SETS["haystack"]
        with pytest.warns(rm.RetrievalWarning, match="nothing was retrieved"):
            result = rm.evaluate(qrels, run, NAMES, rules=rules)
        means = audited().means["haystack"]
        assert set(means) == {name for name in NAMES if rules.has(rm.Metric.parse(name).name)}
        assert dict(means) == {name: result.means[name] for name in means}

    def test_ties_averaged_over_their_orders_are_named(self) -> None:
        mine = rm.Rules(name="mine", ties="expected")
        audit = rm.audit({"q": ["a"]}, {"q": {"a": 1.0, "b": 1.0}}, "mrr", rules=["standard", mine])
        (found,) = audit.differences
        assert (found.rules, found.value, found.reference) == (("ties=expected",), 0.75, 0.5)
        assert found.detail == "document 'a' has the same score as 1 other"


def _all_switches(rules: rm.Rules, metric: rm.Metric) -> list[RuleChange]:
    fields = ("duplicates", "ties", "groups", "negative", "grades", "missing", "empty", "no_relevant")
    parameters = rules.parameters[metric.name]
    return [
        *(RuleChange(field, getattr(rules, field)) for field in fields),
        *(RuleChange(key, value, is_parameter=True) for key, value in parameters.items()),
    ]


PRINTED = """\
metric       standard  llama_index  haystack
ndcg           0.6257       1.1320    0.6257
precision@5    0.2000       0.7500         -
3 queries; compared with standard
llama_index: raises an error for 1 of 3, which its means leave out
llama_index: a repeated document counts again (ndcg in 1 of 3); ndcg of query 'q7' is 1.2641 instead of 0.8772: \
document 'd7' is retrieved twice
llama_index: a query with nothing retrieved is refused (ndcg in 1, precision@5 in 1 of 3); ndcg of query 'q9' is \
left out instead of 0.0000
llama_index: the denominator is the number of distinct documents retrieved (precision@5 in 2 of 3); precision@5 of \
query 'q8' is 1.0000 instead of 0.2000: 1 retrieved, 1 relevant, k is 5
70% of the first 10 retrieved documents are judged; the others count as not relevant, whether they are or not
"""


class TestWhatItPrints:
    QRELS = {"q7": ["d7", "d9"], "q8": ["d1"], "q9": ["d2"]}  # noqa: RUF012  (never changed)
    RUN = {"q7": ["d7", "d7", "x", "d9", "y"], "q8": ["d1"], "q9": []}  # noqa: RUF012  (never changed)

    def audit(self) -> rm.types.Audit:
        return rm.audit(self.QRELS, self.RUN, ["ndcg", "precision@5"], rules=["standard", "llama_index", "haystack"])

    def test_the_table_and_below_it_each_rule_with_its_smallest_example(self) -> None:
        assert f"{self.audit()}\n" == PRINTED

    def test_markdown_html_and_pandas_hold_the_same_numbers(self) -> None:
        audit = self.audit()
        assert "| ndcg | 0.6257 | 1.1320 | 0.6257 |" in audit.to_markdown()
        assert "<td" in audit._repr_html_()
        assert "document &#x27;d7&#x27; is retrieved twice" in audit._repr_html_()
        frame = audit.to_pandas()
        assert frame.loc["ndcg", "llama_index"] == audit.means["llama_index"]["ndcg"]
        assert frame["haystack"].isna().tolist() == [False, True]
        assert list(pd.DataFrame(audit.differences)["example"]) == ["q7", "q9", "q8", "q9"]
        assert repr(audit) == "<Audit of 3 queries: standard, llama_index, haystack; 4 differences>"

    @pytest.mark.parametrize(("missing", "refused"), [("zero", 2), ("skip", 1)])
    def test_a_query_that_is_left_out_is_not_counted_as_refused(self, missing: str, refused: int) -> None:
        qrels = {"p": {"a": 0.5}, "q": {"a": 1}, "r": {"a": 1.5}}
        audit = audit_of(qrels, {"p": ["x", "a"], "q": ["a"]}, "mrr", grades="integer", missing=missing)
        assert audit.refused == {"standard": 0, "mine": refused}
        assert audit.means["mine"]["mrr"] == 1
        assert audit.means["standard"]["mrr"] == pytest.approx((1 / 2 + 1 + 0) / 3)

    def test_what_it_is_given_is_not_changed(self) -> None:
        qrels, run = {"q": ["a"]}, {"q": ["a", "a"]}
        rm.audit(qrels, run)
        assert (qrels, run) == ({"q": ["a"]}, {"q": ["a", "a"]})


def audit_of(qrels: Any, run: Any, metrics: str | list[str], **rules: Any) -> rm.types.Audit:
    """Compare the standard with itself but for some rules."""
    return rm.audit(qrels, run, metrics, rules=["standard", rm.Rules(name="mine", **rules)])


class TestExamples:
    def test_the_metric_that_differs_most_is_shown(self) -> None:
        # The reciprocal rank is 1 instead of 1/2, the hit rate 1 instead of 0.
        audit = audit_of({"q": ["a"]}, {"q": {"a": 1.0, "b": 1.0}}, ["mrr", "hit_rate@1"], ties="input")
        assert (
            "mine: equal scores stay in the order given (mrr in 1, hit_rate@1 in 1 of 1); hit_rate@1 of query 'q' is "
            "1.0000 instead of 0.0000: document 'a' has the same score as 1 other"
        ) in str(audit)

    def test_the_metric_that_falls_most_is_shown(self) -> None:
        audit = audit_of({"q": ["b"]}, {"q": {"a": 1.0, "b": 1.0}}, ["mrr", "hit_rate@1"], ties="input")
        assert "hit_rate@1 of query 'q' is 0.0000 instead of 1.0000" in str(audit)

    def test_the_example_has_the_fewest_retrieved_and_judged_documents(self) -> None:
        qrels = {"2 + 4": ["a", "b", "c", "d"], "3 + 2": ["a", "b"], "5 + 1": ["a"]}
        run = {"2 + 4": ["a", "a"], "3 + 2": ["a", "a", "x"], "5 + 1": ["a", "a", "x", "y", "z"]}
        (found,) = audit_of(qrels, run, "map", duplicates="count").differences
        assert found.queries == tuple(qrels)
        assert (found.example, found.value, found.reference) == ("3 + 2", (1 / 1 + 2 / 2) / 2, (1 / 1) / 2)

    @pytest.mark.parametrize(
        ("grades", "shown"), [(5, "its grades are 5, 4, 3, 2, 1"), (6, "its grades are 6, 5, 4, 3, 2, ...")]
    )
    def test_five_grades_are_shown(self, grades: int, shown: str) -> None:
        qrels = {"p": {"a": 9}, "q": {f"d{grade}": grade for grade in range(1, grades + 1)}}
        (found,) = audit_of(
            qrels, {"q": ["d1", "d2"]}, "ndcg", parameters={"ndcg": {"gain": "exponential"}}
        ).differences
        assert (found.example, found.detail) == ("q", shown)

    def test_documents_and_groups_are_counted(self) -> None:
        qrels = {"p": [["a"]], "q": [["a", "b"], ["c"]]}
        (found,) = audit_of(qrels, {"p": ["a"], "q": ["a", "b"]}, "recall", groups="flatten").differences
        assert (found.value, found.reference, found.detail) == (2 / 3, 1 / 2, "3 documents in 2 groups")

    def test_of_repeated_documents_a_relevant_one_is_named(self) -> None:
        (found,) = audit_of(
            {"q": {"z": 0, "a": 1}}, {"q": ["z", "z", "a", "a", "a"]}, "map", duplicates="count"
        ).differences
        assert found.detail == "document 'a' is retrieved 3 times"
        refused = audit_of({"q": {"z": 0, "a": 1}}, {"q": ["z", "z", "a"]}, "map", duplicates="error")
        assert refused.differences[0].detail == "document 'z' is retrieved twice"
        assert refused.refused == {"standard": 0, "mine": 1}
        (unjudged,) = audit_of({"q": ["a"]}, {"q": ["x", "x", "x", "a"]}, "map", duplicates="error").differences
        assert unjudged.detail == "2 of its places hold repeated documents"

    def test_of_tied_documents_the_one_with_the_highest_grade_is_named(self) -> None:
        run = {"q": {"a": 1.0, "b": 1.0, "x": 1.0, "c": 2.0}}
        (found,) = audit_of({"q": {"a": 1, "b": 2}}, run, "ndcg", ties="expected").differences
        assert found.detail == "document 'b' has the same score as 2 others"

    def test_rules_that_make_the_difference_only_together_are_one_explanation(self) -> None:
        # Ordered as given, "a" is first: one of two groups. With flat groups it is one of three documents.
        qrels, run = {"q": [["a", "d"], ["c"]]}, {"q": {"a": 1.0, "x": 1.0}}
        (found,) = audit_of(qrels, run, "recall@1", ties="input", groups="flatten").differences
        assert (found.rules, found.value, found.reference) == (("ties=input", "groups=flatten"), 1 / 3, 0)
        assert found.detail == "document 'a' has the same score as 1 other; 3 documents in 2 groups"
        assert ", and " in found.meaning


class TestLints:
    def test_one_relevant_document_everywhere(self) -> None:
        (lint,) = rm.audit({"p": ["a"], "q": ["b"]}, {"p": ["a"], "q": ["b"]}, "map").lints
        assert lint.startswith(
            "every query has exactly one relevant document: recall, full recall and hit rate are the same number"
        )

    def test_relevant_documents_that_are_not_in_the_corpus(self) -> None:
        (lint,) = rm.audit({"p": {"a": 1, "z": 1, "n": 0}}, {"p": ["a"]}, "map", corpus={"a", "b"}).lints
        assert lint == (
            "1 relevant documents of 1 queries are not in the corpus, so no retriever can find them, "
            "such as 'z' of query 'p'"
        )

    def test_lacking_documents_are_counted_apart_from_their_queries(self) -> None:
        (lint,) = rm.audit({"p": ["a", "y", "z"], "q": ["z", "b"]}, {"p": ["a"]}, "map", corpus={"a", "b"}).lints
        assert lint.startswith("3 relevant documents of 2 queries are not in the corpus")
        assert lint.endswith("such as 'y' of query 'p'")

    def test_one_query_alone_and_documents_all_judged_are_not_suspicious(self) -> None:
        assert rm.audit({"p": ["a"]}, {"p": ["a"]}, "map").lints == ()

    def test_the_judged_share_is_that_of_the_first_ten(self) -> None:
        run = {"p": ["a", *(f"x{at}" for at in range(14))], "q": ["a"]}
        (lint,) = rm.audit({"p": ["a", "b"], "q": ["a"]}, run, "map").lints
        assert lint.startswith("55% of the first 10")  # (1 / 10 + 1) / 2

    def test_each_repeat_is_counted_and_the_first_is_shown(self) -> None:
        qrels = {"why": ["a", "b"], "who": ["a"], "Why?": ["a"], "Why ?": ["a"]}
        (lint,) = rm.audit(qrels, {"why": ["a"]}, "map").lints
        assert lint.startswith("2 of 4 queries repeat another, as 'Why?' does 'why'")

    def test_repeated_queries_by_their_texts_or_by_ids_that_are_texts(self) -> None:
        qrels, run = {"1": ["a", "b"], "2": ["a"]}, {"1": ["a"], "2": ["a"]}
        (lint,) = rm.audit(qrels, run, "map", queries={"1": "What is it?", "2": " what  is IT"}).lints
        assert lint == "1 of 2 queries repeat another, as '2' does '1': a repeated question counts each time"
        assert not rm.audit(qrels, run, "map").lints
        (lint,) = rm.audit({"Why?": ["a", "b"], "why": ["a"]}, {"why": ["a"]}, "map").lints
        assert "as 'why' does 'Why?'" in lint

    def test_queries_without_a_relevant_document_and_the_judged_share(self) -> None:
        lints = rm.audit({"p": ["a"], "q": {"b": 0}}, {"p": ["a", "x", "y", "z"], "q": ["b"]}, "map").lints
        assert lints[0] == "1 of 2 queries have no relevant document, such as query 'q'"
        assert lints[1].startswith("62% of the first 10 retrieved documents are judged")


class TestBadInput:
    def test_one_name_is_no_comparison(self) -> None:
        with pytest.raises(
            TypeError, match=r"several rule sets to compare, got 'ragas'; write \('standard', 'ragas'\)"
        ):
            rm.audit({"q": ["a"]}, {"q": ["a"]}, rules="ragas")

    def test_names_must_differ(self) -> None:
        mine = replace(RULE_SETS["standard"], duplicates="count")
        with pytest.raises(ValueError, match=r"with different names, got \['standard', 'standard'\]"):
            rm.audit({"q": ["a"]}, {"q": ["a"]}, rules=["standard", mine])

    def test_a_run_that_cannot_belong_to_the_judgments(self) -> None:
        with pytest.raises(ValueError, match="no query in common"):
            rm.audit({"q": ["a"]}, {"p": ["a"]})
