"""Compute values from a judged run, a metric and rules; only this folder does."""
