"""Names of metrics as they are spelled here and in other tools."""

import pytest

import retrieval_metrics as rm
from retrieval_metrics.matching.budget import Budget
from retrieval_metrics.metrics.base.registry import NAME_BY_ALIAS
from retrieval_metrics.metrics.metric_names import canonical_name, read_name


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("ndcg@10", "ndcg@10"),
        ("nDCG@10", "ndcg@10"),
        ("ndcg_at_10", "ndcg@10"),
        ("ndcg_cut_10", "ndcg@10"),
        ("ndcg_cut.10", "ndcg@10"),
        ("P_10", "precision@10"),
        ("P.5", "precision@5"),
        ("recall_1000", "recall@1000"),
        ("success_5", "hit_rate@5"),
        ("map_cut_100", "map@100"),
        ("recip_rank", "mrr"),
        ("RR@10", "mrr@10"),
        ("reciprocal_rank", "mrr"),
        ("AP(rel=2)@100", "map(rel=2)@100"),
        ("ap", "map"),
        ("p@3", "precision@3"),
        ("r@3", "recall@3"),
        ("hit@1", "hit_rate@1"),
        ("Rprec", "r_precision"),
        ("R-precision", "r_precision"),
        ("hit_rate_at_5", "hit_rate@5"),
        ("f1@5", "f1@5"),
        ("f1_at_5", "f1@5"),
        (" map ", "map"),
        ("rbp( p = .8 )", "rbp"),
        ("rbp(p=0.95)@20", "rbp(p=0.95)@20"),
        ("rbp_at_20", "rbp@20"),
        ("ndcg(gain=linear)@10", "ndcg@10"),
        ("ndcg(ideal=retrieved,gain=exponential)@10", "ndcg(gain=exponential,ideal=retrieved)@10"),
        ("map(norm=retrieved)@5", "map(norm=retrieved)@5"),
        ("precision(rel=2.0)@5", "precision(rel=2)@5"),
        ("ndcg(gains=2:1;1:0)", "ndcg(gains=1:0;2:1)"),
        ("ndcg()@10", "ndcg@10"),
    ],
)
def test_a_name_is_printed_in_its_canonical_form(text: str, canonical: str) -> None:
    assert str(rm.Metric.parse(text)) == canonical


@pytest.mark.parametrize("alias", NAME_BY_ALIAS)
def test_every_alias_is_read_in_any_case(alias: str) -> None:
    assert rm.Metric.parse(alias.upper()).name == NAME_BY_ALIAS[alias]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ndgc@10", r"unknown metric 'ndgc'; did you mean ndcg"),
        ("precison@5", "did you mean precision"),
        ("MMR", r"did you mean mrr.* Maximal marginal relevance is rm\.mmr"),
        ("Maximum Marginal Relevance", r"maximal marginal relevance is rm\.mmr"),
        ("maximum_marginal_relevance", r"maximal marginal relevance is rm\.mmr"),
        ("max_marginal_relevance", r"maximal marginal relevance is rm\.mmr"),
        ("ILD@10", r"the diversity of a list is rm\.intra_list_diversity"),
        ("intra-list diversity", r"the diversity of a list is rm\.intra_list_diversity"),
        ("AUPRC", r"did you mean map\?"),
        ("F-measure", r"did you mean f1\?"),
        ("precision at 5", r"did you mean precision@5\?"),
        ("top_5_accuracy", r"did you mean hit_rate@5\?"),
        ("top_0_accuracy", "unknown metric 'top_0_accuracy'; the metrics are hit_rate"),
        ("Top-1 accuracy", r"did you mean hit_rate@1\?"),
        ("top 5 accuracy@5", r"is not a metric name; write name@k"),
        ("bleu", "unknown metric 'bleu'; the metrics are hit_rate"),
        ("specificity", "unknown metric 'specificity'; the metrics are hit_rate"),
        ("sensitivity@5", r"did you mean recall\?"),
        ("PPV", r"did you mean precision\?"),
        ("HR@10", r"did you mean hit_rate\?"),
        ("accuracy", r"did you mean hit_rate\?"),
        ("hits@5", r"did you mean hit_rate\?"),
        ("precision_at_k", r"did you mean precision\?"),
        ("retrieval_map", r"did you mean map\? rules='autorag' computes it as AutoRAG does"),
        ("retrieval_f1", r"did you mean f1\? rules='autorag'"),
        ("Mean Reciprocal Rank", r"is not a metric name; did you mean mrr\?"),
        ("F1 Score@5", r"did you mean f1@5\?"),
        ("recall@5,ndcg@5", r"names several metrics; write a list: \['recall@5', 'ndcg@5'\]"),
        ("zzzz", "unknown metric 'zzzz'; the metrics are hit_rate, full_recall"),
        ("ndcg@0", "cutoff in 'ndcg@0' must be a positive integer, got '0'; leave out '@0' for all documents"),
        ("ndcg@1.5", "must be a positive integer, got '1.5'"),
        ("ndcg@-3", "must be a positive integer, got '-3'"),
        ("ndcg@ten", "must be a positive integer, got 'ten'"),
        ("ndcg@", "must be a positive integer, got ''"),
        ("r_precision@5", "r_precision takes no cutoff, got r_precision@5"),
        ("bpref@5", "bpref takes no cutoff"),
        (
            "ndcg(rel=2)",
            r"ndcg has no parameter 'rel'; it has: gain, gains, ideal, of. To ignore low grades .*gains=1:0",
        ),
        ("judged(rel=2)", "judged has no parameter 'rel'; it has: none"),
        ("ndcg(gain=cubic)", "parameter 'gain' of ndcg must be one of linear, exponential, binary, got 'cubic'"),
        ("rbp.95", r"'rbp.95' may mean rbp\(p=0.95\), as ranx writes it, or rbp@95"),
        ("rbp(p=1)", "parameter 'p' of rbp must be a number above 0 and below 1, got '1'"),
        ("precision(rel=-1)", "'rel' of precision must be a number above 0, got '-1'"),
        ("precision(rel=nan)", "'rel' of precision must be a number above 0, got 'nan'"),
        ("ndcg(gains=1)", "must be grade:gain pairs"),
        ("ndcg(gains=a:1)", "must be grade:gain pairs"),
        ("ndcg(gains=1:-1)", "must be grade:gain pairs"),
        ("ndcg(gains=0:1)", "must be grade:gain pairs"),
        ("ndcg(gains=1:1;1:2)", "must be grade:gain pairs"),
        ("ndcg(gains=inf:1)", "must be grade:gain pairs"),
        ("ndcg(gains=1:inf)", "must be grade:gain pairs"),
        ("ndcg(gain)", r"cannot read 'gain' in 'ndcg\(gain\)'"),
        ("ndcg(gain=linear,gain=binary)", "parameter 'gain' appears twice"),
        ("ndcg(gain=linear@10", "is not a metric name"),
        ("", "is not a metric name"),
    ],
)
def test_what_is_no_metric_is_refused_with_what_to_do(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rm.Metric.parse(text)


def test_a_name_has_three_parts() -> None:
    assert read_name("precision(rel=2, norm=k)@2000 chars") == (
        "precision",
        Budget(2000, "chars"),
        (("rel", "2"), ("norm", "k")),
    )
    assert read_name("P_10") == ("P", 10, ())
    assert read_name("map") == ("map", None, ())


def test_given_names_are_named_only_if_they_are_alike() -> None:
    with pytest.raises(ValueError, match=r"the metrics are hit_rate, [^;]*$") as caught:
        canonical_name("zzzz", ["latency"])
    assert "latency" not in str(caught.value)
    with pytest.raises(ValueError, match=r"unknown metric 'latncy'; did you mean latency\?$"):
        canonical_name("latncy", ["latency"])


def test_given_names_are_suggested_after_those_that_can_be_computed() -> None:
    with pytest.raises(ValueError, match=r"unknown metric 'recal'; did you mean recall or full_recall or recal_score"):
        canonical_name("recal", ["recal_score"])
