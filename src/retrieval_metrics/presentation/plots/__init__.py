"""Plots of plain numbers in one hand; only what draws imports it, because it brings matplotlib."""
