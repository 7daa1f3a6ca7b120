"""Send many prompts to a model: several at a time, within a budget, and no prompt twice."""
