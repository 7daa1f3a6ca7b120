"""The peers, from dicts and from files to the means of seven metrics.

Each is imported only in the process that measures it.
"""

import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType

from generated import Qrels, Run

METRICS = ("ndcg@10", "map", "mrr@10", "recall@100", "recall@1000", "hit_rate@10", "precision@10")

# trec_eval's reciprocal rank has no cutoff, so its family is asked for the uncut one and checked against ours.
UNCUT = "mrr"

TREC_EVAL = {
    "ndcg_cut_10": "ndcg@10",
    "map": "map",
    "recip_rank": "mrr",
    "recall_100": "recall@100",
    "recall_1000": "recall@1000",
    "success_10": "hit_rate@10",
    "P_10": "precision@10",
}
TREC_EVAL_REQUEST = {"ndcg_cut.10", "map", "recip_rank", "recall.100,1000", "success.10", "P.10"}
IR_MEASURES = {
    "nDCG@10": "ndcg@10",
    "AP": "map",
    "RR": "mrr",
    "R@100": "recall@100",
    "R@1000": "recall@1000",
    "Success@10": "hit_rate@10",
    "P@10": "precision@10",
}

FromDicts = Callable[[Qrels, Run], Mapping[str, float]]
FromFiles = Callable[[Path, Path], Mapping[str, float]]
US = "retrieval-metrics"
FIRST = f"{US}, and one evaluation"


def retrieval_metrics() -> FromDicts:
    import retrieval_metrics as rm

    return lambda qrels, run: rm.evaluate(qrels, run, METRICS).means


def pytrec_eval() -> FromDicts:
    import pytrec_eval

    def evaluate(qrels: Qrels, run: Run) -> dict[str, float]:
        per_query = pytrec_eval.RelevanceEvaluator(qrels, TREC_EVAL_REQUEST).evaluate(run)
        means = {}
        for theirs, ours in TREC_EVAL.items():
            means[ours] = sum(values[theirs] for values in per_query.values()) / len(per_query)
        return means

    return evaluate


def ir_measures() -> FromDicts:
    import ir_measures

    measures = [ir_measures.parse_measure(name) for name in IR_MEASURES]

    def evaluate(qrels: Qrels, run: Run) -> dict[str, float]:
        means = ir_measures.calc_aggregate(measures, qrels, run)
        return {ours: means[measure] for measure, ours in zip(measures, IR_MEASURES.values(), strict=True)}

    return evaluate


def ranx_objects() -> FromDicts:
    ranx = quiet_ranx()

    return lambda qrels, run: ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), list(METRICS))


def quiet_ranx() -> ModuleType:
    import ranx

    warnings.simplefilter("ignore")  # numba warns of ranx's casts while it compiles
    return ranx


def ranx_dicts() -> FromDicts:
    ranx = quiet_ranx()

    return lambda qrels, run: ranx.evaluate(qrels, run, list(METRICS))


FROM_DICTS: dict[str, Callable[[], FromDicts]] = {
    US: retrieval_metrics,
    "pytrec_eval-terrier": pytrec_eval,
    "ir-measures": ir_measures,
    "ranx, dicts": ranx_dicts,
    "ranx, Qrels and Run": ranx_objects,
}


def retrieval_metrics_files() -> FromFiles:
    import polars as pl  # noqa: F401  (what a peer imports is in the table of imports, so ours is, too)

    import retrieval_metrics as rm

    # imported on first use, so used here
    read_qrels = rm.read_qrels
    read_run = rm.read_run
    return lambda qrels, run: rm.evaluate(read_qrels(qrels), read_run(run), METRICS).means


def pytrec_eval_files() -> FromFiles:
    import pytrec_eval as peer

    evaluate = pytrec_eval()

    def from_files(qrels: Path, run: Path) -> Mapping[str, float]:
        with qrels.open() as judged, run.open() as ranked:
            return evaluate(peer.parse_qrel(judged), peer.parse_run(ranked))

    return from_files


def ir_measures_files() -> FromFiles:
    import ir_measures as peer

    evaluate = ir_measures()

    def from_files(qrels: Path, run: Path) -> Mapping[str, float]:
        return evaluate(peer.read_trec_qrels(str(qrels)), peer.read_trec_run(str(run)))

    return from_files


def ranx_files() -> FromFiles:
    ranx = quiet_ranx()

    def from_files(qrels: Path, run: Path) -> Mapping[str, float]:
        judged = ranx.Qrels.from_file(str(qrels), kind="trec")
        ranked = ranx.Run.from_file(str(run), kind="trec")
        return ranx.evaluate(judged, ranked, list(METRICS))

    return from_files


FROM_FILES: dict[str, Callable[[], FromFiles]] = {
    US: retrieval_metrics_files,
    "pytrec_eval-terrier": pytrec_eval_files,
    "ir-measures": ir_measures_files,
    "ranx": ranx_files,
}

IMPORTS = {
    "numpy": "import numpy",
    US: "import retrieval_metrics",
    FIRST: "import retrieval_metrics as rm; rm.evaluate({'q': ['d']}, {'q': ['d']}).means",
    "retrieval-metrics and polars, for files": "import retrieval_metrics as rm, polars; rm.read_run, rm.evaluate",
    "pytrec_eval-terrier": "import pytrec_eval",
    "ir-measures": "import ir_measures",
    "ranx": "import ranx",
}
