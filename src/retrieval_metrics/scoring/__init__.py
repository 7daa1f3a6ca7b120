"""Compute values from a judged run, a metric and rules; no other folder does."""
