# /// script
# requires-python = ">=3.11"
# dependencies = ["retrieval-metrics[files]", "pandas>=2", "pyarrow", "pytrec-eval-terrier>=0.5.10"]
#
# [tool.uv.sources]
# retrieval-metrics = { path = "../..", editable = true }
# ///
"""Small work, as ratios of CPU time: `uv run tests/benchmarks/small.py [start] [ranking] [run] [forms] [print]`.

start     a script from start to printed table, beside one with pytrec_eval
ranking   one ranking, beside a new evaluator of pytrec_eval
run       evaluations of few queries and few results, and of many judgments, beside pytrec_eval
forms     judgments as lists and sets beside dicts, rankings as lists and items beside scores, pandas beside polars
print     printing a comparison beside making it
hosts     importing the parts of an integration beside its host, for each host that is installed

Works take turns, and the smallest time of each counts. Every line names the first work, and how many times its time
the others take.
"""

import gc
import importlib.util
import random
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from measure import import_seconds, use_one_thread

use_one_thread()

METRICS = ["ndcg@10", "map", "mrr@10", "recall@10"]
MEASURES = {"ndcg_cut_10", "map", "recip_rank", "recall_10"}
ROUNDS = 5

# The same 20 queries with 10 results for every script.
DATA = """
qrels = {f'q{i}': {f'd{(i * 7 + j * 3) % 12}': 1 for j in range(3)} for i in range(20)}
run = {query: {f'd{j}': 50.0 - j for j in range(10)} for query in qrels}
other = {query: {f'd{j}': 50.0 - j for j in range(5, 15)} for query in qrels}
"""
IMPORT = f"{DATA}import retrieval_metrics as rm\nmetrics = {METRICS}\n"
SCRIPTS = {
    "pytrec_eval, printed": f"{DATA}import pytrec_eval\n"
    f"results = pytrec_eval.RelevanceEvaluator(qrels, {MEASURES}).evaluate(run)\n"
    "for name in ('ndcg_cut_10', 'map'): str(sum(row[name] for row in results.values()) / len(results))",
    "evaluate": f"{IMPORT}rm.evaluate(qrels, run, metrics)",
    "evaluate, printed": f"{IMPORT}str(rm.evaluate(qrels, run, metrics))",
    "compare, printed": f"{IMPORT}str(rm.compare(qrels, {{'a': run, 'b': other}}, metrics))",
}

HAYSTACK = "haystack_integrations.components"
# The statement that loads a host, and the name of a part of its integration that is imported after it.
HOSTS = {
    "langchain_core": (
        "import langchain_core.retrievers",
        "from langchain_retrieval_metrics import evaluate_retriever",
    ),
    "haystack": (
        "from haystack import component, Pipeline",
        f"from {HAYSTACK}.evaluators.retrieval_metrics import RetrievalEvaluator",
    ),
    "llama_index": (
        "import llama_index.core.evaluation",
        "from llama_index.evaluation.retrieval_metrics import ranking_metrics",
    ),
    "pydantic_evals": (
        "import pydantic_evals.evaluators",
        "import pydantic_evals_retrieval_metrics as m; [getattr(m, name) for name in m.__all__]",
    ),
}


def show_ratios(title: str, seconds: Mapping[str, float]) -> None:
    first, *others = seconds
    ratios = [f"{name} {seconds[name] / seconds[first]:.2f}" for name in others]
    print(f"{title:<34} {first} {seconds[first] * 1000:.3f} ms: {', '.join(ratios)}", flush=True)


def race(title: str, works: Mapping[str, Callable[[], object]], repeats: int = 1) -> None:
    """Print the least CPU seconds of each work, run in turn."""
    least = dict.fromkeys(works, float("inf"))
    for _ in range(ROUNDS):
        for name, work in works.items():
            gc.collect()
            start = time.process_time()
            for _ in range(repeats):
                work()
            least[name] = min(least[name], (time.process_time() - start) / repeats)
    show_ratios(title, least)


def start() -> None:
    seconds = import_seconds(SCRIPTS, ROUNDS)
    show_ratios("start to printed table", {name: min(values) for name, values in seconds.items()})


def hosts() -> None:
    for host, (statement, part) in HOSTS.items():
        if importlib.util.find_spec(host) is None:
            continue
        seconds = import_seconds({host: statement, "with ours": f"{statement}\n{part}"}, ROUNDS)
        show_ratios("import", {name: min(values) for name, values in seconds.items()})


def make_data(n_queries: int, n_results: int, n_judged: int, n_documents: int) -> tuple[Any, Any]:
    source = random.Random(0)
    qrels = {}
    run = {}
    for query in range(n_queries):
        qrels[f"q{query}"] = {f"d{document}": 1 for document in source.sample(range(n_documents), n_judged)}
        retrieved = source.sample(range(n_documents), n_results)
        run[f"q{query}"] = {f"d{document}": 1.0 - rank / n_results for rank, document in enumerate(retrieved)}
    return qrels, run


def score_with_pytrec_eval(qrels: Any, run: Any) -> object:
    import pytrec_eval

    return pytrec_eval.RelevanceEvaluator(qrels, MEASURES).evaluate(run)


def score_with_drop_in(qrels: Any, run: Any) -> object:
    from retrieval_metrics.pytrec_eval import RelevanceEvaluator

    return RelevanceEvaluator(qrels, MEASURES).evaluate(run)


def ranking() -> None:
    import retrieval_metrics as rm

    gains = [0, 1, 0, 2, 0, 0, 1, 0, 0, 3]
    qrels = {"q": {f"d{rank}": gain for rank, gain in enumerate(gains) if gain}}
    run = {"q": {f"d{rank}": 10.0 - rank for rank in range(10)}}
    works = {
        "pytrec_eval": partial(score_with_pytrec_eval, qrels, run),
        "ndcg": lambda: rm.ndcg(gains),
        "evaluate_ranking": lambda: rm.evaluate_ranking(qrels["q"], list(run["q"]), METRICS),
    }
    race("one ranking of 10", works, 500)


def run() -> None:
    import retrieval_metrics as rm

    shapes = [(1, 10, 3, 60), (20, 10, 3, 60), (500, 10, 3, 60), (2_000, 10, 3, 60), (100, 10, 20_000, 60_000)]
    for n_queries, n_results, n_judged, n_documents in shapes:
        qrels, rankings = make_data(n_queries, n_results, n_judged, n_documents)
        works = {
            "pytrec_eval": partial(score_with_pytrec_eval, qrels, rankings),
            "evaluate": partial(rm.evaluate, qrels, rankings, METRICS),
            "drop-in": partial(score_with_drop_in, qrels, rankings),
        }
        race(f"{n_queries} x {n_results}, {n_judged} judged", works, max(1, 1_000 // (n_queries * n_judged)))


def forms() -> None:
    import pandas as pd
    import polars as pl

    import retrieval_metrics as rm

    for n_queries, n_judged in ((500, 3), (60, 8_000)):
        qrels, rankings = make_data(n_queries, 10, n_judged, 20_000)
        judged_lists = {query: list(judged) for query, judged in qrels.items()}
        judged_sets = {query: set(judged) for query, judged in qrels.items()}
        works = {
            "dicts": partial(rm.evaluate, qrels, rankings, METRICS),
            "lists": partial(rm.evaluate, judged_lists, rankings, METRICS),
            "sets": partial(rm.evaluate, judged_sets, rankings, METRICS),
        }
        race(f"judgments, {n_queries} x {n_judged}", works)
    for n_results in (1_000, 100_000):
        qrels, rankings = make_data(20, n_results, 30, 100_000)
        lists = {query: list(scores) for query, scores in rankings.items()}
        works = {
            "scores": partial(rm.evaluate, qrels, rankings, METRICS),
            "lists": partial(rm.evaluate, qrels, lists, METRICS),
        }
        race(f"rankings, 20 x {n_results}", works)
    qrels, rankings = make_data(500, 10, 3, 60)
    lists = {query: list(scores) for query, scores in rankings.items()}
    items = {query: [rm.Retrieved(document) for document in ranking] for query, ranking in lists.items()}
    works = {
        "scores": partial(rm.evaluate, qrels, rankings, METRICS),
        "lists": partial(rm.evaluate, qrels, lists, METRICS),
        "items": partial(rm.evaluate, qrels, items, METRICS),
    }
    race("rankings, 500 x 10", works)
    n_rows = 200_000
    columns = {
        "query_id": [f"q{row // 100}" for row in range(n_rows)],
        "doc_id": [f"d{row * 7_919 % 50_021}" for row in range(n_rows)],
        "score": [float(n_rows - row) for row in range(n_rows)],
    }
    polars_frame = pl.DataFrame(columns)
    pandas_frame = pd.DataFrame(columns)
    works = {"polars": partial(rm.Run.from_frame, polars_frame), "pandas": partial(rm.Run.from_frame, pandas_frame)}
    race("a frame to a run", works)


def print_comparison() -> None:
    import retrieval_metrics as rm

    for n_systems, n_queries in ((2, 1_000), (5, 200), (5, 1_000)):
        qrels, _ = make_data(n_queries, 10, 3, 60)
        systems = {}
        for system in range(n_systems):
            source = random.Random(system)
            systems[f"s{system}"] = {query: source.sample([f"d{n}" for n in range(60)], 10) for query in qrels}
        least = {"compare": float("inf"), "print": float("inf")}
        for _ in range(ROUNDS):
            begun = time.process_time()
            comparison = rm.compare(qrels, systems)
            compared = time.process_time()
            str(comparison)
            least["compare"] = min(least["compare"], compared - begun)
            least["print"] = min(least["print"], time.process_time() - compared)
        show_ratios(f"{n_systems} systems x {n_queries}, 7 metrics", least)


WORKS = {"start": start, "ranking": ranking, "run": run, "forms": forms, "print": print_comparison, "hosts": hosts}

if __name__ == "__main__":
    # One query alone may have no judged document.
    warnings.simplefilter("ignore")
    for name in sys.argv[1:] or WORKS:
        WORKS[name]()
