"""How much do per-query differences of two retrievers vary? The spreads that `plan` starts from, by metric.

    RETRIEVAL_METRICS_DATA=folder python tests/benchmarks/spreads.py

Two public collections, neither of them part of this repository: Cranfield (1,400 abstracts, 225 questions, graded
judgments), searched by BM25, TF-IDF, an embedding model and their fusion, and Chroma's chunking evaluation (472
questions with marked passages), searched by BM25 over chunks of 400, 800 and 1,600 characters. A line is a metric: the
smallest, the median and the largest standard deviation of the differences over all pairs of systems, and the same of
its quotient with the standard deviation of one system's values.
"""

from __future__ import annotations

import csv
import itertools
import json
import os
import re
from collections import Counter, defaultdict
from math import log
from pathlib import Path
from typing import Any

import numpy as np

import retrieval_metrics as rm

DATA = Path(os.environ["RETRIEVAL_METRICS_DATA"])
METRICS = [
    "hit_rate@5",
    "full_recall@5",
    "precision@5",
    "recall@5",
    "recall@10",
    "mrr@10",
    "map",
    "ndcg@5",
    "ndcg@10",
]
DEPTH = 20
RRF = 60


def fuse(*runs: dict[str, dict[str, float]]) -> dict[str, list[str]]:
    fused = {}
    for query in runs[0]:
        scores: dict[str, float] = defaultdict(float)
        for run in runs:
            ranked = sorted(run.get(query, {}).items(), key=lambda item: -item[1])
            for rank, (document, _) in enumerate(ranked, start=1):
                scores[document] += 1 / (RRF + rank)
        fused[query] = sorted(scores, key=lambda document: -scores[document])
    return fused


def cranfield() -> list[rm.Evaluation]:
    folder = DATA / "cranfield"
    qrels = rm.read_qrels(folder / "qrels.graded.trec")
    runs: dict[str, dict[Any, dict[Any, float]]] = {}
    for name in ("bm25", "tfidf_nosat", "minilm_int8"):
        run = rm.read_run(folder / f"run.{name}.trec")
        runs[name] = {query: dict(ranked) for query, ranked in run.items()}
    fusions = [fuse(runs["bm25"], runs["minilm_int8"]), fuse(runs["tfidf_nosat"], runs["minilm_int8"])]
    all_runs: list[dict[str, Any]] = [*runs.values(), *fusions]
    return [rm.evaluate(qrels, run, METRICS) for run in all_runs]


def chunks(size: int) -> list[rm.Retrieved]:
    pieces = []
    for path in sorted((DATA / "chroma_spans" / "corpora").iterdir()):
        text = path.read_text(encoding="utf-8")
        for start in range(0, len(text), size):
            end = min(start + size, len(text))
            pieces.append(rm.Retrieved(f"{path.stem}-{start}", text[start:end], path.stem, start, end))
    return pieces


def bm25(pieces: list[rm.Retrieved], questions: dict[str, str]) -> dict[str, list[rm.Retrieved]]:
    words_of_pieces = [re.findall(r"\w+", (piece.text or "").lower()) for piece in pieces]
    mean_length = float(np.mean([len(words) for words in words_of_pieces]))
    postings: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for index, words in enumerate(words_of_pieces):
        for word, count in Counter(words).items():
            length_factor = 1.2 * (0.25 + 0.75 * len(words) / mean_length)
            postings[word].append((index, count * 2.2 / (count + length_factor)))
    run = {}
    for query, text in questions.items():
        scores = np.zeros(len(pieces))
        for word in set(re.findall(r"\w+", text.lower())):
            weight = log(1 + (len(pieces) - len(postings[word]) + 0.5) / (len(postings[word]) + 0.5))
            for index, frequency in postings[word]:
                scores[index] += weight * frequency
        run[query] = [pieces[index] for index in np.argsort(-scores, kind="stable")[:DEPTH]]
    return run


def chroma() -> list[rm.Evaluation]:
    texts = {}
    judgments = {}
    with (DATA / "chroma_spans" / "questions_df.csv").open(encoding="utf-8", newline="") as file:
        for number, row in enumerate(csv.DictReader(file)):
            texts[f"q{number}"] = row["question"]
            groups = []
            for reference in json.loads(row["references"]):
                groups.append([rm.Span(row["corpus_id"], reference["start_index"], reference["end_index"])])
            judgments[f"q{number}"] = groups
    evaluations = []
    for size in (400, 800, 1600):
        run = bm25(chunks(size), texts)
        evaluations.append(rm.evaluate(judgments, run, METRICS, clusters=None))
    return evaluations


def format_range(values: list[float]) -> str:
    return f"{min(values):8.3f}{np.median(values):8.3f}{max(values):8.3f}"


def main() -> None:
    spreads: dict[str, list[float]] = defaultdict(list)
    quotients: dict[str, list[float]] = defaultdict(list)
    for evaluations in (cranfield(), chroma()):
        for first, second in itertools.combinations(evaluations, 2):
            for metric in METRICS:
                first_values = np.array(list(first.per_query[metric].values()))
                second_values = np.array(list(second.per_query[metric].values()))
                spread = float((first_values - second_values).std(ddof=1))
                spreads[metric].append(spread)
                quotients[metric].append(
                    spread / float(np.hypot(first_values.std(ddof=1), second_values.std(ddof=1))) * 2**0.5
                )
    print("metric          least  median    most   quotient")
    for metric, spread_values in spreads.items():
        print(f"{metric:14}{format_range(spread_values)}{format_range(quotients[metric])}")


if __name__ == "__main__":
    main()
