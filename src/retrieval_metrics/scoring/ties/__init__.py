"""What metrics are worth when documents have equal scores, over all orders of these."""
