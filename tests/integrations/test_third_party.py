"""An integration of somebody else: a distribution of its own, which needs `retrieval_metrics.integration_api` alone."""

import subprocess
import sys
from pathlib import Path

FRAMEWORK = """
class Hit:
    def __init__(self, key, body, page): self.key, self.body, self.page = key, body, page

class Finder:
    def find(self, question, limit): return [Hit("yield#1", "yield gives", 3), Hit("with#2", "with wraps", 4)][:limit]

class Model:
    def complete(self, prompt): return prompt.upper()
"""
ADAPTER = """
import retrieval_metrics as rm
from retrieval_metrics.integration_api import HostAdapter
from somebodys_framework import Finder, Model

def ask(thing):
    return (lambda text: thing.find(text, limit=2)) if isinstance(thing, Finder) else None

def items(hits):
    return [rm.Retrieved(hit.key, hit.body, source="book", metadata={"page": hit.page}) for hit in hits]

def model(thing):
    return thing.complete if isinstance(thing, Model) else None

HOST = HostAdapter(name="somebody", resolve_retriever=ask, convert_items=items, model=model, documents=items)
"""
USER = """
import asyncio, sys
import retrieval_metrics as rm
from retrieval_metrics.integration_api import find_host
assert "somebodys_adapter" not in sys.modules, "an integration is loaded before it is needed"

import somebodys_framework as host
questions = {"what does yield do?": "what does yield do?"}
run = rm.retrieve(host.Finder(), questions)
assert run == asyncio.run(rm.aretrieve(host.Finder(), questions))
truth = {query: ["with#2"] for query in questions}
print(rm.evaluate(truth, run, "mrr").means["mrr"])
print(rm.evaluate({query: [4] for query in questions}, run, "mrr", match="metadata:page").means["mrr"])
print(rm.evaluate({query: [rm.Quote("with wraps")] for query in questions}, run, "mrr").means["mrr"])
print(find_host(host.Model()).model(host.Model())("a prompt"), find_host(host.Model()).resolve_retriever(host.Model()))
assert not {"llama_index", "langchain_core"} & set(sys.modules), "another framework was imported for this one"
"""


def test_an_adapter_outside_the_repository_announces_itself_and_works(tmp_path: Path) -> None:
    (tmp_path / "somebodys_framework.py").write_text(FRAMEWORK)
    (tmp_path / "somebodys_adapter.py").write_text(ADAPTER)
    installed = tmp_path / "somebodys_adapter-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: somebodys-adapter\nVersion: 1.0\n")
    (installed / "entry_points.txt").write_text(
        "[retrieval_metrics.hosts]\nsomebodys_framework = somebodys_adapter:HOST\n"
    )
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{USER}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout.split("\n") == ["0.5", "0.5", "0.5", "A PROMPT None", ""]


def test_it_is_short() -> None:
    assert len(ADAPTER.splitlines()) <= 100
