"""What a user of LangChain writes: judged by files, with MMR, tuned, and recorded."""

import asyncio
from collections.abc import Sequence

from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.runnables import RunnablePassthrough
from langchain_core.vectorstores import InMemoryVectorStore

import retrieval_metrics as rm
from langchain_retrieval_metrics import (
    MMRReranker,
    MMRRetriever,
    aevaluate_retriever,
    evaluate_retriever,
    get_vectors,
    record,
    tune_mmr,
)

EMBEDDINGS = DeterministicFakeEmbedding(size=8)
DOCUMENTS = [Document(f"text {number}", id=f"d{number}", metadata={"source": f"{number}.md"}) for number in range(9)]


def vectors(documents: Sequence[Document]) -> list[list[float] | None]:
    return [None for _ in documents]


async def main() -> None:
    store = InMemoryVectorStore.from_documents(DOCUMENTS, EMBEDDINGS)
    plain: MMRRetriever = MMRRetriever.from_store(store, k=2, fetch_k=5)
    own = MMRRetriever(base_retriever=lambda _: DOCUMENTS[:4], embeddings=EMBEDDINGS, vector_fn=vectors, k=1)
    wrapped = MMRRetriever(base_retriever=store.as_retriever(), embeddings=EMBEDDINGS, vector_fn=get_vectors(store))
    documents: list[Document] = own.invoke("q") + await plain.ainvoke("q", k=1, lambda_mult=0.7)
    questions = [("q", ["1.md"]), ("r", {"2.md": 2, "3.md": 1}), ("s", [["4.md", "5.md"], ["6.md"]])]
    result: rm.Evaluation = evaluate_retriever(plain, questions, ["mrr", "ndcg@10"], match="source")
    chain = {"query": RunnablePassthrough(), "documents": plain} | MMRReranker(embeddings=EMBEDDINGS).as_runnable()
    again: rm.Evaluation = await aevaluate_retriever(chain, questions, "mrr", match="metadata:source")
    best: MMRRetriever | None = tune_mmr(plain, questions, lambdas=[0.3, 0.7], match="source").retriever
    compared: rm.Comparison = rm.compare_retrievers({"a": plain, "b": own}, questions, "mrr", match="source")
    with record() as recorded:
        wrapped.invoke("q", {"callbacks": [recorded.handler("q")]}, fetch_k=6)
    mean: float = result.means["mrr"] + again.intervals()["mrr"].low
    print(len(documents), mean, best, compared.summary, recorded.trajectories)


if __name__ == "__main__":
    asyncio.run(main())
