"""Ask a model many prompts: several at a time, within a budget, and never the same prompt twice."""
