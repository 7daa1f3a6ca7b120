# /// script
# requires-python = ">=3.11"
# dependencies = ["retrieval-metrics[files]", "langchain-core>=1.0", "llama-index-core>=0.13,<0.15", "pyversity>=0.2"]
#
# [tool.uv.sources]
# retrieval-metrics = { path = "../..", editable = true }
# ///
"""Maximal marginal relevance against the peers, from the same float32 arrays: `uv run tests/benchmarks/mmr.py`.

Every peer's selection is compared with ours before it is timed. LlamaIndex selects something else by construction (it
looks at the last pick only), and from lists, which is all it takes; its line is there to be seen, not to be beaten.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import partial
from time import process_time
from typing import Any

from measure import machine, use_one_thread

use_one_thread()

import numpy as np
from langchain_core.vectorstores.utils import maximal_marginal_relevance
from llama_index.core.indices.query.embedding_utils import get_top_k_mmr_embeddings
from pyversity import Strategy, diversify

import retrieval_metrics as rm
from generated import clustered
from retrieval_metrics.reports.tables import Table

SIZES = ((20, 384, 10), (100, 1536, 10), (100, 1536, 50), (1000, 384, 100), (1000, 1536, 100), (10_000, 1536, 100))

# With more candidates, the peers that take seconds are not timed.
MAX_CANDIDATES_OF_SLOW_PEERS = 1000

# How many times slower a peer has to be, by its name and the size.
REQUIRED_RATIOS = {
    ("langchain-core", 100, 1536, 10): 10.0,
    ("langchain-core", 1000, 1536, 100): 40.0,
    ("pyversity", 20, 384, 10): 1.0,
    ("pyversity", 100, 1536, 50): 1.0,
    ("pyversity", 1000, 384, 100): 1.0,
    ("pyversity", 1000, 1536, 100): 1.0,
    ("pyversity", 10_000, 1536, 100): 1.0,
}

Pick = Callable[[], Sequence[int]]


def peers(query: Any, vectors: Any, k: int) -> dict[str, Pick]:
    """Return the calls to time, ours first."""
    n = len(vectors)
    vector_lists = vectors.tolist()
    query_list = query.tolist()

    def cosines() -> Any:
        return vectors @ query / (np.linalg.norm(vectors, axis=1) * np.linalg.norm(query))

    calls: dict[str, Pick] = {
        "retrieval-metrics": lambda: rm.mmr(query, vectors, k=k).indices.tolist(),
        # pyversity takes no query: the relevance that it wants is computed for it.
        "pyversity": lambda: diversify(
            embeddings=vectors, scores=cosines(), k=k, strategy=Strategy.MMR, diversity=0.5
        ).indices.tolist(),
    }
    if n <= MAX_CANDIDATES_OF_SLOW_PEERS:
        calls["langchain-core"] = partial(maximal_marginal_relevance, query, vectors, lambda_mult=0.5, k=k)
    if n * k <= MAX_CANDIDATES_OF_SLOW_PEERS:
        ids = list(range(n))
        options = {"similarity_top_k": k, "embedding_ids": ids, "mmr_threshold": 0.5}
        calls["LlamaIndex"] = lambda: get_top_k_mmr_embeddings(query_list, vector_lists, **options)[1]
    return calls


def milliseconds(calls: dict[str, Pick], rounds: int) -> dict[str, float]:
    """Return the median CPU time of each call, all of them interleaved; a short call is repeated within a round."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            repeats = 0
            start = process_time()
            seconds = 0.0
            while seconds < 0.02:
                call()
                repeats += 1
                seconds = process_time() - start
            times[name].append(1000 * seconds / repeats)
    return {name: float(np.median(values)) for name, values in times.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9, help="measurements of each call (default: %(default)s)")
    rounds = parser.parse_args().rounds
    print(f"{machine()}; CPU ms of one thread, medians of {rounds} interleaved measurements, lambda 0.5\n")
    rows = []
    all_kept = True
    for n, d, k in SIZES:
        calls = peers(*clustered(n, d), k)
        ours = calls["retrieval-metrics"]()
        selects_same = {name: list(call()) == list(ours) for name, call in calls.items()}
        measured = milliseconds(calls, rounds if n <= MAX_CANDIDATES_OF_SLOW_PEERS else max(rounds // 3, 3))
        for name, value in measured.items():
            ratio = value / measured["retrieval-metrics"]
            required = REQUIRED_RATIOS.get((name, n, d, k))
            promise = ""
            if required is not None:
                is_kept = ratio >= required
                all_kept = all_kept and is_kept
                promise = f"{required:g}x: {'kept' if is_kept else 'NOT KEPT'}"
            rows.append([f"{n} x {d}, k={k}", name, f"{value:.3g}", f"{ratio:.1f}", str(selects_same[name]), promise])
    print(Table(["candidates", "by", "ms", "/ ours", "same selection", "promised"], rows).markdown())
    return 0 if all_kept else 1


if __name__ == "__main__":
    sys.exit(main())
