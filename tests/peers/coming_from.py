# /// script
# requires-python = ">=3.11"
# dependencies = [
#   "retrieval-metrics",
#   "ir-measures>=0.4",
#   "pytrec-eval-terrier>=0.5.10",
#   "ranx>=0.3.21",
# ]
#
# [tool.uv.sources]
# retrieval-metrics = { path = "../..", editable = true }
# ///
"""Print what other tools make of the examples in docs/guides/coming-from.md: `uv run tests/peers/coming_from.py`.

Every line has its place in that page; test_peers.py compares them.
"""

import warnings
from collections.abc import Mapping

import ir_measures
import pytrec_eval
import ranx

import retrieval_metrics as rm

QRELS = {
    "graded": {"a": 3, "b": 1, "x": 0},
    "tied": {"c": 1},
    "nothing relevant": {"x": 0},
    "absent 1": {"d": 1},
    "absent 2": {"e": 1},
}
RUN = {"graded": {"b": 0.9, "x": 0.8, "a": 0.7}, "tied": {"c": 0.5, "y": 0.5}, "nothing relevant": {"x": 0.3}}
METRICS = ["ndcg@10", "mrr", "map", "precision@5", "recall@5"]


def line(name: str, values: Mapping[str, float]) -> None:
    print(f"{name:22}{''.join(f'{values[metric]:9.4f}' for metric in values)}")


def trec_eval() -> dict[str, float]:
    names = ["ndcg_cut_10", "recip_rank", "map", "P_5", "recall_5"]
    request = {"ndcg_cut.10", "recip_rank", "map", "P.5", "recall.5"}
    per_query = pytrec_eval.RelevanceEvaluator(QRELS, request).evaluate(RUN)
    return {name: sum(values[name] for values in per_query.values()) / len(per_query) for name in names}


def with_ir_measures() -> dict[str, float]:
    measures = [ir_measures.parse_measure(name) for name in ("nDCG@10", "RR", "AP", "P@5", "R@5")]
    means = ir_measures.calc_aggregate(measures, QRELS, RUN)
    return {str(measure): means[measure] for measure in measures}


def with_ranx() -> dict[str, float]:
    values = ranx.evaluate(ranx.Qrels(QRELS), ranx.Run(RUN), METRICS, make_comparable=True)
    return {metric: float(values[metric]) for metric in METRICS}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    line("trec_eval", trec_eval())
    line("ir_measures", with_ir_measures())
    line("ranx", with_ranx())
    line("retrieval-metrics", rm.evaluate(QRELS, RUN, METRICS).means)
