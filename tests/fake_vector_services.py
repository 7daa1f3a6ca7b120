"""Elasticsearch and Pinecone as far as a vector store needs them: the requests of their clients, answered in memory."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np

from local_service import JSONHandler, serving

Row = dict[str, Any]


def nearest(rows: dict[str, Row], vectors: dict[str, Any], query: Any, k: int) -> list[tuple[str, float]]:
    """Return the rows with the largest cosine to a query, best first."""
    of_query = np.asarray(query)
    cosines = {
        name: float(np.dot(vectors[name], of_query) / np.linalg.norm(vectors[name]) / np.linalg.norm(of_query))
        for name in rows
    }
    return sorted(cosines.items(), key=lambda entry: -entry[1])[:k]


class Handler(JSONHandler):
    """Answers with what `found` returns: a status and what the body says."""

    rows: dict[str, Row]
    requests: list[Any]

    def found(self, path: str, arguments: dict[str, list[str]], body: bytes) -> tuple[int, Any]:
        raise NotImplementedError

    def asked(self) -> None:
        parts = urlsplit(self.path)
        status, response = self.found(parts.path, parse_qs(parts.query), self.body())
        self.answer(response, status, {"X-Elastic-Product": "Elasticsearch"})


class Elasticsearch(Handler):
    """One index: bulk requests, search by vector, and search by ids."""

    def found(self, path: str, arguments: dict[str, list[str]], body: bytes) -> tuple[int, Any]:
        if path == "/_bulk":
            return 200, {"errors": False, "items": [*self._bulk(iter(body.splitlines()))]}
        if not path.endswith("/_search"):
            return 200, {"acknowledged": True}
        request: Any = json.loads(body)
        self.requests.append(request)
        knn = request.get("knn")
        if knn is None:
            hits = [(name, 1.0) for name in request["query"]["ids"]["values"] if name in self.rows]
        elif knn["num_candidates"] < knn["k"]:
            return 400, {"error": {"type": "x", "reason": "[num_candidates] cannot be less than [k]"}, "status": 400}
        else:
            vectors = {name: row["vector"] for name, row in self.rows.items()}
            hits = nearest(self.rows, vectors, knn["query_vector"], knn["k"])
        fields = arguments["_source_includes"][0].split(",")
        entries = [
            {
                "_id": name,
                "_score": score,
                "_source": {key: self.rows[name][key] for key in fields if key in self.rows[name]},
            }
            for name, score in hits[: request["size"]]
        ]
        return 200, {"hits": {"hits": entries}}

    def _bulk(self, lines: Iterator[bytes]) -> Iterator[Any]:
        for line in lines:
            ((action, where),) = json.loads(line).items()
            if action == "delete":
                self.rows.pop(where["_id"], None)
            else:
                self.rows[str(where["_id"])] = json.loads(next(lines))
            yield {action: {"_id": where["_id"], "status": 200}}


class Pinecone(Handler):
    """One index with one namespace."""

    def found(self, path: str, arguments: dict[str, list[str]], body: bytes) -> tuple[int, Any]:
        request: Any = json.loads(body) if body else arguments
        self.requests.append((path, request))
        if path == "/vectors/upsert":
            self.rows.update({vector["id"]: vector for vector in request["vectors"]})
            return 200, {"upsertedCount": len(request["vectors"])}
        if path == "/vectors/delete":
            for name in request["ids"]:
                self.rows.pop(name, None)
            return 200, {}
        if path == "/vectors/fetch":
            hits = {name: self.rows[name] for name in request["ids"] if name in self.rows}
            return 200, {"namespace": "", "vectors": hits, "usage": {"readUnits": 1}}
        vectors = {name: row["values"] for name, row in self.rows.items()}
        matches = nearest(self.rows, vectors, request["vector"], request["topK"])
        left_out = () if request.get("includeValues") else ("values",)
        rows = [{k: v for k, v in self.rows[name].items() if k not in left_out} for name, _ in matches]
        matched = [row | {"score": score} for row, (_, score) in zip(rows, matches, strict=True)]
        return 200, {"matches": matched, "namespace": "", "usage": {"readUnits": 1}}


@contextmanager
def served(kind: type[Handler]) -> Iterator[tuple[str, list[Any]]]:
    """Yield the address of a service, and a list of what it was asked."""
    requests: list[Any] = []
    with serving(kind, rows={}, requests=requests) as address:
        yield address, requests
