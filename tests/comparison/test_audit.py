"""An audit says which rule makes each difference, and switching that rule alone makes it again."""

from dataclasses import replace

import pandas as pd
import pytest

import retrieval_metrics as rm
from retrieval_metrics.metrics.base.rules import RULE_SETS
from rule_cases import audit_with

NAMES = ["ndcg@3", "ndcg", "map@5", "map", "mrr@10", "precision@5", "recall@2", "f1@3", "hit_rate@1", "bpref"]


class TestForms:
    QRELS = {"q7": ["d7", "d9"], "q8": ["d1"], "q9": ["d2"]}
    RUN = {"q7": ["d7", "d7", "x", "d9", "y"], "q8": ["d1"], "q9": []}

    def audit(self) -> rm.types.Audit:
        return rm.audit(self.QRELS, self.RUN, ["ndcg", "precision@5"], rules=["standard", "llama_index", "haystack"])

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
        audit = audit_with(qrels, {"p": ["x", "a"], "q": ["a"]}, "mrr", grades="integer", missing=missing)
        assert audit.refused == {"standard": 0, "mine": refused}
        assert audit.means["mine"]["mrr"] == 1
        assert audit.means["standard"]["mrr"] == pytest.approx((1 / 2 + 1 + 0) / 3)

    def test_what_it_is_given_is_not_changed(self) -> None:
        qrels = {"q": ["a"]}
        run = {"q": ["a", "a"]}
        rm.audit(qrels, run)
        assert (qrels, run) == ({"q": ["a"]}, {"q": ["a", "a"]})


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
