"""What a metric is: its formula, its parameters, its names, and the properties of its values."""
