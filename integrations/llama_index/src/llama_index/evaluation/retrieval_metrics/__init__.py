"""Every retrieval metric, exact, in the evaluator of LlamaIndex."""
