"""The definition of a metric: its formula, parameters, names and properties."""
