"""Ask retrievers, and make runs of runs: fuse and rerank what came back."""
