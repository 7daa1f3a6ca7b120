"""An asynchronous client of a service keeps its connections: it works only while it meets one event loop."""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.schema import TextNode
from llama_index.embeddings.openai import OpenAIEmbedding

import retrieval_metrics as rm
from llama_index.evaluation.retrieval_metrics import RetrieverEvaluator

TOPICS = ["yield", "with", "try", "lambda", "import", "class", "global", "assert"]
ROWS = [(f"what does {topic} do?", [topic]) for topic in TOPICS]


class Service(BaseHTTPRequestHandler):
    """Embeds a text by the topics that it names, as the service of OpenAI answers."""

    protocol_version = "HTTP/1.1"  # connections stay open, and the client keeps them

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        vectors = [[1.0 if topic in text else 0.01 for topic in TOPICS] for text in asked["input"]]
        data = [{"object": "embedding", "index": at, "embedding": vector} for at, vector in enumerate(vectors)]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        body = json.dumps({"object": "list", "data": data, "model": asked["model"], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing on stderr."""


@pytest.fixture
def retriever() -> Iterator[Callable[[int], Any]]:
    """Makes retrievers of one index, which share its embedding model and so its client."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    model = OpenAIEmbedding(
        api_key="none", api_base=f"http://127.0.0.1:{server.server_port}/v1", max_retries=0, timeout=10
    )
    nodes = [TextNode(id_=topic, text=f"about {topic}") for topic in TOPICS]
    index = VectorStoreIndex(nodes, embed_model=model)
    yield lambda k: index.as_retriever(similarity_top_k=k)
    server.shutdown()
    thread.join()
    server.server_close()


def evaluated(retriever: Any) -> tuple[dict[str, float], dict[Any, Exception]]:
    result = RetrieverEvaluator.from_metric_names(["mrr"], retriever=retriever).evaluate_dataset(ROWS, workers=3)
    return dict(result.evaluation.means), result.errors


def one(retriever: Any) -> float | None:
    ours = RetrieverEvaluator.from_metric_names(["mrr"], retriever=retriever)
    return ours.evaluate(*ROWS[0]).metric_dict["mrr"].score


def in_any_order(retriever: Callable[[int], Any]) -> None:
    first, second = retriever(1), retriever(3)
    for _ in range(3):
        assert one(first) == 1
        assert evaluated(first) == evaluated(second) == ({"mrr": 1.0}, {})
    comparison = rm.compare_retrievers({"first": first, "second": second}, ROWS, "mrr")
    assert comparison.table["mrr"] == {"first": 1.0, "second": 1.0}
    assert evaluated(first) == ({"mrr": 1.0}, {})


def test_evaluations_share_a_client_in_a_script(retriever: Callable[[int], Any]) -> None:
    in_any_order(retriever)


def test_evaluations_share_a_client_inside_a_running_loop(retriever: Callable[[int], Any]) -> None:
    async def notebook() -> None:
        in_any_order(retriever)
        await asyncio.sleep(0)
        in_any_order(retriever)

    asyncio.run(notebook())
    in_any_order(retriever)
