"""What a metric is: its formula, its parameters, its names, and every fact about its values."""
