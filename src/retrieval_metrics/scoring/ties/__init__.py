"""The values of metrics over all orders of documents with equal scores."""
