"""Runs made of runs."""
